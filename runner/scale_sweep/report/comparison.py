"""A and B on one page: curves, ratios with their intervals, blocks of `scale ab`, and what else differs.

A and B differ not only in colour: A's marks are hollow squares and its line is dashed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from scale_sweep.analysis.compare import compare_variants
from scale_sweep.analysis.compare.blocks import block_points
from scale_sweep.analysis.compare.pairs import PointLogs
from scale_sweep.analysis.compare.words import smallest_words
from scale_sweep.base.units import EXPLAINED, format_number, format_rate
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model.compared import Comparison, PointRatio
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import VerdictKind
from scale_sweep.report.curve import model_line
from scale_sweep.report.figures import fit_of
from scale_sweep.report.forms import Form, Headline, Page, Section, figure_html, shell, valid_words
from scale_sweep.report.headlines import tiles_of_comparison, title_of_comparison
from scale_sweep.report.svg import (
    Frame,
    axes,
    clipped,
    counted_lines,
    drawing,
    legend,
    line,
    marker,
    rate_axes,
    shaped,
    swatch,
    text,
)
from scale_sweep.report.table import ABSENT, Table

Sides = Sequence[tuple[str, Sequence[StoredRun]]]
_SPREADS = {
    "replicates": "replicates",
    "common": "one run's replicates",
    "seconds": "seconds of single trials",
    "sessions": "sessions",
    "blocks": "blocks",
}
_CAPTION = (
    "One mark for each block of A B B A: how much B's rate differs from A's in that block. The bar is the mean of the "
    "level with its 95 % interval, for that level alone."
)


def comparison_html(comparison: Comparison, a: Sequence[StoredRun], b: Sequence[StoredRun]) -> str:
    """The whole page of `scale compare`."""
    form = Page()
    sides: Sides = (("run-a", a), ("run-b", b))
    of_a, of_b = ([result for run in runs for result in run.results] for _, runs in sides)
    headline = Headline(
        title=title_of_comparison(comparison, b[0].plan.sweep.name),
        above=f"A: {comparison.run_a} · B: {comparison.run_b}",
        question="",
        answer=(comparison.sentence, valid_words((("A", of_a), ("B", of_b)))),
        tiles=tiles_of_comparison(comparison),
        note=f"{EXPLAINED}.",
        cautions=comparison.cautions,
    )
    curve, ratios = _curves(comparison, sides), _ratios(comparison, (), 640, 240)
    caption = "Every VALID trial of both runs, and both fits."
    trials: list[tuple[object, ...]] = [("side", comparison.axis, comparison.rate, "trial")]
    trials += [(css[-1].upper(), *trial) for css, runs in sides for trial in _valid(runs)]
    curves = figure_html("curves", curve, caption, trials) if curve else ""
    caption = "The ratio with its 95 % interval, each point for itself."
    points: list[tuple[object, ...]] = [(comparison.axis, "variant", "rate_a", "rate_b", "ratio", "low", "high")]
    points += [(p.level, p.variant, p.rate_a, p.rate_b, p.ratio, p.low, p.high) for p in comparison.points]
    picture = figure_html("ratios", ratios, caption, points, width=640) if ratios else ""
    words = ". ".join(filter(None, (session_words(comparison), false_alarm_words(comparison))))
    note = form.words(words, note=True) if words else ""
    differ = form.table(differing_table(comparison)) or form.words("No other recorded difference.")
    sections = (
        Section("curves", "Both curves", curves),
        Section("points", "Point by point", form.table(ratio_table(comparison)) + picture + note),
        Section("differs", "Other differences", differ),
    )
    return shell(f"{comparison.run_b} against {comparison.run_a}", form.body(headline, (*of_a, *of_b), sections, ""))


def ab_sections(run: StoredRun, form: Form) -> tuple[Section, ...]:
    """The first parts of the report of `scale ab`."""
    comparison = compare_variants(run)

    def drawn() -> str:
        points = block_points(run)[0]
        picture, narrow = _ratios(comparison, points, 760, 300), _ratios(comparison, points, 400, 280)
        rows: list[tuple[object, ...]] = [(comparison.axis, "block", "b_against_a_percent")]
        for point in points:
            rows += [(point.level, n, 100 * math.expm1(d)) for n, d in enumerate(point.differences, start=1)]
        return figure_html("blocks", picture, _CAPTION, rows, narrow=narrow, width=760) if points else ""

    table = form.table(ratio_table(comparison))
    differ = form.table(differing_table(comparison)) or form.words("No recorded difference.")
    return (
        Section("ab", "B against A", form.joined(form.on_page(drawn), table), is_titled=False),
        Section("differs", "Differences between A and B", differ),
    )


def ratio_table(comparison: Comparison) -> Table:
    """A row for each point, and one for all together."""
    rows = [_row(p, f"{format_number(p.level or 0)} {p.variant}".strip()) for p in comparison.points]
    if comparison.overall is not None:
        rows.append(_row(comparison.overall, "all"))
    headers = (
        comparison.axis,
        f"A {comparison.rate}",
        f"B {comparison.rate}",
        "B / A",
        "p (all)",
        "can detect",
        "trials",
        "B is",
    )
    notes = (
        "The rates are geometric means of the VALID trials. Each ratio has a 95 % interval; p covers all points.",
        '"Can detect" is the smallest difference that this many trials detect (80 % power).',
    )
    return Table(title="Point by point", headers=headers, rows=tuple(rows), notes=notes, words=(7,))


def _row(p: PointRatio, name: str) -> tuple[str, ...]:
    if p.ratio is None:
        return (name, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, f"{p.trials_a} / {p.trials_b}", p.missing)
    known = p.low is not None and p.high is not None
    called = "" if not p.differs else "slower" if p.ratio < 1 else "faster"
    return (
        name,
        format_rate(p.rate_a),
        format_rate(p.rate_b),
        ratio_cell(p),
        _p(p.p_holm),
        smallest_words(p.smallest_percent) if p.smallest_percent is not None else ABSENT,
        f"{p.trials_a} / {p.trials_b}",
        called or ("not significantly different" if known else "not known"),
    )


def ratio_cell(point: PointRatio | None) -> str:
    if point is None or point.ratio is None:
        return ABSENT
    known = point.low is not None and point.high is not None
    return f"{point.ratio:.3f} ({point.low:.3f} to {point.high:.3f})" if known else f"{point.ratio:.3f}"


def _p(value: float | None) -> str:
    if value is None:
        return ABSENT
    return "0.001 or less" if value <= 0.001 else f"{value:.3f}"


def differing_table(comparison: Comparison) -> Table:
    rows = tuple((d.kind, d.name, d.a, d.b) for d in comparison.differing)
    return Table(title="Other differences", headers=("of", "what", "A", "B"), rows=rows, words=(0, 1, 2, 3))


def false_alarm_words(comparison: Comparison) -> str:
    """The rate by the runs' own noise."""
    f = comparison.false_alarms
    if f is None:
        return ""
    slower = (
        f"; {f.slower_percent:.1f} % would have been called slower by more than {comparison.allowed_percent:g} %"
        if f.slower_percent is not None and comparison.allowed_percent is not None
        else ""
    )
    return (
        f"false alarms: of {f.draws} pairs of runs without a difference, made of the noise of these "
        f"({_SPREADS[f.spread]}), {f.any_percent:.1f} % would have been called different{slower}"
    )


