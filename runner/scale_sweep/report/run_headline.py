"""The top of the page of one run, or of one variant of it: its figures as tiles. Refuses a figure without its level."""

from __future__ import annotations

from scale_sweep.analysis.confidence import DIFFERENCE_MAX_PERCENT
from scale_sweep.analysis.fit import smallest_percent, speedup_words
from scale_sweep.base.units import format_number, format_rate, percent_words
from scale_sweep.model import FitReport, PointSummary, StoredRun
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
from scale_sweep.report.heading import eyebrow_of, title_of
from scale_sweep.report.headline import Headline, Tile, valid_tile
from scale_sweep.report.operations import cautions_of_answers
from scale_sweep.report.run_facts import cautions_of
from scale_sweep.report.table import marked, mean


def headline_of(run: StoredRun) -> Headline:
    """The top of the page of a run with its fit."""
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
    objective, unit = run.plan.sweep.load.objective, run.plan.sweep.work.rate_words
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
    """The rows that a mix of reads and writes wrote meanwhile."""
    if not run.plan.sweep.work.counts_requests:
        return []
    where = axis_facts(run).count(format_number(level))
    trials, written = at_level(run, level)[0], shown_rates(run)[1:2]
    values = [(shown.words, mean(getattr(r.measurement, shown.field) for r in trials)) for shown in written]
    return [(format_rate(value), f"{words} written at {where}") for words, value in values if value]


def _least(fit: FitReport) -> list[Tile]:
    """The smallest difference between levels that the run can show; none of one level."""
    if len(fit.points) < 2:
        return []
    smallest = smallest_percent(fit.points, fit.noise_percent)
    if smallest is None:
        return [("not known", "noise: one trial at each level")]
    if smallest >= DIFFERENCE_MAX_PERCENT:
        return [("too noisy", "to detect a difference between two levels")]
    return [(percent_words(smallest), "smallest difference between levels that shows")]
