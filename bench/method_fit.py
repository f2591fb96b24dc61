"""Does the fit say what is true? Synthetic sets of known curves, fitted; how often are interval and verdict right?

    python bench/method_fit.py --draws 4 --seed 1

Prints three tables: how often the nominal 95 % interval of a prediction holds the true curve, how wide it is where the
truth is linear, and how often a falling curve or a hard limit is named where there is one and where there is none.
Every set is drawn from its own seed, so that two versions of the fit see the same data.
"""

from __future__ import annotations

import argparse
import math
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "runner"))

from scale_sweep.analysis.fit.curve import FitQuestions, fit_rows  # noqa: E402
from scale_sweep.analysis.fit.words import Terms  # noqa: E402
from scale_sweep.model.fitted import FitReport  # noqa: E402

Curve = Callable[[float], float]
LEVELS = {
    "1..4": range(1, 5),
    "1..6": range(1, 7),
    "1..8": range(1, 9),
    "1..12": range(1, 13),
    "1..16:x2": (1, 2, 4, 8, 16),
}
NOISE = (0.01, 0.02, 0.05)
REPLICATES = (1, 2, 3)
REACHES = (1.25, 2.0)
GOAL_STEPS = 5.0  # a fall of so many standard errors from the peak to the last level must be named
KNEES = ("knee", "plateau")


def law(alpha: float, beta: float = 0.0) -> Curve:
    """Amdahl's law, or the USL."""
    return lambda n: n / (1 + alpha * (n - 1) + beta * n * (n - 1))


def turning(alpha: float, peak: float) -> Curve:
    """A USL with its maximum at `peak`."""
    return law(alpha, (1 - alpha) / peak**2)


def truths(last: float) -> dict[str, Curve]:
    """The curves; where one bends depends on the last level, so that all of the set shows it."""
    return {
        "linear": lambda n: n,
        "amdahl 0.03": law(0.03),
        "amdahl 0.1": law(0.1),
        "amdahl 0.3": law(0.3),
        "power 0.8": lambda n: n**0.8,
        "usl, peak at 2 N": turning(0.05, 2 * last),
        "usl, peak at N": turning(0.05, last),
        "usl, peak at 0.7 N": turning(0.05, 0.7 * last),
        "usl, peak at 0.4 N": turning(0.05, 0.4 * last),
        "knee at 0.6 N": lambda n: min(n, 0.6 * last),
        "plateau from 0.5 N": lambda n: n / (1 + (n / (0.5 * last)) ** 4) ** 0.25,
    }


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One set of known truth and what the fit said of it."""

    truth: str
    curve: Curve
    levels: tuple[float, ...]
    noise: float
    replicates: int
    fit: FitReport

    @property
    def fall(self) -> float:
        """From the highest level to the last, in standard errors of their difference."""
        rates = [self.curve(n) for n in self.levels]
        error = self.noise * math.sqrt((max(rates) ** 2 + rates[-1] ** 2) / self.replicates)
        return (max(rates) - rates[-1]) / error

    def held(self, index: int) -> bool | None:
        """Whether the interval of a prediction holds the truth; None: nothing was predicted."""
        asked = self.fit.predictions[index]
        if asked.rate is None or asked.low is None:
            return None
        return asked.low <= 1e6 * self.curve(asked.level) <= (asked.high if asked.high is not None else math.inf)

    def width(self, index: int) -> tuple[float, float] | None:
        """The ends of a prediction's interval against the truth, in percent."""
        asked = self.fit.predictions[index]
        if asked.low is None or asked.high is None:
            return None
        true = 1e6 * self.curve(asked.level)
        return 100 * (asked.low / true - 1), 100 * (asked.high / true - 1)


def sets(draws: int, seed: int, samples: int, only: str) -> Iterator[Trial]:
    """All combinations, each drawn so many times."""
    for grid, levels in LEVELS.items():
        for truth, curve in truths(float(max(levels))).items():
            for noise in NOISE:
                for replicates in REPLICATES:
                    name = f"{grid} {truth} {noise} {replicates}"
                    if only not in name:
                        continue
                    for draw in range(draws):
                        yield one(
                            curve,
                            truth,
                            tuple(map(float, levels)),
                            noise,
                            replicates,
                            samples,
                            np.random.default_rng([seed, draw, zlib.crc32(name.encode())]),
                        )


