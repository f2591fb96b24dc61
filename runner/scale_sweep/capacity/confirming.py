"""The windows that confirm a capacity, each on a fresh server: which rate comes next, and what they make of the
answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from scale_sweep.capacity.answer import Capacity, held_and_failed
from scale_sweep.capacity.crossing import CAP, capped
from scale_sweep.capacity.search import Probe

FACTOR = 1.05  # between the rates of two windows
WINDOWS = 8  # of one capacity: down to 29 % below it


def next_window(rate: float, windows: Sequence[Probe]) -> float | None:
    """The rate of the next window; None: they are over. rate: the capacity that the steps show. windows: those so
    far."""
    if not windows:
        return rate
    if len(windows) >= WINDOWS or not windows[-1].usable:
        return None
    held, failed = held_and_failed(windows)
    if held is None and failed is not None:
        return failed / FACTOR
    return held * FACTOR if failed is None and held is not None else None


def confirmed(answer: Capacity, windows: Sequence[Probe]) -> Capacity:
    """The answer after its windows. Its interval reaches to the highest rate that held and to the next higher one that
    did not. If these are more than 10 % off the capacity, or the objective was missed by far (CAP) at 5 % less, chance
    is no explanation: the answer is then between these two rates, give or take FACTOR."""
    held, failed = held_and_failed(windows)
    if answer.rate is None or answer.low is None or answer.high is None or (held is None and failed is None):
        return answer
    if held is None:
        is_over = windows[-1].usable and next_window(answer.rate, windows) is None
        why = f"no window of a minute held the objective, down to {failed:.4g}/s"
        return replace(answer, rate=None, low=None, high=None, why=why) if is_over else answer
    top = failed if failed is not None else held * FACTOR
    below = [window for window in windows if window.usable and window.rate < answer.rate / math.sqrt(FACTOR)]
    is_missed = any(capped(window.excess) >= CAP for window in below)
    if is_missed or abs(math.log(answer.rate / math.sqrt(held * top))) > 2 * math.log(FACTOR):
        return replace(answer, rate=math.sqrt(held * top), low=held / FACTOR, high=top * FACTOR)
    return replace(answer, low=min(answer.low, held), high=max(answer.high, top))
