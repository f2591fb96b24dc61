"""Conditions that the plan did not set and that moved, CPU quotas, and old servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from statistics import median

from scale_sweep.base.texts import OLD_YEARS, age_years, released_in
from scale_sweep.base.units import format_number
from scale_sweep.experiment.axes import AxisFacts, load_axis
from scale_sweep.experiment.work import takes_fixed_work
from scale_sweep.judge.verdict.diagnose import new_pages_between
from scale_sweep.judge.verdict.evidence import LoadHalf
from scale_sweep.judge.verdict.thresholds import THROTTLED
from scale_sweep.model.declared_parts import ERRORS
from scale_sweep.model.derived import load_take
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult
from scale_sweep.report.figures import axis_facts
from scale_sweep.report.series import window_of

SHARED_CORES_MIN = 0.05  # cores of the server that the load generator used, as a share of the server's
OTHERS_SHARE = 0.10
MEMORY_FACTOR = 2.0
COMMITS_FACTOR = 2.0
CLOCK_FACTOR = 1.03
DATA_FACTOR = 1.5
Read = Callable[[TrialResult], float | None]


def conditions(results: Sequence[TrialResult], axis: AxisFacts) -> tuple[str, ...]:
    """Sentences on what moves with the axis."""
    points, unit = [r for r in results if r.trial.role == "point"], axis.name
    others, stolen, mhz, used, commits = (
        _means(points, read)
        for read in (
            lambda r: r.measurement.other_cpu_cores,
            lambda r: r.measurement.stolen_cpu_cores,
            lambda r: r.measurement.server_cpu_mhz,
            lambda r: r.measurement.memory_used_gb,
            lambda r: r.measurement.commits,
        )
    )
    clock = f"the clock rate of the server's CPUs moves with the {unit}: {_listed(mhz, '.0f')} MHz"
    memory = f"the server's memory in use moves with the {unit}: {_listed(used, '.2g')} GB"
    cycles = f"commit cycles under load move with the {unit}: {_listed(commits, '.1f')}"
    sentences = (
        _shared(points, unit),
        _moving("other processes used, on all CPUs of the machine,", others, unit),
        _moving("the hypervisor took", stolen, unit),
        clock if _moves(mhz, CLOCK_FACTOR) else "",
        _data(points, unit),
        memory if _moves(used, MEMORY_FACTOR) else "",
        cycles if _moves(commits, COMMITS_FACTOR) and max(commits.values()) >= 1 else "",
    )
    return tuple(filter(None, sentences))


def _means(results: Sequence[TrialResult], read: Read) -> dict[float, float]:
    values: dict[float, list[float]] = {}
    for result in results:
        value = read(result)
        if value is not None:
            values.setdefault(result.trial.level, []).append(value)
    return {level: sum(v) / len(v) for level, v in sorted(values.items())}


def _moves(means: Mapping[float, float], factor: float) -> bool:
    return bool(means) and max(means.values()) >= factor * min(means.values())


def _listed(means: Mapping[float, float], form: str, unit: str = "") -> str:
    """form: a format specification."""
    return ", ".join(f"{mean:{form}}{unit} at {format_number(level)}" for level, mean in means.items())


def _shared(results: Sequence[TrialResult], unit: str) -> str:
    shares = _means(results, lambda r: load_take(r) / r.trial.cores)
    on = {level: share for level, share in shares.items() if share > SHARED_CORES_MIN}
    if not on or len(on) == len(shares) and max(on.values()) - min(on.values()) < SHARED_CORES_MIN:
        return ""
    by_level = _listed({level: 100 * share for level, share in shares.items()}, ".0f", " %")
    return f"the load generator took a share of the server's CPUs that moves with the {unit}: {by_level}"


def _moving(who: str, cores: Mapping[float, float], unit: str) -> str:
    if not cores or max(cores.values()) - min(cores.values()) < OTHERS_SHARE:
        return ""
    return f"{who} CPU time that moves with the {unit}: {_listed(cores, '.2f')} CPU cores"


def _data(results: Sequence[TrialResult], unit: str) -> str:
    sizes = _means(results, lambda r: r.measurement.data_gb)
    if not _moves(sizes, DATA_FACTOR) or not max(sizes.values()):
        return ""
    advice = (
        " (--rows gives every level the same rows)"
        if all(takes_fixed_work(r.trial.load, r.trial.work) for r in results)
        else ""
    )
    return (
        f"the data at the end of a trial grow with the {unit}: {_listed(sizes, '.2g')} GB, so caches and trees differ "
        f"from level to level{advice}"
    )


_CORES, _SYSTEM, _FAULTS = "server_cpu_cores", "server_system_cores", "server_page_faults_per_s"


def pages_between_trials(run: StoredRun) -> tuple[str, ...]:
    """For each level whose trials had dear and cheap pages, its cheapest and its dearest trial."""
    halves: dict[float, dict[str, LoadHalf]] = {}
    speeds = [speed for result in run.on_curve if (speed := result.measurement.cpu_speed) is not None]
    usual = median(speeds) if speeds else 1.0
    for result in run.on_curve:
        used = _used(run, result, (result.measurement.cpu_speed or usual) / usual)
        if used is not None:
            halves.setdefault(result.trial.level, {})[result.trial.trial_id] = used
    axis = load_axis(run.plan.sweep.axis)
    sentences = ((level, new_pages_between(used)) for level, used in sorted(halves.items()))
    return tuple(f"{sentence}, at {axis.count(format_number(level))}" for level, sentence in sentences if sentence)


def _used(run: StoredRun, result: TrialResult, speed: float) -> LoadHalf | None:
    """The server's work in the window; None if a second was not counted. speed: of its CPUs; 1 is the usual one."""
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
    return LoadHalf(count=rate * len(inside), cpu_us=cpu_us, system_us=system_us, page_faults=faults)


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


