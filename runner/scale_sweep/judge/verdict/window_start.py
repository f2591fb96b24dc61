"""Which seconds count: when a warm-up may end, what is discarded at the start of a window, and the window that a trial
would have had on known rates. The end of the transient is found by MSER-5 (White 1997; White, Cobb and Spratt 2000): of
all starts, the one with the most exact mean after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from scale_sweep.judge.verdict import thresholds as limit
from scale_sweep.judge.verdict.steady import Steadiness, look_seconds, steadiness, troubles


def is_level(rates: Sequence[float]) -> bool:
    """Whether a warm-up's last quarter (three seconds at least) has the mean of the quarter before it, within
    LEVEL_PERCENT. No second of the window is looked at: who waits for high seconds selects them."""
    part = compared_seconds(len(rates))
    if len(rates) < 2 * part:
        return False
    before, after = fmean(rates[-2 * part : -part]), fmean(rates[-part:])
    return after > 0 and abs(after - before) <= limit.LEVEL_PERCENT / 100 * (after + before) / 2


def compared_seconds(seconds: int) -> int:
    return max(limit.LEVEL_LEAST_S, int(limit.LEVEL_SHARE * seconds))


@dataclass(frozen=True, kw_only=True)
class Transient:
    """by_start: MSER-5's statistic by seconds discarded, relative to none. is_long_enough: the smallest is in the first
    half, or nearly."""

    seconds: int
    by_start: tuple[tuple[int, float], ...]
    is_long_enough: bool


def transient(rates: Sequence[float]) -> Transient | None:
    """By MSER-5, for one value each second; None for a series that is too short, or constant. It takes means of five
    seconds and, for each number d of them discarded, s²(d) / (n - d), which is smallest at the end of the transient.
    Chance moves that place, so the first start that is nearly as good is taken, none in the last half."""
    batches = [fmean(rates[i : i + limit.BATCH_S]) for i in range(0, len(rates) - limit.BATCH_S + 1, limit.BATCH_S)]
    if len(batches) < limit.BATCHES_MIN:
        return None
    statistics = [_statistic(batches[d:]) for d in range(len(batches) - 1)]
    if statistics[0] <= 0:
        return None
    least = min(statistics[: (len(batches) + 1) // 2])
    best = next(d for d, value in enumerate(statistics) if value <= limit.MSER_NEAR * least)
    return Transient(
        seconds=best * limit.BATCH_S,
        by_start=tuple((d * limit.BATCH_S, value / statistics[0]) for d, value in enumerate(statistics)),
        is_long_enough=least <= limit.MSER_NEAR * min(statistics[:-2]),  # of the last batches it is chance
    )


def may_be_discarded(rates: Sequence[float], seconds: int) -> bool:
    """After the rate has reached half its median, a second without rows is a stall, which belongs into the number."""
    usual = median(rates)
    started = next((i for i, r in enumerate(rates) if r >= limit.STARTED * usual), len(rates))
    return all(r >= limit.STALLED_SHARE * usual for r in rates[started:seconds])


def _statistic(rest: Sequence[float]) -> float:
    mean = fmean(rest)
    return sum((b - mean) ** 2 for b in rest) / len(rest) ** 2


def is_steady(rates: Sequence[float]) -> bool | None:
    """By the first version of the rules, which decided what stored runs discarded: seconds count as independent."""
    figures = steadiness(rates)
    if figures.cv_percent is None:
        return None
    return figures.cv_percent <= limit.STEADY_CV_PERCENT and not _has_trend(figures)


def seconds_to_settle(rates: Sequence[float], least: int) -> int | None:
    """For a short window: 0 if the whole is steady, or too short to decide; else all but the last `least` seconds, None
    if they are not steady either. Only a trend is discarded."""
    if is_steady(rates) is not False:
        return 0
    if not limit.STEADY_INTERVALS_MIN <= least < len(rates) or not _has_trend(steadiness(rates)):
        return None
    return len(rates) - least if is_steady(rates[-least:]) else None


def seconds_to_claim(rates: Sequence[float], least: int, look: int = limit.CLAIM_LOOKS) -> int | None:
    """For a window that carries the claim: 0 if the whole is steady; else the transient by MSER-5 if the rest is steady
    and at least `least` seconds long. least 0: nothing may be discarded."""
    if not troubles(steadiness(rates), claims=True, look=look):
        return 0
    end = transient(rates)
    if end is None or not least or not 0 < end.seconds <= len(rates) - least:
        return None
    if not may_be_discarded(rates, end.seconds):
        return None
    return None if troubles(steadiness(rates[end.seconds :]), claims=True, look=look) else end.seconds


def _has_trend(figures: Steadiness) -> bool:
    noise = limit.STEADY_DRIFT_ERRORS * (figures.drift_error_percent or 0.0)
    return abs(figures.drift_percent or 0.0) > max(limit.STEADY_DRIFT_PERCENT, noise)


def claimed(rates: Sequence[float], duration_s: int, window_max_s: int) -> tuple[float, int] | None:
    """Mean rate and seconds of `claimed_window`."""
    window = claimed_window(rates, duration_s, window_max_s)
    return None if window is None else (fmean(window), len(window))


def claimed_window(rates: Sequence[float], duration_s: int, window_max_s: int) -> Sequence[float] | None:
    """The seconds of a window that carries the claim; None if none is steady. rates: of each second after the warm-up,
    at least window_max_s. Like a trial, it knows the seconds up to a look, and ends a second after it."""
    looks = look_seconds(duration_s, window_max_s)
    for k, look in enumerate(looks, 1):
        if seconds_to_claim(rates[: int(look) - 1], duration_s, k) is not None or k == len(looks):
            return _judged(rates[: int(look)], duration_s, claims=True)
    return None


def quickly(rates: Sequence[float], duration_s: int, window_max_s: int) -> tuple[float, int] | None:
    """As `claimed`, for a short window, which is checked each second."""
    window = quick_window(rates, duration_s, window_max_s)
    return None if window is None else (fmean(window), len(window))


def quick_window(rates: Sequence[float], duration_s: int, window_max_s: int) -> Sequence[float] | None:
    for seconds in range(duration_s, window_max_s + 1):
        discarded = seconds_to_settle(rates[: seconds - 1], duration_s)
        kept = rates[discarded or 0 : seconds - 1]
        is_enough = discarded is not None and not troubles(steadiness(kept), claims=False)
        if is_enough or seconds == window_max_s:
            return _judged(rates[:seconds], duration_s, claims=False)
    return None


def _judged(seen: Sequence[float], least: int, *, claims: bool) -> Sequence[float] | None:
    discarded = (seconds_to_claim if claims else seconds_to_settle)(seen, least)
    kept = seen[discarded or 0 :]
    return None if discarded is None or troubles(steadiness(kept), claims=claims) else kept
