"""CPU time that others took, here and on other hosts; and late requests."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import median

from scale_sweep.judge.figures.counts_per_second import divided
from scale_sweep.judge.figures.window import counter_at
from scale_sweep.judge.verdict.evidence import OF_LOAD, OF_SERVER, HostUse, Lateness, ResourceUse, TakenCpus
from scale_sweep.model.loads import Interval, LoadSummary
from scale_sweep.model.planned import Trial
from scale_sweep.model.samples import HostFigures, HostNetwork, HostSample, Sample

PERCENTILES = ("p99", "p95", "p50")  # the first with enough requests


def taken_cpus(trial: Trial, use: ResourceUse, client: float | None) -> tuple[TakenCpus, ...]:
    """client: cores that the load generator used. CPUs that both share are taken together with all CPUs of both."""
    placement, server = trial.placement, use.server_cpu_cores
    if placement.shared:
        both = tuple(sorted({*placement.server_cpus, *placement.generator_cpus}))
        own = server + client if server is not None and client is not None else None
        groups = [("the server's and the load generator's", both, own)]
    else:
        groups = [
            (OF_SERVER, placement.server_cpus, server),
            (OF_LOAD, placement.generator_cpus, client),
        ]
    return tuple(
        _taken(whose, cpus, own, use)
        for whose, cpus, own in groups
        if own is not None and cpus and set(cpus) <= set(use.cpus)
    )


def _taken(whose: str, cpus: tuple[int, ...], own: float, use: ResourceUse) -> TakenCpus:
    busy = sum(use.cpus[cpu] for cpu in cpus)
    stolen = sum(use.cpus_stolen.get(cpu, 0.0) for cpu in cpus)
    return TakenCpus(whose=whose, cpus=len(cpus), others=max(0.0, busy - own), stolen=stolen)


def lateness(trial: Trial, summary: LoadSummary) -> tuple[Lateness, ...]:
    """At the objective's percentiles, beside their limits; else at the highest with enough requests, beside the
    response time. Empty in a closed loop."""
    late = summary.late
    if late is None:
        return ()
    if trial.load.objective is not None:
        return tuple(
            Lateness(percentile=clause.quantity, late_ms=own / 1e3, of_ms=clause.limit, has_objective=True)
            for clause in trial.load.objective.clauses
            if (own := getattr(late, f"{clause.quantity}_us", None)) is not None
        )
    for name in PERCENTILES:
        own, response = getattr(late, f"{name}_us"), getattr(summary.response, f"{name}_us")
        if own is not None and response is not None:
            return (Lateness(percentile=name, late_ms=own / 1e3, of_ms=response / 1e3, has_objective=False),)
    return ()


def paused_s(intervals: Sequence[Interval], summary: LoadSummary) -> float:
    """The longest time in which the load generator itself did nothing: a worker was late without an answer outstanding,
    or a report came so much later than usual. A server that stands still makes neither late."""
    late = summary.late.max_us if summary.late is not None else None
    gaps = [(new.monotonic_ns - old.monotonic_ns, old, new) for old, new in pairwise(intervals)]
    usual = median([gap for gap, _, _ in gaps] or [0])
    touching = (
        gap
        for gap, old, new in gaps
        if old.monotonic_ns < summary.window_end_ns and new.monotonic_ns > summary.window_start_ns
    )
    return max((late or 0.0) / 1e6, (max(touching, default=0) - usual) / 1e9)


IDLE = 0.1  # share of what it usually wants that a stopped load may still seem to want


def stopped_s(samples: Sequence[Sample], start_ns: int, end_ns: int) -> float:
    """The longest time in which a foreign load stood stopped: from the first sample that saw it so to the last, with
    the part of the second before and after in which its busiest thread wanted no CPU. One that waits for its server is
    not stopped."""
    pairs = list(pairwise(s for s in samples if start_ns <= s.monotonic_ns <= end_ns))
    usual = median([_wanted(pair[1]) for pair in pairs if not any(one.generator_stopped for one in pair)] or [0.0])
    longest = stopped = 0.0
    for old, new in pairs:
        was, is_now = bool(old.generator_stopped), bool(new.generator_stopped)
        lacks = max(0.0, 1.0 - _wanted(new) / usual) if usual > 0 else (was + is_now) / 2  # not known: half of an edge
        seconds = (new.monotonic_ns - old.monotonic_ns) / 1e9 * lacks if was or is_now else 0.0
        only_a_part = was and is_now and lacks < 1.0 - IDLE  # other processes of it went on
        stopped = 0.0 if only_a_part else seconds + (stopped if was else 0.0)
        longest = max(longest, stopped)
    return longest


def _wanted(sample: Sample) -> float:
    return max(sample.generator_wanted_cores.values(), default=0.0)


class HostSeries:
    """networks: what streams reached before the first trial."""

    def __init__(self, samples: Sequence[Sample], networks: Sequence[HostNetwork]) -> None:
        self._series, self._networks = _by_host(samples), {one.host: one for one in networks}

    def uses(self, start_ns: int, end_ns: int) -> tuple[HostUse, ...]:
        """From start_ns to end_ns (monotonic)."""
        return tuple(
            _use(name, _around(series, start_ns, end_ns), self._networks.get(name), start_ns, end_ns)
            for name, series in self._series.items()
        )


def _around(series: Sequence[HostSample], start_ns: int, end_ns: int) -> Sequence[HostSample]:
    first = bisect_left(series, start_ns, key=lambda sample: sample.monotonic_ns)
    last = bisect_right(series, end_ns, key=lambda sample: sample.monotonic_ns)
    return series[max(0, first - 1) : last + 1]


def _by_host(samples: Sequence[Sample]) -> Mapping[str, list[HostSample]]:
    series: dict[str, list[HostSample]] = {}
    for sample in samples:
        for name, one in sample.hosts.items():
            before = series.setdefault(name, [])
            if not before or one.monotonic_ns > before[-1].monotonic_ns:
                before.append(one)
    return series


def _use(name: str, series: Sequence[HostSample], network: HostNetwork | None, start_ns: int, end_ns: int) -> HostUse:
    seconds = (end_ns - start_ns) / 1e9

    def rate(counter: Callable[[HostSample], float | None]) -> float | None:
        first, last = counter_at(series, counter, start_ns), counter_at(series, counter, end_ns)
        return (last - first) / seconds if first is not None and last is not None and seconds > 0 else None

    load, busy = rate(lambda s: s.load_cpu_s_total), rate(lambda s: s.busy_cpu_s_total)
    sent, again = rate(lambda s: s.segments_total), rate(lambda s: s.segments_again_total)
    return HostUse(
        name=name,
        cpus=series[-1].cpus,
        load_cpu_cores=load,
        other_cpu_cores=max(0.0, busy - load) if busy is not None and load is not None else None,
        stolen_cpu_cores=rate(lambda s: s.stolen_cpu_s_total),
        sent_per_s=rate(lambda s: s.sent_bytes_total),
        received_per_s=rate(lambda s: s.received_bytes_total),
        sent_most_per_s=network.sent_bytes_per_s if network else None,
        received_most_per_s=network.received_bytes_per_s if network else None,
        resent=again / (sent + again) if sent is not None and again is not None and sent + again > 0 else None,
    )


def taken_on_hosts(uses: Sequence[HostUse]) -> tuple[TakenCpus, ...]:
    return tuple(
        TakenCpus(whose=f"{use.name}'s", cpus=use.cpus, others=use.other_cpu_cores, stolen=use.stolen_cpu_cores or 0.0)
        for use in uses
        if use.cpus and use.other_cpu_cores is not None
    )


def host_figures(uses: Sequence[HostUse]) -> Mapping[str, HostFigures]:
    """By name."""
    return {
        use.name: HostFigures(
            cpus=use.cpus,
            load_cpu_cores=use.load_cpu_cores if use.cpus else None,
            other_cpu_cores=use.other_cpu_cores if use.cpus else None,
            stolen_cpu_cores=use.stolen_cpu_cores if use.cpus else None,
            sent_mb_per_s=divided(use.sent_per_s, 1e6),
            received_mb_per_s=divided(use.received_per_s, 1e6),
            network_percent=max((100 * share for share in use.network.values()), default=None),
            resent_percent=100 * use.resent if use.resent is not None else None,
        )
        for use in uses
    }
