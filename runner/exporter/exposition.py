"""Values as prometheus-client's metric families, and as bytes of Prometheus' text format 0.0.4."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from runner.exporter.names import BY_NAME, COMMON
from runner.exporter.points import Point
from runner.live import LiveState

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def common_labels(state: LiveState) -> dict[str, str]:
    """`run` and `sweep`."""
    return dict(zip(COMMON, (state.run, state.plan.sweep.name), strict=True))


def families(points: Iterable[Point], common: Mapping[str, str]) -> list[Metric]:
    """One family for each metric that has a value. Unknown values have no sample, and empty labels are left out."""
    made: dict[str, Metric] = {}
    for short, values, value in points:
        if value is None or not math.isfinite(value):
            continue
        declared = BY_NAME[f"scale_{short}"]
        family = made.get(short)
        if family is None:
            kind = "gauge" if declared.kind == "info" else declared.kind
            family = made[short] = Metric(declared.name.removesuffix("_total"), declared.meaning, kind)
        labels = {**common, **{k: v for k, v in zip(declared.labels, values, strict=True) if v}}
        family.samples.append(Sample(declared.name, labels, float(value)))
    return list(made.values())


def text(points: Iterable[Point], common: Mapping[str, str]) -> bytes:
    """Through a registry of its own, so that nothing of the process is served that is not in the list of metrics."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Once(families(points, common)))
    return generate_latest(registry)


class _Once(Collector):
    def __init__(self, made: list[Metric]) -> None:
        self._made = made

    def collect(self) -> Iterable[Metric]:
        return self._made
