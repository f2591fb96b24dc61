"""Use of resources over a trial's window, its seconds, halves and longest stall: the input of attribution."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from statistics import median

from scale_sweep.experiment.work import rate_of
from scale_sweep.judge.figures.counts_per_second import RatedInterval, rate_per_s
from scale_sweep.judge.figures.disk_figures import own_ceilings
from scale_sweep.judge.figures.taken import HostSeries, lateness, paused_s, stopped_s, taken_cpus, taken_on_hosts
from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.judge.figures.window import WorkTotals, measure_window
from scale_sweep.judge.verdict import thresholds as limit
from scale_sweep.judge.verdict.evidence import HostUse, LoadHalf, ResourceUse, TrialResources
from scale_sweep.judge.verdict.rules.server import LOCKED, waited
from scale_sweep.model.loads import LoadProgram, LoadSummary
from scale_sweep.model.planned import Trial
from scale_sweep.model.resources import CLIENTS
from scale_sweep.model.samples import Sample


def resources_of(trial: Trial, facts: TrialFacts) -> TrialResources:
    """Resources of server and load generator."""
    placement, is_random = trial.placement, trial.load.rate and trial.load.arrival == "poisson"
    program = (facts.summary.program if facts.summary else None) or LoadProgram(name=trial.load.generator)
    units_of_request = 1 if trial.work.counts_requests else trial.work.data.rows_per_request
    return TrialResources(
        cores=trial.cores,
        quota=placement.quota_cores is not None,
        generator_cpus=len(placement.generator_cpus),
        shared_cpus=placement.shared,
        threads=trial.work.connections(trial.load.connections),
        ceiling_per_s=facts.ceiling_rows_per_s,
        offered_per_s=trial.load.rate or None,
        disk_ceilings_mb_per_s=own_ceilings(facts.disk_ceilings),
        prepared_disks=trial.resources.disks,
        unit=rate_of(trial.work, durable=False).words,
        random_units=units_of_request if is_random else 0,
        cut_units=units_of_request if trial.load.is_sparse else 0,
        is_elsewhere=bool(facts.networks),
        round_trips_ms={one.host: one.round_trip_ms for one in facts.networks if one.round_trip_ms is not None},
        is_foreign=is_watched(trial, facts),
        program=program.name,
        more_threads=program.more_threads,
        more_clients=program.more_clients,
        pin=program.pin,
        grants_clients=trial.resources.value(CLIENTS) is not None,
        is_counted=facts.summary is None or facts.summary.is_counted,
        is_by_cpu=is_by_cpu(trial, facts),
    )


def is_watched(trial: Trial, facts: TrialFacts) -> bool:
    """Another program made the load, and the samples have its threads: those of older versions have none."""
    return not trial.load.is_ours and any(s.generator_threads is not None for s in facts.samples)


def is_by_cpu(trial: Trial, facts: TrialFacts) -> bool:
    return is_watched(trial, facts) and not facts.intervals


def cpu_by_second(samples: Sequence[Sample], summary: LoadSummary) -> list[float]:
    """The server's cores between each two samples of the window."""
    inside = [s for s in samples if summary.window_start_ns <= s.monotonic_ns <= summary.window_end_ns]
    return [
        (new.server.cpu_s_total - old.server.cpu_s_total) / ((new.monotonic_ns - old.monotonic_ns) / 1e9)
        for old, new in pairwise(inside)
        if new.server.cpu_s_total is not None and old.server.cpu_s_total is not None
    ]


def window_use(
    trial: Trial, facts: TrialFacts, summary: LoadSummary, intervals: Sequence[RatedInterval]
) -> ResourceUse:
    """intervals: those inside the window."""
    start_ns, end_ns = summary.window_start_ns, summary.window_end_ns
    use = replace(measure_window(facts.samples, start_ns, end_ns), seconds=summary.window_s)
    client = generator_cores(summary, use)
    hosts = HostSeries(facts.samples, facts.networks).uses(start_ns, end_ns)
    whole = _of_trial(trial, summary, use, rate=rate_per_s(summary, trial.work), client=client, hosts=hosts)
    stall = longest_stall(_by_cpu(facts.samples, summary) if is_by_cpu(trial, facts) else intervals)
    meanwhile = measure_window(facts.samples, stall.start_ns, stall.end_ns) if stall else None
    return replace(
        whole,
        backlog_per_s=backlog_growth(intervals),
        late=lateness(trial, summary),
        paused_s=stopped_s(facts.samples, start_ns, end_ns)
        if is_watched(trial, facts)
        else paused_s(facts.intervals, summary),
        stalled_s=stall.seconds if stall else None,
        stalled_cores=meanwhile.server_cpu_cores if meanwhile else None,
        stalled_cores_min=_least_cores(facts.samples, stall) if stall else None,
        stalled_other_cores=others_on_its_cpus(trial, meanwhile, meanwhile.generator_cpu_cores) if meanwhile else None,
        stalled_cpu_waiting_percent=meanwhile.cpu_waiting_percent if meanwhile else None,
    )


