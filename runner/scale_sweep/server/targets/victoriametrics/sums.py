"""Sums of the stored samples as questions in MetricsQL, one for each figure of a column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scale_sweep.experiment.work.sums import NS_PER_MS, STEPS
from scale_sweep.model import Workload
from scale_sweep.server.targets.series import DEVICE, columns_of

SUMS = ("rows", "first", "last", STEPS, "values", "sum", "least", "greatest")
SHARE = 1e-11  # of a fraction
DEVICES_MAX = 200  # that a question names
_ROLLUPS = {
    "values": "count_over_time",
    "sum": "sum_over_time",
    "least": "min_over_time",
    "greatest": "max_over_time",
    "first": "tfirst_over_time",
    "last": "tlast_over_time",
    STEPS: "duration_over_time",
}
_TOGETHER = {"least": "min", "greatest": "max", "first": "min", "last": "max"}  # of several series; others are added


@dataclass(frozen=True, kw_only=True)
class SumsQuery:
    """One figure of each device."""

    figure: str
    column: str  # of whose series
    # outer, rollup: functions over series and over samples; the latter with more arguments
    outer: str
    rollup: str
    more: str
    labels: str  # conditions of the selector
    by_device: bool  # an answer for each device


def questions(data: Workload, devices: Sequence[str]) -> Iterator[SumsQuery]:
    """For these devices, or for all together, if there are none. Of more than DEVICES_MAX devices, all are returned."""
    names = list(columns_of(data))
    labels = f'{DEVICE}=~"{"|".join(devices)}"' if 0 < len(devices) <= DEVICES_MAX else ""
    for name in names:
        for what, rollup in _ROLLUPS.items():
            if what not in ("first", "last") or name == names[0]:
                yield SumsQuery(
                    figure=f"{name}.{what}",
                    column=name,
                    outer=_TOGETHER.get(what, "sum"),
                    rollup=rollup,
                    more=f", {data.step_ms}ms" if what == STEPS else "",
                    labels=labels,
                    by_device=bool(devices),
                )


def completed(figures: Mapping[str, float], data: Workload) -> dict[str, Any]:
    """The figures of a device, from the answers by column. Times of answers are in seconds, which hold microseconds."""
    names = list(columns_of(data))
    start_s, own = data.start_ms / 1000, {name: value for name, value in figures.items() if _is_own(name)}
    times = {
        what: figures[f"{names[0]}.{what}"] - start_s for what in ("first", "last") if f"{names[0]}.{what}" in figures
    }
    times[STEPS] = min(figures.get(f"{name}.{STEPS}", 0.0) for name in names)
    in_ns = {what: round(seconds * 1e6) * (NS_PER_MS // 1000) for what, seconds in times.items()}
    return {"rows": max(figures.get(f"{name}.values", 0.0) for name in names), **in_ns, **own}


def _is_own(figure: str) -> bool:
    return figure.rpartition(".")[2] in ("values", "sum", "least", "greatest")
