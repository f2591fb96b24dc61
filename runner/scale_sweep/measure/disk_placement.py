"""How the server's data is spread over the disks of a sweep."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from scale_sweep.base.errors import PreflightError, ScaleError, TargetError
from scale_sweep.base.interrupts import Stop
from scale_sweep.measure.machine_setup import Say
from scale_sweep.measure.trial.disks import check_placement
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.provision import provision, reached_by
from scale_sweep.measure.trial.waiting import (
    ANSWER_S,
    SCHEMA_S,
    ask,
    closed_at_last,
    last_words,
    until_ready,
    wait_for,
    with_cause,
)
from scale_sweep.model import Plan, Trial
from scale_sweep.server.runtimes import load_runtime
from scale_sweep.server.targets import load_facts, load_target


def placement_of(
    plan: Plan, order: Callable[[Trial, str], TrialOrder], tried: Callable[[TrialOrder], tuple[bool, str]], say: Say
) -> tuple[str, str]:
    """The way in which data is spread over the disks, and the reason. Tiers are tried once on the server itself.

    order: makes the order of a trial with a placement. tried: `supports_tiers`, where the server runs. Raises
    PreflightError if the user asked for tiers and the server does not support them; Stopped.
    """
    requested = plan.sweep.disk_placement
    most: Trial = max(plan.trials, key=lambda t: t.resources.disks)
    if not most.resources.disks:
        return requested, ""
    facts = load_facts(most.subject.target)
    can = facts.disk_placements
    chosen, why = requested, f"{requested}, as configured"
    if requested == "stripe":
        why = "stripe, as configured: one RAID-0 array (md) over the disks of each level"
    if requested == "auto":
        chosen, why = can[-1], f"{can[-1]}: the only way of {facts.name}"
    if requested in ("auto", "tiers") and "tiers" in can and most.disks > 1:
        say("checking whether the server supports several data directories")
        honoured, seen = tried(order(most, "tiers"))
        if requested == "tiers" and not honoured:
            raise PreflightError(f"--disk-placement tiers: {seen}", remedy="--disk-placement spread")
        chosen = "tiers" if honoured else "spread"
        why = f"{chosen}: {seen}"
    say(f"disk placement {why}")
    return chosen, why


def supports_tiers(order: TrialOrder, stop: Stop) -> tuple[bool, str]:
    """True if every disk of the trial got parts of a database; and the observation in words. Leaves nothing.

    Raises Stopped.
    """
    try:
        with stop.here(), ExitStack() as cleanup:
            counts = _try(replace(order, disk_placement="tiers"), stop, cleanup)
    except ScaleError as error:
        return False, f"the server could not be asked whether it supports several data directories: {error.message}"
    observed = f"several data directories: they got {', '.join(map(str, counts))} parts of the database"
    if len(counts) == len(order.disks) and all(counts):
        return True, f"the server supports {observed}"
    return False, f"the server does not support {observed}"


def _try(order: TrialOrder, stop: Stop, cleanup: ExitStack) -> list[int]:
    subject = order.trial.subject
    target = load_target(subject.target)
    reached = reached_by(target, order.trial, provision(order, target, load_runtime(subject.runtime), "probe", cleanup))
    server, address, session = reached.server, reached.address, reached.session
    with closed_at_last(reached):
        try:
            wait_for(server, until_ready(reached, session.not_ready), "the server was not ready", stop)
            ask(reached, session.create_schema, SCHEMA_S)
            wait_for(server, until_ready(reached, session.schema_pending), "the schema was not ready", stop)
            placed = check_placement(ask(reached, session.parts, ANSWER_S), order.disks, address.disks)
        except TargetError as error:
            cause = with_cause(error, server, order)
            if cause is error:
                raise TargetError(f"{error.message}; the end of its log: {last_words(server)}") from error
            raise cause from error
    return [int(n) for n in placed.get("parts_per_disk", "").split(",") if n]