_PERIOD_MS = 100.0  # of Linux and of Docker, in which a quota holds


def quota_words(run: StoredRun) -> tuple[str, ...]:
    """How long the kernel stops the server, if levels have less than all time of their CPUs."""
    pauses: dict[float, float] = {}
    for trial in run.plan.trials:
        p = trial.placement
        if p.quota_cores is not None and p.server_cpus and p.quota_cores < len(p.server_cpus):
            pauses[trial.level] = _PERIOD_MS * (1 - p.quota_cores / len(p.server_cpus))
    if not pauses:
        return ()
    where = axis_facts(run).count(", ".join(map(format_number, sorted(pauses))))
    sentence = (
        f"{where}: a CPU quota. The kernel stops the server for up to about {max(pauses.values()):.0f} ms in each "
        f"{_PERIOD_MS:.0f} ms, so p99 and max of the response times contain these pauses"
    )
    return (sentence + _of_capacity(run, set(pauses)),)


def _of_capacity(run: StoredRun, levels: Set[float]) -> str:
    objective = run.plan.sweep.load.objective
    if objective is None or all(clause.quantity == ERRORS for clause in objective.clauses):
        return ""
    words = (
        f". With the limit {objective.words} the capacity there may be less than its share of the cores, and "
        "the efficiency of a level without a quota above 1"
    )
    searches = [r.measurement for r in run.results if r.trial.load.searches and r.trial.level in levels]
    shares = [m.throttled_s / m.window_s for m in searches if m.throttled_s is not None and m.window_s]
    if not shares:
        return words
    if max(shares) <= THROTTLED:
        return ""
    return f"{words}. In the closed loops the kernel stopped the server for {_percents(shares)} of the time"


def _percents(shares: Sequence[float]) -> str:
    ends = dict.fromkeys(f"{100 * share:.0f}" for share in (min(shares), max(shares)))
    return f"{' to '.join(ends)} %"


def old_servers(run: StoredRun) -> tuple[str, ...]:
    """Servers older than OLD_YEARS when the run was made."""
    released, made = run.manifest.get("released"), str(run.manifest.get("created_utc") or "")
    if not isinstance(released, Mapping) or not made:
        return ()
    versions = {(r.trial.subject.target, r.effective.get("server_version", "")): None for r in run.results}
    old = []
    for name, version in versions:
        of_target = released.get(name)
        months = {str(k): str(v) for k, v in of_target.items()} if isinstance(of_target, Mapping) else {}
        month = released_in(months, version)
        if month and age_years(month, made) >= OLD_YEARS:
            old.append((f"{name} {version}", month, f"{age_years(month, made):.0f} years old"))
    if len(old) > 1:
        each = ", ".join(f"{server} of {month} ({age})" for server, month, age in old)
        return (f"{len(old)} servers were old, and current versions may differ: {each}",)
    return tuple(
        f"{server} came out in {month}: it was {age}, and a current version may differ" for server, month, age in old
    )
