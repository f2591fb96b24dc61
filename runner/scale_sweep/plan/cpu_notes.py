"""The confounds and notes of a plan about its CPUs: what the levels' CPUs are besides their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from scale_sweep.base.units import counted, format_cpus, format_levels, format_number
from scale_sweep.experiment.axes import axis_of
from scale_sweep.machine.host import Host
from scale_sweep.machine.host.placement import Topology
from scale_sweep.model import NUMA_SPREAD, SLOW_CORES, SMT_WITHIN, Confound, Placement, Sweep, Trial

CONNECTIONS_EACH = 8  # connections for each CPU of the load generator, above which the plan warns
Count = Callable[[Placement], int]


def cpu_confounds(sweep: Sweep, trials: Sequence[Trial]) -> tuple[Confound, ...]:
    at = {trial.level: trial.placement for trial in sorted(trials, key=lambda t: t.level)}
    candidates = (
        _smt(sweep, at),
        _slow(sweep, at),
        _siblings(sweep, at),
        _nodes(sweep, at),
        _domains(sweep, at),
        _shared_domains(sweep, at),
    )
    return tuple(confound for confound in candidates if confound is not None)


def cpu_notes(sweep: Sweep, trials: Sequence[Trial], host: Host) -> tuple[str, ...]:
    """Sentences about what is the same at every level, and so is no confound, and about levels worth adding."""
    at = {trial.level: trial.placement for trial in trials}
    return (*_always_shared(at), *_small_generator(sweep, trials), *_edges(sweep, trials, host))


def _always_shared(at: Mapping[float, Placement]) -> Iterator[str]:
    siblings = {placement.sibling_cpus for placement in at.values()}
    if len(siblings) == 1 and (cpus := siblings.pop()):
        yield f"the load generator's CPU {format_cpus(cpus)} is an SMT sibling of the server's: they share a core"
    domains = {len(placement.shared_l3_domains) for placement in at.values()}
    if len(domains) == 1 and (count := domains.pop()):
        yield f"the load generator has CPUs in {counted(count, 'L3 domain')} of the server: they share the cache"


def _small_generator(sweep: Sweep, trials: Sequence[Trial]) -> Iterator[str]:
    """A sentence if the load generator has few CPUs for its connections. On hosts of its own it has all of theirs. A
    search needs many connections at a lower rate, and each of its steps says if the load generator could not keep up.
    """
    here = [trial for trial in trials if trial.placement.generator_cpus and not trial.load.searches]
    many = {t.level: t for t in here if _connections(t) > CONNECTIONS_EACH * len(t.placement.generator_cpus)}
    if many:
        cpus = counted(len(many[max(many)].placement.generator_cpus), "CPU")
        most = counted(max(map(_connections, many.values())), "connection")
        yield (
            f"at {format_levels(tuple(sorted(many)))} {sweep.axis} the load generator has {cpus} for up to {most}: "
            f"more than {CONNECTIONS_EACH} for each may make it the bottleneck (GENERATOR_BOUND); fewer cores for the "
            "server, or --generator-cpus, give it more"
        )


def _connections(trial: Trial) -> int:
    return trial.work.connections(trial.load.connections)


def _edges(sweep: Sweep, trials: Sequence[Trial], host: Host) -> Iterator[str]:
    """A sentence about core counts between the levels after which other CPUs begin, if the sweep varies the cores."""
    by_cores = {trial.cores: trial.placement for trial in trials}
    if len(by_cores) < 2 or any(trial.level != trial.cores for trial in trials):
        return
    largest = by_cores[max(by_cores)]
    known = [cpu for cpu in largest.server_cpus if cpu in host.allowed]
    missing = [(n, what) for n, what in Topology(host).changes(known) if min(by_cores) < n and n not in by_cores]
    if missing:
        kinds = dict.fromkeys(what for _, what in missing)
        parts = [f"{what} after {format_levels(tuple(float(n) for n, w in missing if w == what))}" for what in kinds]
        levels = format_levels(tuple(sorted({*by_cores, *(float(n) for n, _ in missing)})))
        flag = axis_of(sweep.axis).facts.flag
        yield f"other CPUs begin between the levels ({', '.join(parts)}): {flag} {levels} has a level at each edge"


def _smt(sweep: Sweep, at: Mapping[float, Placement]) -> Confound | None:
    moved = _moved(at, lambda p: len(p.smt_cpus))
    if not moved:
        return None
    values, levels = moved
    last = at[levels[-1]]
    return Confound(
        knob=SMT_WITHIN,
        values=values,
        sentence=f"at {format_levels(levels)} {sweep.axis} the server has SMT siblings of cores that it has already "
        f"({format_cpus(last.smt_cpus)} at {format_number(levels[-1])}): from there on a step of the curve is less "
        "than a core",
        remedy=_up_to(sweep, at, levels, "whole cores"),
    )


def _siblings(sweep: Sweep, at: Mapping[float, Placement]) -> Confound | None:
    moved = _moved(at, lambda p: len(p.sibling_cpus))
    if not moved:
        return None
    values, levels = moved
    cpus = at[levels[-1]].sibling_cpus
    return Confound(
        knob="SMT between server and load generator",
        values=values,
        sentence=f"at {format_levels(levels)} {sweep.axis} the load generator's CPU {format_cpus(cpus)} is an SMT "
        "sibling of the server's: both are slower there than at the other levels",
        remedy=_up_to(sweep, at, levels, "separate cores for server and load generator"),
    )


def _nodes(sweep: Sweep, at: Mapping[float, Placement]) -> Confound | None:
    moved = _moved(at, lambda p: max(0, len(p.nodes) - 1))
    if not moved:
        return None
    values, levels = moved
    most = len(at[levels[-1]].nodes)
    is_same = all(len(at[level].nodes) == most for level in levels)
    nodes = f"{most} NUMA nodes" if is_same else f"several NUMA nodes ({most} at {format_number(levels[-1])})"
    return Confound(
        knob=NUMA_SPREAD,
        values=values,
        sentence=f"at {format_levels(levels)} {sweep.axis} the server's CPUs are on {nodes}: part of its memory is "
        "remote there",
        remedy=_up_to(sweep, at, levels, "one node"),
    )


def _domains(sweep: Sweep, at: Mapping[float, Placement]) -> Confound | None:
    """None too if the domains are those of the NUMA nodes, whose confound says it."""
    if all(len(placement.l3_domains) == len(placement.nodes) for placement in at.values()):
        return None
    moved = _moved(at, lambda p: max(0, len(p.l3_domains) - 1))
    if not moved:
        return None
    values, levels = moved
    return Confound(
        knob="the server's L3 domains",
        values=values,
        sentence=f"at {format_levels(levels)} {sweep.axis} the server's CPUs are in several L3 domains "
        f"({len(at[levels[-1]].l3_domains)} at {format_number(levels[-1])}): shared data moves between caches",
        remedy=_up_to(sweep, at, levels, "one L3 domain"),
    )


def _shared_domains(sweep: Sweep, at: Mapping[float, Placement]) -> Confound | None:
    """None too if they are shared exactly at the levels with several NUMA nodes, whose confound names them."""
    moved = _moved(at, lambda p: len(p.shared_l3_domains))
    if not moved or all(bool(p.shared_l3_domains) == (len(p.nodes) > 1) for p in at.values()):
        return None
    values, levels = moved
    return Confound(
        knob="L3 between server and load generator",
        values=values,
        sentence=f"at {format_levels(levels)} {sweep.axis} the load generator has CPUs in an L3 domain of the server: "
        "they compete for its cache there",
        remedy=_up_to(sweep, at, levels, "separate L3 domains"),
    )


def _slow(sweep: Sweep, at: Mapping[float, Placement]) -> Confound | None:
    moved = _moved(at, lambda p: len(p.slow_cpus))
    if not moved:
        return None
    values, levels = moved
    cpus = at[levels[-1]].slow_cpus
    return Confound(
        knob=SLOW_CORES,
        values=values,
        sentence=f"at {format_levels(levels)} {sweep.axis} the server has cores of a slower kind "
        f"({format_cpus(cpus)} at {format_number(levels[-1])}): from there on a step of the curve is less than a core",
        remedy=_up_to(sweep, at, levels, "cores of the fastest kind alone"),
    )


def _moved(at: Mapping[float, Placement], count: Count) -> tuple[tuple[str, ...], tuple[float, ...]] | None:
    """The count at each level, and the levels that have one; None if it is the same at all levels."""
    counts = {level: count(placement) for level, placement in at.items()}
    if len(set(counts.values())) < 2:
        return None
    return tuple(map(str, counts.values())), tuple(level for level, n in counts.items() if n)


def _up_to(sweep: Sweep, at: Mapping[float, Placement], levels: Sequence[float], what: str) -> str:
    before = [level for level in at if level < levels[0]]
    return f"{format_levels(tuple(before))} {sweep.axis} have {what}" if before else ""
