"""The spread of a single trial's rate, from its seconds. Neighbouring seconds are correlated.

Of n seconds only n (1 − φ) / (1 + φ) count as independent; φ is the correlation of neighbours. A short window gives too
small a φ (Kendall 1954: by about (1 + 3 φ) / n), which is corrected here. Refuses a φ below 0, which would claim more
than was measured. The seconds do not show the spread between trials (a new server, fresh data, another minute), so this
spread is a lower bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SECONDS_MIN = 5
PHI_MAX = 0.98


@dataclass(frozen=True, kw_only=True)
class WindowSpread:
    """variance: of the logarithm of the mean rate. effective: the number of independent seconds in the window."""

    seconds: int
    variance: float
    degrees: float
    effective: float
    phi: float


def window_spread(rates: Sequence[float]) -> WindowSpread | None:
    """The spread from the rates of the seconds inside the window (rows/s, in order). None for fewer than five, or
    without a rate."""
    x = np.asarray(rates, dtype=float)
    n, mean = len(x), float(np.mean(x)) if len(x) else 0.0
    if n < SECONDS_MIN or mean <= 0:
        return None
    off = x / mean - 1
    squares = float(np.sum(off**2))
    if squares == 0:
        return WindowSpread(seconds=n, variance=0.0, degrees=n - 1.0, effective=float(n), phi=0.0)
    raw = float(np.sum(off[1:] * off[:-1])) / squares
    phi = min(max(raw + (1 + 3 * raw) / n, 0.0), PHI_MAX)
    effective = max(n * (1 - phi) / (1 + phi), 2.0)
    # The sum of squares about the mean of n correlated seconds is too small by the mean's own variance.
    spread = squares / n / (1 - 1 / effective)
    return WindowSpread(seconds=n, variance=spread / effective, degrees=effective - 1, effective=effective, phi=phi)
