"""Does the speedup's interval hold? Seeded simulation of whole runs of --quick whose truths the model does not contain.

    python bench/method_first.py [--runs 2000]

Two levels, blocks in a random order, ln(rate) with noise from trial to trial. The truth of each run is the ratio of the
two levels' rates without noise, over the whole run. It prints the share of runs whose interval contains it (goal: 93 %
or more), the median half-width, and the share that the former statement (one standard error of the ratio of means, as
if it were an interval) held. The table is in bench/evidence/speedup.csv.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from scale_sweep.analysis.fit.summaries import pooled_noise, summaries, usable
from scale_sweep.model.observed import Observation

SEED = 20261123
NOISE = 0.04
SPEEDUP = 1.8
BLOCKS = 5


@dataclass(frozen=True, kw_only=True)
class Truth:
    """moved: what is added to ln(rate) of a trial, by its order in the run, its level and the chance of the run. truth:
    what of it belongs to ln(speedup)."""

    name: str
    moved: Callable[[random.Random], Callable[[int, int], float]]
    truth: float = 0.0


def nothing(chance: random.Random) -> Callable[[int, int], float]:
    return lambda order, level: chance.gauss(0, NOISE)


def walk(chance: random.Random) -> Callable[[int, int], float]:
    steps = [0.0]
    for _ in range(2 * BLOCKS):
        steps.append(steps[-1] + chance.gauss(0, 0.05))
    return lambda order, level: steps[order] + chance.gauss(0, NOISE)


def drift(chance: random.Random) -> Callable[[int, int], float]:
    return lambda order, level: -0.03 * order + chance.gauss(0, NOISE)


def dear_for_both(chance: random.Random) -> Callable[[int, int], float]:
    return lambda order, level: (-0.3 if order >= BLOCKS else 0.0) + chance.gauss(0, NOISE)


def dear_for_the_second(chance: random.Random) -> Callable[[int, int], float]:
    """From a random trial on, the second level alone is slower by a fifth; which trials they are is chance."""
    return lambda order, level: (-0.2 if level == 2 and chance.random() < 0.5 else 0.0) + chance.gauss(0, NOISE)


def outlier(chance: random.Random) -> Callable[[int, int], float]:
    at = chance.randrange(2 * BLOCKS)
    return lambda order, level: (-0.35 if order == at else 0.0) + chance.gauss(0, NOISE)


def unequal(chance: random.Random) -> Callable[[int, int], float]:
    return lambda order, level: chance.gauss(0, 0.02 if level == 1 else 0.10)


def heavy(chance: random.Random) -> Callable[[int, int], float]:
    """Student's t with three degrees of freedom, scaled."""

    def one(order: int, level: int) -> float:
        square = sum(chance.gauss(0, 1) ** 2 for _ in range(3)) / 3
        return 0.03 * chance.gauss(0, 1) / math.sqrt(square)

    return one


TRUTHS = (
    Truth(name="noise of 4 % from trial to trial", moved=nothing),
    Truth(name="random walk of 5 % from trial to trial", moved=walk),
    Truth(name="drift of 3 % a trial", moved=drift),
    Truth(name="second half of the run: all trials 26 % slower", moved=dear_for_both),
    Truth(name="half of the second level's trials 18 % slower, at random", moved=dear_for_the_second, truth=-0.1),
    Truth(name="one trial 30 % slower", moved=outlier),
    Truth(name="noise of 2 % and of 10 % by level", moved=unequal),
    Truth(name="noise with heavy tails", moved=heavy),
)


def run_of(truth: Truth, chance: random.Random) -> list[Observation]:
    """The observations of one simulated run."""
    moved, found = truth.moved(chance), []
    for block in range(BLOCKS):
        levels = [1, 2]
        chance.shuffle(levels)
        for level in levels:
            log = math.log(SPEEDUP) * (level - 1) + moved(len(found), level)
            found.append(Observation(level=float(level), value=1e5 * math.exp(log), order=len(found), block=block))
    return found


def row(truth: Truth, runs: int) -> str:
    """One line of the table."""
    chance = random.Random(f"{SEED}/{truth.name}")
    right = math.log(SPEEDUP) + truth.truth
    inside, before, halves = 0, 0, []
    for _ in range(runs):
        data = usable(run_of(truth, chance))
        noise = pooled_noise(data)
        point = summaries(data, noise)[-1]
        inside += point.speedup_low <= math.exp(right) <= point.speedup_high
        halves.append(50 * (point.speedup_high - point.speedup_low) / point.speedup)
        before += abs(math.log(point.speedup) - right) <= noise.std * math.sqrt(2 / BLOCKS)
    held, was = 100 * inside / runs, 100 * before / runs
    return f"| {truth.name} | {held:.1f} % | {statistics.median(halves):.1f} % | {was:.1f} % |"


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    runs = parser.parse_args().runs
    print("| truth | interval holds | median half-width | one standard error held |\n|---|---|---|---|")
    for truth in TRUTHS:
        print(row(truth, runs), flush=True)


if __name__ == "__main__":
    main()
