"""Refuses a comparison of a server with itself: two variants of `scale ab` that differ in nothing but equal
settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from scale_sweep.base.errors import UsageError
from scale_sweep.base.texts import are_same_values, is_same_value
from scale_sweep.model import Event, Plan, Trial, TrialFinished
from scale_sweep.plan.preparing.choice import ServerChoice, subject_key
from scale_sweep.sweep.vary import VARIANT

_REMEDY = "give B a setting that A has not; without --a, --b and a second sweep, the noise is measured"


def refuse_same_server(plan: Plan, choices: Mapping[str, ServerChoice]) -> None:
    """Raises UsageError if both variants of every level have the same settings, the vendors' defaults included."""
    pairs = _pairs(plan)
    if not pairs:
        return
    settings = [(_settings(a, b, choices), _settings(b, a, choices)) for a, b in pairs]
    if all(are_same_values(of_a, of_b) for of_a, of_b in settings):
        raise UsageError(f"A and B are the same server: their settings are equal ({_about(plan)})", remedy=_REMEDY)


class RefusesSameServer:
    """A sink of a run's events: raises UsageError when the first trials of both variants have ended, if their servers
    reported one value for every setting in which the plan has the variants differ."""

    def __init__(self, plan: Plan, choices: Mapping[str, ServerChoice]) -> None:
        self._plan, self._reported = plan, dict[str, Mapping[str, str]]()
        self._names = _differing(plan, choices)

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
        self._names = frozenset()  # they differ: nothing more to see


def _pairs(plan: Plan) -> list[tuple[Trial, Trial]]:
    """The first trials of both variants at each level; none if they differ in more than settings."""
    pairs = [
        (a, next(b for b in plan.trials if b.level == a.level and b.variant[VARIANT] == "B"))
        for a in plan.trials
        if a.variant.get(VARIANT) == "A" and a.replicate == 1
    ]
    return pairs if all(_without_settings(a) == _without_settings(b) for a, b in pairs) else []


def _differing(plan: Plan, choices: Mapping[str, ServerChoice]) -> frozenset[str]:
    names: set[str] = set()
    for a, b in _pairs(plan) if plan.sweep.variants_ab else ():
        of_a, of_b = _settings(a, b, choices), _settings(b, a, choices)
        names |= {name for name in of_a | of_b if not is_same_value(of_a.get(name, ""), of_b.get(name, ""))}
    return frozenset(names)


def _about(plan: Plan) -> str:
    return "; ".join(f"{name}: {words}" for name, words in plan.sweep.variants_ab.items())


def _without_settings(trial: Trial) -> Trial:
    return replace(
        trial,
        trial_id="",
        point_id="",
        order=0,
        block=0,
        replicate=1,
        knobs={},
        settings="",
        subject=replace(trial.subject, variant={}),
    )


def _settings(trial: Trial, other: Trial, choices: Mapping[str, ServerChoice]) -> dict[str, str]:
    """Settings that the server starts from. A knob that only `other` has is at the vendor's default, if that is
    known."""
    target = choices[subject_key(trial.subject)].target
    own = {**trial.knobs, **target.settings(trial, is_ours=not trial.subject.endpoint)}
    theirs = {*other.knobs, *target.settings(other, is_ours=not other.subject.endpoint)}
    lacking = {name: target.facts.vendor_defaults.get(name, "") for name in theirs - set(own)}
    return {**lacking, **own}
