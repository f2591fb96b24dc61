"""fit_curve and fit_rows: observations or plain rows in, FitReport out. Puts the parts of this room together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from runner.fit import derived
from runner.fit.bootstrap import Rows, make_rows
from runner.fit.candidates import Candidate, document, fit_model
from runner.fit.cautions import all_cautions, superlinear_levels
from runner.fit.choice import Choice, choose
from runner.fit.models import MODELS, PARAMETERS, Floats, ModelName, rate_at
from runner.fit.summaries import Usable, noise_floor, summaries, usable
from runner.fit.words import Findings, Terms, sentence
from runner.model import Confound, FitReport, Observation

GRID_STEPS = 60


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What to say beyond the points: rates at these levels, and levels for these rates."""

    predict: Sequence[float] = ()
    need: Sequence[float] = ()


def fit_curve(
    observed: Sequence[Observation],
    terms: Terms,
    *,
    rate: str = "rows_per_s",
    confounds: Sequence[Confound] = (),
    asked: Asked | None = None,
) -> FitReport:
    """The curve of the observations over the axis, with every caution a reader needs. rate: the name of their value."""
    return _report(usable(observed), terms, rate, tuple(confounds), asked or Asked())


def fit_rows(rows: Sequence[tuple[float, float]], terms: Terms, *, asked: Asked | None = None) -> FitReport:
    """The curve of plain (level, rate) rows, both above 0."""
    table = np.array(sorted(rows), dtype=float).reshape(-1, 2)
    data = Usable(levels=table[:, 0], rates=table[:, 1], left_out={}, levels_lost=())
    return _report(data, terms, terms.rate, (), asked or Asked())


def value_at(fit: FitReport, level: float) -> float | None:
    """The chosen model's rate at a level; None where no model is chosen or the level is not above 0."""
    model = next((m for m in fit.models if m.model == fit.chosen), None)
    if model is None or level <= 0:
        return None
    return rate_at(level, {name: e.value for name, e in model.parameters.items()})


def _report(data: Usable, terms: Terms, rate: str, confounds: tuple[Confound, ...], asked: Asked) -> FitReport:
    rows = make_rows(data.levels, data.rates)
    noise = noise_floor(data)
    points = summaries(data, noise)
    candidates = {m: fit_model(m, rows) for m in MODELS if len(PARAMETERS[m]) <= len(points)}
    beyond = superlinear_levels(points, noise)
    choice = choose(candidates, rows, bool(beyond) or _rises_faster(candidates))
    chosen = candidates[choice.model] if choice.model else None
    peak, knee, roof = (figure(chosen) if chosen else None for figure in (derived.peak, derived.knee, derived.roof))
    findings = Findings(
        terms=terms,
        data=data,
        noise=noise,
        points=points,
        candidates=candidates,
        choice=choice,
        confounds=confounds,
        superlinear=beyond,
        peak=peak,
        knee=knee,
        roof=roof,
    )
    return FitReport(
        points=points,
        models=tuple(document(c, _grid(rows, choice, c.model)) for c in candidates.values()),
        chosen=choice.model,
        sentence=sentence(findings),
        cautions=all_cautions(findings),
        peak_level=peak.value if peak else None,
        peak_std_err=peak.std_err if peak else None,
        peak_extrapolated=bool(peak and peak.value > points[-1].level),
        knee_level=knee.value if knee else None,
        noise_percent=100 * noise.std if noise else None,
        axis=terms.axis,
        rate=rate,
        verdict=choice.verdict,
        peak=peak,
        knee=knee,
        roof=roof,
        level_at_90=derived.level_at_90(chosen, rows) if chosen else None,
        near=choice.near,
        extrapolation_limit=derived.limit(rows) if len(points) else None,
        predictions=derived.predict(chosen, {m: candidates[m] for m in choice.near}, rows, asked.predict),
        needs=derived.need(chosen, rows, asked.need),
    )


def _rises_faster(candidates: Mapping[ModelName, Candidate]) -> bool:
    """A power above 1 and an intercept below 0, each in all of its interval."""
    if "power" not in candidates or "affine" not in candidates:
        return False
    low, high = candidates["power"].interval("exponent")[0], candidates["affine"].interval("intercept")[1]
    return low is not None and low > 1 and high is not None and high < 0


def _grid(rows: Rows, choice: Choice, model: ModelName) -> Floats | None:
    """Levels at which a band is drawn, from near 0 to just beyond the last: of the chosen model and the line alone."""
    if model not in (choice.model, "linear") or not len(rows.distinct):
        return None
    last = float(rows.distinct[-1])
    steps = np.linspace(last / GRID_STEPS, 1.05 * last, GRID_STEPS)
    return steps if len(rows.distinct) > GRID_STEPS else np.unique(np.concatenate([steps, rows.distinct]))
