"""The picture of `scale fit --png`, drawn by matplotlib, which the extra [png] installs."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from scale_sweep.analysis.fit.curve import model_rate
from scale_sweep.analysis.fit.models import NAMES, Floats
from scale_sweep.model.fitted import FitReport, ModelFit, PointSummary, Prediction

_BLUE, _ORANGE, _GREY = "#0067a8", "#b34a00", "#59616b"
_MANY = 500
ROWS_DRAWN = 5000  # of a group; more would hide each other
_ABOVE_ROWS = 3.0  # times the highest row: the top of a picture whose band reaches further


def _figure() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(10.0, 5.6), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e9ecef", lw=0.8)
    axes.set_axisbelow(True)
    return figure, axes


def _png(figure: Figure) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def rows_png(fits: Mapping[str, FitReport], rows: Mapping[str, Floats], across: str, up: str) -> bytes:
    """Rows by group with their curves: (level, rate) as points, the chosen model as a line with its band."""
    figure, axes = _figure()
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
    predictions = [(p.level, p.rate, p.low, p.high) for p in fit.predictions]
    shown = [(n, x, x - a, b - x) for n, x, a, b in predictions if x is not None and a is not None and b is not None]
    if shown:
        n, x, below, above = zip(*shown, strict=True)
        axes.errorbar(n, x, (below, above), fmt="s", mfc="none", color=colour, capsize=4, label="predicted, 95 %")


def _band(axes: Axes, fit: FitReport, model: ModelFit, colour: str, unit: float, drawn: tuple[float, float]) -> None:
    band = [at for at in fit.band or model.band if drawn[0] <= at[0] <= drawn[1]]
    if band:
        n, low, high = np.array(band).T
        axes.fill_between(n, low / unit, high / unit, color=colour, alpha=0.16, lw=0, label="95 % band")
