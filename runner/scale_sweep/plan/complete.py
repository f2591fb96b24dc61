"""Completes a sweep with what only its target decides: method, knobs, rows in a request."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from scale_sweep.base.errors import CannotAsk, UsageError
from scale_sweep.base.texts import not_one_of
from scale_sweep.experiment.axes import load_axis
from scale_sweep.experiment.setting.readers import rule_value
from scale_sweep.experiment.work import offered_per_s, queries_of, stores
from scale_sweep.model import KnobRole, Load, Piece, Rule, Sweep, Workload
from scale_sweep.plan.knobs import granted_knobs, knob_mistakes, with_own_names
from scale_sweep.plan.objective import connections_for, objective_mistakes, rows_for
from scale_sweep.plan.resources import AmountsByLevel, amounts_by_level, resource_range
from scale_sweep.server.targets import Facts, Knob, columns_of
from scale_sweep.sweep.vary import check_variants

Requested = tuple[Sweep, Facts]
TABLES_STEP = 100  # a number of tables that was raised is a multiple of this


def complete(sweep: Sweep, facts: Facts, machine_bytes: int | None = None) -> Sweep:
    """The completed sweep. machine_bytes: the memory of the servers' machine; None: not known.

    Raises UsageError for a method or a knob that the target does not have.
    """
    mistakes = []
    method = sweep.method or facts.methods[0]
    if method not in facts.methods:
        mistakes.append(f"--method of {facts.name}: {not_one_of(method, facts.methods)}")
    if sweep.load.generator not in facts.load_generators:
        mistakes.append(f"--load-generator: {facts.name} can be loaded by {', '.join(facts.load_generators)}")
    if not sweep.load.is_ours and sweep.load.rows is None:
        mistakes.append(f"--load-generator: {sweep.load.generator} supports fixed work only; give --rows")
    mistakes += check_variants(sweep, facts.methods)
    mistakes += knob_mistakes(sweep, facts)
    mistakes += column_mistakes(sweep.work.data, facts)
    mistakes += _disk_mistakes(sweep, facts)
    reasons = unspoken(sweep, facts) if method in facts.methods else {}
    if not (leaves_out(sweep) and len(reasons) < len(sweep.work.operations)):
        mistakes += [f"operation {name}: {why}" for name, why in reasons.items()]
    own, granted = with_own_names(sweep, facts), amounts_by_level(sweep)
    mistakes += _granted_mistakes(own, granted, facts)
    resources = resource_range(granted, machine_bytes)
    mistakes += objective_mistakes(sweep, facts, method, resources)
    if mistakes:
        raise UsageError("\n".join(mistakes))
    sweep = own
    per_request = sweep.work.data.rows_per_request or rows_for(sweep, facts, resources)
    kept = tuple(one for one in sweep.work.operations if one.name not in reasons)
    work = replace(sweep.work, operations=kept, data=replace(sweep.work.data, rows_per_request=per_request))
    return replace(
        sweep,
        knobs={
            **facts.default_knobs(resources),
            **connections_for(sweep, facts, resources),
            **_fsynced(sweep, facts),
            **sweep.knobs,
        },
        wal_disk=_wal_disk(sweep, facts),
        method=method,
        work=work,
        load=replace(_with_own_warmup(sweep, facts), rate=sweep.load.rate or offered_per_s(work)),
    )


def _with_own_warmup(sweep: Sweep, facts: Facts) -> Load:
    """The load with the target's time for a warm-up until the rate is level, unless its length was given."""
    if sweep.load.warmup_least_s is None or sweep.origin.get("load.warmup", "default") != "default":
        return sweep.load
    least, most = (stores(sweep.work) and facts.writes_warmup_s) or facts.warmup_s
    return replace(sweep.load, warmup_least_s=least, warmup_s=most)


def _fsynced(sweep: Sweep, facts: Facts) -> dict[str, Rule]:
    return facts.fsynced_knobs() if sweep.equal_durability else {}


def leaves_out(sweep: Sweep) -> bool:
    """True if operations that a target cannot express are left out: those of a named workload, which the user did not
    name one by one."""
    return sweep.origin.get("mix") == "default"


def unspoken(sweep: Sweep, facts: Facts) -> dict[str, str]:
    """The reason why the target cannot express an operation, by the operation's name."""
    reasons = {}
    for name, query in queries_of(sweep.work).items():
        try:
            facts.rendered(query, sweep.work.data, sweep.method or facts.methods[0])
        except CannotAsk as error:
            reasons[name] = error.message
    return reasons


def left_out(sweep: Sweep, facts: Facts) -> str:
    """The sentence about operations that are left out for a target; "" if there are none."""
    reasons = unspoken(sweep, facts) if leaves_out(sweep) else {}
    if not reasons:
        return ""
    by_reason: dict[str, list[str]] = {}
    for name, why in reasons.items():
        by_reason.setdefault(why, []).append(name)
    which = "; ".join(f"{', '.join(names)} ({why})" for why, names in by_reason.items())
    return f"{facts.title} is not asked {which}; compare the response times of each operation, not the rates of mixes"


def _granted_mistakes(sweep: Sweep, granted: AmountsByLevel, facts: Facts) -> list[str]:
    flag = load_axis(sweep.axis).flag
    set_twice = sorted(granted_knobs(sweep, granted, columns_of([facts])) & {*sweep.knobs, *sweep.vary})
    return [f"--{name.replace('_', '-')}: {flag} sets how many at each level; leave it out" for name in set_twice]


