"""How much of a running plan is done, how long the rest takes, and the curve until now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scale_sweep.analysis.fit.curve import fit_curve, value_at
from scale_sweep.analysis.fit.rows import known_breaks
from scale_sweep.analysis.fit.words import Terms
from scale_sweep.analysis.later_trials import with_later_trials
from scale_sweep.analysis.noise.drift_test import without_drift
from scale_sweep.analysis.observations import observations
from scale_sweep.experiment.axes import load_axis
from scale_sweep.experiment.work import rate_of
from scale_sweep.model.fitted import FitReport
from scale_sweep.model.measured import TrialResult
from scale_sweep.model.planned import Trial
from scale_sweep.sweep.vary import label
from scale_sweep.watch.live.state import LiveState


@dataclass(frozen=True, kw_only=True)
class Progress:
    """done_ratio: of the plan, 0..1, with a part for the running trial. remaining_s: an estimate."""

    done: int
    total: int
    done_ratio: float
    remaining_s: float


def progress(state: LiveState, now_ns: int) -> Progress:
    """At now_ns (monotonic). A trial takes as long as the ended ones of its server and role, else of its server with
    its own window in place of their steps, else the plan's mean."""
    total, done = state.total or len(state.plan.trials), len(state.results)
    ended = {result.trial.trial_id for result in state.results}
    left = [trial for trial in state.plan.trials if trial.trial_id not in ended]
    running = state.running.trial if state.running else None
    elapsed_s = max(0.0, (now_ns - state.running.started_ns) / 1e9) if state.running else 0.0
    each_s = _trial_s(state, running) if running else 0.0
    part = min(elapsed_s / each_s, 1.0) if each_s > 0 else 0.0
    unplanned = max(0, total - done - len(left))
    remaining_s = sum(_trial_s(state, trial) for trial in left) + unplanned * _trial_s(state, None) - part * each_s
    return Progress(
        done=done,
        total=total,
        done_ratio=min((done + part) / total, 1.0) if total else 1.0,
        remaining_s=max(0.0, remaining_s),
    )


def _as_long(ended: TrialResult, trial: Trial | None) -> float:
    """Seconds of a trial that has what the ended one had besides the steps of its search."""
    steps_s = sum(step.seconds for step in ended.measurement.steps)
    if not steps_s or trial is None or trial.load.searches:
        return ended.wall_s
    return ended.wall_s - steps_s + (trial.load.duration_s or 0.0)


def _trial_s(state: LiveState, trial: Trial | None) -> float:
    ended = [r for r in state.results[state.before :] if r.wall_s > 0]
    if trial is not None:
        ended = [r for r in ended if r.trial.subject.server == trial.subject.server]
    alike = [r.wall_s for r in ended if trial is not None and r.trial.role == trial.role]
    walls = alike or [_as_long(r, trial) for r in ended]
    if walls:
        return sum(walls) / len(walls)
    return state.plan.seconds_estimated / max(1, len(state.plan.trials))


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
