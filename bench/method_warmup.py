"""The warm-up that ends when the rate is level, on simulated rates: how long it takes, and what its window then shows.

The truths are not those of the rule: an exponential approach, a step after a compiler, a ramp, noise, AR(1). Refuses to
use a real server. Usage: python bench/method_warmup.py [--runs 2000] [--seed 23]
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable
from statistics import fmean

from scale_sweep.judge.verdict.window_start import is_level

LEAST_S, MOST_S, WINDOW_S = 5, 60, 10
OFF = 0.05  # a window whose true mean is further from the long-run rate began too early
Truth = Callable[[int], float]


def approach(constant_s: float) -> Truth:
    return lambda second: 1 - 0.9 * math.exp(-second / constant_s)


TRUTHS: dict[str, tuple[Truth, float, float]] = {  # the rate without noise, the noise, its correlation
    "level at once, 5 % noise": (lambda _: 1.0, 0.05, 0.0),
    "level at once, 20 % noise": (lambda _: 1.0, 0.2, 0.0),
    "level at once, 10 % noise, φ = 0.9": (lambda _: 1.0, 0.1, 0.9),
    "approach, time constant 2 s": (approach(2), 0.05, 0.0),
    "approach, time constant 5 s": (approach(5), 0.05, 0.0),
    "approach, time constant 10 s": (approach(10), 0.05, 0.0),
    "approach, time constant 30 s": (approach(30), 0.05, 0.0),
    "step from 0.5 to 1 after 4 s": (lambda second: 0.5 if second < 4 else 1.0, 0.05, 0.0),
    "step from 0.5 to 1 after 12 s": (lambda second: 0.5 if second < 12 else 1.0, 0.05, 0.0),
    "ramp from 0.1 to 1 in 20 s": (lambda second: min(1.0, 0.1 + 0.045 * second), 0.05, 0.0),
    "falls from 1.5 to 1 in 20 s": (lambda second: max(1.0, 1.5 - 0.025 * second), 0.05, 0.0),
}


def trial(truth: Truth, noise: float, phi: float, chance: random.Random) -> tuple[int, bool, float, float]:
    """Seconds of the warm-up, whether it ended level, the window's true mean, and its mean with noise."""
    state, rates = chance.gauss(0, noise), []
    for second in range(MOST_S + WINDOW_S):
        rates.append(max(0.0, truth(second) * (1 + state)))
        state = phi * state + chance.gauss(0, noise * math.sqrt(1 - phi * phi))
    # The interval that runs at the decision still belongs to the warm-up.
    found = next((n for n in range(LEAST_S - 1, MOST_S) if is_level(rates[:n])), None)
    begin = MOST_S if found is None else found + 1
    true = fmean(truth(second) for second in range(begin, begin + WINDOW_S))
    return begin, found is not None, true, fmean(rates[begin : begin + WINDOW_S])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=23)
    asked = parser.parse_args()
    print("| rate | mean warm-up (s) | never level (%) | begins too early (%) | the same after 5 s (%) | bias (%) |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, (truth, noise, phi) in TRUTHS.items():
        chance = random.Random(f"{asked.seed} {name}")
        made = [trial(truth, noise, phi, chance) for _ in range(asked.runs)]
        fixed = fmean(truth(second) for second in range(LEAST_S, LEAST_S + WINDOW_S))
        early = 100 * fmean(abs(true - 1) > OFF for _, _, true, _ in made)
        bias = 100 * fmean(seen - true for _, _, true, seen in made)
        never = 100 * fmean(not level for _, level, _, _ in made)
        took = fmean(begin for begin, _, _, _ in made)
        print(f"| {name} | {took:.0f} | {never:.1f} | {early:.1f} | {100 * (abs(fixed - 1) > OFF):.0f} | {bias:+.2f} |")


if __name__ == "__main__":
    main()