def _disk_mistakes(sweep: Sweep, facts: Facts) -> list[str]:
    if sweep.disks is None:
        return []
    if not facts.disk_placements:
        return [f"--disks: {facts.name} cannot be spread over disks"]
    mistakes = []
    if sweep.disk_placement not in ("auto", "stripe", *facts.disk_placements):
        has = ", ".join((*facts.disk_placements, "stripe"))
        mistakes.append(f"--disk-placement: {facts.name} has no {sweep.disk_placement}; it has {has}")
    if sweep.wal_disk not in ("auto", *facts.wal_disks):
        mistakes.append(f"--wal-disk: {facts.name} keeps its log {' or '.join(facts.wal_disks)}, not {sweep.wal_disk}")
    return mistakes


def _wal_disk(sweep: Sweep, facts: Facts) -> str:
    chosen = sweep.wal_disk == "auto" and sweep.disks is not None and facts.wal_disks
    return facts.wal_disks[0] if chosen else sweep.wal_disk


def with_equal_connections(completed: Mapping[str, Sweep], requested: Mapping[str, Requested]) -> dict[str, Sweep]:
    """The completed sweeps, by server, with the same number of connections. requested: the sweep before it was
    completed, and the facts of its target, by server."""
    free = {
        key: knob
        for key, (sweep, facts) in requested.items()
        if (knob := _knob_of(facts)) is not None and not _is_given(sweep, facts, knob)
    }
    if len({facts.name for _, facts in requested.values()}) < 2 or not free:
        return dict(completed)
    most = max(_number(completed[key], knob) for key, knob in free.items())
    rule = Rule(pieces=(Piece(first=None, last=None, value=str(most)),))
    return {
        key: replace(sweep, knobs={**sweep.knobs, free[key].name: rule}) if key in free else sweep
        for key, sweep in completed.items()
    }


def with_enough_tables(completed: Mapping[str, Sweep], requested: Mapping[str, Requested]) -> dict[str, Sweep]:
    """The completed sweeps, by server, with more tables where the default number is less than the clients of a level,
    or the default connections or parts of a large machine: twice as many as these. requested: as for
    `with_equal_connections`."""
    wanted = {key: _default_most(completed[key], *requested[key]) for key in completed}
    free = [key for key, sweep in completed.items() if sweep.origin.get("workload.tables", "default") == "default"]
    most = max((wanted[key] for key in free), default=0)
    confirms = any(sweep.confirms for sweep in completed.values())  # once with twice the connections
    if not free or (2 if confirms else 1) * most <= completed[free[0]].work.data.tables:
        return dict(completed)
    tables = math.ceil(2 * most / TABLES_STEP) * TABLES_STEP
    return {key: _with_tables(sweep, tables) if key in free else sweep for key, sweep in completed.items()}


def _default_most(completed: Sweep, sweep: Sweep, facts: Facts) -> int:
    knobs = [knob for knob in facts.knobs if knob.role in (KnobRole.CONNECTIONS, KnobRole.PARTITIONS)]
    free = [knob for knob in knobs if knob.name in completed.knobs and not _is_given(sweep, facts, knob)]
    of_levels = resource_range(amounts_by_level(sweep)).connections
    return max((*(_number(completed, knob) for knob in free), *of_levels), default=0)


def _with_tables(sweep: Sweep, tables: int) -> Sweep:
    return replace(sweep, work=replace(sweep.work, data=replace(sweep.work.data, tables=tables)))


def more_tables_sentence(sweep: Sweep, default: int) -> str:
    """The sentence about tables that `with_enough_tables` added to the default number; "" if there are none."""
    tables = sweep.work.data.tables
    if tables == default:
        return ""
    return f"{tables} tables in place of {default}: each connection needs a separate table"


def _knob_of(facts: Facts) -> Knob | None:
    return next((knob for knob in facts.knobs if knob.role is KnobRole.CONNECTIONS), None)


def _is_given(sweep: Sweep, facts: Facts, knob: Knob) -> bool:
    return any(facts.knob_named(name) is knob for name in (*sweep.knobs, *sweep.vary))


def _number(sweep: Sweep, knob: Knob) -> int:
    return int(rule_value(sweep.knobs[knob.name], sweep.levels[0]) or 0)


def column_mistakes(data: Workload, facts: Facts) -> list[str]:
    """Each mistake by its flag. Upper and lower case are one name, as in most databases."""
    columns = [(name, "--columns") for name in map(_name, data.columns)]
    tags = [(name, "--tag-columns") for name in map(_name, data.tags)] if facts.stores_tags else []
    own = {name.lower(): name for name in facts.own_columns}
    seen: dict[str, str] = {}
    mistakes = []
    for name, flag in (*columns, *tags):
        low = name.lower()
        if low in own:
            mistakes.append(
                f"{flag}: {name!r} is the name of a column that {facts.title} tables have already ({own[low]})"
            )
        elif low in seen:
            mistakes.append(f"{flag}: {name!r} is there twice; columns and tags are named apart, also in lower case")
        seen[low] = name
    return mistakes


def _name(column: str) -> str:
    return column.partition(":")[0]
