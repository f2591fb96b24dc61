"""A comparison in pictures: the curves of A and B with their trials and fits, ratios with intervals, and tables."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.analysis.compare.words import smallest_words
from scale_sweep.base.units import EXPLAINED, format_number, format_rate
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model import StoredRun, TrialResult, VerdictKind
from scale_sweep.model.compared import Comparison, PointRatio
from scale_sweep.report.curve import model_line
from scale_sweep.report.figures import fit_of
from scale_sweep.report.headlines import tiles_of_comparison, title_of_comparison
from scale_sweep.report.markup import escape, table_html
from scale_sweep.report.page_parts import (
    Headline,
    Section,
    figure_html,
    headline_html,
    sections_html,
    shell,
    valid_words,
)
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
    swatch,
    x_levels,
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


def overlay_html(comparison: Comparison, a: Sequence[StoredRun], b: Sequence[StoredRun]) -> str:
    """The whole page: the answer, both curves, the ratio, tables. It loads nothing from elsewhere."""
    headline = Headline(
        title=title_of_comparison(comparison, b[0].plan.sweep.name),
        above=f"A: {comparison.run_a} · B: {comparison.run_b}",
        question="",
        answer=(comparison.sentence, valid_words((("A", _results(a)), ("B", _results(b))))),
        tiles=tiles_of_comparison(comparison),
        note=f"{EXPLAINED}.",
        cautions=comparison.cautions,
    )
    sides: Sides = (("run-a", a), ("run-b", b))
    curve, ratios = _curves(comparison, sides), _ratio_svg(comparison)
    words = ". ".join(filter(None, (session_words(comparison), false_alarm_words(comparison))))
    points = table_html(ratio_table(comparison))
    if ratios:
        caption = "The ratio with its 95 % interval, each point for itself."
        points += figure_html("ratios", ratios, caption, _ratio_rows(comparison), width=640)
    points += f'<p class="note">{escape(words)}</p>' if words else ""
    caption = "Every VALID trial of both runs, and both fits."
    differ = table_html(differing_table(comparison)) if comparison.differing else ""
    sections = (
        Section(
            name="curves",
            title="Both curves",
            body=figure_html("curves", curve, caption, _curve_rows(comparison, sides)) if curve else "",
        ),
        Section(name="points", title="Point by point", body=points),
        Section(name="differs", title="Other differences", body=differ or "<p>No other recorded difference.</p>"),
    )
    top = headline_html(headline, (*_results(a), *_results(b)))
    return shell(f"{comparison.run_b} against {comparison.run_a}", top + sections_html(sections))


def _results(runs: Sequence[StoredRun]) -> list[TrialResult]:
    return [result for run in runs for result in run.results]


def _curve_rows(comparison: Comparison, sides: Sides) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = [("side", comparison.axis, comparison.rate, "trial")]
    return rows + [(css[-1].upper(), *trial) for css, runs in sides for trial in _valid(runs)]


def _ratio_rows(comparison: Comparison) -> list[tuple[object, ...]]:
    rows = [(p.level, p.variant, p.rate_a, p.rate_b, p.ratio, p.low, p.high) for p in comparison.points]
    return [(comparison.axis, "variant", "rate_a", "rate_b", "ratio", "low", "high"), *rows]


def ratio_table(comparison: Comparison) -> Table:
    """A row for each point, and one for all points together."""
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
        f"{p.ratio:.3f} ({p.low:.3f} to {p.high:.3f})" if known else f"{p.ratio:.3f}",
        _p(p.p_holm),
        smallest_words(p.smallest_percent) if p.smallest_percent is not None else ABSENT,
        f"{p.trials_a} / {p.trials_b}",
        called or ("not significantly different" if known else "not known"),
    )


def _p(value: float | None) -> str:
    if value is None:
        return ABSENT
    return "0.001 or less" if value <= 0.001 else f"{value:.3f}"


def differing_table(comparison: Comparison) -> Table:
    """A row for each fact that is not the same in both runs."""
    rows = tuple((d.kind, d.name, d.a, d.b) for d in comparison.differing)
    return Table(title="Other differences", headers=("of", "what", "A", "B"), rows=rows, words=(0, 1, 2, 3))


def false_alarm_words(comparison: Comparison) -> str:
    """The rate of false alarms of this comparison, by the runs' own noise."""
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
    """The order of the sessions, and how far apart those of one side are."""
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
    kind = VerdictKind.GENERATOR_BOUND if css == "run-a" else VerdictKind.VALID  # a square, a circle
    drawn = marker(x, y, kind, title, 4.2)
    return drawn.replace('class="m invalid"', f'class="m {css}"').replace('class="m valid"', f'class="m {css}"')


def _ratio_svg(comparison: Comparison, width: int = 640, height: int = 240) -> str:
    points = [p for p in comparison.points if p.ratio is not None and p.low is not None and p.high is not None]
    if not points:
        return ""
    off = [100 * (v - 1) for p in points for v in (p.low, p.high) if v is not None]
    reach = 1.15 * max(*map(abs, off), comparison.allowed_percent or 0.0, 1.0)
    last = max(p.level or 0.0 for p in points)
    frame = Frame.about_zero(width, height, 1.06 * last, reach)
    parts = [axes(frame, x_levels([p.level or 0.0 for p in points], width - 80), comparison.axis, "B against A, %")]
    if comparison.allowed_percent is not None:
        beyond = comparison.allowed_percent
        is_same = comparison.gate is not None and comparison.gate.kind == "same_within"
        limits = (-beyond, beyond) if is_same else (-beyond,)
        parts += [line(frame, [(0, limit), (frame.x_max, limit)], "limit") for limit in limits]
    for p in points:
        x, low, high = frame.x(p.level or 0.0), 100 * ((p.low or 0) - 1), 100 * ((p.high or 0) - 1)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{frame.y(low):.1f}" y2="{frame.y(high):.1f}" class="mean"/>')
        title = f"{format_number(p.level or 0.0)}: {100 * ((p.ratio or 1) - 1):+.1f} %"
        parts.append(_mark(x, frame.y(100 * ((p.ratio or 1) - 1)), "run-b", title))
    return drawing(width, height, "The ratio of B to A at each point", "".join(parts), "small")
