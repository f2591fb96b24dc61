"""The most trials of one plan. Pure. Refuses more before any of them is made."""

from __future__ import annotations

import math
from collections.abc import Mapping

from scale_sweep.base.errors import UsageError
from scale_sweep.base.units import counted

TRIALS_MAX = 10_000


def refuse_too_many(factors: Mapping[str, tuple[str, int]]) -> None:
    """Raises UsageError if the factors make more trials than a plan may have. factors: what each counts, and how many,
    by its flag; the message names the flag of the largest."""
    trials = math.prod(count for _, count in factors.values())
    if trials <= TRIALS_MAX:
        return
    flag = max(factors, key=lambda name: factors[name][1])
    product = " × ".join(f"{count:,} {what}" for what, count in factors.values() if count > 1)
    raise UsageError(f"{flag}: {product} are {counted(trials, 'trial')}; a plan has {TRIALS_MAX:,} at most")