def one(
    curve: Curve,
    truth: str,
    levels: tuple[float, ...],
    noise: float,
    replicates: int,
    samples: int,
    chance: np.random.Generator,
) -> Trial:
    """Draws one set and fits it."""
    rows = [(n, 1e6 * curve(n) * math.exp(noise * chance.standard_normal())) for n in levels for _ in range(replicates)]
    questions = FitQuestions(predict=[reach * levels[-1] for reach in REACHES])
    fit = fit_rows(rows, Terms(), questions=questions, samples=samples)
    return Trial(truth=truth, curve=curve, levels=levels, noise=noise, replicates=replicates, fit=fit)


def share(values: list[bool]) -> str:
    """Percent, with how many."""
    return f"{100 * sum(values) / len(values):.1f}" if values else "–"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    first, *others = (f"| {' | '.join(cells)} |" for cells in (head, *rows))
    return [first, "|---" * len(head) + "|", *others]


def coverage_table(trials: list[Trial], by: Callable[[Trial], object]) -> list[str]:
    """How often each interval holds the truth."""
    keys = list(dict.fromkeys(by(t) for t in trials))
    head = ("truth", "sets", "predicted, %", "holds at 1.25 N, %", "holds at 2 N, %", "median width at 2 N, %")
    rows = []
    for key in [*keys, "all"]:
        own = [t for t in trials if key == "all" or by(t) == key]
        held = [[h for t in own if (h := t.held(i)) is not None] for i in range(len(REACHES))]
        widths = [w[1] - w[0] for t in own if (w := t.width(1)) is not None]
        width = f"{np.median(widths):.0f}" if widths else "–"
        predicted = f"{100 * len(held[1]) / len(own):.0f}"
        rows.append((str(key), str(len(own)), predicted, share(held[0]), share(held[1]), width))
    return markdown(head, rows)


def width_table(trials: list[Trial]) -> list[str]:
    """The interval's ends where the truth is linear: medians."""
    rows = []
    for noise in NOISE:
        for replicates in (*REPLICATES, 0):
            own = [t for t in trials if t.truth == "linear" and t.noise == noise and replicates in (0, t.replicates)]
            cells = []
            for i in range(len(REACHES)):
                ends = [w for t in own if (w := t.width(i)) is not None]
                low, high = (np.median([e[k] for e in ends]) if ends else math.nan for k in (0, 1))
                cells.append(f"{low:+.1f}..{high:+.1f}")
            rows.append((f"{100 * noise:g} %, {replicates or 'all'}", *cells))
    return markdown(("linear truth: noise, replicates", "at 1.25 N, %", "at 2 N, %"), rows)


def verdict_table(trials: list[Trial]) -> list[str]:
    """Falling curves and hard limits: named where they are, and where they are not."""
    keys = list(dict.fromkeys(t.truth for t in trials))
    head = ("truth", "verdicts, %", "retrograde named, fall ≥ 5 errors, % (of)", "false retrograde, %", "false knee, %")
    rows = []
    for key in [*keys, "all"]:
        own = [t for t in trials if key in ("all", t.truth)]
        kinds = {k: sum(t.fit.verdict == k for t in own) for k in dict.fromkeys(t.fit.verdict for t in own)}
        told = ", ".join(f"{k} {100 * n / len(own):.0f}" for k, n in sorted(kinds.items(), key=lambda item: -item[1]))
        clear = [t.fit.verdict == "retrograde" for t in own if t.fall >= GOAL_STEPS]
        flat = [t.fit.verdict == "retrograde" for t in own if t.fall <= 0]
        smooth = [t.fit.verdict == "knee" for t in own if t.truth.split()[0] not in KNEES]
        rows.append((key, told, f"{share(clear)} ({len(clear)})", share(flat), share(smooth)))
    return markdown(head, rows)


def main() -> None:
    """Runs all and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2, help="sets of each combination (2: about two minutes)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--samples", type=int, default=200, help="bootstrap samples of each fit; a report takes 2,000")
    parser.add_argument("--only", default="", help="combinations whose name holds this, like linear or 1..4")
    asked = parser.parse_args()
    trials = list(sets(asked.draws, asked.seed, asked.samples, asked.only))
    print(f"{len(trials)} sets, seed {asked.seed}, {asked.samples} bootstrap samples\n")
    groups: tuple[Callable[[Trial], object], ...] = (
        lambda t: t.truth,
        lambda t: f"{len(t.levels)} levels to {t.levels[-1]:g}",
        lambda t: f"{100 * t.noise:g} % noise",
        lambda t: f"{t.replicates} replicates",
    )
    for table in (*(coverage_table(trials, by) for by in groups), width_table(trials), verdict_table(trials)):
        print("\n".join(table), end="\n\n")


if __name__ == "__main__":
    main()
