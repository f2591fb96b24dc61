"""Plans a sweep, two as the variants of `scale ab`, or a stored run, with the findings before anything starts."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import PreflightError, UsageError
from scale_sweep.base.units import counted, format_bytes
from scale_sweep.machine.host.block_devices import RamDirectory
from scale_sweep.machine.host.child_programs import ESTIMATES_SPEED
from scale_sweep.machine.host.host_facts import Host
from scale_sweep.machine.host.placement import Topology
from scale_sweep.model.declared import Subject, Sweep
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.planned import Finding, Plan
from scale_sweep.model.resources import NewPages, ServerSource
from scale_sweep.plan.commands import tool_sentence
from scale_sweep.plan.data_sets import (
    ENOUGH_BYTES,
    equal_rows_sentence,
    held_bytes,
    held_sentence,
    rows_in_cheap_pages,
    trial_bytes,
    with_equal_rows,
)
from scale_sweep.plan.granted import refuse_ungranted, with_constants
from scale_sweep.plan.make import PlannedArm, make_plan, noted, plan_arms
from scale_sweep.plan.power import GUESS, AssumedNoise, blocks_for, replicates_for
from scale_sweep.plan.preparing.assumed import choose_or_assume
from scale_sweep.plan.preparing.choice import (
    ChosenArm,
    Find,
    RequestedServer,
    ServerChoice,
    choose,
    chosen_arms,
    refuse_unable,
    source_of,
    subject_key,
)
from scale_sweep.plan.preparing.data_place import with_data, with_unseen_disk
from scale_sweep.plan.preparing.earlier_runs import noise_of
from scale_sweep.plan.preparing.findings import ordered
from scale_sweep.plan.preparing.machine_findings import dear_pages
from scale_sweep.plan.preparing.machines import OtherMachine, PlannedMachine, machine_of
from scale_sweep.plan.preparing.refusals import refuse_same_server, refuse_unused_settings, refuse_wrong_specs
from scale_sweep.plan.target_defaults import (
    Requested,
    complete,
    left_out,
    more_tables_sentence,
    with_enough_tables,
    with_equal_connections,
)
from scale_sweep.results.store.codec import from_plain
from scale_sweep.results.store.outside import read_reference
from scale_sweep.sweep.ab import as_one, variants_of, words
from scale_sweep.sweep.vary import VARIANT, as_varied


@dataclass(frozen=True, kw_only=True)
class Prepared:
    plan: Plan
    choices: Mapping[str, ServerChoice]  # by `subject_key` of a subject
    host: Host
    data_dir: Path
    results: Path
    ram: RamDirectory | None = None  # the data directory if it is in memory
    findings: tuple[Finding, ...] = ()
    noise: AssumedNoise = GUESS  # of a trial
    new_pages: NewPages | None = None  # if measured
    held_bytes: int = 0  # of memory, for the server
    elsewhere: str = ""  # a sentence about the machine, if it is not this one
    hosts: Mapping[str, Any] = field(default_factory=dict)  # for the manifest
    wait_quiet_s: float = 0.0  # at most, before each trial, until other programs are quiet

    def choice_of(self, subject: RequestedServer) -> ServerChoice:
        return self.choices[subject_key(subject)]


def prepare(sweep: Sweep, results: Path, find: Find = choose, described: Host | None = None) -> Prepared:
    """described: the machine of simulated servers, if it is not this one."""
    here = machine_of(sweep, results, find, described)
    refuse_ungranted(sweep, here.host)
    prepared = prepare_for(sweep, results, here)
    return prepared if described is None else replace(prepared, elsewhere=_machine_words("simulates", here.host))


def prepare_plan(sweep: Sweep, results: Path, described: Host | None = None) -> Prepared:
    """It assumes the servers that this machine lacks."""
    return prepare(sweep, results, choose_or_assume, described)


def prepare_elsewhere(sweep: Sweep, host: Host, results: Path) -> Prepared:
    refuse_ungranted(sweep, host)
    words = _machine_words("planned for", host)
    return replace(prepare_for(sweep, results, OtherMachine(host)), elsewhere=words)


def _machine_words(verb: str, host: Host) -> str:
    top = Topology(host)
    return (
        f"{verb} the machine {host.hostname} ({host.cpu_model}): {counted(len(top.order), 'CPU')}, "
        f"{counted(len(top.cores), 'core')}, {counted(top.domain_count, 'L3 domain')}, "
        f"{counted(len({cpu.node for cpu in host.cpus}), 'NUMA node')}, {format_bytes(host.memory_bytes)}"
    )


def prepare_for(
    sweep: Sweep, results: Path, machine: PlannedMachine, refuse: Callable[[ChosenArm], None] = lambda arm: None
) -> Prepared:
    """Starts nothing. refuse: raises UsageError for a server. Raises PreflightError too."""
    sweep = with_order_seed(sweep)
    read_reference(sweep.reference)
    arms = chosen_arms(sweep, machine.choose)
    for arm in arms:
        refuse_unable(arm.sweep, arm.choice)
        refuse(arm)
    noise = GUESS if isinstance(machine, OtherMachine) else noise_of(results, machine.host, arms[0])
    arms = tuple(replace(arm, sweep=_with_enough_replicates(arm.sweep, len(arms), noise)) for arm in arms)
    choices = {subject_key(arm.sweep): arm.choice for arm in arms}
    plan = _planned(arms, machine.host)
    refuse_unused_settings(plan, arms)
    refuse_wrong_specs(plan, choices)
    pages = _pages_of(plan, machine)
    plan = with_data(_in_cheap_pages(plan, pages, arms, machine), machine.data)
    return replace(_with_findings(plan, choices, machine, results, pages), noise=noise)


def with_order_seed(sweep: Sweep) -> Sweep:
    """The same order in every run would hide the effect of a trial's place in it."""
    return sweep if sweep.order_seed is not None else replace(sweep, order_seed=secrets.randbelow(10**6))