def generator_cores(summary: LoadSummary, use: ResourceUse) -> float:
    """By its own count; by the samples if it has none."""
    if summary.cpu_window_s is None and use.hot_generator_wanted is not None:
        return use.generator_cpu_cores or 0.0
    return (summary.cpu_window_s or 0.0) / summary.window_s  # None only for an empty window


def _least_cores(samples: Sequence[Sample], stall: Stall) -> float | None:
    """In the least second of the stall; None if fewer than two samples are inside."""
    inside = [s for s in samples if stall.start_ns <= s.monotonic_ns <= stall.end_ns]
    pairs = zip(inside, inside[1:], strict=False)
    uses = [measure_window(pair, pair[0].monotonic_ns, pair[1].monotonic_ns).server_cpu_cores for pair in pairs]
    return min((cores for cores in uses if cores is not None), default=None)


def backlog_growth(intervals: Sequence[RatedInterval]) -> float | None:
    """From the first third of the window to the last; None if some second of the last had no more than one of the
    first."""
    waiting = [i.backlog for i in intervals]
    third = len(waiting) // 3
    known = [units for units in waiting if units is not None]
    if not third or len(known) < len(waiting) or min(known[-third:]) <= max(known[:third]):
        return None
    rise = (sum(known[-third:]) - sum(known[:third])) / third
    return rise / (intervals[-1].t_s - intervals[third - 1].t_s)


def in_flight(summary: LoadSummary) -> float | None:
    """Share of the load threads' time spent waiting for answers. Sending includes driver and client library, whose CPU
    time is subtracted if known."""
    total = summary.send_s + summary.make_s
    if total <= 0:
        return None
    busy, making = workers_busy(summary), summary.make_s / total
    own = max(0.0, busy - making) if busy is not None else 0.0
    return max(0.0, summary.send_s / total - own)


def in_flight_by_states(use: ResourceUse) -> float | None:
    """The same of a foreign load: its busiest thread neither ran, nor was runnable, nor waited for a lock of its own
    program."""
    if use.hot_generator_wanted is None:
        return None
    return max(0.0, 1.0 - use.hot_generator_wanted[1] - waited(use.generator_waits, LOCKED)[0])


def workers_busy(summary: LoadSummary) -> float | None:
    if summary.worker_cores is None or not summary.threads:
        return None
    return summary.worker_cores / summary.threads


def second_uses(
    trial: Trial, facts: TrialFacts, summary: LoadSummary, intervals: Sequence[RatedInterval]
) -> list[ResourceUse]:
    """Between each two samples. intervals: those inside the window."""
    inside = [s for s in facts.samples if summary.window_start_ns <= s.monotonic_ns <= summary.window_end_ns]
    counts = sorted((i.monotonic_ns, i.count) for i in intervals)  # by the intervals' ends
    hosts, uses = HostSeries(facts.samples, facts.networks), []
    for old, new in zip(inside, inside[1:], strict=False):
        at = bisect_left(counts, (old.monotonic_ns, 0.0))
        rate = float(counts[at][1]) if at < len(counts) and counts[at][0] < new.monotonic_ns else None
        use = measure_window([old, new], old.monotonic_ns, new.monotonic_ns)
        there = hosts.uses(old.monotonic_ns, new.monotonic_ns)
        uses.append(_of_trial(trial, summary, use, rate=rate, client=use.generator_cpu_cores, hosts=there))
    return uses


def others_on_its_cpus(trial: Trial, use: ResourceUse, client: float | None) -> float | None:
    """On the server's CPUs if the kernel reports each. The load generator's part is subtracted in proportion to the
    CPUs that it shares."""
    placement = trial.placement
    if use.server_cpu_cores is None or client is None or not set(placement.server_cpus) <= set(use.cpus):
        return use.other_cpu_cores
    busy = sum(use.cpus[cpu] for cpu in placement.server_cpus)
    taken = client * len(placement.shared) / len(placement.generator_cpus) if placement.generator_cpus else 0.0
    return max(0.0, busy - use.server_cpu_cores - taken)


