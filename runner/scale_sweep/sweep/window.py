"""The length of a window, the work in it, and the objective of a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from scale_sweep.base.errors import UsageError
from scale_sweep.base.units import counted
from scale_sweep.capacity.objective import EXAMPLE
from scale_sweep.experiment.work.declared import declared, mistakes_of
from scale_sweep.model.declared import Origin, Work, Workload
from scale_sweep.model.declared_parts import CLAIM_S, STEP_S, Load
from scale_sweep.sweep.commands import OPERATION

FIXED_WORK = {"load.rows": "--rows", "load.rows_per_level": "--rows-per-level"}
# The defaults that --quick replaces: more and shorter trials, and a sentinel in place of a drift check.
QUICK_DEFAULTS = {"method.replicates": "7", "method.drift_check": "long"}
QUICK_S = 5.0  # the window of --quick
QUICK_GROWS = 2.0  # times the duration of --quick, while the rate is not steady
SHORT_GROWS = 3.0  # of another short window
CLAIM_GROWS = 1.5  # times the duration
WINDOW_GROWS_FROM_S = 4.0  # of a shorter one, steadiness cannot be decided

Values = Mapping[str, Any]
Origins = Mapping[str, Origin]


def window_of(v: Values) -> dict[str, Any]:
    """The window's fields of Load."""
    if v["load.soak"] is not None:
        return {"duration_s": v["load.soak"], "soak": True, "carries_claim": True}
    duration_s, most_given = _duration_s(v), v["load.window_max"]
    is_long = duration_s >= CLAIM_S
    times = CLAIM_GROWS if is_long else QUICK_GROWS if v["load.quick"] else SHORT_GROWS
    most = times * duration_s if most_given is None else most_given
    grows = most > duration_s >= WINDOW_GROWS_FROM_S
    return {"duration_s": duration_s, "window_max_s": most if grows else None, "carries_claim": is_long}


def _duration_s(v: Values) -> float:
    return QUICK_S if v["load.quick"] and v["load.duration"] >= CLAIM_S else v["load.duration"]


def mistakes(v: Values, origins: Origins, levels: int) -> list[str]:
    """levels: of the swept axis; 0 if they could not be read."""
    duration_s, most, soak = v["load.duration"], v["load.window_max"], v["load.soak"]
    contradictions = []
    if duration_s is not None and most is not None and 0 < most < _duration_s(v) and soak is None:
        limit = f"{_duration_s(v):g} s, the --duration that it may grow from"
        contradictions.append(f"--window-max: is less than {limit}; give a shorter --duration, or --quick")
    if v["load.quick"] and origins["load.duration"] == "flag" and duration_s is not None and duration_s >= CLAIM_S:
        contradictions.append(
            f"--quick and --duration {duration_s:g}s exclude each other: a window of {CLAIM_S:g} s is not quick"
        )
    if soak is None:
        return contradictions
    if levels > 1:
        contradictions.append(f"--soak: is one long trial at one level, and {counted(levels, 'level')} are given")
    for key, flag in (*FIXED_WORK.items(), ("load.duration", "--duration"), ("load.quick", "--quick")):
        if origins[key] == "flag":
            contradictions.append(f"--soak and {flag} exclude each other")
    if origins["method.replicates"] == "flag" and (v["method.replicates"] or 1) > 1:
        contradictions.append("--soak: is one long trial; leave out --replicates")
    if soak < CLAIM_S:
        contradictions.append(f"--soak: at least {CLAIM_S:g} s, the length of a window that it is compared with")
    return contradictions


TRACE_MAX = 100_000_000  # the load generator's limit


