"""Makes a FitReport of observations or plain rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scale_sweep.analysis.fit import beyond, derived
from scale_sweep.analysis.fit.candidates import SAMPLES, Candidate, document, fit_model
from scale_sweep.analysis.fit.cautions import all_cautions, superlinear_levels
from scale_sweep.analysis.fit.choice import choose
from scale_sweep.analysis.fit.models import COUNTS, MODELS, WITH_BREAK, Floats, ModelName, rate_at
from scale_sweep.analysis.fit.next_level import with_next_level
from scale_sweep.analysis.fit.partial_curves import may_miss, wider_curves
from scale_sweep.analysis.fit.rows import Rows, best_knot, make_rows
from scale_sweep.analysis.fit.summaries import Usable, pooled_noise, summaries, usable, with_pairs
from scale_sweep.analysis.fit.words import FitFindings, Terms, sentence
from scale_sweep.model.fitted import REACH, Estimate, FitBeside, FitReport, KnownBreak, ModelFit
from scale_sweep.model.observed import Observation
from scale_sweep.model.planned import Confound

GRID_STEPS = 60
_SAMPLES_BESIDE = 500  # its intervals are not shown


@dataclass(frozen=True, kw_only=True)
class FitQuestions:
    predict: Sequence[float] = ()
    need: Sequence[float] = ()
    # also which level to measure so that an interval too wide to use becomes half as wide; this takes up to a second
    # each
    next_level: bool = False


def fit_curve(
    observed: Sequence[Observation],
    terms: Terms,
    *,
    rate: str = "rows_per_s",
    confounds: Sequence[Confound] = (),
    questions: FitQuestions | None = None,
    breaks: Sequence[KnownBreak] = (),
    is_quick: bool = False,
) -> FitReport:
    """rate: the name of the values. is_quick: short windows know no long-run rate, so points have ratios of pairs, no
    intervals."""
    data = replace(usable(observed), is_quick=is_quick)
    return _report(data, terms, rate, tuple(confounds), questions or FitQuestions(), tuple(breaks))


def fit_rows(
    rows: Sequence[tuple[float, float]] | Floats,
    terms: Terms,
    *,
    questions: FitQuestions | None = None,
    breaks: Sequence[KnownBreak] = (),
    samples: int = SAMPLES,
) -> FitReport:
    """The fit of (level, rate), both above 0. samples: of the bootstrap."""
    return _report(_of_rows(rows), terms, terms.rate, (), questions or FitQuestions(), tuple(breaks), samples)


def known_of(
    observed: Sequence[Observation], terms: Terms, *, breaks: Sequence[KnownBreak] = (), samples: int = SAMPLES
) -> beyond.Known:
    return _known(_findings(usable(observed), terms, tuple(breaks), samples))


def known_of_rows(
    rows: Sequence[tuple[float, float]], terms: Terms, *, breaks: Sequence[KnownBreak] = (), samples: int = SAMPLES
) -> beyond.Known:
    return _known(_findings(_of_rows(rows), terms, tuple(breaks), samples))


def _of_rows(rows: Sequence[tuple[float, float]] | Floats) -> Usable:
    table = np.asarray(rows, dtype=float).reshape(-1, 2)
    table = table[np.lexsort((table[:, 1], table[:, 0]))]
    return Usable(levels=table[:, 0], rates=table[:, 1], left_out={})


def value_at(fit: FitReport, level: float) -> float | None:
    model = next((m for m in fit.models if m.model == fit.chosen), None)
    if model is None or level <= 0:
        return None
    return model_rate(model, level)


def model_rate(model: ModelFit, level: float) -> float:
    return rate_at(level, {name: e.value for name, e in model.parameters.items()}, model.unit_level)


def _report(
    data: Usable,
    terms: Terms,
    rate: str,
    confounds: tuple[Confound, ...],
    questions: FitQuestions,
    breaks: tuple[KnownBreak, ...] = (),
    samples: int = SAMPLES,
) -> FitReport:
    f = _findings(data, terms, breaks, samples)
    known, grid = _known(f), _grid(f.rows)
    peak, knee, maximum, at_90 = _figures(known)
    points = with_pairs(f.points, data) if data.is_quick else f.points
    f = replace(f, points=points, confounds=confounds, peak=peak, knee=knee, maximum=maximum)
    predictions = beyond.predict(known, questions.predict)
    banded = (f.choice.model, "linear")
    return FitReport(
        points=points,
        models=tuple(document(c, grid if c.model in banded else None) for c in f.candidates.values()),
        chosen=f.choice.model,
        sentence=sentence(f),
        cautions=all_cautions(f),
        peak_level=peak.value if peak else None,
        peak_std_err=peak.std_err if peak else None,
        peak_extrapolated=bool(peak and peak.value > points[-1].level),
        knee_level=knee.value if knee else None,
        noise_percent=100 * f.noise.std if f.noise else None,
        axis=terms.axis,
        rate=rate,
        verdict=f.choice.verdict,
        peak=peak,
        knee=knee,
        maximum=maximum,
        level_at_90=at_90,
        supported=f.choice.supported,
        extrapolation_limit=known.limit if len(points) else None,
        rejected=data.rejected,
        band=beyond.band(known, grid) if grid is not None and f.choice.model else (),
        breaks=breaks,
        beside=_beside(data, terms, rate, breaks),
        predictions=tuple(with_next_level(known, p) for p in predictions) if questions.next_level else predictions,
        needs=beyond.need(known, questions.need),
    )


def _findings(data: Usable, terms: Terms, breaks: tuple[KnownBreak, ...], samples: int) -> FitFindings:
    rows = make_rows(data.levels, data.rates, best_knot(data.levels, data.rates, breaks))
    noise = pooled_noise(data)
    points = summaries(data, noise)
    models = (*MODELS, *(WITH_BREAK if rows.knot is not None else ()))
    candidates = {m: fit_model(m, rows, samples) for m in models if COUNTS[m] <= len(points)}
    superlinear = superlinear_levels(points, noise)
    choice = choose(candidates, rows, bool(superlinear) or _rises_faster(candidates))
    return FitFindings(
        terms=terms,
        data=data,
        rows=rows,
        noise=noise,
        points=points,
        candidates=candidates,
        choice=choice,
        superlinear=superlinear,
        breaks=breaks,
        wider=wider_curves(candidates, choice, rows, samples),
    )


def _known(f: FitFindings) -> beyond.Known:
    return beyond.Known(
        chosen=f.chosen,
        plausible=[f.candidates[m] for m in f.choice.plausible],
        wider=f.wider,
        rows=f.rows,
        terms=f.terms,
        lost=f.data.lost,
        falls=f.choice.falls,
        noise=f.noise,
        is_missed=may_miss(f.chosen, f.rows),
    )


def _figures(known: beyond.Known) -> tuple[Estimate | None, Estimate | None, Estimate | None, Estimate | None]:
    """Peak, knee, maximum, level at 90 %; None for one at or beyond a rejected level."""
    chosen, above = known.chosen, known.above
    if chosen is None:
        return None, None, None, None
    end = above.level if above is not None else math.inf
    peak, knee, at_90 = (
        figure if figure is not None and figure.value < end else None
        for figure in (
            derived.peak(chosen) if known.falls else None,
            derived.knee(chosen),
            derived.level_at_90(chosen, known.rows),
        )
    )
    ends = (above is None or peak or knee) and (known.falls or chosen.model != "usl")
    others = [*known.plausible, *(c for c in known.wider if c.model == "usl")]
    return peak, knee, derived.maximum(chosen, others) if ends else None, at_90


def _beside(data: Usable, terms: Terms, rate: str, breaks: tuple[KnownBreak, ...]) -> FitBeside | None:
    if not data.doubted:
        return None
    levels, rates = np.array(sorted([*zip(data.levels, data.rates, strict=True), *data.doubted]), dtype=float).T
    all_of_them = Usable(levels=levels, rates=rates, left_out={})
    fit = _report(all_of_them, replace(terms, row="trial"), rate, (), FitQuestions(), breaks, _SAMPLES_BESIDE)
    return FitBeside(
        levels=tuple(sorted({level for level, _ in data.doubted})),
        chosen=fit.chosen,
        verdict=fit.verdict,
        sentence=fit.sentence,
        points=fit.points,
        model=next((replace(m, band=()) for m in fit.models if m.model == fit.chosen), None),
    )


def _rises_faster(candidates: Mapping[ModelName, Candidate]) -> bool:
    """Whether power and intercept are above 1 and below 0, in all of their intervals."""
    if "power" not in candidates or "affine" not in candidates:
        return False
    low, high = candidates["power"].interval("exponent")[0], candidates["affine"].interval("intercept")[1]
    return low is not None and low > 1 and high is not None and high < 0


def _grid(rows: Rows) -> Floats | None:
    if not len(rows.distinct):
        return None
    last = float(rows.distinct[-1])
    steps = np.linspace(float(rows.distinct[0]) / REACH, 1.05 * last, GRID_STEPS)
    return steps if len(rows.distinct) > GRID_STEPS else np.unique(np.concatenate([steps, rows.distinct]))
