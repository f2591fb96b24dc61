"""Does the speedup of a run whose CPUs change their speed hold what a user gets, and does the second answer hold?

Seeded simulation of whole runs of two levels in blocks, with a truth that is in no model of the project: the speed of
each CPU jumps between two values after random times, all CPUs are slower by a fixed share while two work, the two
levels follow the speed with different slopes, the rate has correlated noise of its own, and the measured speed has an
error. The user's speedup has the slowness of the level in it; the speedup at an equal speed does not. Prints the table
in bench/evidence/cpu_speed.csv. `python bench/method_speed.py [--runs 300]`; two minutes.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics

from scale_sweep.analysis.equal_speed import equal_speed
from scale_sweep.analysis.fit.curve import fit_curve
from scale_sweep.analysis.fit.words import Terms
from scale_sweep.analysis.noise.drift_test import without_drift
from scale_sweep.analysis.observations import observations
from scale_sweep.judge.figures.window import rate_and_speed
from scale_sweep.model.declared import Subject
from scale_sweep.model.measured import Bottleneck, BottleneckKind, Measurement, TrialResult, Verdict, VerdictKind
from scale_sweep.model.planned import Trial
from scale_sweep.model.resources import Placement, on_cores
from scale_sweep.sweep.resolve import resolve_sweep

SEED = 20261123
FAST, SLOW = 2.5, 1.35  # pieces a millisecond, as measured on virtual machines
USUAL = (FAST + SLOW) / 2
WINDOW_S = {1: 9, 2: 5}
BLOCKS = 5
OWN_NOISE, MEMORY, MEASURED_ERROR = 0.04, 0.4, 0.04
STEPS = 10  # of a second
SPEEDUP = 1.8
# name; slope at one core, at two; mean seconds until the speed changes (0: never); share by which level 2 is slower
TRUTHS = (
    ("speeds that never change", 1.0, 1.0, 0.0, 0.0),
    ("level 2 slower by 1.5 %", 1.0, 1.0, 0.0, 0.015),
    ("level 2 slower by 3.6 %", 1.0, 1.0, 0.0, 0.036),
    ("level 2 slower by 10 %", 1.0, 1.0, 0.0, 0.1),
    ("jumps, slopes of 0.9", 0.9, 0.9, 2.0, 0.0),
    ("jumps, level 2 slower by 3.6 %", 0.9, 0.9, 2.0, 0.036),
    ("jumps, slopes 0.7 and 1", 0.7, 1.0, 2.0, 0.0),
    ("slow jumps, slopes 0.8 and 1", 0.8, 1.0, 30.0, 0.0),
    ("jumps, rates that do not follow", 0.0, 0.0, 2.0, 0.0),
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


def trial_of(
    level: int, block: int, order: int, cpus: list[Cpu], truth: tuple[float, float], chance: random.Random
) -> TrialResult:
    """One trial; its CPUs go on from where the trial before it left them."""
    (slope, slower), noise, rates, speeds = truth, 0.0, [], []
    for _ in range(WINDOW_S[level]):
        seen = [cpu.second() for cpu in cpus][:level]  # all go on, also those that are not used
        steps = [speed * (1 - slower) for of_cpu in seen for speed in of_cpu]
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


def run_of(truth: tuple[float, float, float, float], chance: random.Random) -> list[TrialResult]:
    """Two levels in a random order within each block."""
    one, two, mean_s, slower = truth
    cpus, results = [Cpu(mean_s, chance), Cpu(mean_s, chance)], []
    of_level = {1: (one, 0.0), 2: (two, slower)}
    for block in range(BLOCKS):
        for level in chance.sample((1, 2), 2):
            results.append(trial_of(level, block, len(results), cpus, of_level[level], chance))
    return results


def claim_of(results: list[TrialResult]) -> tuple[float, float, float] | None:
    """The measured speedup with its interval, as a sweep that is not quick prints it."""
    observed = without_drift(observations(results, "rows_per_s"))
    last = fit_curve(observed, Terms(axis="cores", one="core", rate="rows/s")).points[-1]
    if last.speedup is None or last.speedup_low is None or last.speedup_high is None:
        return None
    return last.speedup, last.speedup_low, last.speedup_high


def cells_of(claims: list[tuple[float, float, float] | None], truth: float) -> list[str]:
    """How many runs have the claim, half of its interval (median), and how many of them hold the truth."""
    known = [one for one in claims if one is not None]
    if not known:
        return ["0 %", "", ""]
    half = statistics.median(100 * (high - low) / 2 / value for value, low, high in known)
    inside = sum(low <= truth <= high for _, low, high in known)
    return [f"{100 * len(known) / len(claims):.0f} %", f"{half:.1f} %", f"{100 * inside / len(known):.1f} %"]


def row_of(name: str, truth: tuple[float, float, float, float], runs: list[list[TrialResult]]) -> str:
    """A row of the table."""
    user = SPEEDUP * (1 - truth[3]) ** truth[1]
    second = [equal_speed(results, "rows_per_s") for results in runs]
    equal = [(s.speedup, s.low, s.high) if s is not None and s.speedup is not None else None for s in second]
    named = sum(s is not None and s.speedup is None for s in second)
    measured = cells_of([claim_of(results) for results in runs], user)[1:]
    cells = [name, *measured, f"{100 * named / len(runs):.0f} %", *cells_of(equal, SPEEDUP)]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """A row for each truth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    asked = parser.parse_args()
    print("| truth | half, measured | holds the user's | level named slower | second answer | half | holds |")
    print("|---|---|---|---|---|---|---|")
    for name, *truth in TRUTHS:
        chance = random.Random(f"{SEED}/{name}")
        print(row_of(name, tuple(truth), [run_of(tuple(truth), chance) for _ in range(asked.runs)]), flush=True)


if __name__ == "__main__":
    main()
