"""Is it true what a run says that it cannot see, and would the replicates do that it asks for?

Seeded simulation of whole runs: levels in a random order within each block, and noise of ln(rate) that no formula here
assumes (Student's t with 4 degrees of freedom, scaled to the standard deviation). For each plan and noise it prints the
smallest difference that the runs state (median), how many runs find a difference of that size; how many runs with a
drift of 0 % say "too noisy to tell", the replicates that they ask for (median), and how many runs with so many
replicates find a drift of 10 %; and how many of the intervals of the levels' means hold the truth. --alike correlates
the noise of neighbouring trials, AR(1).
`python bench/method_seen.py [--runs 1000] [--seed 20261124] [--alike 0.6]`; about a minute.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "runner"))

from scale_sweep.analysis.confidence import SOUGHT_PERCENT, smallest_of  # noqa: E402
from scale_sweep.analysis.fit.cautions import smallest_percent  # noqa: E402
from scale_sweep.analysis.fit.curve import fit_curve  # noqa: E402
from scale_sweep.analysis.fit.words import Terms  # noqa: E402
from scale_sweep.analysis.noise.drift_test import trend_of, without_drift  # noqa: E402
from scale_sweep.analysis.noise.spread import (  # noqa: E402
    rates_of,
    ratio_of,
    replicates_for_drift,
)
from scale_sweep.model.observed import Observation  # noqa: E402
from scale_sweep.report.noise import is_within  # noqa: E402

PLANS = ((2, 3), (2, 5), (4, 3), (8, 3))
NOISE = (0.03, 0.10)
TAILS = 4  # degrees of freedom of the noise
FITS = 10  # of so many runs, one is fitted


def run_of(
    levels: int, replicates: int, noise: float, chance: np.random.Generator, *, drift: float = 0.0, alike: float = 0.0
):
    """The observations of one run. drift: of the rate, from the first trial to the last. alike: the correlation of
    neighbouring trials."""
    order = [(int(n), block) for block in range(replicates) for n in chance.permutation(levels)]
    errors = chance.standard_t(TAILS, len(order)) * noise / math.sqrt(TAILS / (TAILS - 2))
    for at in range(1, len(errors)):
        errors[at] = alike * errors[at - 1] + math.sqrt(1 - alike**2) * errors[at]
    slope = math.log1p(drift) / (len(order) - 1)
    return [
        Observation(level=float(n + 1), value=float(1e5 * (n + 1) * np.exp(errors[at] + slope * at)), order=at, block=b)
        for at, (n, b) in enumerate(order)
    ]


def moved(observed: list[Observation], percent: float) -> list[Observation]:
    """The same run, with two levels (the first and the last) that differ by this percentage from their ratio."""
    last = max(o.level for o in observed)
    return [
        Observation(
            level=o.level,
            value=(o.value or 0.0) / o.level * (1 + percent / 100 if o.level == last else 1),
            order=o.order,
            block=o.block,
        )
        for o in observed
    ]


def finds(observed: list[Observation]) -> bool:
    """Whether the first and the last level differ by the test at 5 % with the pooled spread."""
    rates = rates_of(observed)
    levels = sorted(rates.logs)
    return ratio_of(rates.logs[levels[-1]], rates.logs[levels[0]], rates).differs_from_one


def row(levels: int, replicates: int, noise: float, runs: int, seed: int, alike: float) -> str:
    """A row of the table."""
    chance = np.random.default_rng([seed, levels, replicates, round(1000 * noise)])
    drawn = [run_of(levels, replicates, noise, chance, alike=alike) for _ in range(runs)]
    stated = float(np.median([smallest_of(r.std, r.degrees, replicates) for r in map(rates_of, drawn) if r.std]))
    fresh = (run_of(levels, replicates, noise, chance, alike=alike) for _ in range(runs))
    seen = np.mean([finds(moved(one, stated)) for one in fresh])
    trends = [t for t in map(trend_of, drawn) if t is not None and not t.is_drifting]
    noisy = [t for t in trends if not is_within(t.ratio, SOUGHT_PERCENT)]
    asked = [replicates_for_drift(t, levels, SOUGHT_PERCENT) for t in noisy]
    count, found = "–", "–"
    if len(noisy) > len(trends) / 2:
        many = int(np.median([n if n is not None else 101 for n in asked]))
        more = [
            trend_of(run_of(levels, many, noise, chance, drift=SOUGHT_PERCENT / 100, alike=alike))
            for _ in range(max(1, runs // 4))
        ]
        count, found = str(many), f"{100 * np.mean([t is not None and t.is_drifting for t in more]):.0f} %"
    held, of_levels = 0, 0
    for one in drawn[::FITS]:
        fit = fit_curve(without_drift(one), Terms())
        assert smallest_percent(fit.points, fit.noise_percent) is not None
        of_levels += len(fit.points)
        held += sum((p.mean_low or 0) <= 1e5 * p.level <= (p.mean_high or 0) for p in fit.points)
    return (
        f"| {levels} × {replicates} | {100 * noise:g} % | {stated:.1f} % | {100 * seen:.0f} % "
        f"| {100 * len(noisy) / len(trends):.0f} % | {count} | {found} | {100 * held / of_levels:.1f} % |"
    )


def main() -> None:
    """A row for each plan and noise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=20261124)
    parser.add_argument("--alike", type=float, default=0.0, help="correlation of neighbouring trials")
    asked = parser.parse_args()
    print(
        "| levels × replicates | noise | smallest difference | found | too noisy for a drift of 10 % | recommended "
        "replicates | found with them | intervals of means that hold |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for levels, replicates in PLANS:
        for noise in NOISE:
            print(row(levels, replicates, noise, asked.runs, asked.seed, asked.alike), flush=True)


if __name__ == "__main__":
    main()
