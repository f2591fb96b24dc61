"""Refuses a plan that the load generator would refuse later, and a comparison of a server with itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from scale_sweep.base.errors import UsageError
from scale_sweep.base.texts import are_same_values, is_same_value
from scale_sweep.experiment.axes import axis_of
from scale_sweep.loadgen.binary import Features, features_of, kept_with, loadgen_path, mistake_of
from scale_sweep.loadgen.spec import preload_of
from scale_sweep.loadgen.split import group_specs
from scale_sweep.model.events import Event, TrialFinished
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.model.resources import CLIENTS
from scale_sweep.plan.preparing.choice import ChosenArm, ServerChoice, subject_key
from scale_sweep.plan.preparing.commands import refuse_wrong_commands
from scale_sweep.server.targets import Target
from scale_sweep.server.targets.planned import planned_spec
from scale_sweep.sweep.server_settings import knob_flag
from scale_sweep.sweep.settings import SETTINGS
from scale_sweep.sweep.vary import VARIANT, is_knob

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
    """Raises UsageError for the first mistake."""
    refuse_wrong_commands(plan, choices)
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
                others = f" (and {mistake.more} more)" if mistake.more else ""
                remedy = "correct it; docs/loadgen.md lists the keys and values of a load"
                if mistake.key == "threads" and "share" in mistake.sentence:
                    remedy = "more --tables, or fewer connections"
                where = _flag(mistake.key, plan) or mistake.key
                raise UsageError(f"{where}: {mistake.sentence}{others}", remedy=remedy)
            right.add(text)


def _specs(trial: Trial, target: Target, features: Features) -> Iterator[dict[str, str]]:
    if trial.load.command is not None:
        return
    spec = planned_spec(trial, target)
    if trial.load.is_ours:
        traced = {"trace": "/dev/null"} if trial.load.trace_every else {}  # its records are in memory
        for group in group_specs({**spec, **traced}, trial.work):
            yield kept_with(features, group)
    if trial.work.preload_rows:
        yield kept_with(features, planned_spec(preload_of(trial), target))


def _flag(key: str, plan: Plan) -> str:
    if key == "threads":
        is_swept = any(CLIENTS in trial.resources.amounts for trial in plan.trials)
        return axis_of(plan.sweep.axis).facts.flag if is_swept else "--connections"
    if key.startswith("ask."):
        return "--operation"
    flag = _OTHER_FLAGS.get(key, f"--{key.replace('_', '-')}")
    return flag if any(flag == setting.flag for setting in SETTINGS) else ""


def refuse_unused_settings(plan: Plan, arms: Iterable[ChosenArm]) -> None:
    """Raises UsageError for settings that would not be applied: of a server that runs already, or of its place."""
    trials = {subject_key(trial.subject): trial for trial in plan.trials}
    for arm in arms:
        sweep, target, trial = arm.sweep, arm.choice.target, trials[subject_key(arm.sweep)]
        varied = [name for name in sweep.vary if is_knob(name)]
        flags = {name: f"--vary {name}" if name in varied else knob_flag(name) for name in (*sweep.knobs, *varied)}
        if fixed := [flag for name, flag in flags.items() if target.facts.fixes(name)]:
            sentence = "each trial sets the ports, addresses and folders of its server"
            raise UsageError(f"{', '.join(fixed)}: {sentence}", remedy="leave it out")
        unused = [flag for name, flag in flags.items() if sweep.endpoint and _is_unused(target, trial, name)]
        if sweep.endpoint and target.facts.set_of_settings(sweep.settings):
            unused.append(f"--settings {sweep.settings}")
        if unused:
            raise UsageError(
                f"{', '.join(unused)}: the server at {sweep.endpoint} runs already, and scale does not configure it",
                remedy=f"set it there, and leave out {', '.join(unused)}; or let the sweep start a server",
            )


def _is_unused(target: Target, trial: Trial, name: str) -> bool:
    knob = target.facts.knob_named(name)
    own = knob.name if knob else name
    other = replace(trial, knobs={**trial.knobs, own: "8" if trial.knobs.get(own) == "7" else "7"})
    ours, theirs = (
        target.settings(trial, is_ours=is_ours) != target.settings(other, is_ours=is_ours) for is_ours in (True, False)
    )
    return ours and not theirs


_REMEDY = "give B a setting that A has not; --against-itself measures the noise"


def refuse_same_server(plan: Plan, choices: Mapping[str, ServerChoice]) -> None:
    """Raises UsageError for the same settings at every level, vendors' defaults included."""
    pairs = _pairs(plan)
    if pairs and all(are_same_values(_settings(a, b, choices), _settings(b, a, choices)) for a, b in pairs):
        raise UsageError(f"A and B are the same server: their settings are equal ({_about(plan)})", remedy=_REMEDY)


class RefusesSameServer:
    """A sink: raises UsageError after the first trials of both variants, if their servers reported one value for every
    setting in which the plan has them differ."""

    def __init__(self, plan: Plan, choices: Mapping[str, ServerChoice]) -> None:
        self._plan, self._reported = plan, dict[str, Mapping[str, str]]()
        self._names: set[str] = set()
        for a, b in _pairs(plan) if plan.sweep.variants_ab else ():
            of_a, of_b = _settings(a, b, choices), _settings(b, a, choices)
            self._names |= {n for n in of_a | of_b if not is_same_value(of_a.get(n, ""), of_b.get(n, ""))}

    def __call__(self, event: Event) -> None:
        if not self._names or not isinstance(event, TrialFinished):
            return
        result = event.result
        self._reported.setdefault(result.trial.variant[VARIANT], result.effective)
        if len(self._reported) < len(self._plan.sweep.variants_ab):
            return
        a, b = self._reported["A"], self._reported["B"]
        if all(name in a and name in b and is_same_value(a[name], b[name]) for name in self._names):
            reported = ", ".join(f"{name}={a[name]}" for name in sorted(self._names))
            raise UsageError(
                f"A and B are the same server: both reported {reported} ({_about(self._plan)})", remedy=_REMEDY
            )
        self._names = set()  # they differ: nothing more to see


def _pairs(plan: Plan) -> list[tuple[Trial, Trial]]:
    """None if the variants differ in more than settings."""

    def without_settings(trial: Trial) -> Trial:
        subject = replace(trial.subject, variant={})
        place = replace(trial, trial_id="", point_id="", order=0, block=0, replicate=1, subject=subject)
        return replace(place, knobs={}, settings="")

    pairs = [
        (a, next(b for b in plan.trials if b.level == a.level and b.variant[VARIANT] == "B"))
        for a in plan.trials
        if a.variant.get(VARIANT) == "A" and a.replicate == 1
    ]
    return pairs if all(without_settings(a) == without_settings(b) for a, b in pairs) else []


def _about(plan: Plan) -> str:
    return "; ".join(f"{name}: {words}" for name, words in plan.sweep.variants_ab.items())


def _settings(trial: Trial, other: Trial, choices: Mapping[str, ServerChoice]) -> dict[str, str]:
    target = choices[subject_key(trial.subject)].target
    own = {**trial.knobs, **target.settings(trial, is_ours=not trial.subject.endpoint)}
    theirs = {*other.knobs, *target.settings(other, is_ours=not other.subject.endpoint)}
    lacking = {name: target.facts.vendor_defaults.get(name, "") for name in theirs - set(own)}
    return {**lacking, **own}
