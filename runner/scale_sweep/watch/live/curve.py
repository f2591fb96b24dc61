"""The current curve: fitted from the finished trials, for each variant. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scale_sweep.analysis.fit import Terms, fit_curve, known_breaks, value_at
from scale_sweep.analysis.later_trials import with_later_trials
from scale_sweep.analysis.noise import without_drift
from scale_sweep.analysis.observations import observations
from scale_sweep.experiment.axes import load_axis
from scale_sweep.experiment.work import rate_of
from scale_sweep.model import FitReport
from scale_sweep.sweep.vary import label
from scale_sweep.watch.live.state import LiveState


@dataclass(frozen=True, kw_only=True)
class LiveCurve:
    """variant: "" if nothing is varied. target: of its trials. fitted: the model at each level; empty without one."""

    variant: str
    target: str
    fit: FitReport
    fitted: Mapping[float, float]


def curves(state: LiveState) -> tuple[LiveCurve, ...]:
    """One for each variant that has a VALID trial."""
    axis = load_axis(state.plan.sweep.axis)
    rate = rate_of(state.plan.sweep.work, durable=axis.is_durable, objective=state.plan.sweep.load.objective)
    terms = Terms(axis=axis.name, one=axis.unit, rate=rate.words)
    levels = sorted({t.level for t in state.plan.trials})
    breaks = known_breaks({t.level: t.placement for t in state.plan.trials})
    made = []
    ended = with_later_trials(state.plan, state.results)
    for variant in dict.fromkeys(label(r.trial.variant) for r in ended):
        results = [r for r in ended if label(r.trial.variant) == variant]
        if any(r.verdict.kind.is_fitted for r in results):
            fit = fit_curve(without_drift(observations(results, rate.field)), terms, rate=rate.field, breaks=breaks)
            values = {level: value_at(fit, level) for level in levels}
            known = {level: value for level, value in values.items() if value is not None}
            target = results[0].trial.subject.target
            made.append(LiveCurve(variant=variant, target=target, fit=fit, fitted=known))
    return tuple(made)
