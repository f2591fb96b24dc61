"""The run's figures by level, from which its tables and pictures are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scale_sweep.analysis.account.of_levels import account_of
from scale_sweep.analysis.fit.curve import FitQuestions, fit_curve
from scale_sweep.analysis.fit.rows import known_breaks
from scale_sweep.analysis.fit.summaries import another_day
from scale_sweep.analysis.fit.words import Terms
from scale_sweep.analysis.noise.agreement import agreement_of
from scale_sweep.analysis.noise.drift_test import without_drift
from scale_sweep.analysis.noise.parts import parts_of
from scale_sweep.analysis.noise.spread import with_intervals
from scale_sweep.analysis.observations import observations
from scale_sweep.analysis.proved import proofs_of_run
from scale_sweep.base.units import counted, format_number, format_rate
from scale_sweep.experiment.axes import AxisFacts, load_axis
from scale_sweep.experiment.work import Rate, rate_of, rates_of
from scale_sweep.model.fitted import FitReport, PointSummary, StoredRun
from scale_sweep.model.measured import Measurement, TrialResult
from scale_sweep.model.observed import Agreement
from scale_sweep.report.cpu_time import speed_cautions, with_cpu_points
from scale_sweep.report.offered_rates import with_answer, with_held
from scale_sweep.report.replicates import agreement_words
from scale_sweep.report.table import ABSENT, Table, known, mean, quick_words, shown_trials

OWN_MARK = " ‡"


def fit_of(run: StoredRun) -> FitReport:
    return run.fit or fit_again(run)


def fit_again(run: StoredRun) -> FitReport:
    """The fit with the sweep's own questions."""
    sweep = run.plan.sweep
    questions = FitQuestions(predict=sweep.predict, need=sweep.need, next_level=True)
    axis = load_axis(sweep.axis)
    fitted = fitted_rate(run)
    terms = Terms(axis=axis.name, one=axis.unit, rate=fitted.words)
    observed = observations(run.results, fitted.field)
    fit = fit_curve(
        without_drift(observed),
        terms,
        rate=fitted.field,
        confounds=run.plan.confounds,
        questions=questions,
        breaks=known_breaks({t.level: t.placement for t in run.plan.trials}),
        is_quick=sweep.is_quick,
    )
    fit = with_another_day(fit, run) if sweep.is_quick else replace(fit, points=with_intervals(fit.points, observed))
    agreement = agreement_words(agreement_of(observed), axis)
    fit = with_cpu_points(with_held(with_answer(fit, run), run), run)
    cautions = (*quick_words(run), *speed_cautions(run, fitted.field), *agreement, *fit.cautions)
    account = account_of(run.results, axis, fitted.field, run.timeseries)
    if run.plan.is_simulated:
        fit, cautions = replace(fit, sentence=f"Simulated: {fit.sentence}"), (*run.plan.notes[:1], *cautions)
    column = "requests_per_s" if sweep.work.counts_requests else "rows_per_s"
    proofs = proofs_of_run(run, axis, column, fit.points)
    return replace(fit, cautions=cautions, noise_parts=parts_of([observed]), account=account, proofs=proofs)


def with_another_day(fit: FitReport, run: StoredRun) -> FitReport:
    """Short windows: the range of the speedup on another day, in the sentence."""
    stored = run.manifest.get("repetitions")
    earlier = [v for v in stored if isinstance(v, float)] if isinstance(stored, list) else []
    other = another_day(fit.points[-1], earlier) if len(fit.points) > 1 else None
    if other is None:
        return fit
    basis = f"; {counted(other.repetitions, 'earlier run')} of this sweep here" if other.repetitions else ""
    words = f"Another day on such a machine: {other.low:.2f} to {other.high:.2f}{basis}."
    return replace(fit, another_day=other, sentence=f"{fit.sentence} {words}")


def levels_of(run: StoredRun) -> tuple[float, ...]:
    return tuple(sorted({r.trial.level for r in run.on_curve}))


def at_level(run: StoredRun, level: float) -> tuple[list[TrialResult], bool]:
    return shown_trials([r for r in run.on_curve if r.trial.level == level])


def measured_rate(run: StoredRun, level: float) -> float | None:
    """As measured: the fit's own mean is without a drift."""
    return mean(getattr(r.measurement, fitted_rate(run).field) for r in at_level(run, level)[0])


