"""The top of every page: the result as heading, figures as tiles, cautions; of a run, a comparison, or several
variants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scale_sweep.analysis.compare import compare_variants
from scale_sweep.analysis.confidence import DIFFERENCE_MAX_PERCENT
from scale_sweep.analysis.fit.cautions import smallest_percent
from scale_sweep.analysis.fit.words import speedup_words
from scale_sweep.base.units import EXPLAINED, change_words, format_number, format_rate, percent_words
from scale_sweep.experiment.axes import axis_of, load_axis
from scale_sweep.model.compared import Comparison
from scale_sweep.model.fitted import FitReport, PointSummary, StoredRun
from scale_sweep.report.figures import (
    at_level,
    axis_facts,
    efficiency_words,
    fit_of,
    fitted_rate,
    measured_rate,
    measured_words,
    shown_rates,
)
from scale_sweep.report.fitted import interval_words
from scale_sweep.report.forms import Headline, Tile, valid_tile, valid_words
from scale_sweep.report.load_words import work_words
from scale_sweep.report.operations import cautions_of_answers, mixes_words
from scale_sweep.report.run_facts import cautions_of, created, server_name, settings_words
from scale_sweep.report.several_curves import SubjectCurve, curves
from scale_sweep.report.shared_values import joined_cautions
from scale_sweep.report.table import marked, mean


def title_of(run: StoredRun, fit: FitReport) -> str:
    last = fit.points[-1] if len(fit.points) > 1 else None
    if last is None or not last.speedup:
        return f"{run.plan.sweep.name}: {server_name(run)}"
    end = axis_of(run.plan.sweep.axis).facts.count(format_number(last.level))
    speedup = "in doubt" if fit.is_doubted else f"{last.speedup:.2f}×"
    return f"{server_name(run)}: {format_number(fit.points[0].level)} → {end}, {speedup}"


def eyebrow_of(run: StoredRun) -> str:
    """The small line above the heading."""
    sweep = run.plan.sweep
    parts = (sweep.name, server_name(run), work_words(run), sweep.runtime, settings_words(run), created(run))
    return " · ".join(part for part in parts if part)


def headline_of(run: StoredRun) -> Headline:
    fit = fit_of(run)
    return Headline(
        title=title_of(run, fit),
        above=eyebrow_of(run),
        question=run.plan.sweep.question,
        answer=(fit.sentence,),
        tiles=(*_rate_tiles(run, fit), valid_tile(run.results, len(run.plan.trials)), *_least(fit)),
        note=interval_words(fit),
        cautions=(*cautions_of(run, fit.cautions), *cautions_of_answers(run)),
    )


def _rate_tiles(run: StoredRun, fit: FitReport) -> list[Tile]:
    if not fit.points:
        return []
    first, last, best = fit.points[0], fit.points[-1], max(fit.points, key=lambda p: p.rate_mean)
    objective, unit = run.plan.sweep.load.objective, run.plan.rate_words
    unit += f" that hold {objective.words}" if objective is not None else ""
    tiles = [_rate_tile(run, best, f"{unit} at best, at {format_number(best.level)}")] if best is not last else []
    tiles.append(_rate_tile(run, last, f"{unit} at {axis_facts(run).count(format_number(last.level))}"))
    if last is not first:
        span = f"{format_number(first.level)} → {format_number(last.level)}"
        doubt = ", in doubt" if fit.is_doubted else ""
        tiles.append((speedup_words(last), f"speedup {span}{doubt}"))
        tiles.append((f"{efficiency_words(last)} %", f"efficiency at {format_number(last.level)}"))
    return [*tiles, *_written_tile(run, last.level)]


def _rate_tile(run: StoredRun, point: PointSummary, words: str) -> Tile:
    shown = measured_words(measured_rate(run, point.level) or point.rate_mean, point)
    return shown, marked(words, at_level(run, point.level)[0], field=fitted_rate(run).field)


def _written_tile(run: StoredRun, level: float) -> list[Tile]:
    if not run.plan.sweep.work.counts_requests:
        return []
    where = axis_facts(run).count(format_number(level))
    trials, written = at_level(run, level)[0], shown_rates(run)[1:2]
    values = [(shown.words, mean(getattr(r.measurement, shown.field) for r in trials)) for shown in written]
    return [(format_rate(value), f"{words} written at {where}") for words, value in values if value]


def _least(fit: FitReport) -> list[Tile]:
    if len(fit.points) < 2:
        return []
    smallest = smallest_percent(fit.points, fit.noise_percent)
    if smallest is None:
        return [("not known", "noise: one trial at each level")]
    if smallest >= DIFFERENCE_MAX_PERCENT:
        return [("too noisy", "to detect a difference between two levels")]
    return [(percent_words(smallest), "smallest difference between levels that shows")]


_SHOWN = 4  # levels that have a tile, the last ones


def title_of_comparison(comparison: Comparison, name: str) -> str:
    """ "B is slower than A: -7.1 % (-7.6 to -6.6 %)", or that no difference was found."""
    whole = comparison.overall or (comparison.points[0] if len(comparison.points) == 1 else None)
    if whole is not None and whole.ratio is not None and whole.low is not None and whole.differs:
        kind = "slower" if whole.ratio < 1 else "faster"
        return f"B is {kind} than A: {change_words(whole.ratio, whole.low, whole.high)} {comparison.rate}"
    verdict = comparison.sentence.partition(":")[0]
    return f"{name}: {verdict[:1].lower()}{verdict[1:]}".rstrip(".")


def tiles_of_comparison(comparison: Comparison) -> list[Tile]:
    axis = load_axis(comparison.axis)
    shown = [p for p in comparison.points if p.ratio is not None and p.level is not None]
    return [
        (
            change_words(p.ratio or 1.0, p.low, p.high),
            f"B against A at {axis.count(format_number(p.level or 0))} {p.variant}".rstrip()
            + f": {format_rate(p.rate_a)} → {format_rate(p.rate_b)} {comparison.rate}",
        )
        for p in shown[-_SHOWN:]
    ]


_NAMED = 4  # curves that a heading names; of more it has the range


def headline_of_variants(run: StoredRun, fits: Mapping[str, FitReport]) -> Headline:
    """fits: by the names of the variants, for people."""
    sweep, measured = run.plan.sweep, curves(run)
    above = " · ".join(filter(None, (sweep.name, sweep.runtime, created(run))))
    tiles = [tile for curve in measured if (tile := _tile(run, curve))]
    return Headline(
        title=_title(run, measured),
        above=above,
        question=sweep.question,
        answer=tuple(filter(None, (valid_words((c.name, c.results) for c in measured), mixes_words(run)))),
        tiles=(*tiles, valid_tile(run.results, len(run.plan.trials))),
        note=f"{EXPLAINED}.",
        cautions=_cautions(run, fits),
    )


def _title(run: StoredRun, measured: Sequence[SubjectCurve]) -> str:
    levels = sorted({p.level for curve in measured for p in curve.points})
    ends = [(curve.name, curve.points[-1]) for curve in measured if len(curve.points) > 1]
    speedups = {name: last.speedup for name, last in ends if last.speedup and last.level == levels[-1]}
    if len(levels) < 2 or not speedups:
        return f"{run.plan.sweep.name}: {', '.join(curve.name for curve in measured) or run.plan.sweep.target}"
    span = f"{format_number(levels[0])} → {axis_facts(run).count(format_number(levels[-1]))}"
    if len(speedups) > _NAMED:
        return f"{len(speedups)} curves: {span}, {min(speedups.values()):.2f}× to {max(speedups.values()):.2f}×"
    return f"{', '.join(f'{name} {s:.2f}×' for name, s in speedups.items())}: {span}"


def _tile(run: StoredRun, curve: SubjectCurve) -> Tile | None:
    last = next((p for p in reversed(curve.points) if p.is_counted and p.rates[0]), None)
    if last is None:
        return None
    value, shown = format_rate(last.rates[0], last.low, last.high), shown_rates(run)[0]
    where = f"{curve.name}: {shown.words} at {axis_facts(run).count(format_number(last.level))}"
    return value, marked(where, last.used, field=shown.field)


def _cautions(run: StoredRun, fits: Mapping[str, FitReport]) -> tuple[str, ...]:
    return cautions_of(run, joined_cautions({name: fit.cautions for name, fit in fits.items()}))


def headline_of_ab(run: StoredRun, fits: Mapping[str, FitReport]) -> Headline:
    """The fits say themselves that their windows are short."""
    comparison, sweep = compare_variants(run), run.plan.sweep
    sides = [(curve.name, curve.results) for curve in curves(run)]
    about = [f"{name}: {words}" for name, words in (("A", comparison.run_a), ("B", comparison.run_b))]
    return Headline(
        title=title_of_comparison(comparison, sweep.name),
        above=" · ".join(filter(None, (sweep.name, sweep.target, sweep.runtime, created(run)))),
        question=sweep.question,
        answer=(comparison.sentence, *about, valid_words(sides)),
        tiles=(*tiles_of_comparison(comparison), valid_tile(run.results, len(run.plan.trials))),
        note=f"{EXPLAINED}.",
        cautions=(*(c for c in comparison.cautions if not c.startswith("quick:")), *_cautions(run, fits)),
    )
