"""The delays from row to delivery: figures, and a histogram with steps of 1, 2 and 5."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import asdict, dataclass
from typing import Any

from hdrh.histogram import HdrHistogram

from scale_sweep.model import Latency
from scale_sweep.taosbenchmark.output import Delays, delays

_STEPS = tuple(step * 10**power / 100 for power in range(9) for step in (1, 2, 5))
_NS_PER_MS = 1e6


@dataclass(frozen=True, kw_only=True)
class Delay:
    """figures: in ms. steps: (upper bound in ms, messages), least first, none before the first or after the last
    message. hdr: all delays in ns, as the load generator encodes them."""

    figures: Delays
    steps: tuple[tuple[float, int], ...]
    hdr: str


def measured_delay(latency: Latency) -> Delay | None:
    """None without a message."""
    figures = delays(latency)
    if figures is None:
        return None
    counts = [0] * (len(_STEPS) + 1)
    histogram = HdrHistogram.decode(latency.hdr)
    for recorded in histogram.get_recorded_iterator():
        ms = histogram.get_lowest_equivalent_value(recorded.value_iterated_to) / _NS_PER_MS
        counts[bisect_left(_STEPS, ms)] += recorded.count_added_in_this_iter_step
    bounds = (*_STEPS, figures.max_ms)
    used = [place for place, count in enumerate(counts) if count]
    steps = tuple((bounds[place], counts[place]) for place in range(used[0], used[-1] + 1))
    return Delay(figures=figures, steps=steps, hdr=latency.hdr)


def delay_lines(delay: Delay) -> tuple[str, str]:
    """The figures, and the histogram."""
    d = delay.figures
    figures = (
        f"delay from row to delivery, min: {d.min_ms:.4f}ms, avg: {d.avg_ms:.4f}ms, p90: {d.p90_ms:.4f}ms, "
        f"p95: {d.p95_ms:.4f}ms, p99: {d.p99_ms:.4f}ms, max: {d.max_ms:.4f}ms"
    )
    steps = ", ".join(f"up to {bound:g}ms: {count}" for bound, count in delay.steps)
    return figures, f"messages by delay, {steps}"


def delay_document(delay: Delay) -> dict[str, Any]:
    """For --json."""
    histogram = [{"up_to_ms": bound, "messages": count} for bound, count in delay.steps]
    return {**asdict(delay.figures), "histogram": histogram, "hdr": delay.hdr}
