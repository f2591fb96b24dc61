"""Trials that are not points of the curve: drift checks, and ablation trials, which split a confounded gain. Pure.

A drift check repeats the run's first trial at its very end. An ablation trial measures the first level after a knob has
moved, with the knobs of the level before it. Neither is fitted; both are kept, judged and reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scale_sweep.base.units import format_number
from scale_sweep.model import KnobColumn, Trial
from scale_sweep.plan.knobs import with_knobs

Knobs = Mapping[str, str]
LAST = ("drift_check", "profile")  # roles that come after everything else


def drift_check_of(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """The first trial, repeated as the last; nothing for a run of one trial."""
    if len(trials) < 2:
        return ()
    first = min(trials, key=lambda t: t.order)
    return (replace(first, trial_id=f"{first.point_id}-drift", role="drift_check", order=len(trials)),)


def profiled(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """A trial of the lowest level and one of the highest, repeated with a profile. Of several variants only the
    first."""
    points = sorted((t for t in trials if t.role == "point"), key=lambda t: (t.level, t.order))
    ends = {t.level: t for t in (points[0], next(t for t in points if t.level == points[-1].level))}
    return tuple(
        replace(t, trial_id=name, point_id=name, role="profile", replicate=1, block=0, order=len(trials) + at)
        for at, t in enumerate(ends.values())
        for name in (f"{t.point_id}-profile",)
    )


def boundaries(levels: Sequence[float], knobs: Mapping[float, Knobs]) -> tuple[tuple[float, float], ...]:
    """Pairs of neighbouring levels between which a knob moves."""
    ordered = sorted(levels)
    return tuple((a, b) for a, b in zip(ordered, ordered[1:], strict=False) if knobs[a] != knobs[b])


def ablation(after: Trial, before: float, knobs: Knobs, varied: Knobs, declared: Sequence[KnobColumn]) -> Trial:
    """The trial `after` with the knobs of the level `before`. varied: the knobs of its variant, which stay."""
    point_id = f"{after.point_id}-ablation-{format_number(before)}"
    made = replace(
        after, trial_id=f"{point_id}-r{after.replicate}", point_id=point_id, role="ablation", knobs_of_level=before
    )
    return with_knobs(made, {**knobs, **varied}, declared)
