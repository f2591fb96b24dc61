"""Refuses a comparison of a server with itself: two variants of `scale ab` that differ in nothing but equal settings.

Variants without any difference are not refused: they are a measurement of the noise (A/A), and are named as such.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from runner.errors import UsageError
from runner.model import Plan, Trial
from runner.preparing.choice import Choice
from runner.preparing.requested import subject_key
from runner.same_value import are_same_values
from runner.sweep.vary import VARIANT


def refuse_same_server(plan: Plan, choices: Mapping[str, Choice]) -> None:
    """Raises UsageError if both variants of every level have the same settings, the vendors' defaults included."""
    pairs = [
        (a, next(b for b in plan.trials if b.level == a.level and b.variant[VARIANT] == "B"))
        for a in plan.trials
        if a.variant[VARIANT] == "A" and a.replicate == 1
    ]
    if not pairs or not all(_without_settings(a) == _without_settings(b) for a, b in pairs):
        return
    settings = [(_settings(a, b, choices), _settings(b, a, choices)) for a, b in pairs]
    if all(are_same_values(of_a, of_b) for of_a, of_b in settings):
        about = "; ".join(f"{name}: {words}" for name, words in plan.sweep.variants_ab.items())
        raise UsageError(
            f"A and B are the same server: their settings are equal ({about})",
            remedy="give B a setting that A has not; without --a, --b and a second sweep, the noise is measured",
        )


def _without_settings(trial: Trial) -> Trial:
    """What a trial has besides its settings and its place in the order."""
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


def _settings(trial: Trial, other: Trial, choices: Mapping[str, Choice]) -> dict[str, str]:
    """Settings that the server starts from. A knob that only `other` has is at the vendor's default, if that is
    known."""
    target = choices[subject_key(trial.subject)].target
    own = {**trial.knobs, **target.settings(trial, is_ours=not trial.subject.endpoint)}
    theirs = {*other.knobs, *target.settings(other, is_ours=not other.subject.endpoint)}
    lacking = {name: target.facts.vendor_defaults.get(name, "") for name in theirs - set(own)}
    return {**lacking, **own}
