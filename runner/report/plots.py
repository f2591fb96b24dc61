"""The plots as files: SVG that follows the reader's theme, and PNG for programs without SVG.

Returns bytes and writes nothing. matplotlib draws the PNGs in a light theme, with the same marks and ranges.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from runner.fit import NAMES, model_rate
from runner.model import FitReport, ModelFit, PointSummary, Prediction, StoredRun, TrialResult, VerdictKind
from runner.report.curve import curve_svg, drawn_range, rate_of_trial
from runner.report.disk_tables import ceiling_points
from runner.report.figures import axis_facts, by_run_order, cores_given, fit_of
from runner.report.series import METRICS, pick, window_of
from runner.report.style import PLOT_STYLE
from runner.report.svg import rate_scale, x_levels
from runner.report.table import known

_BLUE, _ORANGE, _GREY = "#0067a8", "#b34a00", "#59616b"
_MARKERS = {
    "VALID": "o",
    "SOFTWARE_BOTTLENECK": ">",
    "UNSTEADY": "^",
    "GENERATOR_BOUND": "s",
    "RESOURCE_NOT_SATURATED": "D",
    "OFFERED_NOT_MET": "v",
    "THROTTLED": "_",
    "ERRORS": "x",
    "LOST_ROWS": "+",
    "WRONG_ROWS": "P",
    "WRONG_ANSWER": "1",
    "ABORTED": "*",
}
_COLOURS = (_BLUE, "#00795a", "#00795a", _ORANGE, "#a3487f")  # of METRICS: those of the server share one
TRIALS_MAX = 40
_MANY = 500
ROWS_DRAWN = 5000  # of a group; more would hide each other
_ABOVE_ROWS = 3.0  # times the highest row: the top of a picture whose band reaches further


def curve_svg_bytes(run: StoredRun) -> bytes:
    """The curve as an SVG file with its style; empty if no trial has a rate."""
    svg = curve_svg(run)
    head, _, rest = svg.partition(">")
    return f"{head}><style>{PLOT_STYLE}</style>{rest}".encode() if svg else b""


def curve_png(run: StoredRun, width_px: int = 1000) -> bytes:
    """The curve as a PNG for programs without SVG. width_px: its width in pixels."""
    figure, (axes,) = _figure(1, width_px / 100, width_px / 180)
    fit = fit_of(run)
    rates = [rate_of_trial(r, fit.rate) for r in run.on_curve if known(rate_of_trial(r, fit.rate))]
    unit, unit_name = rate_scale(max((v for v in rates if v is not None), default=1.0), run.plan.sweep.work.rate_words)
    last = 1.06 * max((r.trial.level for r in run.on_curve), default=1.0)
    grid = np.linspace(last / 120, last, 120)
    model = next((m for m in fit.models if m.model == (fit.chosen or "linear")), None)
    if model is not None:
        first, end = drawn_range(fit, last)
        steps = grid[(grid >= first) & (grid <= end)]
        axes.plot(
            steps,
            [model_rate(model, n) / unit for n in steps],
            color=_BLUE,
            lw=1.8,
            ls="-" if fit.chosen else ":",
            label=f"{NAMES[model.model]} fit",
        )
        if fit.chosen:
            _band(axes, fit, model, _BLUE, unit, (first, end))
    if fit.beside is not None and fit.beside.model is not None:
        first, end = drawn_range(fit, last)
        steps = grid[(grid >= first) & (grid <= end)]
        axes.plot(
            steps,
            [model_rate(fit.beside.model, n) / unit for n in steps],
            color=_ORANGE,
            lw=1.2,
            ls=":",
            label=f"{NAMES[fit.beside.model.model]} fit with the doubted trials",
        )
    if fit.points:
        ideal = fit.points[0].rows_per_s_mean / fit.points[0].level / unit
        axes.plot(grid, ideal * grid, color=_GREY, lw=1.1, ls=(0, (6, 4)), label="ideal")
    for kind in VerdictKind:
        _scatter(axes, [r for r in run.on_curve if r.verdict.kind is kind], kind, unit, fit.rate)
    limit = ceiling_points(run)
    if limit:
        axes.plot(
            *zip(*[(n, y / unit) for n, y in limit], strict=True),
            color=_ORANGE,
            lw=1.3,
            ls=(0, (3, 3)),
            label="the disks' own ceiling (fio)",
        )
    unit_name += " to the end of flush and sync" if fit.rate == "durable_rows_per_s" else ""
    axes.set(xlabel=axis_facts(run).given, ylabel=unit_name, xlim=(0, last))
    axes.set_ylim(bottom=0)
    axes.set_xticks(x_levels([r.trial.level for r in run.on_curve], width_px - 100))
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=9)
    return _png(figure)


def _scatter(axes: Axes, results: list[TrialResult], kind: VerdictKind, unit: float, rate: str) -> None:
    rates = [(r.trial.level, rate_of_trial(r, rate)) for r in results]
    found = [(level, value / unit) for level, value in rates if known(value) and value is not None]
    if not found:
        return
    valid = kind.is_fitted
    lines = ("ERRORS", "LOST_ROWS", "WRONG_ANSWER", "THROTTLED")
    colours: dict[str, Any] = (
        {"color": _ORANGE}
        if kind.value in lines
        else {"facecolors": _BLUE if valid else "none", "edgecolors": "white" if valid else _ORANGE}
    )
    across, up = zip(*found, strict=True)
    axes.scatter(across, up, s=38, marker=_MARKERS[kind.value], zorder=3, label=kind.value, **colours)


def timeseries_png(run: StoredRun, width_px: int = 1000) -> bytes:
    """Every trial's series, one row for each trial (the first forty)."""
    shown = by_run_order(run)[:TRIALS_MAX]
    figure, axes = _figure(max(len(shown), 1) * len(METRICS), width_px / 100, max(len(shown), 1) * 1.15, len(METRICS))
    for row, result in enumerate(shown):
        series = run.timeseries.get(result.trial.trial_id, ())
        for column, metric in enumerate(METRICS):
            at = axes[row * len(METRICS) + column]
            points = pick(series, metric.name)
            if window := window_of(result):
                at.axvspan(*window, color="#eef3f7", lw=0)
            if points:
                at.plot(*zip(*points, strict=True), color=_COLOURS[column], lw=1)
            if metric.name == "server_cpu_cores":
                at.axhline(cores_given(result), color=_COLOURS[column], lw=0.8, ls="--")
            at.set_ylim(bottom=0)
            at.tick_params(labelsize=7)
            if row == 0:
                unit = run.plan.sweep.work.rate_words
                at.set_title(unit if metric.name == "rows_per_s" else metric.title, fontsize=8)
            if column == 0:
                at.set_ylabel(f"{result.trial.trial_id}\n{result.verdict.kind.value}", fontsize=6)
    return _png(figure)


