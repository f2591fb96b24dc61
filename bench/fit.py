"""How long does the fit of a 100-point sweep take, six models with 2,000 bootstrap samples each?

    python bench/fit.py --runs 5

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
POINTS = 100
CURVES: dict[str, Callable[[float], float]] = {
    "linear": lambda n: n,
    "contended": lambda n: n / (1 + 0.02 * (n - 1)),
    "retrograde": lambda n: n / (1 + 0.02 * (n - 1) + 0.0004 * n * (n - 1)),
    "knee": lambda n: min(n, 40),
    "superlinear": lambda n: n**1.1,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    began = time.perf_counter()
    import numpy as np

    from runner.fit import Terms, fit_rows
    from runner.fit.bootstrap import SAMPLES

    print(f"import: {time.perf_counter() - began:.2f} s; {POINTS} points, 6 models, {SAMPLES} samples each")
    print("| curve | verdict | wall clock, s | CPU, s |\n|---|---|---|---|")
    for name, curve in CURVES.items():
        chance = np.random.default_rng(1).standard_normal(POINTS)
        rows = [
            (float(n), curve(n) * float(np.exp(0.03 * e))) for n, e in zip(range(1, POINTS + 1), chance, strict=True)
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
