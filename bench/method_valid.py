"""What is VALID worth? P(wrong | VALID) of a trial, and whether replicates show what one window cannot: simulated runs.

    python bench/method_valid.py [--runs 200] [--seed 29] [--quick] [--only NAME]

A run has blocks of levels, and each trial is a part of one series of seconds, with a server start before it: the
warm-up ends as a real one does, then the window is looked at as a real one is. Only VALID trials become observations,
and noise_report judges them. A trial is wrong if its mean is more than 5 % off the long-run rate: that of the process,
or, where it has none (random walk), the mean of the two minutes after the longest window. The table is in
bench/evidence/valid.csv. Refuses shapes that the rules were made with: those are in bench/method_steady.py.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from scale_sweep.analysis.noise.spread import noise_report
from scale_sweep.analysis.observations import window_noise
from scale_sweep.judge.verdict.steady import steadiness
from scale_sweep.judge.verdict.window_start import claimed_window, is_level, quick_window
from scale_sweep.model.measured import Measurement
from scale_sweep.model.observed import Observation

OFF = 0.05
WARMUP_LEAST_S, WARMUP_MOST_S, AFTER_S = 5, 30, 120
Rates = list[float]


@dataclass(frozen=True, kw_only=True)
class Windows:
    """How a run measures. each_s: from the start of one trial to that of the next."""

    levels: int
    blocks: int
    shortest_s: int
    longest_s: int
    each_s: int
    judged: Callable[[Sequence[float], int, int], Sequence[float] | None]


LONG = Windows(levels=4, blocks=3, shortest_s=40, longest_s=60, each_s=75, judged=claimed_window)
QUICK = Windows(levels=2, blocks=5, shortest_s=5, longest_s=10, each_s=20, judged=quick_window)


def correlated(chance: random.Random, seconds: int, phi: float, spread: float) -> Rates:
    """AR(1) around 0. spread: standard deviation of a second."""
    x, found, step = chance.gauss(0, spread), [], spread * math.sqrt(1 - phi * phi)
    for _ in range(seconds):
        found.append(x)
        x = phi * x + chance.gauss(0, step)
    return found


Machine = Callable[[int], float]  # ln(rate) by the second of the run
Start = Callable[[int], float]  # what a server start adds, by the second since the load began


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A process. machine: makes what goes on through the whole run. start: makes what each server start draws anew.
    noise: standard deviation and correlation of the seconds beside them. truth: the long-run rate; None without one."""

    machine: Callable[[random.Random, int], Machine] = lambda chance, seconds: lambda t: 0.0
    start: Callable[[random.Random], Start] = lambda chance: lambda t: 0.0
    noise: tuple[float, float] = (0.02, 0.5)
    truth: float | None = 1.0


def walk(step: float) -> Callable[[random.Random, int], Machine]:
    """A random walk over the whole run."""

    def made(chance: random.Random, seconds: int) -> Machine:
        at, found = 0.0, []
        for _ in range(seconds):
            found.append(at)
            at += chance.gauss(0, step)
        return found.__getitem__

    return made


def one_over_f(spread: float, octaves: int = 12) -> Callable[[random.Random, int], Machine]:
    """1/f noise with periods from seconds to an hour: AR(1) processes with time constants of 1, 2, 4, ... s, of equal
    variance."""

    def made(chance: random.Random, seconds: int) -> Machine:
        parts = [correlated(chance, seconds, math.exp(-1 / 2**k), spread / math.sqrt(octaves)) for k in range(octaves)]
        return [sum(values) for values in zip(*parts, strict=True)].__getitem__

    return made


def wave(period_s: float, size: float) -> Callable[[random.Random, int], Machine]:
    """A sine with a random phase."""

    def made(chance: random.Random, seconds: int) -> Machine:
        phase = chance.uniform(0, 2 * math.pi)
        return lambda t: math.log1p(size * math.sin(2 * math.pi * t / period_s + phase))

    return made


def states(low: float, stays_s: float) -> Callable[[random.Random, int], Machine]:
    """Two states, 1 and low, each for a time with an exponential law."""

    def made(chance: random.Random, seconds: int) -> Machine:
        is_low, found = chance.random() < 0.5, []
        for _ in range(seconds):
            found.append(math.log(low) if is_low else 0.0)
            is_low ^= chance.random() < 1 / stays_s
        return found.__getitem__

    return made


