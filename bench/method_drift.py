"""How often is drift of the machine found, how often is it found where there is none, and what does it do to intervals?

Seeded simulation of whole runs: levels in a random order within each block, a drift check (the first trial repeated)
at the end, Gaussian noise of ln(rate), and a linear drift over the run. Prints the table in docs/method.md.
`python bench/method_drift.py [--runs 1000] [--noise 0.02]`; about a minute.
"""

from __future__ import annotations

import argparse
import math
import random

from scale_sweep.analysis.noise import intervals, noise_report, rates_of, trend_of
from scale_sweep.analysis.noise.spread import drift_of
from scale_sweep.model import Observation

PLANS = ((8, 3, True), (8, 3, False), (4, 3, True), (12, 3, True), (4, 5, True), (2, 3, True), (2, 3, False))
DRIFTS = (0.0, 0.03, 0.05, 0.10)
SEED = 20260810


def run_of(levels: int, replicates: int, check: bool, drift: float, noise: float, chance: random.Random):
    """The observations of one simulated run that drifts downwards."""
    order: list[tuple[float, int, str]] = []
    for block in range(replicates):
        of_block = [(float(n + 1), block, "point") for n in range(levels)]
        chance.shuffle(of_block)
        order += of_block
    if check:
        order.append((order[0][0], 0, "drift_check"))
    last = len(order) - 1
    return [
        Observation(
            level=level,
            value=1e5 * level * math.exp(math.log1p(-drift) * at / last + chance.gauss(0, noise)),
            order=at,
            block=block,
            role=role,
        )
        for at, (level, block, role) in enumerate(order)
    ]


def by_check(observed: list[Observation]) -> bool:
    """The former way: the repeated trial against the first one, with the pooled spread (which contains the drift)."""
    from scale_sweep.analysis.noise.spread import _as_measured

    drift = drift_of(observed, _as_measured(observed))
    return drift is not None and drift.ratio.differs_from_one


def covered(observed: list[Observation], drift: float) -> float:
    """The share of levels whose interval holds the true rate in the middle of the run."""
    middle = math.log1p(-drift) / 2
    found = intervals(rates_of(observed))
    inside = [abs(math.log(i.mean / (1e5 * i.level)) - middle) <= math.log1p(i.half_percent / 100) for i in found]
    return sum(inside) / len(inside)


def main() -> None:
    """A row for each plan and drift."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--noise", type=float, default=0.02)
    asked = parser.parse_args()
    print(
        "| levels × replicates | drift check | drift | found by regression | by the repeated trial alone "
        "| intervals that hold | could have been found |"
    )
    print("|---|---|---|---|---|---|---|")
    for levels, replicates, check in PLANS:
        for drift in DRIFTS:
            chance = random.Random(f"{SEED}/{levels}/{replicates}/{check}/{drift}")
            runs = [run_of(levels, replicates, check, drift, asked.noise, chance) for _ in range(asked.runs)]
            trends = [trend_of(r) for r in runs]
            found = sum(t.is_drifting for t in trends if t) / asked.runs
            old = f"{100 * sum(map(by_check, runs)) / asked.runs:.1f} %" if check else "–"
            inside = sum(covered(r, drift) for r in runs[: asked.runs // 4]) / (asked.runs // 4)
            seen = sorted(t.smallest_percent for t in trends if t)[asked.runs // 2]
            print(
                f"| {levels} × {replicates} | {'yes' if check else 'no'} | {100 * drift:g} % | {100 * found:.1f} % "
                f"| {old} | {100 * inside:.1f} % | {seen:.1f} % |",
                flush=True,
            )
    assert noise_report(runs[0]).trend is not None


if __name__ == "__main__":
    main()
