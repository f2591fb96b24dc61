"""Is a fall at the end of a curve named where there is one, and not where the curve is flat or rises?

    python bench/method_fall.py [--draws 1000] [--seed 3] [--only plateau] [--row-by-row]

For each truth, grid, noise and number of replicates: how often the test of a fall
(scale_sweep/analysis/fit/fall_and_limit_tests.py) finds one; with --row-by-row, how often the rule for one row a level
does. Truths differ from those of bench/method_fit.py, and none of them but "amdahl" is a model of the fit. Every set is
drawn from its own seed. Refuses nothing.
"""

from __future__ import annotations

import argparse
import math
import sys
import zlib
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "runner"))

from bench.method_fit import Curve, markdown  # noqa: E402
from scale_sweep.analysis.fit.fall_and_limit_tests import falls, falls_row_by_row  # noqa: E402
from scale_sweep.analysis.fit.rows import make_rows  # noqa: E402

GRIDS: dict[str, tuple[float, ...]] = {
    "1..8": tuple(map(float, range(1, 9))),
    "1..16:x2": (1.0, 2.0, 4.0, 8.0, 16.0),
    "1..24": tuple(map(float, range(1, 25))),
}
SIZES = ((0.01, 1), (0.03, 1), (0.01, 3), (0.03, 3))  # noise and replicates


def bent(share: float) -> Curve:
    """Of n / N: a smooth bend at 0.45 N, from which the rate falls in a line and loses this share until N."""

    def curve(part: float) -> float:
        rise = part / (1 + (part / 0.45) ** 8) ** 0.125
        return rise * (1 - share * max(0.0, part - 0.5) / 0.5)

    return curve


FLAT: dict[str, Curve] = {
    "flat": lambda part: 1.0,
    "plateau": bent(0.0),
    "sharp plateau": lambda part: min(part, 0.5),
    "slow rise": lambda part: min(part, 0.5) + 0.06 * max(0.0, part - 0.5),
    "amdahl": lambda part: part / (1 + 4 * part),
    "steps": lambda part: math.ceil(4 * part) / 4,
    "saturating": lambda part: 1 - math.exp(-4 * part),
}
FALLING: dict[str, Curve] = {
    "falls by 4 %": bent(0.04),
    "falls by 8 %": bent(0.08),
    "falls by 15 %": bent(0.15),
    "sharp, falls by 8 %": lambda part: min(part, 0.5) * (1 - 0.16 * max(0.0, part - 0.5)),
}


def named(
    draw: int, *, truth: str, grid: str, noise: float, replicates: int, seed: int, row_by_row: bool = False
) -> bool:
    """Whether a fall is found in one set."""
    curve, levels = (FLAT | FALLING)[truth], GRIDS[grid]
    chance = np.random.default_rng([seed, draw, zlib.crc32(f"{grid} {truth} {noise} {replicates}".encode())])
    at = np.repeat(levels, replicates)
    exact = np.array([1e6 * curve(n / levels[-1]) for n in at])
    found = falls_row_by_row if row_by_row else falls
    return found(make_rows(at, exact * np.exp(noise * chance.standard_normal(len(at)))))


def main() -> None:
    """Prints a row for each truth and grid."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=200, help="sets of each combination")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--only", default="", help="truths and grids whose name holds this, like plateau or 1..24")
    parser.add_argument("--row-by-row", action="store_true", help="the rule for one row a level")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    rows = []
    with ProcessPoolExecutor(options.processes) as pool:
        for truth in FLAT | FALLING:
            for grid in (g for g in GRIDS if options.only in f"{truth} {g}"):
                shares = []
                for noise, replicates in SIZES:
                    one = partial(
                        named,
                        truth=truth,
                        grid=grid,
                        noise=noise,
                        replicates=replicates,
                        seed=options.seed,
                        row_by_row=options.row_by_row,
                    )
                    shares.append(np.mean(list(pool.map(one, range(options.draws), chunksize=25))))
                rows.append((truth, grid, *(f"{100 * value:.1f}" for value in shares)))
    print(f"{options.draws} sets a cell, seed {options.seed}\n")
    sizes = (f"{100 * noise:g} %, {count} a level" for noise, count in SIZES)
    print("\n".join(markdown(("truth", "levels", *sizes), rows)))


if __name__ == "__main__":
    main()