def cooling(above: float, tau_s: float) -> Callable[[random.Random], Start]:
    """A CPU that is cool when the load begins: above the long-run rate by this share, for a time constant."""
    return lambda chance: lambda t: math.log1p(above * math.exp(-t / tau_s))


def shift(spread: float) -> Callable[[random.Random], Start]:
    """Each server start has a rate of its own."""

    def made(chance: random.Random) -> Start:
        own = chance.gauss(0, spread)
        return lambda t: own

    return made


def state_of_start(low: float) -> Callable[[random.Random], Start]:
    """Half of the server starts are slow."""

    def made(chance: random.Random) -> Start:
        own = math.log(low) if chance.random() < 0.5 else 0.0
        return lambda t: own

    return made


def dips(every_s: float, lasts_s: float, low: float) -> Callable[[random.Random], Start]:
    """A compaction in each period, from a random phase on."""

    def made(chance: random.Random) -> Start:
        phase = chance.uniform(0, every_s)
        return lambda t: math.log(low) if (t + phase) % every_s < lasts_s else 0.0

    return made


def mean_of_dips(every_s: float, lasts_s: float, low: float) -> float:
    return 1 - lasts_s / every_s * (1 - low)


SHAPES: dict[str, Shape] = {
    "steady, 3 % noise": Shape(noise=(0.03, 0.0)),
    "steady, 8 % noise": Shape(noise=(0.08, 0.0)),
    "AR(1) φ = .5, 5 %": Shape(noise=(0.05, 0.5)),
    "AR(1) φ = .8, 5 %": Shape(noise=(0.05, 0.8)),
    "AR(1) φ = .95, 2 %": Shape(noise=(0.02, 0.95)),
    "AR(1) φ = .95, 5 %": Shape(noise=(0.05, 0.95)),
    "AR(1) φ = .95, 10 %": Shape(noise=(0.10, 0.95)),
    "dips to .9, 2 s in each 10 s": Shape(start=dips(10, 2, 0.9), truth=mean_of_dips(10, 2, 0.9)),
    "dips to .6, 6 s in each 30 s": Shape(start=dips(30, 6, 0.6), truth=mean_of_dips(30, 6, 0.6)),
    "dips to .6, 20 s in each 120 s": Shape(start=dips(120, 20, 0.6), truth=mean_of_dips(120, 20, 0.6)),
    "thermal: from 1.2, τ = 20 s": Shape(start=cooling(0.2, 20)),
    "thermal: from 1.4, τ = 20 s": Shape(start=cooling(0.4, 20)),
    "random walk, 1 %/s": Shape(machine=walk(0.01), truth=None),
    "random walk, 5 %/s": Shape(machine=walk(0.05), truth=None),
    "1/f noise, 5 %": Shape(machine=one_over_f(0.05), noise=(0.0, 0.0)),
    "1/f noise, 10 %": Shape(machine=one_over_f(0.10), noise=(0.0, 0.0)),
    "shift of 5 % per server start": Shape(start=shift(0.05)),
    "two states per server start, 1 and .85": Shape(start=state_of_start(0.85), truth=0.925),
    "two states, 1 and .85, for 120 s each": Shape(machine=states(0.85, 120), truth=0.925),
    "sine of 20 min, 10 %": Shape(machine=wave(1200, 0.1)),
    "sine of 24 h, 10 %, blocks 3 h apart": Shape(machine=wave(86400 / 36, 0.1)),
}


def trial(shape: Shape, at_s: int, machine: Machine, how: Windows, chance: random.Random) -> tuple[Rates, float]:
    """The seconds of a trial from the end of its warm-up on, and its long-run rate."""
    own, (spread, phi) = shape.start(chance), shape.noise
    seconds = WARMUP_MOST_S + how.longest_s + (AFTER_S if shape.truth is None else 0)
    noise = correlated(chance, seconds, phi, spread)
    rates = [1000 * math.exp(machine(at_s + t) + own(t) + noise[t]) for t in range(seconds)]
    begins = next((s for s in range(WARMUP_LEAST_S, WARMUP_MOST_S) if is_level(rates[:s])), WARMUP_MOST_S)
    measured = rates[begins : begins + how.longest_s]
    truth = shape.truth * 1000 if shape.truth is not None else fmean(rates[begins + how.longest_s :][:AFTER_S])
    return measured, truth


