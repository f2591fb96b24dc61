"""How certain the points are, in words and tables: intervals, drift, ablation trials, conditions that moved. Pure."""

from __future__ import annotations

from dataclasses import replace

from scale_sweep.analysis.noise import noise_report
from scale_sweep.analysis.noise.spread import DIFFERENCE_MAX_PERCENT
from scale_sweep.analysis.observations import observations
from scale_sweep.base.units import format_number
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model import AblationSplit, Drift, NoiseReport, Ratio, StoredRun, Trend, TrialResult
from scale_sweep.report.conditions import conditions, pages_between_trials
from scale_sweep.report.figures import fitted_rate
from scale_sweep.report.table import ABSENT, Table, rate
from scale_sweep.sweep.vary import slug

_SEEN_WITHIN = 2.0  # a drift check whose interval spans more than this factor says nothing of drift


def noise_of(run: StoredRun) -> NoiseReport:
    """The noise of the fitted rate, with the names of trials and knobs, and the conditions that moved."""
    axis = load_axis(run.plan.sweep.axis)
    noise = noise_report(observations(run.results, fitted_rate(run).field))
    return replace(
        noise,
        drift=_named(noise.drift, run) if noise.drift else None,
        ablations=tuple(replace(split, knobs=_moved(split, run)) for split in noise.ablations),
        conditions=(*pages_between_trials(run), *conditions(run.results, axis)),
    )


def _named(drift: Drift, run: StoredRun) -> Drift:
    names = {r.trial.order: r.trial.trial_id for r in run.results}
    return replace(drift, trial_id=names[drift.first_order], repeat_id=names[drift.repeat_order])


def _moved(split: AblationSplit, run: StoredRun) -> str:
    """The knobs in which an ablation trial differs from its level's point."""

    def is_at(result: TrialResult) -> bool:
        return (result.trial.level, slug(result.trial.variant)) == (split.after, split.variant)

    here = [r.trial for r in run.results if is_at(r)]
    old = next(t.knobs for t in here if t.role == "ablation" and t.knobs_of_level == split.before)
    new = next(t.knobs for t in here if t.role == "point")
    return ", ".join(f"{name} {old.get(name, '?')} → {value}" for name, value in new.items() if old.get(name) != value)


def noise_sentences(run: StoredRun) -> tuple[str, ...]:
    """Sentences on the noise, the shortest first."""
    noise = noise_of(run)
    return (*_floor(noise), *_drift(noise), *(_ablation(split) for split in noise.ablations), *noise.conditions)


def _floor(noise: NoiseReport) -> list[str]:
    if noise.noise_percent is None:
        return ["no level has two valid trials: the noise is not known, so no difference is significant"]
    seen = noise.smallest_difference_percent
    if seen is None:
        return []
    floor = f"noise floor {noise.noise_percent:.1f} %"
    if seen >= DIFFERENCE_MAX_PERCENT:
        return [f"no two levels are significantly different: too few trials for this noise ({floor})"]
    return [f"the smallest difference of two levels that this run could have seen is {seen:.0f} % ({floor})"]


def _drift(noise: NoiseReport) -> list[str]:
    """The drift by the regression over all trials; by the repeated trial if there are too few for a regression."""
    if noise.trend is not None:
        return [trend_sentence(noise.trend)]
    return _check(noise.drift) if noise.drift is not None else []


def trend_sentence(trend: Trend) -> str:
    """The result of the regression on the order, in a sentence."""
    change = f"{_percent(trend.ratio.value)} from the first trial to the last (95 %: {_interval(trend.ratio)})"
    if trend.is_drifting:
        return (
            f"the rate drifted by {change}: the machine changed while the run went on. The drift is estimated from the "
            "order of the trials and taken out of the points and their noise"
        )
    if trend.smallest_percent >= DIFFERENCE_MAX_PERCENT:
        return f"no drift was found: {change}. The trials are too few for this noise to find one"
    return (
        f"no drift was found: {change}. A drift of {trend.smallest_percent:.0f} % would have been found four times "
        "in five"
    )


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f} %"


def _interval(ratio: Ratio) -> str:
    if ratio.low is None or ratio.high is None:
        return "not known"
    return f"{100 * (ratio.low - 1):+.1f} to {100 * (ratio.high - 1):+.1f} %"


def _check(drift: Drift) -> list[str]:
    words = f"the first trial ({drift.trial_id}) repeated at the end gave {ratio_words(drift.ratio)} of its rate"
    if drift.ratio.low is None:
        return [f"{words}; without two valid replicates, drift cannot be distinguished from noise"]
    if not drift.are_valid:
        words += " (not both trials are valid)"
    if drift.ratio.differs_from_one:
        return [f"{words}: the machine drifted while the run went on, so differences between levels are in doubt"]
    if drift.ratio.high is not None and drift.ratio.high > _SEEN_WITHIN * drift.ratio.low:
        return [f"{words}: the trials are too few for this noise to show a drift"]
    return [f"{words}: no drift beyond the noise"]


def _ablation(split: AblationSplit) -> str:
    variant = f" ({split.variant})" if split.variant else ""
    return (
        f"from {format_number(split.before)} to {format_number(split.after)}{variant} the rate grew "
        f"{ratio_words(split.total)}: {ratio_words(split.hardware)} by the hardware and "
        f"{ratio_words(split.by_knobs)} by the knobs ({split.knobs})"
    )


def ratio_words(ratio: Ratio) -> str:
    """1.52× (1.44 to 1.60), or the value alone if no interval is known."""
    if ratio.low is None or ratio.high is None:
        return f"{ratio.value:.2f}×"
    return f"{ratio.value:.2f}× ({ratio.low:.2f} to {ratio.high:.2f})"


def intervals_table(run: StoredRun) -> Table:
    """The 95 % interval of each level's geometric mean."""
    rows = tuple(
        (
            format_number(i.level) + (f" {i.variant}" if i.variant else ""),
            str(i.n),
            rate(i.mean),
            f"± {i.half_percent:.1f} %" if i.half_percent is not None else ABSENT,
        )
        for i in noise_of(run).levels
    )
    title, unit = load_axis(run.plan.sweep.axis).title, run.plan.sweep.work.rate_words
    return Table(
        title="Intervals", headers=(title, "Valid trials", f"Geometric mean {unit}", "95 % interval"), rows=rows
    )


def ablations_table(run: StoredRun) -> Table:
    """The gain across each boundary with an ablation trial: total = hardware × knobs."""
    rows = tuple(
        (
            f"{format_number(b.before)} → {format_number(b.after)}" + (f" {b.variant}" if b.variant else ""),
            b.knobs,
            ratio_words(b.total),
            ratio_words(b.hardware),
            ratio_words(b.by_knobs),
        )
        for b in noise_of(run).ablations
    )
    return Table(
        title="Bridges",
        headers=("Boundary", "Knobs that moved", "Gain", "by hardware", "by knobs"),
        rows=rows,
        words=(0, 1),
        notes=("hardware: after with the old knobs / before; knobs: after / after with the old knobs; 95 % intervals",)
        if rows
        else (),
    )
