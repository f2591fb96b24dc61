"""Metric values with times → OpenMetrics text. It collects series by series, because the format requires that order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from prometheus_client.utils import floatToGoString

from scale_sweep.base.visible import visible
from scale_sweep.watch.exporter.names import BY_NAME, METRICS, Metric
from scale_sweep.watch.exporter.values import Point


class Book:
    """The series of a run. Times must not decrease from one call of `add` to the next. A second value at the same time
    is dropped."""

    def __init__(self, common: Mapping[str, str]) -> None:
        self._common = "".join(f',{name}="{_escaped(value)}"' for name, value in common.items())
        self._series: dict[str, dict[tuple[str, ...], list[str]]] = {}
        self._last_ms: dict[tuple[str, tuple[str, ...]], int] = {}

    def add(self, points: Iterable[Point], unix_s: float) -> None:
        """Adds values at a time (seconds since 1970). Unknown values are left out."""
        at_ms = round(unix_s * 1000)
        stamp = f"{at_ms // 1000}.{at_ms % 1000:03d}"
        for short, values, value in points:
            if value is None or not math.isfinite(value) or self._last_ms.get((short, values), -1) >= at_ms:
                continue
            self._last_ms[short, values] = at_ms
            metric = BY_NAME[f"scale_{short}"]
            group = values[:-1] if metric.kind == "summary" else values  # quantiles of a time stay together
            lines = self._series.setdefault(short, {}).setdefault(group, [])
            lines.append(f"{metric.name}{{{self._labels(metric, values)}}} {floatToGoString(value)} {stamp}\n")

    def content(self) -> bytes:
        parts: list[str] = []
        for metric in METRICS:
            series = self._series.get(metric.name.removeprefix("scale_"))
            if series:
                parts.append(_head(metric))
                for lines in series.values():
                    parts.extend(lines)
        return ("".join(parts) + "# EOF\n").encode()

    def _labels(self, metric: Metric, values: tuple[str, ...]) -> str:
        own = "".join(
            f',{name}="{_escaped(value)}"' for name, value in zip(metric.labels, values, strict=True) if value
        )
        return (self._common + own)[1:]


def _head(metric: Metric) -> str:
    family = metric.name.removesuffix("_total").removesuffix("_info")
    return f"# HELP {family} {_escaped(metric.meaning)}\n# TYPE {family} {metric.kind}\n"


def _escaped(text: str) -> str:
    return visible(text).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