def _with_enough_replicates(sweep: Sweep, arms: int, noise: AssumedNoise) -> Sweep:
    if sweep.detect_percent is None:
        return sweep
    count = replicates_for(sweep.detect_percent, len(sweep.levels) * arms, noise)
    origin = {**sweep.origin, "method.replicates": "detect"}
    return replace(sweep, replicates=count, replicates_max=max(count, sweep.replicates_max), origin=origin)


def _planned(arms: Sequence[ChosenArm], host: Host) -> Plan:
    """Each combination is completed by its own target; all are in every block."""
    by_server = {subject_key(arm.sweep): arm for arm in arms}
    requested = {key: (arm.sweep, arm.choice.facts) for key, arm in by_server.items()}
    completed = with_enough_tables(with_equal_connections(_completed(requested, host), requested), requested)
    swept = [(arm, completed[subject_key(arm.sweep)]) for arm in arms]
    first, requested_first = swept[0][1], arms[0].sweep
    if len(completed) == 1:
        plan = make_plan(first, host, arms[0].choice.facts)
    else:
        subjects = [
            PlannedArm(variant=arm.variant, sweep=as_varied(sweep, arm.variant), facts=arm.choice.facts)
            for arm, sweep in swept
        ]
        work = replace(first.work, operations=requested_first.work.operations)
        plan = plan_arms(replace(first, work=work), host, subjects)
    missing = (left_out(arm.sweep, arm.choice.facts) for arm in by_server.values())
    return noted(plan, *missing, more_tables_sentence(first, requested_first.work.data.tables), tool_sentence(first))


def _completed(requested: Mapping[str, Requested], host: Host) -> dict[str, Sweep]:
    return {
        key: complete(with_constants(sweep, host), facts, host.memory_bytes)
        for key, (sweep, facts) in requested.items()
    }


def _pages_of(plan: Plan, machine: PlannedMachine) -> NewPages | None:
    wanted = trial_bytes(plan)
    return machine.new_pages(wanted) if wanted >= ENOUGH_BYTES else None


def _in_cheap_pages(plan: Plan, pages: NewPages | None, arms: Sequence[ChosenArm], machine: PlannedMachine) -> Plan:
    if pages is None:
        return plan
    estimate = max(arm.choice.facts.rows_per_core_s for arm in arms)
    rows = rows_in_cheap_pages(plan, pages, estimate * machine.speed() / ESTIMATES_SPEED)
    if rows is not None:
        plan = _planned([replace(arm, sweep=with_equal_rows(arm.sweep, rows)) for arm in arms], machine.host)
        plan = noted(plan, equal_rows_sentence(rows))
    return noted(plan, held_sentence(plan, held_bytes(plan, pages)))


