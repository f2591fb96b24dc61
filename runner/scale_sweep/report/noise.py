"""How certain the points are, in words and tables: intervals, drift, ablation trials."""

from __future__ import annotations

from dataclasses import astuple, replace

from scale_sweep.analysis.confidence import SOUGHT_PERCENT
from scale_sweep.analysis.noise.parts import parts_sentence
from scale_sweep.analysis.noise.spread import noise_report, replicates_for_drift
from scale_sweep.analysis.observations import observations
from scale_sweep.base.units import change_words, counted, format_number, percent_words
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.observed import AblationSplit, Drift, NoiseReport, Ratio, Trend
from scale_sweep.report.conditions import conditions, pages_between_trials
from scale_sweep.report.figures import fitted_rate
from scale_sweep.report.table import Table
from scale_sweep.sweep.vary import slug

SLOW_CHANGE = 0.03  # of a rate: a smaller one matters to nobody who plans with short windows


def noise_of(run: StoredRun) -> NoiseReport:
    axis, names = load_axis(run.plan.sweep.axis), {r.trial.order: r.trial.trial_id for r in run.results}
    noise = noise_report(observations(run.results, fitted_rate(run).field))
    drift = noise.drift
    return replace(
        noise,
        drift=replace(drift, trial_id=names[drift.first_order], repeat_id=names[drift.repeat_order]) if drift else None,
        ablations=tuple(replace(split, knobs=_moved(split, run)) for split in noise.ablations),
        conditions=(*pages_between_trials(run), *conditions(run.results, axis)),
    )


def _moved(split: AblationSplit, run: StoredRun) -> str:
    at = (split.after, split.variant)
    here = [r.trial for r in run.results if (r.trial.level, slug(r.trial.variant)) == at]
    old = next(t.knobs for t in here if t.role == "ablation" and t.knobs_of_level == split.before)
    new = next(t.knobs for t in here if t.role == "point")
    return ", ".join(f"{name} {old.get(name, '?')} → {value}" for name, value in new.items() if old.get(name) != value)


def noise_sentences(run: StoredRun) -> tuple[str, ...]:
    noise = noise_of(run)
    ablations = (_ablation(split) for split in noise.ablations)
    later = (_later(run, level, ratio) for level, ratio in noise.later)
    return (_spread(noise), *_drift(noise), *parts_sentence(noise.parts), *later, *ablations, *noise.conditions)


def slow_changes(run: StoredRun) -> tuple[str, ...]:
    if all(trial.role != "sentinel" for trial in run.plan.trials):
        return ()
    later = (one for one in noise_of(run).later if one[1].differs_from_one and abs(one[1].value - 1) >= SLOW_CHANGE)
    return tuple(
        f"{_later(run, level, ratio)}: the short windows do not show the long run. Measure without --quick"
        for level, ratio in later
    )


def _later(run: StoredRun, level: float, ratio: Ratio) -> str:
    at, change = load_axis(run.plan.sweep.axis).count(format_number(level)), change_words(*astuple(ratio))
    return f"at {at} the rate changed by {change} from the short windows to the second half of a window of 20 s"


def _spread(noise: NoiseReport) -> str:
    """The spread alone: the cautions of the fit say which differences of two levels cannot be seen."""
    if noise.noise_percent is None:
        return "no level has two valid trials: the noise is not known"
    return f"the trials of a level spread by {percent_words(noise.noise_percent)} (standard deviation, over all levels)"


def _drift(noise: NoiseReport) -> list[str]:
    if noise.trend is not None:
        return course_sentences(noise.trend, sum(1 for i in noise.levels if i.n))
    return _check(noise.drift) if noise.drift is not None else []


def course_sentences(trend: Trend, points: int) -> list[str]:
    """A bend, else the result of the regression; and a first trial that differs. points: those with a counting
    trial."""
    sentences = [trend_sentence(trend, points)]
    if trend.bend_percent is not None:
        ends = "higher" if trend.bend_percent > 0 else "lower"
        bent = f"the rate at both ends of the run was {abs(trend.bend_percent):.0f} % {ends} than in its middle"
        removed = "This course is estimated from the order of the trials and removed from the points and their noise"
        sentences = [f"{bent}: the machine changed while the run went on. {removed}"]
    if trend.first_percent is not None:
        than = "higher" if trend.first_percent > 0 else "lower"
        first = f"the rate of the first trial was {abs(trend.first_percent):.0f} % {than} than its level's other rates"
        cold = "the machine or its caches may have been cold" if trend.first_percent < 0 else "the cause is not known"
        sentences.append(f"{first}: {cold}. The trial counts in its level, and not as drift")
    return sentences


def trend_sentence(trend: Trend, points: int) -> str:
    """points: those with a counting trial."""
    ratio = trend.ratio
    change = f"{change_words(ratio.value, ratio.low, ratio.high)} from the first trial to the last"
    if trend.is_drifting:
        return (
            f"the rate drifted by {change}: the machine changed while the run went on. The drift is estimated from the "
            "order of the trials and taken out of the points and their noise"
        )
    if is_within(ratio, SOUGHT_PERCENT):
        smallest = percent_words(trend.smallest_percent)
        return f"no drift was found: {change}; this run would see {smallest}"
    count = replicates_for_drift(trend, points, SOUGHT_PERCENT)
    many = f"{counted(count, 'replicate')} would be enough" if count is not None else ""
    enough = many or "the machine is too noisy for a sweep"
    return f"too noisy to see a drift of {SOUGHT_PERCENT:g} %: {change}; {enough}"


def is_within(ratio: Ratio, percent: float) -> bool:
    """Whether the interval excludes such a change."""
    low, high = 1 - percent / 100, 1 + percent / 100
    return ratio.low is not None and ratio.high is not None and ratio.low > low and ratio.high < high


def _check(drift: Drift) -> list[str]:
    words = f"the first trial ({drift.trial_id}) repeated at the end gave {ratio_words(drift.ratio)} times its rate"
    if drift.ratio.low is None:
        return [f"{words}; without two valid replicates, drift cannot be distinguished from noise"]
    if not drift.are_valid:
        words += " (not both trials are valid)"
    if drift.ratio.differs_from_one:
        return [f"{words}: the machine drifted while the run went on, so differences between levels are in doubt"]
    if is_within(drift.ratio, SOUGHT_PERCENT):
        return [f"{words}: no drift was found"]
    return [f"{words}: too noisy to see a drift of {SOUGHT_PERCENT:g} %; more replicates show it"]


def _ablation(split: AblationSplit) -> str:
    variant = f" ({split.variant})" if split.variant else ""
    return (
        f"from {format_number(split.before)} to {format_number(split.after)}{variant} the rate changed by a "
        f"factor of {ratio_words(split.total)}: {ratio_words(split.hardware)} by the hardware and "
        f"{ratio_words(split.by_knobs)} by the knobs ({split.knobs})"
    )


def ratio_words(ratio: Ratio) -> str:
    if ratio.low is None or ratio.high is None:
        return f"{ratio.value:.2f}"
    return f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def ablations_table(run: StoredRun) -> Table:
    """The gain across each boundary: total = hardware × knobs."""
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
        title="Ablation trials",
        headers=("Boundary", "Knobs that moved", "Gain", "by hardware", "by knobs"),
        rows=rows,
        words=(0, 1),
        notes=("Hardware: after with the old knobs / before. Knobs: after / after with them.",) if rows else (),
    )
