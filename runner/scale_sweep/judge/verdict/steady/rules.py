"""Is a rate steady? One set of rules for short windows (quick), one for those that carry the claim. Pure.

The claim: the number is within CLAIM_OFF_PERCENT of the rate's long-run mean, as far as this window can show. A
variation with a period above half the window is invisible in it; a soak shows that. Refuses to explain why a rate was
not steady.
"""

from __future__ import annotations

from math import inf, isfinite, sqrt

from scale_sweep.judge.verdict.steady.figures import Steadiness
from scale_sweep.judge.verdict.steady.looks import error_allowed_percent
from scale_sweep.judge.verdict.thresholds import (
    CLAIM_DRIFT_PERCENT,
    CLAIM_HALVES_PERCENT,
    CLAIM_LOOKS,
    CORRELATION_SLOW,
    STEADY_CV_PERCENT,
    STEADY_DRIFT_CAP_PERCENT,
    STEADY_DRIFT_ERRORS,
    STEADY_DRIFT_PERCENT,
)


def troubles(found: Steadiness, *, claims: bool, look: int = CLAIM_LOOKS) -> tuple[str, ...]:
    """Reasons against a steady rate; empty if there is none, or if it cannot be decided.

    claims: uses the rules of a window that carries the claim. look: the number of the look; a window that has ended is
    judged as at the last.
    """
    return _of_claim(found, look) if claims else _of_short(found)


def _drifts(found: Steadiness) -> bool:
    """Whether a short window has a trend: above the cap, or large and larger than correlated noise makes one."""
    drift = abs(found.drift_percent or 0.0)
    noise = STEADY_DRIFT_ERRORS * (found.trend_error_percent or 0.0)
    return drift > STEADY_DRIFT_CAP_PERCENT or drift > max(STEADY_DRIFT_PERCENT, noise)


def _of_short(found: Steadiness) -> tuple[str, ...]:
    told = [_drift_words(found)] if _drifts(found) else []
    if found.cv_percent is not None and found.cv_percent > STEADY_CV_PERCENT:
        told.append(f"the rate varied by {found.cv_percent:.0f} % from second to second")
    return tuple(told)


def _of_claim(found: Steadiness, look: int) -> tuple[str, ...]:
    told = [_drift_words(found)] if abs(found.drift_percent or 0.0) > CLAIM_DRIFT_PERCENT else []
    halves, error = found.halves_percent or 0.0, mean_error_percent(found)
    if abs(halves) > CLAIM_HALVES_PERCENT:
        side = "above" if halves > 0 else "below"
        told.append(f"the second half of the window is {abs(halves):.0f} % {side} the first")
    if error > error_allowed_percent(look):
        known = f"known to ± {2 * error:.0f} % only" if isfinite(error) else "not known"
        varied = f"the mean is {known}: the rate varied by {found.cv_percent or 0.0:.0f} %"
        told.append(
            f"{varied}, and slowly, so that the window holds few independent seconds"
            if (found.correlation or 0.0) > CORRELATION_SLOW
            else f"{varied} from second to second"
        )
    return tuple(told)


def mean_error_percent(found: Steadiness) -> float:
    """Standard error of the mean, percent, with Bessel's correction for the number of independent seconds; 0 where it
    is not known.

    The figure's error is the spread over √m, where m is the number of independent seconds. But the mean of m values
    follows their chance, so their variance about it is too small by (m − 1) / m.
    """
    spread, error = found.cv_percent or 0.0, found.error_percent or 0.0
    if error <= 0 or spread <= 0:
        return 0.0
    many = (spread / error) ** 2
    return error * sqrt(many / (many - 1)) if many > 1 else inf


def _drift_words(found: Steadiness) -> str:
    drift = found.drift_percent or 0.0
    return f"the rate {'fell' if drift < 0 else 'rose'} by {abs(drift):.0f} % over the window"
