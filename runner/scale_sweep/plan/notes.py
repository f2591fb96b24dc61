"""The confounds and notes of a plan: what moves along the axis besides the level, and what cannot be avoided."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from scale_sweep.base.units import counted, format_cpus, format_levels, format_number
from scale_sweep.experiment.axes import axis_of
from scale_sweep.machine.host.host_facts import Host
from scale_sweep.machine.host.placement import Topology
from scale_sweep.model.declared import Sweep
from scale_sweep.model.fitted import REACH
from scale_sweep.model.planned import NUMA_SPREAD, SLOW_CORES, SMT_WITHIN, Confound, Trial
from scale_sweep.model.resources import Placement
from scale_sweep.plan.data_sets import data_key, makers
from scale_sweep.server.targets import Facts

CONNECTIONS_EACH = 8  # connections for each CPU of the load generator, above which the plan warns


def confounds(
    sweep: Sweep, knobs: Sequence[Mapping[float, Mapping[str, str]]], granted: Set[str]
) -> tuple[Confound, ...]:
    """Every knob that moves along the axis by a rule. granted: knobs that the level itself sets."""
    by_knob: dict[str, Confound] = {}
    for by_level in knobs:
        for name in dict.fromkeys(name for at_level in by_level.values() for name in at_level):
            values = tuple(by_level[level].get(name, "") for level in sweep.levels)
            if name in granted or len(set(values)) < 2:
                continue
            steps = ", ".join(f"{v} at {format_number(n)}" for n, v in zip(sweep.levels, values, strict=True))
            sentence = f"{name} moves with the {sweep.axis} ({steps}): the curve shows both, not the {sweep.axis} alone"
            by_knob.setdefault(name, Confound(knob=name, values=values, sentence=sentence))
    return tuple(by_knob.values())


class _CpuChange(NamedTuple):
    knob: str
    count: Callable[[Placement], int]
    sentence: str  # of the last level
    better: str  # what the levels before have
    is_known: Callable[[Placement], bool] = lambda placement: False  # at all levels: another confound has said it


_LESS = "from there on a step of the curve is less than a core"
_CPU_CHANGES = (
    _CpuChange(
        SMT_WITHIN,
        lambda p: len(p.smt_cpus),
        f"the server has SMT siblings of cores that it has already ({{smt}} at {{level}}): {_LESS}",
        "whole cores",
    ),
    _CpuChange(
        SLOW_CORES,
        lambda p: len(p.slow_cpus),
        f"the server has cores of a slower kind ({{slow}} at {{level}}): {_LESS}",
        "cores of the fastest kind alone",
    ),
    _CpuChange(
        "SMT between server and load generator",
        lambda p: len(p.sibling_cpus),
        "the load generator's CPU {siblings} is an SMT sibling of the server's: both are slower there than at the "
        "other levels",
        "separate cores for server and load generator",
    ),
    _CpuChange(
        NUMA_SPREAD,
        lambda p: max(0, len(p.nodes) - 1),
        "the server's CPUs are on {nodes}: part of its memory is remote there",
        "one node",
    ),
    _CpuChange(
        "the server's L3 domains",
        lambda p: max(0, len(p.l3_domains) - 1),
        "the server's CPUs are in several L3 domains ({domains} at {level}): shared data moves between caches",
        "one L3 domain",
        lambda p: len(p.l3_domains) == len(p.nodes),
    ),
    _CpuChange(
        "L3 between server and load generator",
        lambda p: len(p.shared_l3_domains),
        "the load generator has CPUs in an L3 domain of the server: they compete for its cache there",
        "separate L3 domains",
        lambda p: bool(p.shared_l3_domains) == (len(p.nodes) > 1),
    ),
)


def cpu_confounds(sweep: Sweep, trials: Sequence[Trial]) -> Iterator[Confound]:
    """Differences of the levels' CPUs besides their number."""
    at = {trial.level: trial.placement for trial in sorted(trials, key=lambda t: t.level)}
    for change in _CPU_CHANGES:
        counts = {level: change.count(placement) for level, placement in at.items()}
        if len(set(counts.values())) < 2 or all(map(change.is_known, at.values())):
            continue
        levels = tuple(level for level, count in counts.items() if count)
        last, most = at[levels[-1]], len(at[levels[-1]].nodes)
        is_same = len({len(at[level].nodes) for level in levels}) == 1
        sentence = change.sentence.format(
            level=format_number(levels[-1]),
            smt=format_cpus(last.smt_cpus),
            slow=format_cpus(last.slow_cpus),
            siblings=format_cpus(last.sibling_cpus),
            nodes=f"{most} NUMA nodes" if is_same else f"several NUMA nodes ({most} at {format_number(levels[-1])})",
            domains=len(last.l3_domains),
        )
        before = tuple(level for level in at if level < levels[0])
        yield Confound(
            knob=change.knob,
            values=tuple(map(str, counts.values())),
            sentence=f"at {format_levels(levels)} {sweep.axis} {sentence}",
            remedy=f"{format_levels(before)} {sweep.axis} have {change.better}" if before else "",
        )


