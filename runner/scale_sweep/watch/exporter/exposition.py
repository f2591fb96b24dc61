"""Values → prometheus-client's metric families, and bytes of Prometheus' text format 0.0.4."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample
from prometheus_client.utils import floatToGoString

from scale_sweep.base.texts import visible
from scale_sweep.watch.exporter.names import BY_NAME, COMMON
from scale_sweep.watch.exporter.values import Point
from scale_sweep.watch.live import LiveState

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def common_labels(state: LiveState) -> dict[str, str]:
    """The labels `run` and `sweep`."""
    return dict(zip(COMMON, (state.run, state.plan.sweep.name), strict=True))


def families(points: Iterable[Point], common: Mapping[str, str]) -> list[Metric]:
    """One family for each metric that has a value. Unknown values have no sample. Empty labels are left out."""
    made: dict[str, Metric] = {}
    for short, values, value in points:
        if value is None or not math.isfinite(value):
            continue
        declared = BY_NAME[f"scale_{short}"]
        family = made.get(short)
        if family is None:
            kind = "gauge" if declared.kind == "info" else declared.kind
            family = made[short] = Metric(declared.name.removesuffix("_total"), declared.meaning, kind)
        own = {k: visible(v) for k, v in zip(declared.labels, values, strict=True) if v}
        labels = {**{k: visible(v) for k, v in common.items()}, **own}
        family.samples.append(Sample(declared.name, labels, float(value)))
    return list(made.values())


def text(points: Iterable[Point], common: Mapping[str, str]) -> bytes:
    """The text format, from a registry of its own, so that only metrics of our list are served."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Once(families(points, common)))
    return generate_latest(registry)


class LineWriter:
    """Writes the same bytes as `text`, faster: it makes a series' name and labels once.

    prometheus-client needs about 10 µs for a line. For the hundred lines that change every second that would be most of
    a scrape's cost. A test compares the bytes of both.
    """

    def __init__(self, common: Mapping[str, str]) -> None:
        self._common = dict(common)
        self._heads: dict[str, str] = {}
        self._names: dict[tuple[str, tuple[str, ...]], str] = {}

    def write(self, points: Iterable[Point]) -> bytes:
        families: dict[str, list[str]] = {}
        for short, values, value in points:
            if value is None or not math.isfinite(value):
                continue
            lines = families.get(short)
            if lines is None:
                lines = families[short] = [self._heads.get(short) or self._head(short)]
            name = self._names.get((short, values)) or self._name(short, values)
            lines.append(f"{name} {floatToGoString(value)}\n")
        return "".join(line for lines in families.values() for line in lines).encode()

    def _head(self, short: str) -> str:
        made = generate_text([(short, ("x",) * len(BY_NAME[f"scale_{short}"].labels), 0.0)], {})
        head = self._heads[short] = made[: made.rindex("\n", 0, -1) + 1]
        return head

    def _name(self, short: str, values: tuple[str, ...]) -> str:
        made = generate_text([(short, values, 0.0)], self._common).splitlines()[-1]
        name = self._names[short, values] = made.rpartition(" ")[0]
        return name


def generate_text(points: Iterable[Point], common: Mapping[str, str]) -> str:
    return text(points, common).decode()


class _Once(Collector):
    def __init__(self, made: list[Metric]) -> None:
        self._made = made

    def collect(self) -> Iterable[Metric]:
        return self._made
