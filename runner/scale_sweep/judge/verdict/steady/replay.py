"""The window that a trial would have had on known rates: its looks, its start, its verdict. Pure.

A soak applies it to each of its parts, a benchmark to simulated rates. Refuses to use more than a trial knows: the
seconds up to a look. A window ends a second after the look that decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from scale_sweep.judge.verdict.steady.figures import steadiness
from scale_sweep.judge.verdict.steady.looks import look_seconds
from scale_sweep.judge.verdict.steady.rules import troubles
from scale_sweep.judge.verdict.steady.settle import seconds_to_claim, seconds_to_settle


def claimed(rates: Sequence[float], duration_s: int, window_max_s: int) -> tuple[float, int] | None:
    """Mean rate and seconds of the window that carries the claim; None if none is steady.

    rates: one for each second, from the end of the warm-up on, at least window_max_s.
    """
    looks = look_seconds(duration_s, window_max_s)
    for k, look in enumerate(looks, 1):
        if seconds_to_claim(rates[: int(look) - 1], duration_s, k) is not None or k == len(looks):
            return _judged(rates[: int(look)], duration_s, claims=True)
    return None


def quickly(rates: Sequence[float], duration_s: int, window_max_s: int) -> tuple[float, int] | None:
    """As `claimed`, for a short window (quick), which is checked each second."""
    for seconds in range(duration_s, window_max_s + 1):
        found = seconds_to_settle(rates[: seconds - 1], duration_s)
        kept = rates[found or 0 : seconds - 1]
        is_enough = found is not None and not troubles(steadiness(kept), claims=False)
        if is_enough or seconds == window_max_s:
            return _judged(rates[:seconds], duration_s, claims=False)
    return None


def _judged(seen: Sequence[float], least: int, *, claims: bool) -> tuple[float, int] | None:
    discarded = (seconds_to_claim if claims else seconds_to_settle)(seen, least)
    kept = seen[discarded or 0 :]
    return None if discarded is None or troubles(steadiness(kept), claims=claims) else (fmean(kept), len(kept))
