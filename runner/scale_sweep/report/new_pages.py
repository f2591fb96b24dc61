"""Did a new memory page cost the server more in one trial of a level than in another? A sentence that names it. Pure.

The samples of each window are added up. Refuses trials without these counters, and a difference that the cost of pages
does not explain: the rule is that of the halves of one window (scale_sweep/judge/verdict/new_pages.py).
"""

from __future__ import annotations

from statistics import median

from scale_sweep.base.units import format_number
from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.verdict import LoadHalf, new_pages_between
from scale_sweep.model import StoredRun, TrialResult
from scale_sweep.report.series import window_of

_CORES, _SYSTEM, _FAULTS = "server_cpu_cores", "server_system_cores", "server_page_faults_per_s"


def pages_between_trials(run: StoredRun) -> tuple[str, ...]:
    """A sentence for each level whose trials had dear and cheap pages: its cheapest and its dearest trial."""
    found: dict[float, dict[str, LoadHalf]] = {}
    speeds = [speed for result in run.on_curve if (speed := result.measurement.cpu_speed) is not None]
    usual = median(speeds) if speeds else 1.0
    for result in run.on_curve:
        used = _used(run, result, (result.measurement.cpu_speed or usual) / usual)
        if used is not None:
            found.setdefault(result.trial.level, {})[result.trial.trial_id] = used
    axis = load_axis(run.plan.sweep.axis)
    told = ((level, new_pages_between(used)) for level, used in sorted(found.items()))
    return tuple(f"{said}, at {axis.count(format_number(level))}" for level, said in told if said)


def _used(run: StoredRun, result: TrialResult, speed: float) -> LoadHalf | None:
    """What the server did in the window; None if a second of it was not counted. speed: of its CPUs, by which CPU times
    are multiplied: 1 for the usual one."""
    window, rate = window_of(result), result.achieved_per_s
    series = run.timeseries.get(result.trial.trial_id, ())
    if window is None or not rate:
        return None
    # The first second may have begun before the window: it is left out.
    inside = [values for t, values in series if window[0] + 1 < t <= window[1] + 0.5]
    sums = [_sum([values.get(name) for values in inside]) for name in (_CORES, _SYSTEM, _FAULTS)]
    cores, system, faults = sums
    if not inside or cores is None or system is None or faults is None:
        return None
    cpu_us, system_us = cores * 1e6 * speed, system * 1e6 * speed
    return LoadHalf(rows=rate * len(inside), cpu_us=cpu_us, system_us=system_us, page_faults=faults)


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
