"""How often a window is VALID, and how often it is VALID and wrong: simulated rates whose long-run mean is known.

    python bench/method_steady.py [--trials 1000] [--seed 13] [--duration 40] [--window-max 60] [--only NAME]

Each trial has 5 s of warm-up, is looked at as a real one is, and its number compared with the long-run mean: that of
the process, or, where it has none (random walk, fall), the mean of the two minutes after the longest window. "Wrong" is
more than 5 % off. A line is a process; the table is in bench/evidence/steady.csv.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from math import exp, pi, sin, sqrt
from statistics import fmean

from scale_sweep.judge.verdict.window_start import claimed

OFF = 0.05
WARMUP_S, AFTER_S = 5, 120
Rates = list[float]
Process = Callable[[random.Random, int], tuple[Rates, float | None]]


def correlated(chance: random.Random, seconds: int, phi: float, spread: float) -> Rates:
    """AR(1) around 1, never below 0. spread: standard deviation of a second."""
    x, found = chance.gauss(0, spread), []
    for _ in range(seconds):
        found.append(max(0.0, 1 + x))
        x = phi * x + chance.gauss(0, spread * sqrt(1 - phi * phi))
    return found


def noise(phi: float, spread: float) -> Process:
    """Stationary noise around 1."""
    return lambda chance, n: (correlated(chance, n, phi, spread), 1.0)


def walk(chance: random.Random, n: int) -> tuple[Rates, None]:
    """A random walk of 5 % a second."""
    found = [1.0]
    while len(found) < n:
        found.append(found[-1] * exp(chance.gauss(0, 0.05)))
    return found, None


def shaped(shape: Callable[[float], float], period: float, truth: float | None, spread: float = 0.02) -> Process:
    """A function of the time, from a random phase of its period on (0: from its start), with a little noise."""

    def process(chance: random.Random, n: int) -> tuple[Rates, float | None]:
        start = chance.uniform(0, period)
        return [shape(start + t) * r for t, r in enumerate(correlated(chance, n, 0.5, spread))], truth

    return process


def square(period: float, share: float, low: float) -> Process:
    """1, and low in the last share of each period: a compaction."""
    return shaped(lambda t: low if t % period >= period * (1 - share) else 1.0, period, 1 - share * (1 - low))


def wave(period: float, size: float) -> Process:
    """A sine."""
    return shaped(lambda t: 1 + size * sin(2 * pi * t / period), period, 1.0)


def stalls(chance: random.Random, n: int) -> tuple[Rates, float]:
    """1 to 4 s without a row, 7.5 to 17.5 s apart."""
    rates, at = correlated(chance, n, 0.5, 0.05), chance.uniform(0, 15)
    while at < n:
        end = at + chance.uniform(1, 4)
        for s in range(int(at), min(n, int(end) + 1)):
            rates[s] *= 1 - max(0.0, min(s + 1, end) - max(s, at))
        at = end + chance.uniform(7.5, 17.5)
    return rates, 1 - 2.5 / 15


def two_values(low: float, high: float) -> Process:
    """Each second one of two values."""
    return lambda chance, n: (
        [chance.choice((low, high)) * r for r in correlated(chance, n, 0, 0.02)],
        (low + high) / 2,
    )


def warming(tau: float) -> Process:
    """From a half to 1, with this time constant; the warm-up is the first 5 s of it."""
    return shaped(lambda t: 1 - 0.5 * exp(-t / tau), 0, 1.0, 0.05)


PROCESSES: dict[str, Process] = {
    "steady: 5 % noise, φ = 0.5": noise(0.5, 0.05),
    "10 % noise, φ = 0": noise(0.0, 0.10),
    "20 % noise, φ = 0": noise(0.0, 0.20),
    "two values, 0.9 and 1.1, at random": two_values(0.9, 1.1),
    "two values, 0.8 and 1.2, 2 s each": shaped(lambda t: 0.8 if int(t) // 2 % 2 else 1.2, 4, 1.0),
    "warms up: time constant 5 s, 5 % noise": warming(5),
    "warms up: time constant 10 s, 5 % noise": warming(10),
    "random walk, 5 %/s": walk,
    "20 % noise, φ = 0.9": noise(0.9, 0.20),
    "10 % noise, φ = 0.9": noise(0.9, 0.10),
    "falls by 55 % a minute": shaped(lambda t: 0.45 ** (t / 60), 0, None),
    "half the rate in the last half of each 40 s": square(40, 0.5, 0.5),
    "half the rate in the last half of each 20 s": square(20, 0.5, 0.5),
    "0.8 of the rate in the last quarter of each 20 s": square(20, 0.25, 0.8),
    "stalls of 1 to 4 s, every 15 s": stalls,
    "sine of 20 s, 20 %": wave(20, 0.2),
    "sine of 30 s, 20 %": wave(30, 0.2),
    "sine of 30 s, 10 %": wave(30, 0.1),
}


def tried(name: str, trials: int, seed: int, duration_s: int, window_max_s: int) -> tuple[int, int, int]:
    """Of so many trials: how many are VALID, how many of these are wrong, and the seconds of their windows together."""
    chance, valid, wrong, seconds = random.Random(f"{seed} {name}"), 0, 0, 0
    for _ in range(trials):
        rates, truth = PROCESSES[name](chance, WARMUP_S + window_max_s + AFTER_S)
        measured, after = rates[WARMUP_S:], rates[WARMUP_S + window_max_s :]
        found = claimed(measured, duration_s, window_max_s)
        if found is not None:
            valid, seconds = valid + 1, seconds + found[1]
            wrong += abs(found[0] / (truth or fmean(after)) - 1) > OFF
    return valid, wrong, seconds


def line(name: str, trials: int, seed: int, duration_s: int, window_max_s: int) -> str:
    """One row of the table."""
    valid, wrong, seconds = tried(name, trials, seed, duration_s, window_max_s)
    mean = f"{seconds / valid:.0f}" if valid else "–"
    return f"| {name} | {100 * valid / trials:.1f} | {100 * wrong / trials:.1f} | {mean} |"


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--duration", type=int, default=40)
    parser.add_argument("--window-max", type=int, default=60)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    print("| rate | VALID (%) | VALID and more than 5 % off (%) | mean window (s) |\n|---|---:|---:|---:|")
    for name in (name for name in PROCESSES if asked.only in name):
        print(line(name, asked.trials, asked.seed, asked.duration, asked.window_max), flush=True)


if __name__ == "__main__":
    main()
