"""How long does the fit of a 100-point sweep take, six models with 2,000 bootstrap samples each?

    python bench/fit.py --runs 5 [--points 10000]

Prints seconds of wall clock and of CPU for several curves, and the time that importing takes. The goal is 2 s.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "runner"))
POINTS = 100
CURVES: dict[str, Callable[[float, float], float]] = {  # of a level, and of how many hundreds of levels there are
    "linear": lambda n, size: n,
    "contended": lambda n, size: n / (1 + 0.02 / size * (n - 1)),
    "retrograde": lambda n, size: n / (1 + 0.02 / size * (n - 1) + 0.0004 / size**2 * n * (n - 1)),
    "knee": lambda n, size: min(n, 40 * size),
    "superlinear": lambda n, size: n**1.1,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--points", type=int, default=POINTS)
    asked = parser.parse_args()
    runs, points = asked.runs, asked.points
    began = time.perf_counter()
    import numpy as np

    from scale_sweep.analysis.fit.candidates import SAMPLES
    from scale_sweep.analysis.fit.curve import fit_rows
    from scale_sweep.analysis.fit.words import Terms

    print(f"import: {time.perf_counter() - began:.2f} s; {points} points, 6 models, {SAMPLES} samples each")
    print("| curve | verdict | wall clock, s | CPU, s |\n|---|---|---|---|")
    for name, curve in CURVES.items():
        chance = np.random.default_rng(1).standard_normal(points)
        rows = [
            (float(n), curve(n, points / POINTS) * float(np.exp(0.03 * e)))
            for n, e in zip(range(1, points + 1), chance, strict=True)
        ]
        wall, cpu = [], []
        for _ in range(runs):
            start, used = time.perf_counter(), time.process_time()
            fit = fit_rows(rows, Terms())
            wall.append(time.perf_counter() - start)
            cpu.append(time.process_time() - used)
        print(f"| {name} | {fit.verdict} | {_median(wall)} | {_median(cpu)} |")


def _median(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f}..{max(values):.2f})"


if __name__ == "__main__":
    main()