def _with_findings(
    plan: Plan, choices: Mapping[str, ServerChoice], machine: PlannedMachine, results: Path, pages: NewPages | None
) -> Prepared:
    data, held = machine.data(plan.sweep.data_dir), held_bytes(plan, pages)
    plan = with_unseen_disk(plan, data)
    return Prepared(
        plan=plan,
        choices=choices,
        host=machine.host,
        data_dir=data.path,
        results=results,
        ram=data.ram,
        findings=ordered([*machine.findings(plan, choices, data), *dear_pages(plan, pages, held)]),
        new_pages=pages,
        held_bytes=held,
    )


def prepare_again(stored: StoredRun, results: Path) -> Prepared:
    described = from_plain(stored.manifest["host"], Host, Path(stored.path)) if stored.plan.is_simulated else None
    return prepare_again_for(stored, results, machine_of(stored.plan.sweep, results, choose, described), "machine")


def prepare_again_for(stored: StoredRun, results: Path, machine: PlannedMachine, what: str) -> Prepared:
    """Raises PreflightError for another machine. what: the machine in words."""
    recorded, current = stored.manifest.get("host"), asdict(machine.host)
    before = recorded if isinstance(recorded, dict) else {}
    for name in ("hostname", "cpu_model", "kernel"):
        if name in before and before[name] != current[name]:
            raise PreflightError(
                f"the run was begun on another {what}: {name} was {before[name]}, is {current[name]}",
                remedy="trials of two machines do not make one curve; start a new sweep",
            )
    subjects: dict[str, Subject] = {subject_key(trial.subject): trial.subject for trial in stored.plan.trials}
    choices = {key: machine.choose(_request_again(subject)) for key, subject in subjects.items()}
    refuse_wrong_specs(stored.plan, choices)
    return _with_findings(stored.plan, choices, machine, results, _pages_of(stored.plan, machine))


def _request_again(subject: Subject) -> Subject:
    """Without the home inside an image, which was not requested."""
    return replace(subject, home="") if source_of(subject.runtime) is ServerSource.IMAGE else subject


def prepare_ab(a: Sweep, b: Sweep, looks: Sequence[int], results: Path) -> Prepared:
    """looks: numbers of blocks after which the run may end."""
    here = machine_of(a, results, choose)
    noise = noise_of(results, here.host, chosen_arms(a)[0])
    if a.detect_percent is not None:
        if len(looks) > 1:
            raise UsageError("--detect: chooses one number of blocks", remedy="leave out --detect, or --blocks")
        looks = (blocks_for(a.detect_percent, len(a.levels), noise),)
    sides = variants_of(a, b, looks)
    seeded = with_order_seed(sides[0])
    arms = {
        name: chosen_arms(replace(sweep, order_seed=seeded.order_seed))[0]
        for name, sweep in zip(seeded.variants_ab, sides, strict=True)
    }
    for arm in arms.values():
        refuse_unable(arm.sweep, arm.choice)
    choices = {subject_key(arm.sweep): arm.choice for arm in arms.values()}
    requested = {name: (arm.sweep, arm.choice.facts) for name, arm in arms.items()}
    completed = with_enough_tables(_completed(requested, here.host), requested)
    planned = [PlannedArm(variant={VARIANT: n}, sweep=completed[n], facts=arm.choice.facts) for n, arm in arms.items()]
    about = words(planned[0].sweep, planned[1].sweep)  # with their targets' defaults
    plan = plan_arms(as_one(replace(planned[0].sweep, variants_ab=about)), here.host, planned)
    plan = noted(plan, more_tables_sentence(planned[0].sweep, sides[0].work.data.tables))
    refuse_unused_settings(plan, tuple(arms.values()))
    if replace(a, origin={}) != replace(b, origin={}):
        refuse_same_server(plan, choices)
    refuse_wrong_specs(plan, choices)
    pages = _pages_of(plan, here)
    plan = with_data(noted(plan, held_sentence(plan, held_bytes(plan, pages))), here.data)
    return replace(_with_findings(plan, choices, here, results, pages), noise=noise)
