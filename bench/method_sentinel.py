"""What the sentinels of a first sweep find: slow changes of the rate at one level, and false alarms.

    python bench/method_sentinel.py [--runs 2000]

Seeded simulation (seed 20261128): two levels, five windows of 5 s each, then a sentinel of 20 s at each level. Noise:
3 % from second to second (φ = 0.5), 2 % from start to start, 1 % from block to block. The second level changes after
its warm-up, the first is steady. "Long run": the mean of the two minutes after the warm-up against the short windows.
Prints bench/evidence/sentinel.csv.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable
from statistics import fmean

from scale_sweep.analysis.noise.spread import noise_report
from scale_sweep.analysis.observations import SENTINEL
from scale_sweep.judge.verdict.steady import steadiness
from scale_sweep.model.observed import Observation, WindowNoise
from scale_sweep.report.noise import SLOW_CHANGE

BLOCKS, SHORT_S, LONG_S, RUN_S = 5, 5, 20, 120
SHAPES: dict[str, Callable[[float], float]] = {
    "steady": lambda t: 1.0,
    "thermal: falls by 10 %, time constant 15 s": lambda t: 0.9 + 0.1 * math.exp(-t / 15),
    "thermal: falls by 20 %, time constant 15 s": lambda t: 0.8 + 0.2 * math.exp(-t / 15),
    "thermal: falls by 20 %, time constant 60 s": lambda t: 0.8 + 0.2 * math.exp(-t / 60),
    "cache: full after 12 s, then 25 % slower": lambda t: 1.0 if t < 12 else 0.75,
    "cache: full after 40 s, then 25 % slower": lambda t: 1.0 if t < 40 else 0.75,
    "compaction: from 8 s on, 5 of 10 s at 60 %": lambda t: 0.6 if t >= 8 and t % 10 >= 5 else 1.0,
    "checkpoint: every 60 s, 6 s at 50 %": lambda t: 0.5 if t % 60 >= 54 else 1.0,
    "warm-up: rises by 20 %, time constant 15 s": lambda t: 1 - 0.2 * math.exp(-t / 15),
}


def seconds(shape: Callable[[float], float], length: int, block: float, chance: random.Random) -> list[float]:
    """The rates of a trial's window."""
    start, error, rates = block + chance.gauss(0, 0.02), chance.gauss(0, 0.03), []
    for t in range(length):
        error = 0.5 * error + chance.gauss(0, 0.03 * math.sqrt(0.75))
        rates.append(1e5 * shape(t + 0.5) * math.exp(start + error))
    return rates


def found(shape: Callable[[float], float], chance: random.Random) -> list[bool]:
    """For the steady level and the changing one: whether its sentinel names a change."""
    observed = []
    shapes = (SHAPES["steady"], shape)
    for block in range(BLOCKS + 1):
        moved = chance.gauss(0, 0.01)
        for level, of_level in enumerate(shapes, 1):
            rates = seconds(of_level, SHORT_S if block < BLOCKS else LONG_S, moved, chance)
            halves = (steadiness(rates).halves_percent or 0.0) / 100
            last = {"role": "sentinel", "mark": SENTINEL} if block == BLOCKS else {}
            window = WindowNoise(seconds=len(rates), spread=0.03, rest=0.03, correlation=0.5, halves=halves)
            observed.append(
                Observation(level=level, value=fmean(rates), window=window, order=len(observed), block=block, **last)
            )
    later = dict(noise_report(observed).later)
    return [later[n].differs_from_one and abs(later[n].value - 1) >= SLOW_CHANGE for n in (1, 2)]


def main() -> None:
    """One row a shape."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    asked = parser.parse_args()
    print(f"# command: python bench/method_sentinel.py --runs {asked.runs}")
    print("shape of the second level,long run (%),found (%),false alarm at the steady level (%)")
    for name, shape in SHAPES.items():
        chance = random.Random(f"20261128/{name}")
        runs = [found(shape, chance) for _ in range(asked.runs)]
        long = fmean(shape(t + 0.5) for t in range(RUN_S)) / fmean(shape(t + 0.5) for t in range(SHORT_S)) - 1
        steady, changing = (100 * fmean(run[n] for run in runs) for n in (0, 1))
        print(f'"{name}",{100 * long:+.1f},{changing:.1f},{steady:.1f}')


if __name__ == "__main__":
    main()
