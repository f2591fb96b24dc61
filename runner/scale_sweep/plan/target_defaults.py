"""Completes a sweep with what its target decides: method, knobs, rows in a request, tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from scale_sweep.base.errors import CannotAsk, UsageError
from scale_sweep.base.texts import not_one_of
from scale_sweep.base.units import counted, format_number, format_seconds
from scale_sweep.capacity.objective import requests_needed
from scale_sweep.experiment.axes import load_axis
from scale_sweep.experiment.setting.readers import rule_value
from scale_sweep.experiment.work import offered_per_s, queries_of, stores
from scale_sweep.model.declared import Origin, Sweep, Workload
from scale_sweep.model.declared_parts import KnobRole, Load, Piece, Rule
from scale_sweep.model.resources import ResourceRange
from scale_sweep.plan.commands import as_tool, generator_mistakes
from scale_sweep.plan.granted import amounts_by_level, granted_knobs, resource_range
from scale_sweep.server.targets import Facts, Knob, columns_of
from scale_sweep.sweep.server_settings import KNOB_NAMES, knob_flag
from scale_sweep.sweep.vary import check_variants, is_knob

Requested = tuple[Sweep, Facts]  # a sweep before it was completed, and the facts of its target
TABLES_STEP = 100  # a number of tables that was raised is a multiple of this
CONNECTIONS_OF_CORE, CONNECTIONS_LEAST = 32, 64  # of a search: fewer, and their wait hides the server's capacity
SPARE = 4.0  # times the requests that the percentiles of an objective need
CAPACITY_SHARE = 0.5  # of the estimated rate: an objective holds at less than the highest rate
ROWS_LEAST = 10
_RANK = ("default", "host", "file", "flag")


def complete(sweep: Sweep, facts: Facts, machine_bytes: int | None = None) -> Sweep:
    """machine_bytes: of memory; None: not known. Raises UsageError."""
    mistakes = []
    method = sweep.method or facts.methods[0]
    if method not in facts.methods:
        mistakes.append(f"--method of {facts.name}: {not_one_of(method, facts.methods)}")
    mistakes += generator_mistakes(sweep.load, facts)
    mistakes += check_variants(sweep, facts.methods)
    mistakes += _knob_mistakes(sweep, facts)
    mistakes += column_mistakes(sweep.work.data, facts)
    mistakes += _disk_mistakes(sweep, facts)
    reasons = _unspoken(sweep, facts) if method in facts.methods else {}
    if not (_leaves_out(sweep) and len(reasons) < len(sweep.work.operations)):
        mistakes += [f"operation {name}: {why}" for name, why in reasons.items()]
    own, granted = _with_own_names(sweep, facts), amounts_by_level(sweep)
    set_twice = granted_knobs(own, granted, columns_of([facts])) & {*own.knobs, *own.vary}
    flag = load_axis(sweep.axis).flag
    mistakes += [f"{knob_flag(n)}: {flag} sets how many at each level; leave it out" for n in sorted(set_twice)]
    resources = resource_range(granted, machine_bytes)
    mistakes += _objective_mistakes(sweep, facts, method, resources)
    if mistakes:
        raise UsageError("\n".join(mistakes))
    sweep = own
    per_request = sweep.work.data.rows_per_request or _rows_for(sweep, facts, resources)
    kept = tuple(one for one in sweep.work.operations if one.name not in reasons)
    work = replace(sweep.work, operations=kept, data=replace(sweep.work.data, rows_per_request=per_request))
    picks_wal_disk = sweep.wal_disk == "auto" and sweep.disks is not None and facts.wal_disks
    load = replace(as_tool(_with_own_warmup(sweep, facts), sweep.origin), rate=sweep.load.rate or offered_per_s(work))
    if "rows_per_request" not in sweep.vary:
        where = "--rate" if sweep.load.rate else "--operation NAME.rate"
        _refuse_without_request(where, load, 1 if work.counts_requests else per_request)
    return replace(
        sweep,
        knobs={
            **facts.default_knobs(resources),
            **_connections_for(sweep, facts, resources),
            **(facts.fsynced_knobs() if sweep.equal_durability else {}),
            **sweep.knobs,
        },
        wal_disk=facts.wal_disks[0] if picks_wal_disk else sweep.wal_disk,
        method=method,
        work=work,
        load=load,
    )


def _refuse_without_request(where: str, load: Load, units: int) -> None:
    """units: of a request. Raises UsageError if none is due in the window."""
    if not load.rate or load.duration_s is None or load.rate * load.duration_s >= units:
        return
    every, of = format_seconds(units / load.rate), f" of {units:,} rows" if units > 1 else ""
    raise UsageError(
        f"{where}: at {load.rate:g} a second a request{of} is due every {every}, which is longer than the window of "
        f"{format_seconds(load.duration_s)}",
        remedy="a longer --duration" if units == 1 else "--rows-per-request 1, or a longer --duration",
    )


def _with_own_warmup(sweep: Sweep, facts: Facts) -> Load:
    if sweep.load.warmup_least_s is None or sweep.origin.get("load.warmup", "default") != "default":
        return sweep.load
    least, most = (stores(sweep.work) and facts.writes_warmup_s) or facts.warmup_s
    return replace(sweep.load, warmup_least_s=least, warmup_s=most)


def _leaves_out(sweep: Sweep) -> bool:
    return sweep.origin.get("mix") == "default"


def _unspoken(sweep: Sweep, facts: Facts) -> dict[str, str]:
    reasons = {}
    for name, query in queries_of(sweep.work).items():
        try:
            facts.rendered(query, sweep.work.data, sweep.method or facts.methods[0])
        except CannotAsk as error:
            reasons[name] = error.message
    return reasons


def left_out(sweep: Sweep, facts: Facts) -> str:
    by_reason: dict[str, list[str]] = {}
    for name, why in (_unspoken(sweep, facts) if _leaves_out(sweep) else {}).items():
        by_reason.setdefault(why, []).append(name)
    if not by_reason:
        return ""
    which = "; ".join(f"{', '.join(names)} ({why})" for why, names in by_reason.items())
    return f"{facts.title} is not asked {which}; compare the response times of each operation, not the rates of mixes"


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


def column_mistakes(data: Workload, facts: Facts) -> list[str]:
    """Upper and lower case are one name, as in most databases."""
    flags = {"--columns": data.columns, "--tag-columns": data.tags if facts.stores_tags else ()}
    own = {name.lower(): name for name in facts.own_columns}
    seen: set[str] = set()
    mistakes = []
    for flag, name in ((flag, column.partition(":")[0]) for flag, columns in flags.items() for column in columns):
        low = name.lower()
        if low in own:
            mistakes.append(
                f"{flag}: {name!r} is the name of a column that {facts.title} tables have already ({own[low]})"
            )
        elif low in seen:
            mistakes.append(f"{flag}: {name!r} is there twice; columns and tags are named apart, also in lower case")
        seen.add(low)
    return mistakes


def _knob_mistakes(sweep: Sweep, facts: Facts) -> list[str]:
    mistakes, varied = [], [name for name in sweep.vary if is_knob(name)]
    for name in (*sweep.knobs, *varied):
        if facts.knob_named(name) is None and (name in KNOB_NAMES or not facts.any_knob):
            flags = (knob_flag(knob.name) for knob in facts.role_knobs)
            has = ", ".join(flag.removeprefix("--knob ").removeprefix("--") for flag in flags)
            mistakes.append(f"{knob_flag(name)}: {facts.name} has no knob {name}; it has {has}")
    for names in (list(sweep.knobs), varied):
        for own, aliases in _by_own_name(names, facts).items():
            ranks = [_RANK.index(_origin(sweep, name)) for name in aliases]
            if ranks.count(max(ranks)) > 1:
                both = " and ".join(map(knob_flag, aliases))
                mistakes.append(f"{both}: both are {own} of {facts.name}; give one")
    return mistakes


def _with_own_names(sweep: Sweep, facts: Facts) -> Sweep:
    """A flag replaces a value of a file."""
    origin: dict[str, Origin] = dict(sweep.origin)
    knobs = {}
    for own, aliases in _by_own_name(sweep.knobs, facts).items():
        name = max(aliases, key=lambda one: _RANK.index(_origin(sweep, one)))
        knobs[own] = sweep.knobs[name]
        if own in KNOB_NAMES:
            origin[f"knobs.{own}"] = _origin(sweep, name)
    varied = _by_own_name(filter(is_knob, sweep.vary), facts)
    own_names = {name: own for own, aliases in varied.items() for name in aliases}
    vary = {own_names.get(name, name): values for name, values in sweep.vary.items()}
    return replace(sweep, knobs=knobs, vary=vary, origin=origin)


def _by_own_name(names: Iterable[str], facts: Facts) -> dict[str, list[str]]:
    aliases: dict[str, list[str]] = {}
    for name in names:
        knob = facts.knob_named(name)
        aliases.setdefault(knob.name if knob else name, []).append(name)
    return aliases


def _origin(sweep: Sweep, name: str) -> Origin:
    own = sweep.origin.get(f"knobs.{name}", "default")
    return own if own != "default" else sweep.origin.get("knobs.other", "default")


def _rows_for(sweep: Sweep, facts: Facts, resources: ResourceRange) -> int:
    objective, usual = sweep.load.objective, facts.rows_per_request
    if objective is None or sweep.work.counts_requests:
        return usual
    cores = min(resources.cores, default=1.0)
    in_step = CAPACITY_SHARE * facts.rows_per_core_s * cores * (sweep.load.duration_s or 0.0)
    most = in_step / (SPARE * requests_needed(objective))
    if most >= usual:
        return usual
    magnitude = 10 ** math.floor(math.log10(max(most, ROWS_LEAST)))
    part = next(part for part in (5, 2, 1) if part * magnitude <= max(most, magnitude))
    return max(ROWS_LEAST, int(magnitude * part))


def _objective_mistakes(sweep: Sweep, facts: Facts, method: str, resources: ResourceRange) -> list[str]:
    objective, rows = sweep.load.objective, sweep.work.data.rows_per_request
    if objective is None:
        return []
    if method in facts.unanswered:
        return [f"--slo: --method {method} of {facts.name} has no answers, and so no response times"]
    if not rows or sweep.work.counts_requests:
        return []
    seconds, needed = sweep.load.duration_s or 0.0, requests_needed(objective)
    cores = min(resources.cores, default=1.0)
    in_step = facts.rows_per_core_s * cores * seconds
    if in_step / rows >= needed:
        return []
    fewer, longer = max(1, int(in_step / needed)), math.ceil(seconds * needed * rows / in_step)
    sentence = (
        f"--slo: {objective.words} needs {needed:,} requests in a step, and about {in_step / rows:,.0f} of "
        f"{counted(rows, 'row')} fit into {seconds:g} s with {counted(cores, 'core')}: "
        f"--rows-per-request {format_number(fewer)} or fewer, or --duration {longer}s or longer"
    )
    return [sentence]


def _connections_for(sweep: Sweep, facts: Facts, resources: ResourceRange) -> Mapping[str, Rule]:
    if sweep.load.objective is None or resources.connections:
        return {}
    count = max(CONNECTIONS_LEAST, math.ceil(CONNECTIONS_OF_CORE * max(resources.cores, default=1.0)))
    if sweep.origin.get("workload.tables", "default") != "default":
        count = min(count, sweep.work.data.tables)
    return {knob.name: _always(count) for knob in facts.knobs if knob.role is KnobRole.CONNECTIONS}


def _always(number: int) -> Rule:
    return Rule(pieces=(Piece(first=None, last=None, value=str(number)),))


def with_equal_connections(completed: Mapping[str, Sweep], requested: Mapping[str, Requested]) -> dict[str, Sweep]:
    """By server."""
    free: dict[str, Knob] = {}
    for key, (sweep, facts) in requested.items():
        knob = next((knob for knob in facts.knobs if knob.role is KnobRole.CONNECTIONS), None)
        if knob is not None and not _is_given(sweep, facts, knob):
            free[key] = knob
    if len({facts.name for _, facts in requested.values()}) < 2 or not free:
        return dict(completed)
    rule = _always(max(_number(completed[key], knob) for key, knob in free.items()))
    return {
        key: replace(sweep, knobs={**sweep.knobs, free[key].name: rule}) if key in free else sweep
        for key, sweep in completed.items()
    }


def with_enough_tables(completed: Mapping[str, Sweep], requested: Mapping[str, Requested]) -> dict[str, Sweep]:
    """Twice as many as the clients, or the default connections or parts, where the default number is less."""
    free = [key for key, sweep in completed.items() if sweep.origin.get("workload.tables", "default") == "default"]
    most = max((_default_most(completed[key], *requested[key]) for key in free), default=0)
    confirms = any(sweep.confirms for sweep in completed.values())  # once with twice the connections
    if not free or (2 if confirms else 1) * most <= completed[free[0]].work.data.tables:
        return dict(completed)
    tables = math.ceil(2 * most / TABLES_STEP) * TABLES_STEP
    more = dict(completed)
    for key in free:
        work = completed[key].work
        more[key] = replace(completed[key], work=replace(work, data=replace(work.data, tables=tables)))
    return more


def _default_most(completed: Sweep, sweep: Sweep, facts: Facts) -> int:
    knobs = [knob for knob in facts.knobs if knob.role in (KnobRole.CONNECTIONS, KnobRole.PARTITIONS)]
    free = [knob for knob in knobs if knob.name in completed.knobs and not _is_given(sweep, facts, knob)]
    of_levels = resource_range(amounts_by_level(sweep)).connections
    return max((*(_number(completed, knob) for knob in free), *of_levels), default=0)


def more_tables_sentence(sweep: Sweep, default: int) -> str:
    tables = sweep.work.data.tables
    more = f"{tables} tables in place of {default}: each connection needs a separate table"
    return more if tables != default else ""


def _is_given(sweep: Sweep, facts: Facts, knob: Knob) -> bool:
    return any(facts.knob_named(name) is knob for name in (*sweep.knobs, *sweep.vary))


def _number(sweep: Sweep, knob: Knob) -> int:
    return int(rule_value(sweep.knobs[knob.name], sweep.levels[0]) or 0)
