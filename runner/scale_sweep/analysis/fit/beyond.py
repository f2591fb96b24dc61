"""The rate at a level, its chance, the level for a rate, beyond the points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from scale_sweep.analysis.fit.candidates import LIMITS, Candidate, percentiles, six_digits
from scale_sweep.analysis.fit.derived import asymptote, level_where_it_falls, levels_for
from scale_sweep.analysis.fit.models import NAMES, Floats
from scale_sweep.analysis.fit.partial_curves import between, chords_at
from scale_sweep.analysis.fit.rows import Rows
from scale_sweep.analysis.fit.summaries import Noise
from scale_sweep.analysis.fit.words import Terms, rejected_words
from scale_sweep.base.units import format_number, format_rate
from scale_sweep.model.fitted import REACH, Estimate, Need, Prediction, RejectedLevel

NO_MODEL = "no model is chosen: the points are too few to choose one"
NO_FALL = "the rate falls, and no model that falls describes it"
NO_INTERVAL = "the points are too few for an interval"
# If the rate falls, usually only the USL remains. Its own 95 % percentiles contain the truth in 83 % of
# bench/method_fit.py's sets with a late peak, because the data that choose it also bend it.
LIMITS_OF_A_FALL = (0.5, 99.5)
GOES_ON = "if the curve goes on as it does"
_GOES_ON_FROM = 1.25  # times the last measured level
_LEVELS_OF_A_FALL = 3  # of so few, no falling model can be fitted


@dataclass(frozen=True, kw_only=True)
class Known:
    chosen: Candidate | None
    plausible: Sequence[Candidate]  # the models that intervals cover, with the chosen one
    wider: Sequence[Candidate]  # models that intervals also cover beyond the measured levels
    rows: Rows
    terms: Terms
    lost: Sequence[RejectedLevel] = ()  # the levels whose trials were all rejected, ascending
    falls: bool = False  # the rate falls, so only models that fall are plausible
    noise: Noise | None = None  # of the replicates
    is_missed: bool = False  # the level means may miss the chosen curve

    @property
    def limits(self) -> tuple[float, float]:
        return LIMITS_OF_A_FALL if self.falls else LIMITS

    @property
    def no_model(self) -> str:
        return NO_FALL if self.falls and len(self.rows.distinct) > _LEVELS_OF_A_FALL else NO_MODEL

    @property
    def error(self) -> float:
        if self.noise is not None:
            return self.noise.std
        size = self.chosen.rse if self.chosen is not None else None
        return (size or 0.0) / float(self.rows.means[-1])

    @property
    def above(self) -> RejectedLevel | None:
        return next((r for r in self.lost if len(self.rows.distinct) and r.level > self.rows.distinct[-1]), None)

    @property
    def below(self) -> RejectedLevel | None:
        lower = [r for r in self.lost if len(self.rows.distinct) and r.level < self.rows.distinct[0]]
        return lower[-1] if lower else None

    def spanned(self, level: float) -> list[Candidate]:
        is_beyond = level > self.rows.distinct[-1]
        return [c for c in (*self.plausible, *(self.wider if is_beyond else ())) if len(c.samples)]

    @property
    def limit(self) -> float:
        return REACH * float(self.rows.distinct[-1])


def predict(known: Known, levels: Sequence[float]) -> tuple[Prediction, ...]:
    return tuple(_predict(known, level) for level in levels)


def _predict(known: Known, level: float) -> Prediction:
    chosen, rows = known.chosen, known.rows
    first, last = (float(rows.distinct[i]) for i in (0, -1)) if len(rows.distinct) else (0.0, 0.0)
    outside = not first <= level <= last
    reason = refusal(known, level)
    low, high = hull(known, level) if not reason else (None, None)
    if not reason and (low is None or high is None):
        reason = NO_INTERVAL
    rate = float(chosen.rates(np.array([level]))[0]) if chosen is not None and not reason else 0.0
    if not reason and rate <= 0 and chosen is not None:
        reason = f"the {NAMES[chosen.model]} curve falls to 0 before"
    if reason or chosen is None or low is None or high is None:
        return Prediction(level=level, rate=None, low=None, high=None, extrapolated=outside, reason=reason)
    here = next((r for r in known.lost if r.level == level), None)
    beside = f"measured there, and rejected: {rejected_words(here, known.terms)}" if here else ""
    return Prediction(
        level=level,
        rate=rate,
        low=min(low, rate),
        high=max(high, rate),
        extrapolated=outside,
        reason=beside,
        by_model={c.model: _estimate(c, level) for c in known.plausible if len(c.samples)},
    )


def hull(known: Known, level: float) -> tuple[float | None, float | None]:
    ends = [_interval(c, level, known.limits) for c in known.spanned(level)]
    if not ends or any(low is None or high is None for low, high in ends):
        return None, None
    ends += filter(None, [between(known.rows, level, known.noise, is_missed=known.is_missed)])
    return max(min(low for low, _ in ends if low is not None), 0.0), max(high for _, high in ends if high is not None)


def goes_on(level: float, last: float) -> str:
    return GOES_ON if level >= _GOES_ON_FROM * last * (1 - 1e-9) else ""


def band(known: Known, grid: Floats) -> tuple[tuple[float, float, float], ...]:
    """(level, low, high): the hull along the measured levels."""
    own = np.array([np.percentile(c.curves(grid), known.limits, axis=0) for c in known.plausible if len(c.samples)])
    if not own.size:
        return ()
    gaps = [between(known.rows, float(n), known.noise, is_missed=known.is_missed) for n in grid]
    chords = np.array([ends or (math.inf, -math.inf) for ends in gaps]).T
    low = np.maximum(np.minimum(own[:, 0].min(axis=0), chords[0]), 0.0)
    high = np.maximum(own[:, 1].max(axis=0), chords[1])
    return tuple((six_digits(n), six_digits(a), six_digits(b)) for n, a, b in zip(grid, low, high, strict=True))


def _interval(
    candidate: Candidate, level: float, limits: tuple[float, float] = LIMITS
) -> tuple[float | None, float | None]:
    return percentiles(candidate.curves(np.array([level]))[:, 0], limits)


def _estimate(candidate: Candidate, level: float) -> Estimate:
    low, high = _interval(candidate, level)
    return Estimate(value=float(candidate.rates(np.array([level]))[0]), std_err=None, low=low, high=high)


def refusal(known: Known, level: float) -> str:
    """Why the curve has no rate there."""
    rows = known.rows
    if known.chosen is None:
        return known.no_model
    above, below = known.above, known.below
    if above is not None and level >= above.level:
        return _rejected_from(known, above, level, "there or beyond")
    if below is not None and level <= below.level:
        return _rejected_from(known, below, level, "there or below")
    if level > known.limit:
        return f"beyond the extrapolation limit, {REACH:g} × the highest level ({format_number(rows.distinct[-1])})"
    if level < float(rows.distinct[0]) / REACH:
        return f"below half of the lowest level ({format_number(rows.distinct[0])})"
    return ""


def _rejected_from(known: Known, barrier: RejectedLevel, level: float, where: str) -> str:
    here = next((r for r in known.lost if r.level == level), barrier)
    reason = f"every trial at {known.terms.count(barrier.level)} was rejected, so nothing is predicted {where}"
    return f"{reason}; measured at {format_number(here.level)}: {rejected_words(here, known.terms)}"


def need(known: Known, wanted: Sequence[float]) -> tuple[Need, ...]:
    return tuple(_need(known, rate) for rate in wanted)


def _need(known: Known, rate: float) -> Need:
    chosen, rows = known.chosen, known.rows
    if chosen is None:
        return _unknown(rate, known.no_model)
    least = float(rows.distinct[0]) / REACH
    rises, until = _crossings(chosen, chosen.values[None], rate)
    value, falling = float(rises[0]), False
    has_fallen = not least <= value <= known.limit and float(chosen.rates(rows.distinct[:1])[0]) >= rate
    if has_fallen and least <= float(until[0]) <= known.limit:
        value, falling = float(until[0]), True
    reason = _no_level(known, chosen, value, rate, least)
    if reason:
        return _unknown(rate, reason)
    spanned = [_crossings(c, c.samples, rate)[falling] for c in known.spanned(value)]
    if not spanned:
        return _unknown(rate, NO_INTERVAL)
    ends = [percentiles(levels, known.limits) for levels in spanned]
    lows, highs = [low for low, _ in ends], [high for _, high in ends]
    low = min([value, *(v for v in lows if v is not None)])
    high = None if any(v is None for v in highs) else max([value, *(v for v in highs if v is not None)])
    reason = "the rate falls: up to there it is reached, beyond it is not" if falling else ""
    if high is None or high > known.limit or known.above is not None and high >= known.above.level:
        open_end = "how far it stays so" if falling else "whether it can be reached at all"
        high, reason = None, f"{reason}{'; ' if reason else ''}{open_end} is within the error"
    return Need(rate=rate, level=value, low=low, high=high, reason=reason, falling=falling)


def _no_level(known: Known, chosen: Candidate, value: float, rate: float, least: float) -> str:
    above, below = known.above, known.below
    if value < least:
        return f"it is reached below half of the lowest level ({format_number(known.rows.distinct[0])})"
    if above is not None and value >= above.level:
        return _rejected_at(known, above, "at or beyond")
    if below is not None and value <= below.level:
        return _rejected_at(known, below, "at or below")
    if not math.isfinite(value):
        top = asymptote(chosen)
        maximum = f": its maximum is {format_rate(top)}" if math.isfinite(top) else ""
        return f"the {NAMES[chosen.model]} curve never reaches it{maximum}"
    if value > known.limit:
        about, limit = format_number(float(f"{value:.3g}")), format_number(known.limit)
        return f"it would take about {about}, which is beyond the extrapolation limit ({limit})"
    return ""


def _rejected_at(known: Known, barrier: RejectedLevel, where: str) -> str:
    reason = f"the curve places it {where} {known.terms.count(barrier.level)}, and every trial there was rejected"
    return f"{reason}; measured there: {rejected_words(barrier, known.terms)}"


def _crossings(candidate: Candidate, parameters: Floats, rate: float) -> tuple[Floats, Floats]:
    """By parameter set: the lowest level with that rate, and that from which a falling curve is below."""
    arguments = candidate.model, parameters, rate, candidate.unit_level
    return levels_for(*arguments), level_where_it_falls(*arguments)


def _unknown(rate: float, reason: str) -> Need:
    return Need(rate=rate, level=None, low=None, high=None, reason=reason)


LEVELS_AT_ONCE = 256
# The normal quantiles of 99.5 % and 97.5 %: how much wider the intervals of a falling curve are.
_WIDER_IF_FALLING = 2.5758 / 1.9600
_LEAST = 1e-12  # of the unit: a straight line may be below 0
assert (LIMITS_OF_A_FALL[1], round(LIMITS[1], 6)) == (99.5, 97.5)


def chances_below(known: Known, levels: Floats, rate: float) -> tuple[Floats, Floats]:
    """(least, most) over models and chords, by level; NaN without samples."""
    parts = [_chances(known, levels[at : at + LEVELS_AT_ONCE], rate) for at in range(0, len(levels), LEVELS_AT_ONCE)]
    if not parts:
        return np.zeros(0), np.zeros(0)
    return np.concatenate([least for least, _ in parts]), np.concatenate([most for _, most in parts])


def _chances(known: Known, levels: Floats, rate: float) -> tuple[Floats, Floats]:
    rows = known.rows
    is_beyond = levels > rows.distinct[-1]
    shares = [_share_below(c, levels, rate, is_wider=known.falls) for c in known.plausible if len(c.samples)]
    shares += [
        np.where(is_beyond, _share_below(c, levels, rate, is_wider=known.falls), np.nan)
        for c in known.wider
        if len(c.samples)
    ]
    if not shares:
        return np.full(len(levels), np.nan), np.full(len(levels), np.nan)
    least, most = np.nanmin(shares, axis=0), np.nanmax(shares, axis=0)
    for at in np.flatnonzero(~is_beyond & (levels >= rows.distinct[0])):
        for value, error in chords_at(rows, float(levels[at]), known.noise, is_missed=known.is_missed):
            below = below_mean(value, error, rate, known.noise.degrees if known.noise is not None else 1)
            least[at], most[at] = min(least[at], below), max(most[at], below)
    return least, most


def below_mean(mean: float, error: float, rate: float, degrees: float) -> float:
    """The chance that what was estimated as `mean` is below the rate."""
    if error <= 0:
        return float(mean < rate)
    return float(stdtr(degrees, (rate - mean) / error))


def _share_below(candidate: Candidate, levels: Floats, rate: float, *, is_wider: bool) -> Floats:
    curves = candidate.curves(levels)
    if is_wider:
        least = _LEAST * rate
        own = np.maximum(candidate.rates(levels), least)
        curves = own * (np.maximum(curves, least) / own) ** _WIDER_IF_FALLING
    return np.asarray(np.mean(curves < rate, axis=0))