def session_words(comparison: Comparison) -> str:
    if comparison.session_percent is None:
        return ""
    order = f", in the order {' '.join(comparison.session_order)}" if comparison.session_order else ""
    return (
        f"sessions: {comparison.sessions_a} of A and {comparison.sessions_b} of B{order}; the runs of one side differ "
        f"by {comparison.session_percent:.1f} % (standard deviation of their mean rates)"
    )


def _valid(runs: Sequence[StoredRun]) -> list[tuple[float, float, str]]:
    return [
        (r.trial.level, r.achieved_per_s, r.trial.trial_id)
        for run in runs
        for r in run.on_curve
        if r.verdict.kind.is_fitted and r.achieved_per_s
    ]


def _curves(comparison: Comparison, sides: Sides, width: int = 940, height: int = 400) -> str:
    trials = {css: _valid(runs) for css, runs in sides}
    everything = [t for of in trials.values() for t in of]
    if not everything:
        return ""
    items = [
        (_mark(8, 0, css, "") + swatch(f"{css} curve-line"), f"{css[-1].upper()}: {name}")
        for css, name in (("run-a", comparison.run_a), ("run-b", comparison.run_b))
        if trials[css]
    ]
    keys, above = legend(items, width, 8, 14)
    last, top = max(n for n, _, _ in everything), max(v for _, v, _ in everything)
    frame = Frame.over_levels((width, height), above, last, 1.08 * top)
    levels = [n for n, _, _ in everything]
    parts = [keys, rate_axes(frame, levels, load_axis(comparison.axis).label, comparison.rate)]
    parts += [clipped(frame, _fit_line(frame, run, css)) for css, runs in sides for run in runs]
    for css, shift in (("run-a", -7), ("run-b", 7)):
        parts += [
            _mark(frame.x(n) + shift, frame.y(v), css, f"{css[-1].upper()} {name}: {format_rate(v)} {comparison.rate}")
            for n, v, name in trials[css]
        ]
    return drawing(width, frame.height, f"Both curves. {comparison.sentence}", "".join(parts))


