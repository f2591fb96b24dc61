"""Times of answers in ms since 1970, exactly: what a server adds below a millisecond stays visible. Pure."""

from __future__ import annotations

import datetime
from fractions import Fraction

Ms = int | Fraction
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def exact_ms(units: int, units_per_ms: int) -> Ms:
    """A time in units since 1970 as ms; a fraction if it is between two of them."""
    return units // units_per_ms if units % units_per_ms == 0 else Fraction(units, units_per_ms)


def moment_ms(moment: datetime.datetime) -> Ms:
    """A moment with its zone, which is exact to a microsecond."""
    return exact_ms((moment - _EPOCH) // datetime.timedelta(microseconds=1), 1000)