def stolen_on_its_cpus(trial: Trial, use: ResourceUse) -> float | None:
    placement = trial.placement
    if not set(placement.server_cpus) <= set(use.cpus_stolen):
        return use.stolen_cpu_cores
    return sum(use.cpus_stolen[cpu] for cpu in placement.server_cpus)


def _of_trial(
    trial: Trial,
    summary: LoadSummary,
    use: ResourceUse,
    *,
    rate: float | None,
    client: float | None,
    hosts: tuple[HostUse, ...],
) -> ResourceUse:
    """client: cores that the load generator used. What its threads did is known only over the whole window."""
    return replace(
        use,
        rate_per_s=rate,
        generator_cpu_cores=client,
        other_cpu_cores=others_on_its_cpus(trial, use, client),
        stolen_cpu_cores=stolen_on_its_cpus(trial, use),
        taken=(*taken_cpus(trial, use, client), *taken_on_hosts(hosts)),
        throttled=use.throttled_s / use.seconds if use.throttled_s is not None and use.seconds > 0 else None,
        in_flight=in_flight_by_states(use) if use.hot_generator_wanted is not None else in_flight(summary),
        workers_busy=workers_busy(summary),
        hosts=hosts,
    )


EDGE_S = 2.0  # the intervals at both ends


@dataclass(frozen=True, kw_only=True)
class Stall:
    """start_ns, end_ns: of the whole intervals inside it."""

    seconds: float
    start_ns: int
    end_ns: int


def longest_stall(intervals: Sequence[RatedInterval]) -> Stall | None:
    """Without any finished unit of the rate, in intervals; to the millisecond if the next longest response time is
    about as long."""
    runs = groupby(range(len(intervals)), lambda at: not intervals[at].count)
    still = [list(places) for is_still, places in runs if is_still]
    stalls = [_stall(intervals, places[0], places[-1] + 1) for places in still]
    return max(stalls, key=lambda stall: stall.end_ns - stall.start_ns, default=None)


def _by_cpu(samples: Sequence[Sample], summary: LoadSummary) -> list[RatedInterval]:
    """For a load that reports nothing each second: 1, or 0 in a second in which the load waited and the server used
    nearly none of its usual CPU time. Before the first work and after the last, the load may have had nothing to do."""
    inside = [s for s in samples if summary.window_start_ns <= s.monotonic_ns <= summary.window_end_ns]
    cores = cpu_by_second(samples, summary)
    least = limit.STALLED_SHARE * median(cores) if cores else 0.0
    if least < limit.RAN_CORES or len(cores) != len(inside) - 1:
        return []
    waits = [max(s.generator_wanted_cores.values(), default=0.0) < limit.OTHERS_CORES for s in inside[1:]]
    counts = [int(not (used < least and is_idle)) for used, is_idle in zip(cores, waits, strict=True)]
    rated = [
        RatedInterval(
            monotonic_ns=s.monotonic_ns, t_s=0.0, phase="measure", unit="requests", rows=None, requests=count,
            backlog=None, response_us_p99=None, response_us_max=None,
        )
        for s, count in zip(inside[1:], counts, strict=True)
    ]  # fmt: skip
    worked = [at for at, count in enumerate(counts) if count]
    return rated[worked[0] : worked[-1] + 1] if worked else []


def _stall(intervals: Sequence[RatedInterval], first: int, end: int) -> Stall:
    last = intervals[end - 1]
    before = intervals[first - 1] if first else None
    start_ns = before.monotonic_ns if before else last.monotonic_ns - round(1e9 * (end - first))
    seconds = (last.monotonic_ns - start_ns) / 1e9
    longest = (intervals[end].response_us_max or 0.0) / 1e6 if end < len(intervals) else 0.0
    exact = longest if seconds <= longest <= seconds + EDGE_S else seconds
    return Stall(seconds=exact, start_ns=start_ns, end_ns=last.monotonic_ns)


def halves_of(samples: Sequence[Sample], intervals: Sequence[RatedInterval]) -> tuple[LoadHalf, LoadHalf] | None:
    """None if something was not counted. intervals: those inside it."""
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
    # The start of the first interval is not known exactly.
    start_ns, end_ns = intervals[0].monotonic_ns, intervals[-1].monotonic_ns
    seconds = (end_ns - start_ns) / 1e9
    use = measure_window(samples, start_ns, end_ns)
    if use.server_cpu_cores is None or use.server_system_cores is None or use.server_page_faults_per_s is None:
        return None
    return LoadHalf(
        count=float(sum(i.count for i in intervals[1:])),
        cpu_us=use.server_cpu_cores * seconds * 1e6,
        system_us=use.server_system_cores * seconds * 1e6,
        page_faults=use.server_page_faults_per_s * seconds,
    )
