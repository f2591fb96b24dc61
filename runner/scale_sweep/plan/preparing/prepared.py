"""Plans a sweep, two as the variants of `scale ab`, or a stored run, for this machine, with the findings before
anything starts."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import PreflightError, UsageError
from scale_sweep.base.registry import require_extra
from scale_sweep.machine.host import Host, read_host
from scale_sweep.machine.host.block_devices import RamDirectory
from scale_sweep.machine.host.child_programs import ESTIMATES_SPEED, measure_new_pages, speed_now
from scale_sweep.model import Finding, NewPages, Plan, ServerSource, StoredRun, Subject, Sweep
from scale_sweep.plan import PlannedArm, complete, left_out, make_plan, plan_arms, refuse_ungranted, with_constants
from scale_sweep.plan.complete import Requested, more_tables_sentence, with_enough_tables, with_equal_connections
from scale_sweep.plan.new_pages import (
    ENOUGH_BYTES,
    equal_rows_sentence,
    held_bytes,
    held_sentence,
    rows_in_cheap_pages,
    trial_bytes,
    with_equal_rows,
)
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
from scale_sweep.plan.preparing.data_place import data_place, with_data, with_unseen_disk
from scale_sweep.plan.preparing.earlier_runs import noise_of
from scale_sweep.plan.preparing.findings import preflight
from scale_sweep.plan.preparing.machine_findings import dear_pages
from scale_sweep.plan.preparing.same_server import refuse_same_server
from scale_sweep.plan.preparing.specs import refuse_wrong_specs
from scale_sweep.results.store.outside import read_reference
from scale_sweep.sweep.ab import as_one, variants_of, words
from scale_sweep.sweep.vary import VARIANT, as_varied


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A plan for this machine, with its findings."""

    plan: Plan
    choices: Mapping[str, ServerChoice]  # by `subject_key` of a subject
    host: Host
    data_dir: Path
    results: Path
    ram: RamDirectory | None = None  # the data directory if it is in memory
    findings: tuple[Finding, ...] = ()
    noise: AssumedNoise = GUESS  # of a trial, as the plan's power assumes it
    new_pages: NewPages | None = None  # what one costs, if measured
    held_bytes: int = 0  # of memory that the run holds for the server
    elsewhere: str = ""  # a sentence about the machine, if it is not this one
    # for the manifest, if server and load are on hosts of their own
    hosts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def choice(self) -> ServerChoice:
        """The choice for the only subject; for several, the first one's."""
        return next(iter(self.choices.values()))

    def choice_of(self, subject: RequestedServer) -> ServerChoice:
        return self.choices[subject_key(subject)]


def prepare(sweep: Sweep, results: Path) -> Prepared:
    """Chooses servers, plans and checks; starts nothing. Raises UsageError or PreflightError."""
    return _prepared(sweep, results, choose)


def prepare_plan(sweep: Sweep, results: Path) -> Prepared:
    """The same for a plan that is only shown: it assumes the servers that this machine lacks."""
    return _prepared(sweep, results, choose_or_assume)


def _prepared(sweep: Sweep, results: Path, find: Find) -> Prepared:
    host = read_host()
    sweep = with_order_seed(sweep)
    read_reference(sweep.reference)
    refuse_ungranted(sweep, host)
    arms = chosen_arms(sweep, find)
    for arm in arms:
        refuse_unable(arm.sweep, arm.choice)
    noise = noise_of(results, host, arms[0])
    arms = tuple(replace(arm, sweep=with_enough_replicates(arm.sweep, len(arms), noise)) for arm in arms)
    choices = {subject_key(arm.sweep): arm.choice for arm in arms}
    plan = planned(arms, host)
    refuse_wrong_specs(plan, choices)
    pages = pages_of(plan, measure_new_pages)
    plan = with_data(in_cheap_pages(plan, pages, arms, host, speed_now), data_place)
    return replace(with_findings(plan, choices, host, results, pages), noise=noise)


def pages_of(plan: Plan, measure: Callable[[int], NewPages | None]) -> NewPages | None:
    """The cost of the pages that the plan's trials use; None if they use few, or it could not be measured. measure:
    gets the bytes that a trial uses."""
    wanted = trial_bytes(plan)
    return measure(wanted) if wanted >= ENOUGH_BYTES else None


def in_cheap_pages(
    plan: Plan, pages: NewPages | None, arms: Sequence[ChosenArm], host: Host, speed: Callable[[], float]
) -> Plan:
    """The plan, with what is done where memory pages are dear: the same rows at every level, and held memory. speed:
    measures that of the server's CPUs, in pieces per ms."""
    if pages is None:
        return plan
    estimate = max(arm.choice.facts.rows_per_core_s for arm in arms)
    rows = rows_in_cheap_pages(plan, pages, estimate * speed() / ESTIMATES_SPEED)
    if rows is not None:
        plan = planned([replace(arm, sweep=with_equal_rows(arm.sweep, rows)) for arm in arms], host)
        plan = replace(plan, notes=(*plan.notes, equal_rows_sentence(rows)))
    return with_held_memory(plan, pages)


def with_held_memory(plan: Plan, pages: NewPages | None) -> Plan:
    held = held_bytes(plan, pages)
    return replace(plan, notes=(*plan.notes, held_sentence(plan, held))) if held else plan


