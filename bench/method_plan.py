"""Does a plan see what it says? The differences and the intervals that `scale plan` announces, against drawn runs.

    python bench/method_plan.py [--runs 4000] [--fits 60]

Prints the table in bench/evidence: for each plan and noise the smallest difference of two levels and how often drawn
runs see it, half of the interval of a level's mean and how often it holds the truth, and the interval of the rate at
twice the last level beside the median of the intervals that the fit gives to runs drawn from other seeds.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import numpy as np
from scipy import stats

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "runner"))

from scale_sweep.analysis.confidence import smallest_of, student  # noqa: E402
from scale_sweep.plan.power import AssumedNoise, blocks_for, prediction_percent, replicates_for  # noqa: E402

SEED = 20260812
PLANS = ((2, 3), (4, 3), (8, 2), (8, 3), (8, 5), (12, 3))
NOISE = (0.02, 0.05)
WISHES = (2.0, 5.0, 10.0)


def seen_and_held(levels: int, replicates: int, std: float, runs: int) -> tuple[float, float]:
    """Shares of drawn runs, in percent: in which two levels that differ by the smallest difference are called
    different, and in which the interval of a level's mean holds the truth."""
    chance, degrees = np.random.default_rng([SEED, levels, replicates]), levels * (replicates - 1)
    logs = chance.normal(0, std, (runs, levels, replicates))
    means = logs.mean(axis=2)
    pooled = ((logs - means[..., None]) ** 2).sum(axis=(1, 2)) / degrees
    apart = math.log1p(smallest_of(std, degrees, replicates) / 100)
    t = (means[:, 1] - means[:, 0] + apart) / np.sqrt(pooled * 2 / replicates)
    held = np.abs(means[:, 0]) <= student(degrees) * np.sqrt(pooled / replicates)
    return 100 * float((np.abs(t) > stats.t.ppf(0.975, degrees)).mean()), 100 * float(held.mean())


def ends(found: tuple[float, float] | None) -> str:
    """An interval in percent of the rate."""
    return "none" if found is None else f"{found[0]:.0f}..{found[1]:+.0f}"


def main() -> None:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--fits", type=int, default=60)
    asked = parser.parse_args()
    print(
        "| levels × replicates | noise, % | smallest difference, % | seen, % | half of a level's interval, % | holds, "
        "% | at 2 N, said, % | at 2 N, fitted, % |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for levels, replicates in PLANS:
        for noise in NOISE:
            std, degrees = math.log1p(noise), levels * (replicates - 1)
            seen, held = seen_and_held(levels, replicates, std, asked.runs)
            of = [float(n + 1) for n in range(levels)]
            said = prediction_percent(of, replicates, std, 2.0 * levels)
            fitted = prediction_percent(of, replicates, std, 2.0 * levels, draws=asked.fits, seed=SEED + 1)
            half = 100 * math.expm1(student(degrees) * std / math.sqrt(replicates))
            least = smallest_of(std, degrees, replicates)
            print(
                f"| {levels} × {replicates} | {100 * noise:g} | {least:.1f} | {seen:.1f} | {half:.1f} | {held:.1f} "
                f"| {ends(said)} | {ends(fitted)} |"
            )
    print("\n| `--detect` | noise, % | replicates of 4 levels | blocks of `scale ab`, 1 level |\n|---|---|---|---|")
    for wish in WISHES:
        for noise in NOISE:
            assumed = AssumedNoise(percent=100 * noise, source="the table")
            replicates, blocks = replicates_for(wish, 4, assumed), blocks_for(wish, 1, assumed)
            print(f"| {wish:g} % | {100 * noise:g} | {replicates} | {blocks} |")


if __name__ == "__main__":
    main()
