"""How wide and how right is the speedup of a run whose CPUs change their speed, with and without the correction?

Seeded simulation of whole runs of two levels in blocks, whose truth is not the model of the correction: the speed of
each CPU jumps between two values after random times, the two levels follow it with different slopes, the rate has
correlated noise of its own, and the measured speed has an error. The true speedup is that at the mean speed. Prints the
table in docs/performance.md. `python bench/method_speed.py [--runs 300]`; half a minute.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
from dataclasses import replace

from scale_sweep.analysis.fit import Terms, fit_curve
from scale_sweep.analysis.noise import without_drift
from scale_sweep.analysis.observations import observations
from scale_sweep.judge.figures.cpu_speed import rate_and_speed
from scale_sweep.model import (
    Bottleneck,
    BottleneckKind,
    Measurement,
    Placement,
    Subject,
    Trial,
    TrialResult,
    Verdict,
    VerdictKind,
    on_cores,
)
from scale_sweep.sweep.resolve import resolve_sweep

SEED = 20261123
FAST, SLOW = 2.5, 1.35  # pieces a millisecond, as measured on virtual machines
USUAL = (FAST + SLOW) / 2
WINDOW_S = {1: 9, 2: 5}
BLOCKS = 5
OWN_NOISE, MEMORY, MEASURED_ERROR = 0.04, 0.4, 0.04
STEPS = 10  # of a second
SPEEDUP = 1.8
# name; slope at one core, at two; mean seconds until the speed changes (0: never)
TRUTHS = (
    ("speeds that never change", 1.0, 1.0, 0.0),
    ("equal slopes of 1", 1.0, 1.0, 2.0),
    ("slopes 0.7 and 1.3", 0.7, 1.3, 2.0),
    ("slopes 1.3 and 0.7", 1.3, 0.7, 2.0),
    ("slow changes, slopes 0.8 and 1.2", 0.8, 1.2, 30.0),
    ("rates that do not follow", 0.0, 0.0, 2.0),
)
SWEEP = resolve_sweep("cpu", {"target.name": "null", "axis.cores": "1..2"})


class Cpu:
    """One CPU: its speed, step by step."""

    def __init__(self, mean_s: float, chance: random.Random) -> None:
        self._mean_s, self._chance = mean_s, chance
        self._speed = chance.choice((FAST, SLOW)) if mean_s else FAST

    def second(self) -> list[float]:
        """The speeds in the steps of the next second."""
        seen = []
        for _ in range(STEPS):
            if self._mean_s and self._chance.random() < 1 / (self._mean_s * STEPS):
                self._speed = FAST + SLOW - self._speed
            seen.append(self._speed)
        return seen


def trial_of(level: int, block: int, order: int, cpus: list[Cpu], slope: float, chance: random.Random) -> TrialResult:
    """One trial; its CPUs go on from where the trial before it left them."""
    noise, rates, speeds = 0.0, [], []
    for _ in range(WINDOW_S[level]):
        seen = [cpu.second() for cpu in cpus][:level]  # all go on, also those that are not used
        steps = [speed for of_cpu in seen for speed in of_cpu]
        noise = MEMORY * noise + OWN_NOISE * chance.gauss(0, 1)
        done = statistics.fmean((speed / USUAL) ** slope for speed in steps)
        rates.append(4e5 * (SPEEDUP if level == 2 else 1) * done * math.exp(noise))
        speeds.append(statistics.fmean(steps) * math.exp(MEASURED_ERROR * chance.gauss(0, 1)))
    for cpu in cpus:
        for _ in range(4):  # between two trials
            cpu.second()
    found = rate_and_speed(rates, speeds)
    measurement = Measurement(
        rows_per_s=statistics.fmean(rates),
        window_s=float(WINDOW_S[level]),
        server_cpu_cores=float(level),
        cpu_speed=statistics.fmean(speeds),
        cpu_speed_cv_percent=found.cv_percent if found else None,
        cpu_speed_slope=found.slope if found else None,
    )
    trial = Trial(
        trial_id=f"cores-{level}-r{block + 1}",
        point_id=f"cores-{level}",
        order=order,
        level=level,
        replicate=block + 1,
        block=block,
        resources=on_cores(level, Placement(server_cpus=tuple(range(level)), generator_cpus=())),
        work=SWEEP.work,
        load=SWEEP.load,
        subject=Subject(target=SWEEP.target, runtime="process", method=""),
        knobs={},
        seed=0,
    )
    bottleneck = Bottleneck(kind=BottleneckKind.SERVER_CPU, sentence="")
    return TrialResult(
        trial=trial,
        measurement=measurement,
        verdict=Verdict(kind=VerdictKind.VALID, reasons=(), bottleneck=bottleneck),
    )


def run_of(slopes: tuple[float, float], mean_s: float, chance: random.Random) -> list[TrialResult]:
    """Two levels in a random order within each block."""
    cpus, results = [Cpu(mean_s, chance), Cpu(mean_s, chance)], []
    for block in range(BLOCKS):
        for level in chance.sample((1, 2), 2):
            results.append(trial_of(level, block, len(results), cpus, slopes[level - 1], chance))
    return results


def claim_of(results: list[TrialResult]) -> tuple[float, float, float] | None:
    """The speedup with its interval, as a sweep prints it."""
    observed = without_drift(observations(results, "rows_per_s"))
    points = fit_curve(observed, Terms(axis="cores", one="core", rate="rows/s")).points
    last = points[-1]
    if last.speedup is None or last.speedup_low is None or last.speedup_high is None:
        return None
    return last.speedup, last.speedup_low, last.speedup_high


def row_of(name: str, runs: list[list[TrialResult]]) -> str:
    """A row of the table."""
    cells = [name]
    for corrected in (False, True):
        claims = []
        for results in runs:
            told = results if corrected else [without(result) for result in results]
            claims.append(claim_of(told))
        known = [one for one in claims if one is not None]
        half = statistics.median(100 * (high - low) / 2 / value for value, low, high in known)
        inside = sum(low <= SPEEDUP <= high for _, low, high in known)
        cells += [f"{half:.1f} %", f"{100 * inside / len(known):.1f} %"]
    return "| " + " | ".join(cells) + " |"


def without(result: TrialResult) -> TrialResult:
    """The trial as if the speed had not been measured."""
    return replace(result, measurement=replace(result.measurement, cpu_speed=None))


def main() -> None:
    """A row for each truth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    asked = parser.parse_args()
    print("| truth | half of the interval without | holds | half of the interval with | holds |")
    print("|---|---|---|---|---|")
    for name, one, two, mean_s in TRUTHS:
        chance = random.Random(f"{SEED}/{name}")
        print(row_of(name, [run_of((one, two), mean_s, chance) for _ in range(asked.runs)]), flush=True)


if __name__ == "__main__":
    main()
