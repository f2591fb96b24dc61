"""Refuses a plan with a load that the load generator would refuse after the server was started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scale_sweep.base.errors import UsageError
from scale_sweep.experiment.axes import axis_of
from scale_sweep.loadgen.binary import Features, Mistake, features_of, kept_with, loadgen_path, mistake_of
from scale_sweep.loadgen.spec import preload_of
from scale_sweep.loadgen.split import group_specs
from scale_sweep.model import CLIENTS, Plan, Trial
from scale_sweep.plan.preparing.choice import ServerChoice, subject_key
from scale_sweep.server.targets import Target
from scale_sweep.server.targets.planned import planned_spec
from scale_sweep.sweep.settings import SETTINGS

_SEEDS = ("seed", "read_seed", "arrival_seed")  # no seed makes a spec wrong
_WARMUP = "warmup_s"  # below one core each level has its own bound: the longest one is checked
_OTHER_FLAGS = {
    "operations": "--operation",
    "tags": "--tag-columns",
    "period_rows": "--value-period",
    "drain_s": "--drain",
    "duration_s": "--duration",
    "warmup_s": "--warmup",
    "request_timeout_s": "--request-timeout",
}


def refuse_wrong_specs(plan: Plan, choices: Mapping[str, ServerChoice]) -> None:
    """Raises UsageError that names the flag of the first mistake. choices: of every subject, by `subject_key`."""
    program = loadgen_path()
    features = features_of(program)
    right = set()
    for trial in sorted(plan.trials, key=lambda one: -one.load.warmup_s):
        same = (*_SEEDS, *([_WARMUP] if trial.load.warmup_least_s is not None else []))
        for spec in _specs(trial, choices[subject_key(trial.subject)].target, features):
            text = frozenset((key, value) for key, value in spec.items() if key not in same)
            if text in right:
                continue
            if mistake := mistake_of(program, spec):
                raise UsageError(_sentence(mistake, plan), remedy=_remedy(mistake))
            right.add(text)


def _specs(trial: Trial, target: Target, features: Features) -> Iterator[dict[str, str]]:
    spec = planned_spec(trial, target)
    if trial.load.is_ours:
        traced = {"trace": "/dev/null"} if trial.load.trace_every else {}  # its records are in memory
        for group in group_specs({**spec, **traced}, trial.work):
            yield kept_with(features, group)
    if trial.work.preload_rows:
        yield kept_with(features, planned_spec(preload_of(trial), target))


def _sentence(mistake: Mistake, plan: Plan) -> str:
    others = f" (and {mistake.more} more)" if mistake.more else ""
    flag = _flag(mistake.key, plan)
    return f"{flag}: {mistake.sentence}{others}" if flag else f"{mistake.key}: {mistake.sentence}{others}"


def _flag(key: str, plan: Plan) -> str:
    """The flag that a key of the spec comes from; "" if there is none."""
    if key == "threads":
        is_swept = any(CLIENTS in trial.resources.amounts for trial in plan.trials)
        return axis_of(plan.sweep.axis).facts.flag if is_swept else "--connections"
    if key.startswith("ask."):
        return "--operation"
    flag = _OTHER_FLAGS.get(key, f"--{key.replace('_', '-')}")
    return flag if any(flag == setting.flag for setting in SETTINGS) else ""


def _remedy(mistake: Mistake) -> str:
    if mistake.key == "threads" and "share" in mistake.sentence:
        return "more --tables, or fewer connections"
    return "correct it; docs/loadgen.md lists the keys and values of a load"
