"""Does the interval of p99 from replicates hold? Seeded simulation of open queues with heavy tails.

    python bench/method_p99.py [--draws 300] [--seed 5]

One server, requests at random times, service times of three laws. Each replicate is a window of requests after a
warm-up; the truth is the p99 of a very long run. For each law and utilisation: how often the interval contains it, how
often the rule of the report shows none because the queue is near saturation, and how often the binomial interval of one
window contains it. Goal: 93 to 97 % where an interval is shown.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "runner"))

from bench.method_fit import markdown, share  # noqa: E402
from scale_sweep.report.offered_rates import NEAR_PERCENT, NEAR_RATIO, interval_of  # noqa: E402

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Law = Callable[[np.random.Generator, int], Floats]
LAWS: dict[str, Law] = {  # service times with a mean of 1
    "exponential": lambda chance, count: chance.exponential(1.0, count),
    "lognormal, cv 1.5": lambda chance, count: chance.lognormal(-math.log(3.25) / 2, math.sqrt(math.log(3.25)), count),
    "one in 50 is 20 times as long": lambda chance, count: np.where(chance.random(count) < 0.02, 20.0, 1.0) / 1.38,
}
USED = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)
REPLICATES = (3, 5)
WARM_UP, TRUTH = 5_000, 4_000_000


def queue(law: Law, used: float, chance: np.random.Generator, count: int) -> tuple[Floats, Floats]:
    """(response times, service times) of a single server, in order of arrival (Lindley's equation)."""
    service, gaps = law(chance, count), chance.exponential(1 / used, count)
    walk = np.concatenate([[0.0], np.cumsum(service[:-1] - gaps[1:])])
    return walk - np.minimum.accumulate(walk) + service, service


def is_near(response: Floats, service: Floats, used: float) -> bool:
    """The rule of the report, on one replicate."""
    return 100 * used >= NEAR_PERCENT or bool(np.median(response) >= NEAR_RATIO * np.median(service))


def binomial(response: Floats) -> tuple[float, float]:
    """The order statistics about p99 of independent requests."""
    ordered, count = np.sort(response), len(response)
    half = 1.96 * math.sqrt(count * 0.99 * 0.01)
    return float(ordered[int(0.99 * count - half)]), float(ordered[min(int(0.99 * count + half) + 1, count - 1)])


def cell(law: Law, used: float, replicates: int, requests: int, draws: int, seed: int) -> tuple[str, ...]:
    """The shares of one row of the table."""
    chance = np.random.default_rng([seed, round(100 * used), replicates, requests])
    truth = float(np.percentile(queue(law, used, chance, TRUTH)[0], 99))
    held, alone, near = [], [], []
    for _ in range(draws):
        windows = [queue(law, used, chance, WARM_UP + requests) for _ in range(replicates)]
        windows = [(response[WARM_UP:], service[WARM_UP:]) for response, service in windows]
        low, high = interval_of([float(np.percentile(response, 99)) for response, _ in windows])
        near.append(any(is_near(*window, used) for window in windows))
        held.append(low <= truth <= high)
        low, high = binomial(windows[0][0])
        alone.append(low <= truth <= high)
    shown = [h for h, is_hidden in zip(held, near, strict=True) if not is_hidden]
    return (share(shown), share(held), share(near), share(alone))


def main() -> None:
    """Draws all sets, and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--requests", type=int, default=20_000, help="of a window")
    options = parser.parse_args()
    head = ("service times", "used", "replicates", "holds where shown, %", "holds, %", "not shown, %", "binomial, %")
    size = options.requests, options.draws, options.seed
    rows = [
        (name, f"{used:g}", str(replicates), *cell(law, used, replicates, *size))
        for name, law in LAWS.items()
        for used in USED
        for replicates in REPLICATES
    ]
    print("\n".join(markdown(head, rows)))


if __name__ == "__main__":
    main()
