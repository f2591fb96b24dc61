"""Does "another day" hold? Seeded simulation of a sweep of --quick that is repeated on other days.

    python bench/method_day.py [--runs 2000]

A run has five blocks of two levels with 2 % noise of a trial. ln(speedup) differs between days by a law of the machine,
which no model here contains. It prints, by law and by the number of stored repetitions, the share of ranges that hold
the speedup of the long run (the median over days), and that which the next day gives, and the median half-width.
The table is in bench/evidence/another_day.csv.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
from collections.abc import Callable, Iterator

import numpy as np

from scale_sweep.analysis.fit.summaries import another_day, pooled_noise, summaries, usable, with_pairs
from scale_sweep.model.fitted import PointSummary
from scale_sweep.model.observed import Observation

SEED = 20261127
SPEEDUP, NOISE, BLOCKS = 1.8, 0.02, 5
STORED = (0, 3, 10, 20)
Days = Callable[[random.Random], Iterator[float]]


def _drawn(one: Callable[[random.Random], float]) -> Days:
    def days(chance: random.Random) -> Iterator[float]:
        while True:
            yield one(chance)

    return days


def slow(chance: random.Random) -> Iterator[float]:
    """Days resemble the day before."""
    at = chance.gauss(0, 0.043)
    while True:
        yield at
        at = 0.7 * at + chance.gauss(0, 0.043 * math.sqrt(1 - 0.7**2))


LAWS: dict[str, Days] = {
    "quiet, 1 %": _drawn(lambda chance: chance.gauss(0, 0.01)),
    "normal, 4.3 %": _drawn(lambda chance: chance.gauss(0, 0.043)),
    "heavy tails (t3), 4.3 %": _drawn(
        lambda chance: 0.043 / math.sqrt(3) * chance.gauss(0, 1) / math.sqrt(chance.gammavariate(1.5, 2) / 3)
    ),
    "one day in four 10 % lower": _drawn(lambda chance: chance.gauss(0, 0.01) - (0.1 if chance.random() < 0.25 else 0)),
    "days resemble the day before": slow,
    "normal, 7 %": _drawn(lambda chance: chance.gauss(0, 0.07)),
}


def run_of(chance: random.Random, day: float) -> PointSummary:
    """The last level of one sweep."""
    observed = [
        Observation(level=level, value=1e5 * ratio * math.exp(chance.gauss(0, NOISE)), block=block)
        for block in range(BLOCKS)
        for level, ratio in ((1.0, 1.0), (2.0, SPEEDUP * math.exp(day)))
    ]
    data = usable(observed)
    return with_pairs(summaries(data, pooled_noise(data)), data)[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    runs = parser.parse_args().runs
    print("days differ by,stored,long run held %,next day held %,median half-width %")
    for law, days_of in LAWS.items():
        far = days_of(random.Random(f"{SEED}/{law}/long"))
        middle = SPEEDUP * math.exp(float(np.median([next(far) for _ in range(20_001)])))
        for stored in STORED:
            long, next_day, halves = 0, 0, []
            for number in range(runs):
                chance = random.Random(f"{SEED}/{law}/{stored}/{number}")
                days = days_of(chance)
                earlier = [run_of(chance, next(days)).speedup or 0.0 for _ in range(stored)]
                other = another_day(run_of(chance, next(days)), earlier)
                assert other is not None
                long += other.low <= middle <= other.high
                next_day += other.low <= (run_of(chance, next(days)).speedup or 0.0) <= other.high
                halves.append(50 * math.log(other.high / other.low))
            print(f"{law},{stored},{100 * long / runs:.1f},{100 * next_day / runs:.1f},{statistics.median(halves):.1f}")


if __name__ == "__main__":
    main()
