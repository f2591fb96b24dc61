"""Trials of --prove: which resources each can disturb, and why not the others. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from scale_sweep.analysis.proof import schedule
from scale_sweep.base.errors import UsageError
from scale_sweep.base.units import format_levels
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model.declared import Sweep
from scale_sweep.model.planned import Trial
from scale_sweep.model.proof import DISTURBED_S, RESOURCES
from scale_sweep.plan.extra_trials import at_ends

_WARMUP_S = 5.0
_AROUND_S = 2.0  # a second before the first phase and one after the last


def proofs_of(sweep: Sweep, trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """Raises UsageError for a resource that was asked for and that no level can disturb."""
    if not sweep.prove:
        return ()
    made = tuple(_proof(sweep, trial) for trial in at_ends(trials, "proof"))
    is_named = sweep.origin.get("method.prove") != "default" and sweep.prove != load_axis(sweep.axis).proves
    never = [(made[-1], one) for one in sweep.prove if is_named and all(one not in trial.disturbed for trial in made)]
    empty = [(trial, sweep.prove[0]) for trial in made if not trial.disturbed]
    for trial, resource in never + empty:
        raise UsageError(f"--prove {resource}: {why_not(trial, resource)}", remedy="leave it out")
    return made


def _proof(sweep: Sweep, trial: Trial) -> Trial:
    disturbed = tuple(resource for resource in sweep.prove if not why_not(trial, resource))
    phases = schedule(disturbed, DISTURBED_S) if disturbed else ()
    window_s = sum(phase.seconds for phase in phases) + _AROUND_S
    load = replace(trial.load, duration_s=window_s, window_max_s=None, may_discard=False, carries_claim=False)
    if load.rows is not None:  # chosen for the memory of this machine: it has no warm-up
        load = replace(load, rows=None, rows_by_level=False, warmup_s=_WARMUP_S, warmup_least_s=None)
    return replace(trial, load=replace(load, trace_every=0), disturbed=disturbed)


def why_not(trial: Trial, resource: str) -> str:
    """Why this trial cannot disturb it; "" if it can."""
    return _OBSTACLES[resource](trial) if resource in _OBSTACLES else ""


def _of_load(trial: Trial) -> str:
    if not trial.placement.generator_cpus:
        return "the CPUs of the load generator are not known"
    return _SHARED if trial.placement.shared else ""


def _of_clients(trial: Trial) -> str:
    many = trial.work.connections(trial.load.connections)
    if not trial.load.is_ours or many != trial.load.connections:
        return "only scale's load holds connections back, and only those that all operations share"
    return "" if many > 1 else "the load has one connection, which must stay"


_QUOTA = "a server with a part of a core has a quota, which a program beside it does not use"
_SHARED = "server and load generator share their CPUs, so a program there disturbs both"
_MEMORY = "the part of the memory bandwidth that a program takes is not known, and no CPU may be free for it"
_OBSTACLES: dict[str, Callable[[Trial], str]] = {
    "cpu": lambda trial: _QUOTA if trial.placement.quota_cores is not None else "",
    "load": _of_load,
    "clients": _of_clients,
    "memory": lambda trial: _MEMORY,
}


def proof_notes(sweep: Sweep, trials: Sequence[Trial]) -> Iterator[str]:
    """Resources that the proofs of some levels leave out."""
    proofs = [trial for trial in trials if trial.role == "proof"]
    for resource in sweep.prove:
        lacking = [trial for trial in proofs if resource not in trial.disturbed]
        if lacking:
            where = load_axis(sweep.axis).count(format_levels(tuple(trial.level for trial in lacking)))
            yield f"--prove leaves out {RESOURCES[resource]} at {where}: {why_not(lacking[0], resource)}"