def notes(sweep: Sweep, trials: Sequence[Trial], facts_of: Mapping[str, Facts]) -> Iterator[str]:
    """Sentences about what the plan could not avoid. facts_of: by target."""
    if any(facts.is_simulated for facts in facts_of.values()):
        yield "simulated: no database and no CPUs of a server were measured; the rates follow the law of --knob law"
    yield from _unanswered(trials, facts_of)
    if sweep.equal_durability:
        for name, facts in facts_of.items():
            of_target = [t for t in trials if t.subject.target == name]
            yield f"equal durability: {name} {_durability_of(facts, of_target)}"
    yield from _shared(sweep, trials)
    if in_a_row := sorted({t.work.data.requests_per_table for t in trials} - {1}):
        numbers = " or ".join(f"{number:,}" for number in in_a_row)
        yield f"{numbers} requests of a table come before the next table's: tables are not written in turn"
    if sweep.ablation and not any(t.role == "ablation" for t in trials):
        yield "--ablation: no knob moves along the axis, so there is nothing to split"
    yield from _rows_before(trials)
    if far := tuple(level for level in sweep.predict if level > REACH * max(sweep.levels)):
        yield (
            f"--predict {format_levels(far)}: no rate is predicted beyond {REACH:g} times the highest level; measure a "
            f"level of {format_number(max(far) / REACH)} or more, or leave them out"
        )
    if sweep.replicates < 2 and sweep.until_ci_percent is None:
        yield "one replicate: the noise cannot be distinguished from the scaling"


def _unanswered(trials: Sequence[Trial], facts_of: Mapping[str, Facts]) -> Iterator[str]:
    used = sorted({(t.subject.target, t.subject.method) for t in trials}, key=lambda u: list(facts_of).index(u[0]))
    for name, method in used:
        if method in facts_of[name].unanswered:
            yield (
                f"{name}: the method {method} has no answers: there are no response times, rows are those that the "
                "database counts at the end, and a request that was lost is not noticed before"
            )


def _durability_of(facts: Facts, trials: Sequence[Trial]) -> str:
    if any(t.subject.method in facts.unanswered for t in trials):
        return "acknowledges nothing by this method, so nothing is set"
    if facts.fsynced is None:
        return f"has no setting for it: when it answers, rows are {facts.acknowledged}"
    if any(t.subject.endpoint for t in trials):
        return "is a server that runs already, whose settings stay as they are"
    other = {k: v for t in trials for k, v in t.knobs.items() if k in facts.fsynced and v != facts.fsynced[k]}
    if other:
        return f"keeps {', '.join(f'{k}={v}' for k, v in other.items())}, as configured"
    how = ", ".join(f"{k}={v}" for k, v in facts.fsynced.items()) or "its default"
    return f"answers when rows are fsynced ({how})"


