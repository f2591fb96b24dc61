"""The top of the page of several databases or variants: a figure for each, and what weakens the comparison.

Refuses to name a winner: each has its own speedup, and a difference is one where intervals do not overlap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scale_sweep.analysis.compare import compare_variants
from scale_sweep.base.units import EXPLAINED, format_number, format_rate
from scale_sweep.model import FitReport, StoredRun
from scale_sweep.report.comparison_headline import tiles_of_comparison, title_of_comparison
from scale_sweep.report.figures import axis_facts, shown_rates
from scale_sweep.report.headline import Headline, Tile, valid_tile, valid_words
from scale_sweep.report.run_facts import cautions_of, created
from scale_sweep.report.same_cautions import joined_cautions
from scale_sweep.report.subject_points import SubjectCurve, curves
from scale_sweep.report.subjects import mixes_words
from scale_sweep.report.table import marked

_NAMED = 4  # curves that a heading names; of more it has the range


def headline_of_variants(run: StoredRun, fits: Mapping[str, FitReport]) -> Headline:
    """The top of the page. fits: by the names of the variants, for people."""
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
    """ "questdb 1.99×, postgres 1.52×: 1 → 2 cores"; the name of the sweep where no curve has a speedup."""
    levels = sorted({p.level for curve in measured for p in curve.points})
    speedups = {curve.name: s for curve in measured if curve.points and (s := _speedup(curve, levels[-1]))}
    if len(levels) < 2 or not speedups:
        return f"{run.plan.sweep.name}: {', '.join(curve.name for curve in measured) or run.plan.sweep.target}"
    span = f"{format_number(levels[0])} → {axis_facts(run).count(format_number(levels[-1]))}"
    if len(speedups) > _NAMED:
        return f"{len(speedups)} curves: {span}, {min(speedups.values()):.2f}× to {max(speedups.values()):.2f}×"
    return f"{', '.join(f'{name} {s:.2f}×' for name, s in speedups.items())}: {span}"


def _speedup(curve: SubjectCurve, level: float) -> float | None:
    last = curve.points[-1]
    return last.speedup if last.level == level and len(curve.points) > 1 else None


def _tile(run: StoredRun, curve: SubjectCurve) -> Tile | None:
    fitted = [p for p in curve.points if p.is_counted and p.rates[0]]
    if not fitted or fitted[-1].rates[0] is None:
        return None
    last = fitted[-1]
    value = format_rate(last.rates[0] or 0.0, last.low, last.high)
    shown = shown_rates(run)[0]
    where = f"{curve.name}: {shown.words} at {axis_facts(run).count(format_number(last.level))}"
    return value, marked(where, last.used, field=shown.field)


def _cautions(run: StoredRun, fits: Mapping[str, FitReport]) -> tuple[str, ...]:
    """The cautions of all fits, those of the same kind in one sentence."""
    return cautions_of(run, joined_cautions({name: fit.cautions for name, fit in fits.items()}))


def headline_of_ab(run: StoredRun, fits: Mapping[str, FitReport]) -> Headline:
    """The top of the page of `scale ab`. The fits say themselves that their windows are short."""
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
