"""What the server did in each half of the window, for the cost of new memory pages. Pure.

CPU times are those at the mean speed of both halves where the speed of the CPUs is known: on slower CPUs a page costs
more, and is not dearer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scale_sweep.judge.figures.cpu_speed import WorkTotals
from scale_sweep.judge.figures.rated import RatedInterval
from scale_sweep.judge.figures.window import measure_window
from scale_sweep.judge.verdict import LoadHalf
from scale_sweep.model import Sample


def halves_of(samples: Sequence[Sample], intervals: Sequence[RatedInterval]) -> tuple[LoadHalf, LoadHalf] | None:
    """Both halves of the seconds of a window; None if something was not counted. intervals: those inside the window."""
    middle = len(intervals) // 2
    parts = intervals[:middle], intervals[len(intervals) - middle :]
    first, second = (_half(samples, part) for part in parts)
    if first is None or second is None:
        return None
    speeds = WorkTotals(samples).of_seconds(intervals)
    if not speeds:
        return first, second
    mean, early, late = (sum(part) / len(part) for part in (speeds, speeds[:middle], speeds[len(speeds) - middle :]))
    return _scaled(first, early / mean), _scaled(second, late / mean)


def _scaled(half: LoadHalf, factor: float) -> LoadHalf:
    return replace(half, cpu_us=half.cpu_us * factor, system_us=half.system_us * factor)


def _half(samples: Sequence[Sample], intervals: Sequence[RatedInterval]) -> LoadHalf | None:
    if len(intervals) < 2:
        return None
    # The end of the first interval is known exactly, its start is not: the first one is left out.
    start_ns, end_ns = intervals[0].monotonic_ns, intervals[-1].monotonic_ns
    seconds = (end_ns - start_ns) / 1e9
    use = measure_window(samples, start_ns, end_ns)
    if use.server_cores is None or use.server_system_cores is None or use.server_page_faults_per_s is None:
        return None
    return LoadHalf(
        count=float(sum(i.count for i in intervals[1:])),
        cpu_us=use.server_cores * seconds * 1e6,
        system_us=use.server_system_cores * seconds * 1e6,
        page_faults=use.server_page_faults_per_s * seconds,
    )
