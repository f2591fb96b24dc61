"""Replicates of known variances: how often the F test raises a false alarm or finds a part, and what the parts come to.

    python bench/method_replicates.py [--runs 500] [--seed 31]

Every part of a trial's rate is drawn with a known standard deviation: seconds (AR(1)), a level of each half of the
window, of each server start, of each block, of each session. The first table is of the F test of replicates against
their windows, the second of the parts that are estimated from the same kind of runs. Both are in bench/evidence.
Refuses the shapes of bench/method_valid.py, in which no part is constant.
"""

from __future__ import annotations

import argparse
import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from scale_sweep.analysis.noise.agreement import agreement_of
from scale_sweep.analysis.noise.parts import parts_of
from scale_sweep.model.observed import Observation

if __package__:
    from bench.method_valid import correlated, observed
else:
    from method_valid import correlated, observed


@dataclass(frozen=True, kw_only=True)
class Truth:
    """How a run is measured, and the standard deviation of each part of ln(rate). spread, phi: of the seconds, and
    their correlation. half: of each half of a window."""

    levels: int = 4
    blocks: int = 3
    seconds: int = 40
    sessions: int = 1
    spread: float = 0.03
    phi: float = 0.5
    half: float = 0.0
    start: float = 0.0
    block: float = 0.0
    session: float = 0.0

    @property
    def parts(self) -> dict[str, float]:
        """The standard deviation that each part gives to the mean of one window."""
        found = {
            "seconds": self.spread * math.sqrt((1 + self.phi) / (1 - self.phi) / self.seconds),
            "window": self.half / math.sqrt(2),
            "start": self.start,
            "block": self.block,
        }
        return {**found, "session": self.session} if self.sessions > 1 else found


def simulated(truth: Truth, chance: random.Random) -> list[list[Observation]]:
    """The observations of each session."""
    return [_session(truth, chance) for _ in range(truth.sessions)]


def _session(truth: Truth, chance: random.Random) -> list[Observation]:
    found: list[Observation] = []
    factor = math.exp(chance.gauss(0, truth.session))
    for number in range(truth.blocks):
        of_block = chance.gauss(0, truth.block)
        for level in range(1, truth.levels + 1):
            of_start = of_block + chance.gauss(0, truth.start)
            halves = [chance.gauss(0, truth.half) for _ in range(2)]
            noise = correlated(chance, truth.seconds, truth.phi, truth.spread)
            logs = [of_start + halves[2 * t // truth.seconds] + noise[t] for t in range(truth.seconds)]
            one = observed(level, len(found), number, [1e5 * level * math.exp(log) for log in logs])
            found.append(replace(one, value=(one.value or 0.0) * factor))
    return found


TESTED: dict[str, Truth] = {
    "4 × 3, 40 s, 3 % noise, φ = 0": Truth(phi=0.0),
    "4 × 3, 40 s, 10 % noise, φ = .5": Truth(spread=0.10),
    "4 × 3, 40 s, 10 % noise, φ = .8": Truth(spread=0.10, phi=0.8),
    "4 × 3, 60 s, 10 % noise, φ = .95": Truth(spread=0.10, phi=0.95, seconds=60),
    "1 × 3, 40 s, 10 % noise, φ = .5": Truth(spread=0.10, levels=1),
    "12 × 3, 40 s, 10 % noise, φ = .5": Truth(spread=0.10, levels=12),
    "2 × 5, 8 s, 10 % noise, φ = 0": Truth(spread=0.10, phi=0.0, levels=2, blocks=5, seconds=8),
    "2 × 5, 8 s, 10 % noise, φ = .5": Truth(spread=0.10, levels=2, blocks=5, seconds=8),
    "2 × 5, 8 s, 10 % noise, φ = .8": Truth(spread=0.10, phi=0.8, levels=2, blocks=5, seconds=8),
    "4 × 3, 40 s, 3 % noise, φ = .5, starts 2 %": Truth(start=0.02),
    "4 × 3, 40 s, 3 % noise, φ = .5, starts 4 %": Truth(start=0.04),
    "1 × 3, 40 s, 3 % noise, φ = .5, starts 4 %": Truth(start=0.04, levels=1),
    "2 × 5, 8 s, 3 % noise, φ = .5, starts 4 %": Truth(start=0.04, levels=2, blocks=5, seconds=8),
    "4 × 3, 40 s, 3 % noise, φ = .5, blocks 4 %": Truth(block=0.04),
}
SPLIT: dict[str, Truth] = {
    "4 × 3, seconds": Truth(spread=0.10),
    "4 × 3, starts": Truth(start=0.04),
    "4 × 3, starts and blocks": Truth(start=0.02, block=0.04),
    "4 × 3, drift in the windows": Truth(half=0.06, start=0.01),
    "4 × 5, all": Truth(blocks=5, spread=0.06, half=0.03, start=0.03, block=0.02),
    "12 × 3, all": Truth(levels=12, spread=0.06, half=0.03, start=0.03, block=0.02),
    "2 × 5, 8 s, seconds and starts": Truth(levels=2, blocks=5, seconds=8, spread=0.06, start=0.04),
    "3 sessions of 4 × 3": Truth(sessions=3, start=0.02, block=0.01, session=0.05),
    "6 sessions of 4 × 3": Truth(sessions=6, start=0.02, block=0.01, session=0.05),
}
NAMES = ("seconds", "window", "start", "block", "session")


def flagged(truth: Truth, runs: int, chance: random.Random) -> float:
    """The share of runs in which replicates disagree, of all levels together or of any single one."""
    tested = [agreement_of(simulated(truth, chance)[0]) for _ in range(runs)]
    return fmean(one is not None and (one.disagrees or bool(one.apart)) for one in tested)


def split(truth: Truth, runs: int, chance: random.Random) -> tuple[dict[str, float], float]:
    """The root of each part's mean variance over the runs, and the share of runs that name the true largest part."""
    squares: Counter[str] = Counter()
    right, largest = 0, max(truth.parts, key=lambda name: truth.parts[name])
    for _ in range(runs):
        found = parts_of(simulated(truth, chance))
        for part in found.parts if found is not None else ():
            squares[part.name] += (part.percent / 100) ** 2 / runs
        right += found is not None and found.largest is not None and found.largest.name == largest
    return {name: math.sqrt(value) for name, value in squares.items()}, right / runs


def cells(parts: dict[str, float], others: Sequence[str]) -> str:
    shown = [f"{100 * parts[name]:.1f}" if name in parts else "–" for name in NAMES]
    return " | ".join((*shown, *others))


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=31)
    asked = parser.parse_args()
    print("| levels × replicates, windows, noise | replicates disagree (%) |\n|---|---:|")
    for name, truth in TESTED.items():
        chance = random.Random(f"{asked.seed} {name}")
        print(f"| {name} | {100 * flagged(truth, asked.runs, chance):.1f} |", flush=True)
    print(f"\n| run | | {' | '.join(NAMES)} | largest named (%) |\n|---|---|{'---:|' * (len(NAMES) + 1)}")
    for name, truth in SPLIT.items():
        parts, right = split(truth, asked.runs, random.Random(f"{asked.seed} {name}"))
        print(f"| {name} | true | {cells(truth.parts, [''])} |")
        print(f"| | estimated | {cells(parts, [f'{100 * right:.0f}'])} |", flush=True)


if __name__ == "__main__":
    main()
