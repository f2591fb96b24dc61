"""Do the fit's intervals hold where the truth is none of its models? Twelve shapes, six of them outside the models.

    python bench/method_beyond.py --draws 63 --seed 11 [--only "log n"] [--processes 2]
    python bench/method_beyond.py --held-out --draws 8 --seed 441 --no-advice

For each shape: how often the nominal 95 % interval of a prediction holds the true curve between the measured levels, at
1.25 times and at twice the last level N, and how wide it is. For the shapes whose break a CPU placement makes, the same
where the fit knows the break, and how often a hard limit is named. For intervals too wide to use: how wide they are
after the level that the fit names is measured too. Shapes, grids and seeds differ from those of bench/method_fit.py.
Every set is drawn from its own seed, so that two versions of the fit see the same data. --held-out: fourteen
shapes on which no rule of the fit was tuned. Refuses to judge a set without a prediction: those are counted in a
column of their own.
"""

from __future__ import annotations

import argparse
import math
import sys
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "runner"))

from bench.method_fit import REACHES, Curve, markdown, share  # noqa: E402
from scale_sweep.analysis.fit.curve import FitQuestions, fit_rows  # noqa: E402
from scale_sweep.analysis.fit.words import Terms  # noqa: E402
from scale_sweep.model.fitted import KnownBreak, Prediction  # noqa: E402

GRIDS: dict[str, tuple[float, ...]] = {
    "1..8": tuple(map(float, range(1, 9))),
    "1..12": tuple(map(float, range(1, 13))),
    "1..16:x2": (1.0, 2.0, 4.0, 8.0, 16.0),
    "2..24:2": tuple(map(float, range(2, 25, 2))),
}
NOISE = (0.01, 0.03)
REPLICATES = (2, 3)
PLACED = {"NUMA step": 0.5, "SMT siblings": 0.6}  # shapes with a break that a CPU placement makes, as a share of N
KNOWN = ", known"


def shapes(last: float) -> dict[str, Curve]:
    """The curves X(n); where one bends depends on the last level N."""
    half = 0.5 * last
    turn = 0.95 / (0.7 * last) ** 2
    return {
        "linear": lambda n: n,
        "amdahl 0.08": lambda n: n / (1 + 0.08 * (n - 1)),
        "power 0.75": lambda n: n**0.75,
        "usl, peak at 2 N": lambda n: n / (1 + 0.04 * (n - 1) + 0.96 / (2 * last) ** 2 * n * (n - 1)),
        "usl, peak at 0.7 N": lambda n: n / (1 + 0.05 * (n - 1) + turn * n * (n - 1)),
        "knee at 0.6 N": lambda n: min(n, 0.6 * last),
        "log n": lambda n: 1 + 1.5 * math.log(n),
        "NUMA step": lambda n: n if n <= half else half + 0.55 * (n - half),
        "SMT siblings": lambda n: n if n <= 0.6 * last else 0.6 * last + 0.25 * (n - 0.6 * last),
        "plateau, then rise": lambda n: min(n, 0.3 * last) + 0.6 * max(0.0, n - 0.5 * last),
        "exponential": lambda n: half * (1 - math.exp(-n / half)),
        "fall to a floor": lambda n: n / (1 + (n / half) ** 2) + 0.15 * last * (1 - math.exp(-n / last)),
    }