def _shared(sweep: Sweep, trials: Sequence[Trial]) -> Iterator[str]:
    if sweep.shares_cpus:
        yield "the load generator runs on the server's CPUs (--generator-cpus shared): the rate is that of both"
        return
    reason = "because of --generator-cpus" if sweep.generator_cpus else "this machine has too few for both"
    for cpus in sorted({t.placement.shared for t in trials if t.placement.shared}):
        cores = tuple(sorted({t.cores for t in trials if t.placement.shared == cpus}))
        at = f"{format_levels(cores)} {'core' if cores == (1.0,) else 'cores'}"
        yield f"at {at} the load generator shares CPU {format_cpus(cpus)} with the server: {reason}"


def _rows_before(trials: Sequence[Trial]) -> Iterator[str]:
    works = {t.work.preload_rows: t.work for t in trials if t.work.preload_rows}
    if not works:
        return
    rows = " or ".join(f"{count:,}" for count in sorted(works))
    sets, alone = len(makers(trials)), any(not data_key(t) for t in trials)
    each = "every trial loads them" if alone else "every trial gets a copy of the files"
    times = "once" if sets == 1 else f"{sets} times, once for each kind of files"
    once = f"they are loaded {times}, and " if sets else ""
    cache = {"warm": ", and reads all of them before its load", "cold": ", none of which is in memory"}
    caches = {t.work.cache for t in trials}
    after = cache.get(caches.pop(), "") if len(caches) == 1 else ""
    yield f"--preload: {rows} rows are there before each load; {once}{each}{after}"


def cpu_notes(sweep: Sweep, trials: Sequence[Trial], host: Host) -> Iterator[str]:
    at = {trial.level: trial.placement for trial in trials}
    siblings = {placement.sibling_cpus for placement in at.values()}
    if len(siblings) == 1 and (cpus := siblings.pop()):
        yield f"the load generator's CPU {format_cpus(cpus)} is an SMT sibling of the server's: they share a core"
    domains = {len(placement.shared_l3_domains) for placement in at.values()}
    if len(domains) == 1 and (count := domains.pop()):
        yield f"the load generator has CPUs in {counted(count, 'L3 domain')} of the server: they share the cache"
    yield from _small_generator(sweep, trials)
    yield from _edges(sweep, trials, host)


def _small_generator(sweep: Sweep, trials: Sequence[Trial]) -> Iterator[str]:
    """A search needs many connections at a lower rate, and its steps say if the load generator could not keep up."""

    def connections(trial: Trial) -> int:
        return trial.work.connections(trial.load.connections)

    here = [trial for trial in trials if trial.placement.generator_cpus and not trial.load.searches]
    many = {t.level: t for t in here if connections(t) > CONNECTIONS_EACH * len(t.placement.generator_cpus)}
    if many:
        generator = counted(len(many[max(many)].placement.generator_cpus), "CPU")
        most = counted(max(map(connections, many.values())), "connection")
        yield (
            f"at {format_levels(tuple(sorted(many)))} {sweep.axis} the load generator has {generator} for up to "
            f"{most}: more than {CONNECTIONS_EACH} for each may make it the bottleneck (GENERATOR_BOUND); fewer cores "
            "for the server, or --generator-cpus, give it more"
        )


def _edges(sweep: Sweep, trials: Sequence[Trial], host: Host) -> Iterator[str]:
    by_cores = {trial.cores: trial.placement for trial in trials}
    if len(by_cores) < 2 or any(trial.level != trial.cores for trial in trials):
        return
    known = [cpu for cpu in by_cores[max(by_cores)].server_cpus if cpu in host.allowed]
    missing = [(n, what) for n, what in Topology(host).changes(known) if min(by_cores) < n and n not in by_cores]
    if missing:
        kinds = dict.fromkeys(what for _, what in missing)
        parts = [f"{what} after {format_levels(tuple(float(n) for n, w in missing if w == what))}" for what in kinds]
        levels = format_levels(tuple(sorted({*by_cores, *(float(n) for n, _ in missing)})))
        flag = axis_of(sweep.axis).facts.flag
        yield f"other CPUs begin between the levels ({', '.join(parts)}): {flag} {levels} has a level at each edge"