def cores_given(result: TrialResult) -> float:
    """The quota if there is one, else the number of CPUs."""
    placement = result.trial.placement
    if placement.quota_cores is not None:
        return placement.quota_cores
    return result.trial.cores or float(len(placement.server_cpus))


def cpu_cost(cores: float | None, result: TrialResult) -> float | None:
    """CPU seconds for a million rows or requests. cores: used in the window."""
    return cores / result.achieved_per_s * 1e6 if cores is not None and result.achieved_per_s else None


def by_run_order(run: StoredRun) -> list[TrialResult]:
    return sorted(run.results, key=lambda r: (r.trial.level, r.trial.replicate))


def agreement_in(run: StoredRun) -> Agreement | None:
    return agreement_of(observations(run.results, fitted_rate(run).field))


def axis_facts(run: StoredRun) -> AxisFacts:
    return load_axis(run.plan.sweep.axis)


def fitted_rate(run: StoredRun) -> Rate:
    sweep = run.plan.sweep
    return rate_of(sweep.work, durable=axis_facts(run).is_durable, objective=sweep.load.objective)


def shown_rates(run: StoredRun) -> tuple[Rate, ...]:
    rates = rates_of(run.plan.sweep.work, durable=axis_facts(run).is_durable)
    has = [r for r in rates if any(known(getattr(result.measurement, r.field)) for result in run.results)]
    return tuple(dict.fromkeys((fitted_rate(run), *has)))


def axis_name(run: StoredRun) -> str:
    return axis_facts(run).title


def knobs_table(run: StoredRun) -> Table:
    """Those that move, at every level, because the curve then shows their effect too; a note has the others."""
    levels, axis = levels_of(run), axis_facts(run)
    by_level = [[r for r in run.on_curve if r.trial.level == level] for level in levels]
    labels = {knob.name: knob.label for knob in reversed(run.plan.knobs)}
    rows = [
        (labels.get(name, name), *(knob_at(trials, name) for trials in by_level))
        for name in dict.fromkeys(name for r in run.on_curve for name in r.trial.knobs)
    ]
    placed = [(r.trial.level, len(r.trial.placement.shared)) for r in run.results]
    shared = (sorted({many for at, many in placed if at == level}) for level in levels)
    rows += [("CPUs shared with the load generator", *(" / ".join(map(str, n)) for n in shared))] if levels else []
    constant = "; ".join(f"{name} {values[0]}" for name, *values in rows if len(set(values)) == 1)
    return Table(
        title="Knobs",
        headers=("Knob", *(axis.count(format_number(level)) for level in levels)),
        rows=tuple(row for row in rows if len(set(row[1:])) > 1),
        words=(0,),
        notes=(f"Constant along the axis: {constant}.",) if constant else (),
    )


def efficiency_words(point: PointSummary) -> str:
    """ "91 (86 to 96)", with the interval of the speedup."""
    if point.efficiency is None or not point.speedup:
        return ABSENT
    scale = 100 * point.efficiency / point.speedup
    words = f"{100 * point.efficiency:.0f}"
    if point.speedup_low is None or point.speedup_high is None:
        return words
    low, high = f"{point.speedup_low * scale:.0f}", f"{point.speedup_high * scale:.0f}"
    return words if low == words == high else f"{words} ({low} to {high})"


def measured_words(shown: float, point: PointSummary | None) -> str:
    """The interval is relative: a drift moves the mean alone."""
    if point is None or point.mean_low is None or point.mean_high is None:
        return format_rate(shown)
    scale = shown / point.rate_mean
    return format_rate(shown, point.mean_low * scale, point.mean_high * scale)


def knob_at(trials: Sequence[TrialResult], name: str) -> str:
    return " / ".join(dict.fromkeys(r.trial.knobs[name] for r in trials if name in r.trial.knobs)) or ABSENT


def disk_mb_per_s(axis: AxisFacts, m: Measurement) -> float | None:
    """The disks' write rate in MB/s: to the end of flush and sync if the axis' rate is of that time; else in the
    window."""
    rates = [disk.write_mb_per_s for disk in m.disks.values() if disk.write_mb_per_s is not None]
    whole = axis.is_durable and len(rates) == len(m.disks) > 0
    return sum(rates) if whole else m.disk_write_mb_per_s