def held_out(last: float) -> dict[str, Curve]:
    """Curves on which no rule was tuned: tune none on them, or draw other ones."""
    half = 0.5 * last
    return {
        "plateau, then a fall that goes on": lambda n: min(n, half) - 0.3 * max(0.0, n - 0.75 * last),
        "linear, flat, rising": lambda n: min(n, 0.3 * last) + 0.5 * max(0.0, n - 0.7 * last),
        "lock with growing handover": lambda n: n / (1 + 0.03 * (n - 1) + (n / (1.2 * last)) ** 3),
        "step of a NUMA node": lambda n: n if n <= 0.6 * last else 0.52 * last + 0.7 * (n - 0.6 * last),
        "SMT cap": lambda n: min(n, 0.75 * last) + 0.3 * max(0.0, n - 0.75 * last),
        "thermal": lambda n: n * (0.65 + 0.35 * math.exp(-((n / last) ** 2))),
        "saturating, slow decay": lambda n: half * (1 - math.exp(-n / (0.3 * last))) * math.exp(-n / (4 * last)),
        "slow start": lambda n: n * n / (n + 0.15 * last),
        "root": math.sqrt,
        "memory bandwidth": lambda n: (n**-4 + (0.7 * last) ** -4) ** -0.25,
        "law with a limit": lambda n: min(n / (1 + 0.02 * (n - 1)), 0.85 * last / (1 + 0.02 * (0.85 * last - 1))),
        "batches": lambda n: n - 0.03 * last * math.sin(4 * math.pi * n / last),
        "collections of garbage": lambda n: n / (1 + 0.25 * (n / last) ** 1.5),
        "shared cache": lambda n: n * (1 - 0.4 / (1 + math.exp(-8 * (n / last - 0.6)))),
    }


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One set. inside: a value for each gap between levels. held: None where nothing was predicted. width: of the
    interval at twice the last level, in percent of the truth. halved: its width after the named level was measured,
    over the width before; None where none was named. is_wide: whether it was too wide to use."""

    shape: str
    grid: str
    inside: tuple[bool, ...]
    held: tuple[bool | None, ...]
    width: float | None
    verdict: str
    is_wide: bool
    halved: float | None


@dataclass(frozen=True, kw_only=True)
class Job:
    """One set to draw."""

    grid: str
    shape: str
    noise: float
    replicates: int
    draw: int
    seed: int
    samples: int
    advises: bool

    @property
    def curve(self) -> Curve:
        """The truth."""
        last = GRIDS[self.grid][-1]
        return {**shapes(last), **held_out(last)}[self.shape.removesuffix(KNOWN)]

    @property
    def chance(self) -> np.random.Generator:
        """The random numbers of this set, which are those of the same shape without a known break."""
        name = f"{self.grid} {self.shape.removesuffix(KNOWN)} {self.noise} {self.replicates}"
        return np.random.default_rng([self.seed, self.draw, zlib.crc32(name.encode())])

    @property
    def breaks(self) -> tuple[KnownBreak, ...]:
        """The break that the fit knows."""
        if not self.shape.endswith(KNOWN):
            return ()
        after = PLACED[self.shape.removesuffix(KNOWN)] * GRIDS[self.grid][-1]
        return (KnownBreak(after=after, knob="", label="", words="the added CPUs are of another kind"),)

    def rows(self, levels: tuple[float, ...], chance: np.random.Generator) -> list[tuple[float, float]]:
        """Measured rates at these levels."""
        size = self.replicates
        drawn = [(n, self.noise * chance.standard_normal()) for n in levels for _ in range(size)]
        return [(n, 1e5 * self.curve(n) * math.exp(error)) for n, error in drawn]


def drawn(job: Job) -> Outcome:
    """Draws one set and fits it."""
    levels, chance = GRIDS[job.grid], job.chance
    rows = job.rows(levels, chance)
    between = [(a + b) / 2 for a, b in zip(levels, levels[1:], strict=False)]
    beyond = [reach * levels[-1] for reach in REACHES]
    questions = FitQuestions(predict=[*between, *beyond], next_level=job.advises and job.draw % 8 == 0)
    fit = fit_rows(rows, Terms(), questions=questions, breaks=job.breaks, samples=job.samples)
    answers = [_held(p, 1e5 * job.curve(p.level)) for p in fit.predictions]
    last, halved = fit.predictions[-1], None
    if last.halved_by is not None:
        more = [*rows, *job.rows((last.halved_by,), chance)]
        asked = FitQuestions(predict=[last.level])
        again = fit_rows(more, Terms(), questions=asked, breaks=job.breaks, samples=job.samples).predictions[0]
        halved = _size(again) / _size(last) if again.low is not None else None
    return Outcome(
        shape=job.shape,
        grid=job.grid,
        inside=tuple(h for h in answers[: len(between)] if h is not None),
        held=tuple(answers[len(between) :]),
        width=None if last.low is None else 1e-3 * _size(last) / job.curve(last.level),
        verdict=str(fit.verdict),
        is_wide=last.is_wide,
        halved=halved,
    )


def _size(prediction: Prediction) -> float:
    return (prediction.high or math.nan) - (prediction.low or 0.0)


def _held(prediction: Prediction, truth: float) -> bool | None:
    if prediction.low is None:
        return None
    return prediction.low <= truth <= (math.inf if prediction.high is None else prediction.high)


def jobs(
    draws: int, seed: int, samples: int, only: str, advises: bool = True, names: tuple[str, ...] = ()
) -> Iterator[Job]:
    """All combinations, each drawn so many times. names: other shapes than those of `shapes`."""
    for shape in names or (*shapes(1.0), *(f"{name}{KNOWN}" for name in PLACED)):
        for grid in GRIDS:
            for noise in NOISE:
                for replicates in REPLICATES:
                    for draw in range(draws):
                        if only in f"{shape} {grid}":
                            yield Job(
                                grid=grid,
                                shape=shape,
                                noise=noise,
                                replicates=replicates,
                                draw=draw,
                                seed=seed,
                                samples=samples,
                                advises=advises,
                            )


def coverage(outcomes: list[Outcome], key: Callable[[Outcome], str]) -> list[str]:
    """How often the intervals hold: a row for each value of the key."""
    head = ("truth", "sets", "predicted at 2 N, %", "holds between levels, %", "at 1.25 N, %", "at 2 N, %",
            "width at 2 N, %", "hard limit, %")  # fmt: skip
    rows = []
    for name in dict.fromkeys(map(key, outcomes)):
        those = [o for o in outcomes if key(o) == name]
        held = [[h for o in those if (h := o.held[i]) is not None] for i in range(len(REACHES))]
        widths = [o.width for o in those if o.width is not None]
        inside = [h for o in those for h in o.inside]
        width = f"{np.median(widths):.0f}" if widths else "–"
        limit = share([o.verdict == "knee" for o in those])
        predicted = f"{100 * len(held[1]) / len(those):.0f}"
        rows.append((name, str(len(those)), predicted, share(inside), share(held[0]), share(held[1]), width, limit))
    return markdown(head, rows)


def advice(outcomes: list[Outcome]) -> list[str]:
    """Intervals too wide to use, and what the level that the fit names makes of them."""
    rows = []
    for name in dict.fromkeys(o.shape for o in outcomes):
        those = [o for o in outcomes if o.shape == name]
        ratios = [o.halved for o in those if o.halved is not None]
        wide = share([o.is_wide for o in those])
        after = f"{np.median(ratios):.2f} ({len(ratios)})" if ratios else "–"
        rows.append((name, wide, after))
    return markdown(("truth", "too wide at 2 N, %", "width after the named level / before, median (of)"), rows)


def main() -> None:
    """Draws all sets, and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10, help="sets of each combination (1,000 a shape: 63)")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--samples", type=int, default=200, help="bootstrap samples of each fit; a report takes 2,000")
    parser.add_argument("--only", default="", help="combinations whose name holds this, like linear or 1..8")
    parser.add_argument("--no-advice", action="store_true", help="without the last table, which takes most of the time")
    parser.add_argument("--held-out", action="store_true", help="the shapes on which no rule was tuned")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.processes) as pool:
        names = tuple(held_out(1.0)) if options.held_out else ()
        asked = jobs(options.draws, options.seed, options.samples, options.only, not options.no_advice, names)
        outcomes = list(pool.map(drawn, asked, chunksize=20))
    print(f"{len(outcomes)} sets, seed {options.seed}, {options.samples} bootstrap samples\n")
    tables = [coverage(outcomes, key) for key in (lambda o: o.shape, lambda o: o.grid, lambda o: "all")]
    for lines in tables if options.no_advice else (*tables, advice(outcomes)):
        print("\n".join(lines), end="\n\n")


if __name__ == "__main__":
    main()
