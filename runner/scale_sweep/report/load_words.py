"""The load of a run in words: what the connections send, how long, and the limit of the load generator."""

from __future__ import annotations

from collections.abc import Mapping

from scale_sweep.base.units import counted, format_number, format_rate
from scale_sweep.experiment.axes import axis_of
from scale_sweep.model.declared import Operation
from scale_sweep.model.declared_parts import Load
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.loads import LoadProgram
from scale_sweep.report.table import fixed, known


def other_programs(run: StoredRun) -> tuple[LoadProgram, ...]:
    """Those that are not our load generator; one of which nothing is known has its name."""
    known = dict.fromkeys(r.loaded_by for r in run.results if r.loaded_by is not None)
    return tuple(
        known or dict.fromkeys(LoadProgram(name=t.load.generator) for t in run.plan.trials if not t.load.is_ours)
    )


def _program(program: LoadProgram) -> str:
    return f"{program.name} {program.version}".strip()


def load_words(run: StoredRun) -> str:
    sweep, load = run.plan.sweep, run.plan.sweep.load
    if others := other_programs(run):
        rows = counted(load.rows, "row") if load.rows is not None else ""
        rows = _window(run, load) if load.command is not None and load.duration_s is not None else rows
        words = (f"{_program(one)}: {one.command}" if one.command else _program(one) for one in others)
        return "; ".join(filter(None, (*words, rows)))
    offered = f"{format_rate(load.rate)} {sweep.work.rate_words}"
    pace = f"open loop at {offered}, {load.arrival}" if load.rate else "each sends after its answer (closed loop)"
    apart = "".join(f"; {_apart(operation)}" for operation in sweep.work.operations if operation.is_apart)
    return f"{', '.join(filter(None, (_what(run), _connections(run), pace)))}. {_window(run, load)}{apart}"


def work_words(run: StoredRun) -> str:
    """The work: "copy, 10,000 rows a request, 4 connections, 100 tables". Rows: if all trials have the same."""
    if others := other_programs(run):
        return f"loaded by {', '.join(map(_program, others))}"
    work = run.plan.sweep.work
    is_known = not work.counts_requests and len({t.work.data.rows_per_request for t in run.plan.trials}) == 1
    many = work.data.rows_per_request if is_known else 0
    rows = f"{counted(many, 'row')} a request" if many else ""
    return ", ".join(filter(None, (_what(run), rows, _connections(run), counted(work.data.tables, "table"))))


def _what(run: StoredRun) -> str:
    sweep = run.plan.sweep
    return _mix(sweep.work.operations) if sweep.work.counts_requests else sweep.method


def _connections(run: StoredRun) -> str:
    """ "4 connections", "1 to 4 connections"; "" if they are not known."""
    many = sorted({t.load.connections for t in run.plan.trials if t.load.connections})
    if not many:
        return ""
    most = counted(many[-1], "connection")
    return f"{many[0]} to {most}" if len(many) > 1 else most


def _mix(operations: tuple[Operation, ...]) -> str:
    shared = [operation for operation in operations if not operation.is_apart]
    if len(shared) < 2:
        return "".join(operation.name for operation in shared)
    equal = " in equal shares" if len({operation.weight for operation in shared}) == 1 else ""
    return f"{len(shared)} kinds of requests{equal}"


def _window(run: StoredRun, load: Load) -> str:
    each = f" for each {axis_of(run.plan.sweep.axis).facts.unit}" if load.rows_by_level else ""
    window = f"Window {format_number(load.duration_s or 0)} s"
    window = f"{counted(load.rows, 'row')}{each}" if load.rows is not None else window
    if not load.warmup_s:
        return f"{window}, without warm-up"
    bound = f"{format_number(load.warmup_s)} s"
    if load.warmup_least_s is None:
        return f"{window}, after a warm-up of {bound}"
    least = format_number(load.warmup_least_s)
    return f"{window}, after a warm-up of {least} to {bound} that ends when the rate is steady"


def _apart(operation: Operation) -> str:
    several = operation.connections
    many = counted(several, "separate connection") if several else "as many separate connections"
    rate = f", {format_rate(operation.rate)} {operation.unit}/s" if operation.rate else ""
    return f"{operation.name} on {many}{rate}"


def rows_words(run: StoredRun) -> str:
    if others := other_programs(run):
        return "; ".join(dict.fromkeys(one.rows for one in others if one.rows))
    data = run.plan.sweep.work.data
    several = data.requests_per_table
    in_a_row = f"{several:,} requests of a table in a row, " if several > 1 else ""  # else in turn, the default
    return (
        f"{', '.join(data.columns)}; {counted(data.tables, 'table')}, {counted(data.rows_per_request, 'row')} per "
        f"request, {in_a_row}values: {data.values}"
    )


def ceiling_words(run: StoredRun) -> str:
    if other_programs(run):
        return ""
    value, work = run.manifest.get("ceiling_rows_per_s"), run.plan.sweep.work
    if isinstance(value, Mapping):
        known = {k: v for k, v in value.items() if isinstance(v, (int, float))}
        rates = [f"{format_rate(v)} {work.rate_words} with {k}" for k, v in known.items()]
        reasons = [f"{k}: {v}" for k, v in value.items() if isinstance(v, str)]
        return "; ".join([*rates, *([_unmeasured(run)] if work.counts_requests and reasons else reasons)])
    return f"{format_rate(value)} rows/s" if isinstance(value, (int, float)) else ""


def _unmeasured(run: StoredRun) -> str:
    cores = [r.measurement.generator_cpu_cores for r in run.results]
    used = sorted(v for v in cores if known(v) and v is not None)
    if not used:
        return "not measured for reads"
    ends = " to ".join(dict.fromkeys(fixed(v, 2) for v in (used[0], used[-1])))
    return f"not measured for reads; cores that the load generator used: {ends}"
