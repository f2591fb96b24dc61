"""fit_curve: trials in, FitReport out. Puts the parts of this room together; the words are made in `words`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from runner.fit.knee import clear_knee
from runner.fit.models import PARAMETERS, Floats, ModelName, rate_at, usl_peak
from runner.fit.points import RateOf, Usable, noise_floor, rate_reader, summaries, usable
from runner.fit.regression import Solution, model_fit, solve
from runner.fit.words import Findings, all_cautions, sentence
from runner.model import Confound, FitReport, ModelFit, TrialResult

MODELS: tuple[ModelName, ...] = ("linear", "amdahl", "usl")
LEVELS_FOR_A_MODEL = 3
GRID_STEPS = 60


@dataclass(frozen=True, kw_only=True)
class Peak:
    """Where the USL curve turns, with its standard error."""

    level: float
    std_err: float
    extrapolated: bool


def fit_curve(
    results: Sequence[TrialResult],
    *,
    rate: str | RateOf = "rows_per_s",
    axis: str = "cores",
    confounds: Sequence[Confound] = (),
) -> FitReport:
    """The curve of the VALID trials over the axis, with every caution a reader needs.

    rate: a field of Measurement, or a function of it. Raises ValueError for a field that does not exist.
    """
    data = usable(results, rate_reader(rate))
    noise = noise_floor(data)
    points = summaries(data, noise)
    solutions = [solve(m, data.levels, data.rates) for m in MODELS if len(PARAMETERS[m]) <= len(points)]
    chosen = _choose(solutions, data)
    models = tuple(_document(s, data, chosen) for s in solutions)
    smooth = [m.aicc for m in models if m.aicc is not None]
    knee = clear_knee(data.levels, data.rates, smooth) if chosen else None
    peak = _peak(next((s for s in solutions if s.model == chosen), None), data) if knee is None else None
    findings = Findings(
        data=data,
        noise=noise,
        points=points,
        solutions={s.model: s for s in solutions},
        models={m.model: m for m in models},
        chosen=chosen,
        axis=axis,
        confounds=tuple(confounds),
        peak=(peak.level, peak.std_err, peak.extrapolated) if peak else None,
        knee=knee,
    )
    return FitReport(
        points=points,
        models=models,
        chosen=chosen,
        sentence=sentence(findings),
        cautions=all_cautions(findings),
        peak_level=peak.level if peak else None,
        peak_std_err=peak.std_err if peak else None,
        peak_extrapolated=peak.extrapolated if peak else False,
        knee_level=knee,
        noise_percent=100 * noise.std if noise else None,
        axis=axis,
        rate=rate if isinstance(rate, str) else getattr(rate, "__name__", "rate"),
    )


def value_at(fit: FitReport, level: float) -> float | None:
    """The chosen model's rate at a level; None where no model is chosen or the level is not above 0."""
    model = next((m for m in fit.models if m.model == fit.chosen), None)
    if model is None or level <= 0:
        return None
    return rate_at(level, {name: e.value for name, e in model.parameters.items()})


def _choose(solutions: Sequence[Solution], data: Usable) -> ModelName | None:
    """The lowest AICc among the models that these points can test; None with fewer than three levels."""
    if len(data.distinct) < LEVELS_FOR_A_MODEL:
        return None
    fits = [model_fit(s, len(data.rates), len(data.distinct), None) for s in solutions]
    known = [(fit.aicc, fit.model) for fit in fits if fit.aicc is not None]
    return min(known)[1] if known else None


def _document(solution: Solution, data: Usable, chosen: ModelName | None) -> ModelFit:
    wanted = solution.model in (chosen, "linear")
    grid = _grid(data) if wanted else None
    return model_fit(solution, len(data.rates), len(data.distinct), grid)


def _grid(data: Usable) -> Floats:
    """Levels at which the band is drawn: from near 0 to just beyond the last level measured."""
    last = data.distinct[-1]
    return np.unique(np.concatenate([np.linspace(last / GRID_STEPS, 1.05 * last, GRID_STEPS), data.distinct]))


def _peak(solution: Solution | None, data: Usable) -> Peak | None:
    """The peak of a chosen USL, unless its error (delta method) is as large as itself."""
    if solution is None or solution.covariance is None or "beta" not in solution.free:
        return None
    level = usl_peak(solution.alpha, solution.beta)
    if level is None:
        return None
    slope = {"gamma": 0.0, "alpha": -1 / (2 * level * solution.beta), "beta": -level / (2 * solution.beta)}
    gradient = np.array([slope[name] for name in solution.free])
    std_err = float(np.sqrt(max(float(gradient @ solution.covariance @ gradient), 0.0)))
    if std_err >= level:
        return None
    return Peak(level=level, std_err=std_err, extrapolated=level > data.distinct[-1])
