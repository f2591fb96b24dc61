"""Is one row that is ten times too high or too low named, and are good rows not? Known curves, one row spoilt.

    python bench/method_outliers.py [--draws 20] [--seed 1]

Draws the sets of bench/method_fit.py, counts how often a good set has a row named, then multiplies or divides one row
by ten and counts how often it is named, and how often another row is named. Prints a table.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "runner"))

from bench.method_fit import LEVELS, NOISE, REPLICATES, truths  # noqa: E402
from scale_sweep.analysis.fit.rows import far_off, make_rows  # noqa: E402


def counts_of(levels: tuple[float, ...], curve, noise: float, replicates: int, chance: np.random.Generator):
    """(rows named in the good set, whether the spoilt row is named, other rows named beside it)."""
    n = np.repeat(np.array(levels), replicates)
    x = 1e6 * np.array([curve(level) for level in n]) * np.exp(noise * chance.standard_normal(len(n)))
    good = len(far_off(make_rows(n, x)))
    at = int(chance.integers(len(n)))
    x[at] *= 10.0 ** chance.choice((-1, 1))
    hits = [math.isclose(one.rate, x[at]) for one in far_off(make_rows(n, x))]
    return good, any(hits), len(hits) - sum(hits)


def main() -> None:
    """Prints one line for each number of replicates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print("| replicates | levels | sets | good rows named, % of sets | the spoilt row named, % | another named, % |")
    print("|---|---|---|---|---|---|")
    for replicates in REPLICATES:
        for grid, levels in LEVELS.items():
            chance = np.random.default_rng([asked.seed, replicates, math.prod(levels) % 1000003])
            found = np.array(
                [
                    counts_of(tuple(map(float, levels)), curve, noise, replicates, chance)
                    for curve in truths(float(max(levels))).values()
                    for noise in NOISE
                    for _ in range(asked.draws)
                ],
                dtype=float,
            )
            good, hit, other = 100 * (found[:, 0] > 0).mean(), 100 * found[:, 1].mean(), 100 * (found[:, 2] > 0).mean()
            print(f"| {replicates} | {grid} | {len(found)} | {good:.1f} | {hit:.1f} | {other:.1f} |")


if __name__ == "__main__":
    main()