def _figure(count: int, width: float, height: float, columns: int = 1) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(width, height), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    axes = [figure.add_subplot(-(-count // columns), columns, i + 1) for i in range(count)]
    for at in axes:
        at.spines[["top", "right"]].set_visible(False)
        at.grid(axis="y", color="#e9ecef", lw=0.8)
        at.set_axisbelow(True)
    return figure, axes


def _png(figure: Figure) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def rows_png(
    fits: Mapping[str, FitReport], rows: Mapping[str, Sequence[tuple[float, float]]], across: str, up: str
) -> bytes:
    """Rows by group with their curves: (level, rate) as points, the chosen model as a line with its band."""
    figure, (axes,) = _figure(1, 10.0, 5.6)
    levels = [p.level for fit in fits.values() for p in fit.points if not _is_refused(p)]
    levels += [p.level for fit in fits.values() for p in fit.predictions if not _is_refused(p)]
    last = 1.06 * max(levels)
    grid = np.linspace(last / 120, last, 120)
    for index, (group, fit) in enumerate(fits.items()):
        colour = f"C{index % 10}" if len(fits) > 1 else _BLUE
        shown = rows[group][:: max(1, len(rows[group]) // ROWS_DRAWN)]
        size, alpha = (26, 1.0) if len(shown) <= _MANY else (6, 0.35)  # so that the curve is visible among many points
        across_at, up_at = [n for n, _ in shown], [x for _, x in shown]
        axes.scatter(across_at, up_at, s=size, alpha=alpha, color=colour, label=group or "measured")
        model = next((m for m in fit.models if m.model == fit.chosen), None)
        if model is not None:
            curve = [model_rate(model, n) for n in grid]
            axes.plot(grid, curve, color=colour, lw=1.8, zorder=3, label=f"{NAMES[model.model]} fit")
            _band(axes, fit, model, colour, 1.0, (0.0, last))
        _predicted(axes, fit, colour)
    highest = max([x for table in rows.values() for _, x in table[:: max(1, len(table) // ROWS_DRAWN)]])
    axes.set(xlabel=across, ylabel=up, xlim=(0, last))
    axes.set_ylim(bottom=0, top=min(axes.get_ylim()[1], _ABOVE_ROWS * highest))
    axes.legend(frameon=False, fontsize=9)
    return _png(figure)


def _is_refused(point: PointSummary | Prediction) -> bool:
    return isinstance(point, Prediction) and point.rate is None


def _predicted(axes: Axes, fit: FitReport, colour: str) -> None:
    """The answers beyond the rows as hollow marks, each with its interval."""
    asked = [(p.level, p.rate, p.low, p.high) for p in fit.predictions]
    shown = [(n, x, x - a, b - x) for n, x, a, b in asked if x is not None and a is not None and b is not None]
    if shown:
        n, x, below, above = zip(*shown, strict=True)
        axes.errorbar(n, x, (below, above), fmt="s", mfc="none", color=colour, capsize=4, label="predicted, 95 %")


def _band(axes: Axes, fit: FitReport, model: ModelFit, colour: str, unit: float, drawn: tuple[float, float]) -> None:
    band = [at for at in fit.band or model.band if drawn[0] <= at[0] <= drawn[1]]
    if band:
        n, low, high = np.array(band).T
        axes.fill_between(n, low / unit, high / unit, color=colour, alpha=0.16, lw=0, label="95 % band")
