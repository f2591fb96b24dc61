"""The setting of an objective, and what it excludes. Refuses contradictions by their flags before anything starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scale_sweep.capacity import EXAMPLE, parse_objective
from scale_sweep.experiment.setting import readers, setting
from scale_sweep.model import STEP_S, Load, Origin, Work

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
    """The load with its objective and the length of a step; unchanged without an objective."""
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
