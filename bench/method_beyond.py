"""Do the fit's intervals hold where the truth is none of its models? Twelve shapes, six of them outside the models.

    python bench/method_beyond.py --draws 100 --seed 7 [--only "log n"]

For each shape: how often the nominal 95 % interval of a prediction holds the true curve between the measured levels, at
1.25 times and at twice the last level N, and how wide it is. Shapes, grids and seeds differ from those of
bench/method_fit.py. Every set is drawn from its own seed, so that two versions of the fit see the same data. Refuses to
judge a set without a prediction: those are counted in a column of their own.
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
sys.path.insert(0, str(ROOT / "runner"))

from scale_sweep.analysis.fit import FitQuestions, Terms, fit_rows  # noqa: E402
from scale_sweep.model import Prediction  # noqa: E402

Curve = Callable[[float], float]
GRIDS: dict[str, tuple[float, ...]] = {
    "1..8": tuple(map(float, range(1, 9))),
    "1..12": tuple(map(float, range(1, 13))),
    "1..16:x2": (1.0, 2.0, 4.0, 8.0, 16.0),
    "2..24:2": tuple(map(float, range(2, 25, 2))),
}
NOISE = (0.01, 0.03)
REPLICATES = (2, 3)
REACHES = (1.25, 2.0)
OUTSIDE = ("log n", "NUMA step", "SMT siblings", "plateau, then rise", "exponential", "fall to a floor")


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


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One set. inside: a value for each gap between levels. held: None where nothing was predicted. width: of the
    interval at twice the last level, in percent of the truth."""

    shape: str
    grid: str
    inside: tuple[bool, ...]
    held: tuple[bool | None, ...]
    width: float | None
    verdict: str


def drawn(job: tuple[str, str, float, int, int, int, int]) -> Outcome:
    """Draws one set and fits it."""
    grid, shape, noise, replicates, draw, seed, samples = job
    levels = GRIDS[grid]
    curve = shapes(levels[-1])[shape]
    chance = np.random.default_rng([seed, draw, zlib.crc32(f"{grid} {shape} {noise} {replicates}".encode())])
    rows = [(n, 1e5 * curve(n) * math.exp(noise * chance.standard_normal())) for n in levels for _ in range(replicates)]
    between = [(a + b) / 2 for a, b in zip(levels, levels[1:], strict=False)]
    beyond = [reach * levels[-1] for reach in REACHES]
    fit = fit_rows(rows, Terms(), questions=FitQuestions(predict=[*between, *beyond]), samples=samples)
    answers = [_held(p, 1e5 * curve(p.level)) for p in fit.predictions]
    last = fit.predictions[-1]
    width = None if last.low is None or last.high is None else 1e-3 * (last.high - last.low) / curve(last.level)
    return Outcome(
        shape=shape,
        grid=grid,
        inside=tuple(h for h in answers[: len(between)] if h is not None),
        held=tuple(answers[len(between) :]),
        width=width,
        verdict=str(fit.verdict),
    )


def _held(prediction: Prediction, truth: float) -> bool | None:
    if prediction.low is None:
        return None
    return prediction.low <= truth <= (math.inf if prediction.high is None else prediction.high)


def jobs(draws: int, seed: int, samples: int, only: str) -> Iterator[tuple[str, str, float, int, int, int, int]]:
    """All combinations, each drawn so many times."""
    for shape in shapes(1.0):
        for grid in GRIDS:
            for noise in NOISE:
                for replicates in REPLICATES:
                    for draw in range(draws):
                        if only in f"{shape} {grid}":
                            yield grid, shape, noise, replicates, draw, seed, samples


def share(values: list[bool]) -> str:
    """Percent of the values that are true."""
    return f"{100 * sum(values) / len(values):.1f}" if values else "–"


def table(outcomes: list[Outcome], key: Callable[[Outcome], str]) -> list[str]:
    """A row for each value of the key."""
    head = (
        "| truth | sets | predicted at 2 N, % | holds between levels, % | at 1.25 N, % | at 2 N, % | width at 2 N, % |"
    )
    lines = [head, "|---|---|---|---|---|---|---|"]
    for name in dict.fromkeys(map(key, outcomes)):
        those = [o for o in outcomes if key(o) == name]
        held = [[h for o in those if (h := o.held[i]) is not None] for i in range(len(REACHES))]
        widths = [o.width for o in those if o.width is not None]
        cells = [
            name,
            f"{len(those)}",
            f"{100 * len(held[1]) / len(those):.0f}",
            share([h for o in those for h in o.inside]),
            share(held[0]),
            share(held[1]),
            f"{np.median(widths):.0f}" if widths else "–",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Draws all sets in two processes, and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10, help="sets of each combination (1,000 a shape: 63)")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--samples", type=int, default=200, help="bootstrap samples of each fit; a report takes 2,000")
    parser.add_argument("--only", default="", help="combinations whose name holds this, like linear or 1..8")
    asked = parser.parse_args()
    with ProcessPoolExecutor(2) as pool:
        outcomes = list(pool.map(drawn, jobs(asked.draws, asked.seed, asked.samples, asked.only), chunksize=20))
    print(f"{len(outcomes)} sets, seed {asked.seed}, {asked.samples} bootstrap samples\n")
    for lines in (table(outcomes, lambda o: o.shape), table(outcomes, lambda o: o.grid)):
        print("\n".join(lines), end="\n\n")


if __name__ == "__main__":
    main()
