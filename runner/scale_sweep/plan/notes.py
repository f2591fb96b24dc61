"""The confounds and notes of a plan: what moves along the axis besides the level, and what a plan cannot avoid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from scale_sweep.base.units import format_cpus, format_levels, format_number
from scale_sweep.model import Confound, Sweep, Trial
from scale_sweep.plan.data_sets import data_key, makers
from scale_sweep.server.targets import Facts


def confounds(
    sweep: Sweep, knobs: Sequence[Mapping[float, Mapping[str, str]]], granted: Set[str]
) -> tuple[Confound, ...]:
    """Every knob that moves along the axis by a rule. knobs: by level, of each subject. granted: knobs that the level
    itself sets, which are what is swept."""
    by_knob: dict[str, Confound] = {}
    for by_level in knobs:
        names = dict.fromkeys(name for at_level in by_level.values() for name in at_level)
        for name in (n for n in names if n not in granted):
            values = tuple(by_level[level].get(name, "") for level in sweep.levels)
            if len(set(values)) > 1:
                by_knob.setdefault(name, _confound(sweep, name, values))
    return tuple(by_knob.values())


def _confound(sweep: Sweep, name: str, values: tuple[str, ...]) -> Confound:
    steps = ", ".join(f"{v} at {format_number(n)}" for n, v in zip(sweep.levels, values, strict=True))
    return Confound(
        knob=name,
        values=values,
        sentence=f"{name} moves with the {sweep.axis} ({steps}): the curve shows both, not the {sweep.axis} alone",
    )


def notes(sweep: Sweep, trials: Sequence[Trial], facts_of: Mapping[str, Facts]) -> tuple[str, ...]:
    """Sentences about what the plan could not avoid. facts_of: each target's, by its name."""
    sentences = unanswered(trials, facts_of) + durability(sweep, trials, facts_of)
    sentences += _shared(sweep, trials)
    in_a_row = sorted({t.work.data.requests_per_table for t in trials} - {1})
    if in_a_row:
        numbers = " or ".join(f"{number:,}" for number in in_a_row)
        sentences.append(f"{numbers} requests of a table come before the next table's: tables are not written in turn")
    if sweep.ablation and not any(t.role == "ablation" for t in trials):
        sentences.append("--ablation: no knob moves along the axis, so there is nothing to split")
    sentences += _rows_before(trials)
    if sweep.replicates < 2 and sweep.until_ci_percent is None:
        sentences.append("one replicate: the noise cannot be distinguished from the scaling")
    return tuple(sentences)


def _shared(sweep: Sweep, trials: Sequence[Trial]) -> list[str]:
    if sweep.shares_cpus:
        return ["the load generator runs on the server's CPUs (--generator-cpus shared): the rate is that of both"]
    reason = "because of --generator-cpus" if sweep.generator_cpus else "this machine has too few for both"
    sentences = []
    for cpus in sorted({t.placement.shared for t in trials if t.placement.shared}):
        cores = tuple(sorted({t.cores for t in trials if t.placement.shared == cpus}))
        at = f"{format_levels(cores)} {'core' if cores == (1.0,) else 'cores'}"
        sentences.append(f"at {at} the load generator shares CPU {format_cpus(cpus)} with the server: {reason}")
    return sentences


def _rows_before(trials: Sequence[Trial]) -> list[str]:
    """A sentence about the loading of the --preload rows, and about their cache; empty without them."""
    works = {t.work.preload_rows: t.work for t in trials if t.work.preload_rows}
    if not works:
        return []
    rows = " or ".join(f"{count:,}" for count in sorted(works))
    sets, alone = len(makers(trials)), any(not data_key(t) for t in trials)
    each = "every trial loads them" if alone else "every trial gets a copy of the files"
    once = (
        f"they are loaded {'once' if sets == 1 else f'{sets} times, once for each kind of files'}, and " if sets else ""
    )
    cache = {"warm": ", and reads all of them before its load", "cold": ", none of which is in memory"}
    caches = sorted({t.work.cache for t in trials})
    after = "".join(cache.get(one, "") for one in caches) if len(caches) == 1 else ""
    return [f"--preload: {rows} rows are there before each load; {once}{each}{after}"]


def unanswered(trials: Sequence[Trial], facts_of: Mapping[str, Facts]) -> list[str]:
    """A sentence for each target and method without answers. facts_of: each target's, by its name."""
    used = sorted({(t.subject.target, t.subject.method) for t in trials}, key=lambda u: list(facts_of).index(u[0]))
    return [
        f"{name}: the method {method} has no answers: there are no response times, rows are those that the database "
        "counts at the end, and a request that was lost is not noticed before"
        for name, method in used
        if method in facts_of[name].unanswered
    ]


def durability(sweep: Sweep, trials: Sequence[Trial], facts_of: Mapping[str, Facts]) -> list[str]:
    """Sentences about the effect of --equal-durability on each target."""
    if not sweep.equal_durability:
        return []
    sentences = []
    for name, facts in facts_of.items():
        mine = [t for t in trials if t.subject.target == name]
        sentences.append(f"equal durability: {name} {_durability_of(facts, mine)}")
    return sentences


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