def with_enough_replicates(sweep: Sweep, arms: int, noise: AssumedNoise) -> Sweep:
    """The sweep with the replicates that --detect needs. Raises UsageError if these are too many."""
    if sweep.detect_percent is None:
        return sweep
    count = replicates_for(sweep.detect_percent, len(sweep.levels) * arms, noise)
    origin = {**sweep.origin, "method.replicates": "detect"}
    return replace(sweep, replicates=count, replicates_max=max(count, sweep.replicates_max), origin=origin)


def with_order_seed(sweep: Sweep) -> Sweep:
    """The sweep with a new seed of its order, unless one was given. The same order in every run would hide from
    comparisons the effect of a trial's place in the order."""
    return sweep if sweep.order_seed is not None else replace(sweep, order_seed=secrets.randbelow(10**6))


def planned(arms: Sequence[ChosenArm], host: Host) -> Plan:
    """The plan of all combinations. Each one's sweep is completed by its own target; all are in every block."""
    by_server = {subject_key(arm.sweep): arm for arm in arms}
    requested = {key: (arm.sweep, arm.choice.facts) for key, arm in by_server.items()}
    completed = with_enough_tables(with_equal_connections(_completed(requested, host), requested), requested)
    first = completed[subject_key(arms[0].sweep)]
    missing = tuple(filter(None, (left_out(arm.sweep, arm.choice.facts) for arm in by_server.values())))
    missing += tuple(filter(None, [more_tables_sentence(first, arms[0].sweep.work.data.tables)]))
    if len(completed) == 1:
        plan = make_plan(first, host, arms[0].choice.facts)
        return replace(plan, notes=(*plan.notes, *missing))
    subjects = [
        PlannedArm(
            variant=arm.variant,
            sweep=as_varied(completed[subject_key(arm.sweep)], arm.variant),
            facts=arm.choice.facts,
        )
        for arm in arms
    ]
    whole = replace(first, work=replace(first.work, operations=arms[0].sweep.work.operations))
    plan = plan_arms(whole, host, subjects)
    return replace(plan, notes=(*plan.notes, *missing))


def _completed(requested: Mapping[str, Requested], host: Host) -> dict[str, Sweep]:
    return {
        key: complete(with_constants(sweep, host), facts, host.memory_bytes)
        for key, (sweep, facts) in requested.items()
    }


def prepare_again(stored: StoredRun, results: Path) -> Prepared:
    """A stored run's plan on this machine, for `resume`. Raises PreflightError on another machine."""
    host = read_host()
    recorded = stored.manifest.get("host")
    before = recorded if isinstance(recorded, dict) else {}
    for name in ("hostname", "cpu_model", "kernel"):
        if name in before and before[name] != asdict(host)[name]:
            raise PreflightError(
                f"the run was begun on another machine: {name} was {before[name]}, is {asdict(host)[name]}",
                remedy="trials of two machines do not make one curve; start a new sweep",
            )
    subjects = {subject_key(trial.subject): trial.subject for trial in stored.plan.trials}
    choices = {key: choose(_request_again(subject)) for key, subject in subjects.items()}
    refuse_wrong_specs(stored.plan, choices)
    return with_findings(stored.plan, choices, host, results, pages_of(stored.plan, measure_new_pages))


def _request_again(subject: Subject) -> Subject:
    """The request without the home inside an image, which follows from the image and was not requested."""
    return replace(subject, home="") if source_of(subject.runtime) is ServerSource.IMAGE else subject


def with_findings(
    plan: Plan, choices: Mapping[str, ServerChoice], host: Host, results: Path, pages: NewPages | None
) -> Prepared:
    """The plan with its findings. Raises UsageError if the files of --trace cannot be written."""
    if plan.sweep.load.trace_every:
        require_extra("parquet", "--trace")
    data, held = data_place(plan.sweep.data_dir), held_bytes(plan, pages)
    plan = with_unseen_disk(plan, data)
    return Prepared(
        plan=plan,
        choices=choices,
        host=host,
        data_dir=data.path,
        results=results,
        ram=data.ram,
        findings=(*preflight(plan, host, choices, data.ram or data.path, results), *dear_pages(plan, pages, held)),
        new_pages=pages,
        held_bytes=held,
    )


def prepare_ab(a: Sweep, b: Sweep, looks: Sequence[int], results: Path) -> Prepared:
    """Chooses servers, plans and checks; starts nothing. looks: the numbers of blocks after which the run may end.
    Raises UsageError or PreflightError."""
    host = read_host()
    noise = noise_of(results, host, chosen_arms(a)[0])
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
    completed = with_enough_tables(_completed(requested, host), requested)
    planned = [PlannedArm(variant={VARIANT: n}, sweep=completed[n], facts=arm.choice.facts) for n, arm in arms.items()]
    about = words(planned[0].sweep, planned[1].sweep)  # with their targets' defaults
    plan = plan_arms(as_one(replace(planned[0].sweep, variants_ab=about)), host, planned)
    more = more_tables_sentence(planned[0].sweep, sides[0].work.data.tables)
    plan = replace(plan, notes=(*plan.notes, more)) if more else plan
    if _plain(a) != _plain(b):
        refuse_same_server(plan, choices)
    refuse_wrong_specs(plan, choices)
    pages = pages_of(plan, measure_new_pages)
    plan = with_data(with_held_memory(plan, pages), data_place)
    return replace(with_findings(plan, choices, host, results, pages), noise=noise)


def _plain(sweep: Sweep) -> Sweep:
    return replace(sweep, origin={})