def observed(level: int, order: int, block: int, window: Sequence[float]) -> Observation:
    """The observation of a VALID trial."""
    figures = steadiness(window)
    m = Measurement(
        window_s=float(len(window)),
        rate_cv_percent=figures.cv_percent,
        rate_drift_percent=figures.drift_percent,
        rate_drift_error_percent=figures.drift_error_percent,
        rate_correlation=figures.correlation,
        rate_error_percent=figures.error_percent,
        rate_halves_percent=figures.halves_percent,
    )
    return Observation(level=float(level), value=fmean(window), order=order, block=block, window=window_noise(m))


@dataclass
class Counts:
    """Of trials: all, the VALID ones, and the wrong ones of these; the same of those whose replicates agree. Of levels
    with two VALID trials: all, those whose replicates disagree, and those whose interval holds the long-run rate."""

    trials: int = 0
    valid: int = 0
    wrong: int = 0
    agreeing: int = 0
    agreeing_wrong: int = 0
    levels: int = 0
    disagreeing: int = 0
    held: int = 0


def run(shape: Shape, how: Windows, chance: random.Random, counts: Counts) -> None:
    """Simulates one run and counts it."""
    each_s = how.each_s
    machine = shape.machine(chance, how.levels * how.blocks * each_s + WARMUP_MOST_S + how.longest_s + AFTER_S)
    kept: list[Observation] = []
    wrong: dict[int, list[bool]] = {}
    truths: dict[int, list[float]] = {}
    order = 0
    for block in range(how.blocks):
        levels = list(range(1, how.levels + 1))
        chance.shuffle(levels)
        for level in levels:
            measured, truth = trial(shape, order * each_s, machine, how, chance)
            window = how.judged(measured, how.shortest_s, how.longest_s)
            counts.trials += 1
            if window is not None:
                kept.append(observed(level, order, block, window))
                wrong.setdefault(level, []).append(abs(fmean(window) / truth - 1) > OFF)
                truths.setdefault(level, []).append(truth)
            order += 1
    if not kept:
        return
    noise = noise_report(kept)
    for one in noise.levels:
        of_level = wrong[int(one.level)]
        disagrees = noise.agreement is not None and noise.agreement.disagrees_at(one.level)
        counts.valid += len(of_level)
        counts.wrong += sum(of_level)
        if not disagrees:
            counts.agreeing += len(of_level)
            counts.agreeing_wrong += sum(of_level)
        if one.n > 1 and one.half_percent is not None and one.mean is not None:
            counts.levels += 1
            counts.disagreeing += disagrees
            away = abs(math.log(one.mean / fmean(truths[int(one.level)])))
            counts.held += away <= math.log1p(one.half_percent / 100)


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "–"


def line(name: str, runs: int, seed: int, how: Windows) -> str:
    """One row of the table."""
    chance, counts = random.Random(f"{seed} {name}"), Counts()
    for _ in range(runs):
        run(SHAPES[name], how, chance, counts)
    cells = (
        percent(counts.valid, counts.trials),
        percent(counts.wrong, counts.valid),
        percent(counts.wrong, counts.trials),
        percent(counts.disagreeing, counts.levels),
        percent(counts.agreeing_wrong, counts.agreeing),
        percent(counts.held, counts.levels),
    )
    return f"| {name} | {' | '.join(cells)} |"


HEADERS = (
    "rate",
    "VALID (%)",
    "wrong, of the VALID (%)",
    "wrong, of all (%)",
    "replicates disagree (%)",
    "wrong, of the VALID whose replicates agree (%)",
    "level's interval holds (%)",
)


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=29)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    how = QUICK if asked.quick else LONG
    print(f"| {' | '.join(HEADERS)} |\n|---|{'---:|' * (len(HEADERS) - 1)}")
    for name in (name for name in SHAPES if asked.only in name):
        print(line(name, asked.runs, asked.seed, how), flush=True)


if __name__ == "__main__":
    main()