def _fit_line(frame: Frame, run: StoredRun, css: str) -> str:
    fit = fit_of(run)
    model = next((m for m in fit.models if m.model == fit.chosen), None)
    if model is None:
        lost = [((r.level, 0.0), False) for r in fit.rejected if r.is_lost]
        points = sorted([*(((p.level, p.rate_mean), True) for p in fit.points), *lost])
        return counted_lines(frame, points, f"{css} curve-line")
    return model_line(frame, model, (0.0, frame.x_max), f"{css} curve-line")


def _mark(x: float, y: float, css: str, title: str) -> str:
    return shaped(x, y, "square" if css == "run-a" else "circle", css, title, 4.2)


def _ratios(comparison: Comparison, blocks: Sequence[PointLogs], width: int, height: int) -> str:
    by_level = {p.level: p for p in comparison.points if p.level is not None}
    points = [by_level[one.level] for one in blocks] or [p for p in comparison.points if p.low is not None]
    if not points:
        return ""
    limit, gate = 0.0 if blocks else comparison.allowed_percent or 0.0, comparison.gate
    off = [100 * math.expm1(d) for one in blocks for d in one.differences] + [limit]
    off += [100 * (v - 1) for p in comparison.points for v in (p.low, p.high) if v is not None]
    reach = 1.15 * max(*map(abs, off), 1.0)
    frame = Frame.within((width, height), (54, 14, 34, 44), (0.0, float(len(points))), (-reach, reach))
    parts = [axes(frame, [], "", "B against A, %")]
    if limit:
        limits = (-limit, limit) if gate is not None and gate.kind == "same_within" else (-limit,)
        parts += [line(frame, [(0, one), (frame.x_max, one)], "limit") for one in limits]
    for at, point in enumerate(points):
        name = f"{load_axis(comparison.axis).count(format_number(point.level or 0.0))} {point.variant}".rstrip()
        parts.append(text(frame.x(at + 0.5), height - 26, name, anchor="middle"))
        parts += _blocks(frame, blocks[at], at) if blocks else []
        parts += _mean(frame, point, at + (0.82 if blocks else 0.5))
    label = "B against A in each block" if blocks else "B against A at each point"
    return drawing(width, height, f"{label}. {comparison.sentence}", "".join(parts), "small")


def _blocks(frame: Frame, point: PointLogs, at: int) -> list[str]:
    markers = []
    for n, difference in enumerate(point.differences):
        x, percent = frame.x(at + 0.12 + 0.60 * (n + 0.5) / len(point.differences)), 100 * math.expm1(difference)
        markers.append(marker(x, frame.y(percent), VerdictKind.VALID, f"block {n + 1}: {percent:+.1f} %"))
    return markers


def _mean(frame: Frame, row: PointRatio, at: float) -> list[str]:
    if row.ratio is None or row.low is None or row.high is None:
        return []
    low, high, mean = (100 * (v - 1) for v in (row.low, row.high, row.ratio))
    return [
        line(frame, [(at, low), (at, high)], "fit"),
        *(line(frame, [(at - 0.05, y), (at + 0.05, y)], "fit") for y in (low, mean, high)),
        text(frame.x(at), frame.y(high) - 8, f"{mean:+.1f} %", anchor="middle"),
    ]