def work_of(values: Mapping[str, Any], origin: Mapping[str, Origin]) -> Work:
    """Raises UsageError."""
    if values["load.command"] is not None:
        return Work(data=_workload(values), operations=(OPERATION,))
    parameters: dict[str, dict[str, str]] = {}
    for (name, parameter), text in values["operation"].items():
        parameters.setdefault(name, {})[parameter] = text
    recent = values["preload.read_recent"]
    operations, mistakes = declared(values["mix"] or {}, parameters, {"recent": f"{recent:g}s"} if recent else {})
    data = _workload(values)
    each = -(-values["preload.rows"] // data.tables)
    work = Work(data=data, operations=operations, preload_rows=each * data.tables, cache=values["method.cache"])
    if operations:
        mistakes = [*mistakes, *mistakes_of(work), *_beside(values, work)]
    if mistakes:
        raise UsageError("\n".join(mistakes), remedy="docs/reads.md has every operation with its parameters")
    return work


def _beside(values: Mapping[str, Any], work: Work) -> list[str]:
    generator, only_writes = values["load.generator"], not work.counts_requests and not work.preload_rows
    is_other, rate_of_mix = generator != "scale", "operations have separate connections; give each a rate"
    each_takes = "each takes 40 bytes of memory while the load runs"
    some = {
        f"--cache {work.cache}: no rows are there before the load; load some, like --preload 1M": work.cache != "as-is"
        and not work.preload_rows,
        f"--rate: is the rate of one mix, and {rate_of_mix}, like --operation write.rate=10k": values["load.rate"]
        and any(operation.is_apart for operation in work.operations),
        "--rows: fixed work is rows that are written; a load that reads has a window: --duration": work.counts_requests
        and any(values[key] is not None for key in FIXED_WORK),
        f"--load-generator: {generator} only writes, and into an empty database": is_other and not only_writes,
        f"--trace-max: {TRACE_MAX:,} at most; {each_takes}": values["load.trace_max"] > TRACE_MAX,
        f"--trace: {generator} does not report each request": is_other and values["load.trace"],
        f"--disorder: {generator} has a fixed order": is_other and values["workload.disorder"],
    }
    return [sentence for sentence, is_so in some.items() if is_so]


# The fields of a workload whose settings have other names.
NAMED_OTHERWISE = {"tags": "tag_columns", "disorder_percent": "disorder_ratio"}
_WITHOUT_SETTING = ("tag_groups", "tag_prefix")  # of foreign loads


def workload_keys() -> dict[str, str]:
    """The settings of a workload, by its field."""
    names = [field.name for field in fields(Workload) if field.name not in _WITHOUT_SETTING]
    return {name: f"workload.{NAMED_OTHERWISE.get(name, name)}" for name in names}


def _workload(v: Mapping[str, Any]) -> Workload:
    values: dict[str, Any] = {name: v[key] for name, key in workload_keys().items()}
    values |= {"rows_per_request": values["rows_per_request"] or 0, "disorder": values["disorder"] or ""}
    return Workload(**values)


QUICK_STEP_S = 5.0  # the length of a step with --quick

_EXCLUDED = {
    "load.rate": "finds the rate itself: leave out --rate",
    **{
        f"load.{name}": f"measures in steps of --duration: leave out --{name.replace('_', '-')}"
        for name in ("rows", "rows_per_level", "soak", "window_max")
    },
    "load.trace": "has many loads, and a trace has one: leave out --trace",
}


def with_objective(load: Load, values: Mapping[str, Any], origin: Mapping[str, Origin]) -> Load:
    if values["load.slo"] is None:
        return load
    step_s = _step_s(values, origin)
    return replace(load, objective=values["load.slo"], duration_s=step_s, window_max_s=None, carries_claim=False)


def _step_s(values: Mapping[str, Any], origin: Mapping[str, Origin]) -> float:
    wanted_s = float(values["load.duration"]) if origin["load.duration"] != "default" else None
    return wanted_s or (QUICK_STEP_S if values["load.quick"] else STEP_S)


def slo_mistakes(values: Mapping[str, Any], origin: Mapping[str, Origin], work: Work, *, is_steady: bool) -> list[str]:
    """is_steady: acknowledgements on the axis are steady."""
    objective = values["load.slo"]
    if objective is None:
        mistakes = [f"--slo: nothing is limited; write it like {EXAMPLE}"] if origin["load.slo"] != "default" else []
        is_confirmed = origin["method.confirm"] != "default"
        return [*mistakes, *(["--confirm: only a capacity is confirmed; give --slo"] if is_confirmed else [])]
    mistakes = [f"--slo {words}" for key, words in _EXCLUDED.items() if origin[key] != "default"]
    if any(operation.rate for operation in work.operations):
        mistakes.append("--slo finds the rate of all operations together: leave out --operation NAME.rate")
    elif any(operation.is_apart for operation in work.operations):
        mistakes.append("--slo offers one rate to one mix: leave out --operation NAME.connections")
    if values["method.until_ci"] is not None and _step_s(values, origin) < STEP_S:
        mistakes.append(f"--slo and --until-ci: steps under {STEP_S:g} s (--quick, --duration) make no capacity")
    if not is_steady:
        mistakes.append("--slo: a sweep of disks measures what was flushed, and not response times; sweep cores")
    if values["load.generator"] != "scale":
        mistakes.append(f"--slo: {values['load.generator']} offers no rate; leave out --load-generator")
    names = [operation.name for operation in work.operations]
    for clause in objective.clauses:
        if clause.operation and clause.operation not in names:
            mistakes.append(
                f"--slo: {clause.words!r}: there is no operation {clause.operation}, only {', '.join(names)}"
            )
    return mistakes
