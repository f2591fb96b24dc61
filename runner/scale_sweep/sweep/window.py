"""The length of a window, the work in it, and the objective of a search, from the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from scale_sweep.base.errors import UsageError
from scale_sweep.base.units import counted
from scale_sweep.capacity.objective import EXAMPLE, parse_objective
from scale_sweep.experiment.setting import readers, setting
from scale_sweep.experiment.work.declared import declared, mistakes_of
from scale_sweep.model import CLAIM_S, STEP_S, Load, Origin, Work, Workload

QUICK_S = 5.0  # the window of --quick
QUICK_GROWS = 2.0  # times the duration of --quick, while the rate is not steady
SHORT_GROWS = 3.0  # of another short window
CLAIM_GROWS = 1.5  # times the duration
WINDOW_GROWS_FROM_S = 4.0  # of a shorter one, steadiness cannot be decided

Values = Mapping[str, Any]
Origins = Mapping[str, Origin]


@dataclass(frozen=True, kw_only=True)
class Window:
    """The fields of Load with these names, in seconds."""

    duration_s: float
    window_max_s: float | None
    soak: bool
    carries_claim: bool


def window_of(v: Values, origins: Origins) -> Window:
    if v["load.soak"] is not None:
        return Window(duration_s=v["load.soak"], window_max_s=None, soak=True, carries_claim=True)
    duration_s, most_given = _duration_s(v), v["load.window_max"]
    is_long = duration_s >= CLAIM_S
    times = CLAIM_GROWS if is_long else QUICK_GROWS if v["load.quick"] else SHORT_GROWS
    most = times * duration_s if most_given is None else most_given
    grows = most > duration_s >= WINDOW_GROWS_FROM_S
    return Window(duration_s=duration_s, window_max_s=most if grows else None, soak=False, carries_claim=is_long)


def _duration_s(v: Values) -> float:
    return QUICK_S if v["load.quick"] and v["load.duration"] >= CLAIM_S else v["load.duration"]


def mistakes(v: Values, origins: Origins, levels: int) -> list[str]:
    """Contradictions between settings, each with its flag. levels: of the swept axis; 0 if they could not be read."""
    duration_s, most, soak = v["load.duration"], v["load.window_max"], v["load.soak"]
    contradictions = []
    if duration_s is not None and most is not None and 0 < most < _duration_s(v) and soak is None:
        limit = f"{_duration_s(v):g} s, the --duration that it may grow from"
        contradictions.append(f"--window-max: is less than {limit}; give a shorter --duration, or --quick")
    if v["load.quick"] and origins["load.duration"] == "flag" and duration_s is not None and duration_s >= CLAIM_S:
        contradictions.append(
            f"--quick and --duration {duration_s:g}s exclude each other: a window of {CLAIM_S:g} s is not quick"
        )
    return contradictions + (_mistakes_of_soak(v, origins, levels) if soak is not None else [])


def _mistakes_of_soak(v: Values, origins: Origins, levels: int) -> list[str]:
    contradictions = []
    if levels > 1:
        contradictions.append(f"--soak: is one long trial at one level, and {counted(levels, 'level')} are given")
    with_soak = {
        "load.rows": "--rows",
        "load.rows_per_level": "--rows-per-level",
        "load.duration": "--duration",
        "load.quick": "--quick",
    }
    contradictions += [
        f"--soak and {flag} exclude each other" for key, flag in with_soak.items() if origins[key] == "flag"
    ]
    if origins["method.replicates"] == "flag" and (v["method.replicates"] or 1) > 1:
        contradictions.append("--soak: is one long trial; leave out --replicates")
    if v["load.soak"] < CLAIM_S:
        contradictions.append(f"--soak: at least {CLAIM_S:g} s, the length of a window that it is compared with")
    return contradictions


TRACE_MAX = 100_000_000  # the load generator's limit


def work_of(values: Mapping[str, Any], origin: Mapping[str, Origin]) -> Work:
    """The work of settings that are valid one by one. Raises UsageError."""
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
    """Settings that contradict reads or a preload."""
    rows = values["load.rows"] is not None or values["load.rows_per_level"] is not None
    contradictions = []
    if work.cache != "as-is" and not work.preload_rows:
        contradictions.append(f"--cache {work.cache}: no rows are there before the load; load some, like --preload 1M")
    if values["load.rate"] and any(operation.is_apart for operation in work.operations):
        reason = "operations have separate connections; give each a rate, like --operation write.rate=10k"
        contradictions.append(f"--rate: is the rate of one mix, and {reason}")
    if work.counts_requests and rows:
        contradictions.append("--rows: fixed work is rows that are written; a load that reads has a window: --duration")
    if (work.counts_requests or work.preload_rows) and values["load.generator"] != "scale":
        contradictions.append(f"--load-generator: {values['load.generator']} only writes, and into an empty database")
    if values["load.trace_max"] > TRACE_MAX:
        contradictions.append(f"--trace-max: {TRACE_MAX:,} at most; each takes 40 bytes of memory while the load runs")
    if values["load.trace"] and values["load.generator"] != "scale":
        contradictions.append(f"--trace: {values['load.generator']} does not report each request")
    if values["workload.disorder"] and values["load.generator"] != "scale":
        contradictions.append(f"--disorder: {values['load.generator']} has a fixed order")
    return contradictions


def _workload(v: Mapping[str, Any]) -> Workload:
    return Workload(
        tables=v["workload.tables"],
        columns=v["workload.columns"],
        tags=v["workload.tag_columns"],
        values=v["workload.values"],
        rows_per_request=v["workload.rows_per_request"] or 0,
        interlace_rows=v["workload.interlace_rows"],
        start_ms=v["workload.start_ms"],
        step_ms=v["workload.step_ms"],
        text=v["workload.text"],
        requests_per_table=v["workload.requests_per_table"],
        period_rows=v["workload.period_rows"],
        decimals=v["workload.decimals"],
        disorder=v["workload.disorder"] or "",
        disorder_percent=v["workload.disorder_ratio"],
        disorder_lambda=v["workload.disorder_lambda"],
        disorder_max_k=v["workload.disorder_max_k"],
        disorder_rows=v["workload.disorder_rows"],
    )


QUICK_STEP_S = 5.0  # the length of a step with --quick

SLO = setting(
    "load.slo",
    "--slo",
    parse_objective,
    "",
    "Find the highest offered rate at each level that holds these limits of response times: 'p99 < 20ms', or 'p99 < "
    "20ms, p999 < 100ms, errors < 0.1%', or of one operation 'range.p99 < 50ms'. Each trial has 14 steps of "
    "--duration (default 10s). Steps under 10s (--quick: 5s) only show which rates held for so long.",
    "LIMITS",
)

CONFIRM = setting(
    "method.confirm",
    "--confirm",
    readers.OneOf("on", "off"),
    "on",
    "With --slo and steps of 10s or more: then measure windows of 60s up or down by 5 %, until one holds and the next "
    "does not, and one with twice the connections. Each begins with an overload of a fresh server.",
    "on|off",
)

_EXCLUDED = {
    "load.rate": "finds the rate itself: leave out --rate",
    "load.rows": "measures in steps of --duration: leave out --rows",
    "load.rows_per_level": "measures in steps of --duration: leave out --rows-per-level",
    "load.soak": "measures in steps of --duration: leave out --soak",
    "load.window_max": "measures in steps of --duration: leave out --window-max",
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


def _without_objective(origin: Mapping[str, Origin]) -> list[str]:
    mistakes = [f"--slo: nothing is limited; write it like {EXAMPLE}"] if origin["load.slo"] != "default" else []
    if origin["method.confirm"] != "default":
        mistakes.append("--confirm: only a capacity is confirmed; give --slo")
    return mistakes


def slo_mistakes(values: Mapping[str, Any], origin: Mapping[str, Origin], work: Work, *, is_steady: bool) -> list[str]:
    """Settings that contradict an objective, each by its flag; none without an objective. is_steady: acknowledgements
    on the axis are steady, which those of a disk sweep are not."""
    objective = values["load.slo"]
    if objective is None:
        return _without_objective(origin)
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
