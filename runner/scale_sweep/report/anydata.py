"""The fit of other programs' data: a document for scripts, tables for people, a picture."""

from __future__ import annotations

from typing import Any

from scale_sweep.analysis.fit.curve import model_rate
from scale_sweep.analysis.fit.models import NAMES
from scale_sweep.analysis.fit.words import Terms, speedup_words
from scale_sweep.base.units import counted, format_number, format_rate
from scale_sweep.model.fitted import Estimate, FitReport, ModelFit
from scale_sweep.report.table import ABSENT, Table

_LEVELS_SHOWN = 40


def fit_document(fit: FitReport) -> dict[str, Any]:
    """The fit of one group, for scripts. What the points do not determine is null."""
    return {
        "models": [_model(m) for m in fit.models],
        "chosen": fit.chosen,
        "verdict": fit.verdict,
        "sentence": fit.sentence,
        "predictions": [
            {"n": p.level, "x": p.rate, "interval": _pair(p.low, p.high), "extrapolated": p.extrapolated,
             "reason": p.reason, "halved_by": p.halved_by,
             "by_model": {name: {"x": e.value, "interval": _pair(e.low, e.high)} for name, e in p.by_model.items()}}
            for p in fit.predictions
        ],
        "needs": [
            {"x": n.rate, "n": n.level, "interval": None if n.level is None else [n.low, n.high], "reason": n.reason,
             "falling": n.falling}
            for n in fit.needs
        ],
        "warnings": list(fit.cautions),
        "supported": list(fit.supported),
        "peak": _estimate(fit.peak),
        "knee": _estimate(fit.knee),
        "maximum": _estimate(fit.maximum),
        "level_at_90": _estimate(fit.level_at_90),
        "extrapolation_limit": fit.extrapolation_limit,
        "rejected": [
            {"n": r.level, "kept": r.kept, "rejected": dict(r.marks), "mean": r.rate, "lost": r.is_lost,
             "doubted": r.is_doubted}
            for r in fit.rejected
        ],
        "beside": None if fit.beside is None else {
            "levels": list(fit.beside.levels), "chosen": fit.beside.chosen, "verdict": fit.beside.verdict,
            "sentence": fit.beside.sentence,
        },
        "points": [
            {"n": p.level, "rows": p.n, "mean": p.rate_mean, "std": p.rate_std,
             "interval": _pair(p.mean_low, p.mean_high), "speedup": p.speedup,
             "speedup_interval": _pair(p.speedup_low, p.speedup_high), "efficiency": p.efficiency}
            for p in fit.points
        ],
    }  # fmt: skip


def _model(m: ModelFit) -> dict[str, Any]:
    return {
        "name": m.model,
        "params": {name: e.value for name, e in m.parameters.items()},
        "std_errors": {name: e.std_err for name, e in m.parameters.items()},
        "intervals": {name: _pair(e.low, e.high) for name, e in m.parameters.items()},
        "unit_level": m.unit_level,
        "rse": m.rse,
        "rss": m.rss,
        "aicc": m.aicc,
        "holdout_error": m.holdout_error,
        "on_bound": list(m.on_bound),
    }


def _pair(low: float | None, high: float | None) -> list[float] | None:
    return None if low is None or high is None else [low, high]


def _estimate(e: Estimate | None) -> dict[str, Any] | None:
    return {"value": e.value, "interval": _pair(e.low, e.high)} if e is not None else None


def levels_table(fit: FitReport, terms: Terms) -> Table:
    """A row for each level, with the chosen model's rate there."""
    model = next((m for m in fit.models if m.model == fit.chosen), None)
    rows = []
    for p in fit.points[:_LEVELS_SHOWN]:
        predicted = model_rate(model, p.level) if model else None
        off = 100 * (p.rate_mean / predicted - 1) if predicted else None
        rows.append((format_number(p.level), str(p.n), format_rate(p.rate_mean, p.mean_low, p.mean_high),
                     speedup_words(p), f"{100 * (p.efficiency or 0):.0f} %",
                     format_rate(predicted),
                     f"{off:+.1f} %" if off is not None else ABSENT))  # fmt: skip
    name = NAMES[fit.chosen] if fit.chosen else "model"
    headers = (terms.axis, "rows", terms.rate, "speedup", "efficiency", f"{name} predicts", "off by")
    rest = len(fit.points) - len(rows)
    notes = (f"and {counted(rest, 'level')} more",) if rest > 0 else ()
    return Table(title="", headers=headers, rows=tuple(rows), notes=notes)
