"""The plots as files of their own: SVG that follows the reader's theme, PNG for where SVG is not shown.

Returns bytes and writes nothing. The PNGs are drawn by matplotlib in a light theme, with the same marks and ranges.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from runner.fit import NAMES, rate_at
from runner.model import FitReport, ModelFit, StoredRun, TrialResult, VerdictKind
from runner.report.curve import curve_svg, rate_of_trial
from runner.report.disk_tables import ceiling_points
from runner.report.figures import axis_facts, by_run_order, cores_given, fit_of
from runner.report.series import METRICS, pick, window_of
from runner.report.style import PLOT_STYLE
from runner.report.svg import rate_scale, x_levels
from runner.report.table import known

_BLUE, _ORANGE, _GREY = "#0067a8", "#b34a00", "#59616b"
_MARKERS = {"VALID": "o", "SOFTWARE_BOTTLENECK": "h", "UNSTEADY": "^", "GENERATOR_BOUND": "s",
            "RESOURCE_NOT_SATURATED": "D", "OFFERED_NOT_MET": "v", "THROTTLED": "_", "ERRORS": "x", "LOST_ROWS": "+",
            "ABORTED": "*"}  # fmt: skip
_COLOURS = (_BLUE, "#00795a", _ORANGE, "#a3487f")
TRIALS_MAX = 40


def curve_svg_bytes(run: StoredRun) -> bytes:
    """The curve as a file of its own, with its style inside; empty where no trial has a rate."""
    svg = curve_svg(run)
    head, _, rest = svg.partition(">")
    return f"{head}><style>{PLOT_STYLE}</style>{rest}".encode() if svg else b""


def curve_png(run: StoredRun, width_px: int = 1000) -> bytes:
    """The curve as a picture."""
    figure, (axes,) = _figure(1, width_px / 100, width_px / 180)
    fit = fit_of(run)
    rates = [rate_of_trial(r, fit.rate) for r in run.on_curve if known(rate_of_trial(r, fit.rate))]
    unit, unit_name = rate_scale(max((v for v in rates if v is not None), default=1.0))
    last = 1.06 * max((r.trial.level for r in run.on_curve), default=1.0)
    grid = np.linspace(last / 120, last, 120)
    model = next((m for m in fit.models if m.model == (fit.chosen or "linear")), None)
    if model is not None:
        values = {name: e.value for name, e in model.parameters.items()}
        axes.plot(grid, [rate_at(n, values) / unit for n in grid], color=_BLUE, lw=1.8,
                  ls="-" if fit.chosen else ":", label=f"{NAMES[model.model]} fit")  # fmt: skip
    if model is not None and fit.chosen:
        _band(axes, model, _BLUE, unit)
    if fit.points:
        ideal = fit.points[0].rows_per_s_mean / fit.points[0].level / unit
        axes.plot(grid, ideal * grid, color=_GREY, lw=1.1, ls=(0, (6, 4)), label="ideal")
    for kind in VerdictKind:
        _scatter(axes, [r for r in run.on_curve if r.verdict.kind is kind], kind, unit, fit.rate)
    limit = ceiling_points(run)
    if limit:
        axes.plot(*zip(*[(n, y / unit) for n, y in limit], strict=True), color=_ORANGE, lw=1.3, ls=(0, (3, 3)),
                  label="the disks' own ceiling (fio)")  # fmt: skip
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
    colours: dict[str, Any] = {"color": _ORANGE} if kind.value in ("ERRORS", "LOST_ROWS", "THROTTLED") else {
        "facecolors": _BLUE if valid else "none", "edgecolors": "white" if valid else _ORANGE}  # fmt: skip
    across, up = zip(*found, strict=True)
    axes.scatter(across, up, s=38, marker=_MARKERS[kind.value], zorder=3, label=kind.value, **colours)


def timeseries_png(run: StoredRun, width_px: int = 1000) -> bytes:
    """Every trial's series, one row a trial (the first forty)."""
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
                at.set_title("rows/s" if metric.name == "rows_per_s" else metric.title, fontsize=8)
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
    """Plain rows by group with their curves: (level, rate) as points, the chosen model as a line with its band."""
    figure, (axes,) = _figure(1, 10.0, 5.6)
    last = 1.06 * max(level for group in rows.values() for level, _ in group)
    grid = np.linspace(last / 120, last, 120)
    for index, (group, fit) in enumerate(fits.items()):
        colour = f"C{index % 10}" if len(fits) > 1 else _BLUE
        axes.scatter(*zip(*rows[group], strict=True), s=26, color=colour, zorder=3, label=group or "measured")
        model = next((m for m in fit.models if m.model == fit.chosen), None)
        if model is not None:
            values = {name: e.value for name, e in model.parameters.items()}
            axes.plot(grid, [rate_at(n, values) for n in grid], color=colour, lw=1.8, label=f"{NAMES[model.model]} fit")
            _band(axes, model, colour, 1.0)
    axes.set(xlabel=across, ylabel=up, xlim=(0, last))
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=9)
    return _png(figure)


def _band(axes: Axes, model: ModelFit, colour: str, unit: float) -> None:
    if model.band:
        n, low, high = np.array(model.band).T
        axes.fill_between(n, low / unit, high / unit, color=colour, alpha=0.16, lw=0, label="95 % band")
