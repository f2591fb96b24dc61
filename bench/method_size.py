"""Does the level of `scale size` hold the rate, and does its interval contain the smallest level that does?

    python bench/method_size.py --draws 4 --seed 17 [--only "log n"] [--processes 2]

The curves, grids and noise are those of bench/method_beyond.py: twelve shapes, six of them outside of the models. Of
each set 90 to 100 % of the rate at a random place of the true curve are wanted. The place is from 0.3 N to 1.8 N, where
N is the last measured level. The true answer is the smallest level whose true rate reaches it. Counted are answers
whose true rate is too low (at most 5 % are allowed), intervals that contain the true answer, and how much larger the
answer is than the true one. For the level below each answer, the stated chance to miss is compared with how often it
did miss.
Refuses to judge a set without an answer: those are counted in a column of their own.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "runner"))

from bench.method_beyond import GRIDS, Job, jobs  # noqa: E402
from bench.method_fit import markdown, share  # noqa: E402
from scale_sweep.analysis.fit.curve import known_of_rows  # noqa: E402
from scale_sweep.analysis.fit.words import Terms  # noqa: E402
from scale_sweep.analysis.sizing.levels import held  # noqa: E402
from scale_sweep.model.sizing import LevelNeed  # noqa: E402

PLACES = (0.3, 1.8)  # of the last level
SHARES = (0.9, 1.0)  # of the rate there: on a plateau, a level that reaches it exactly has no right answer
BINS = ((0.05, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 0.95), (0.95, 1.0))


@dataclass(frozen=True, kw_only=True)
class Sized:
    """One set. is_beyond: the true level is above the measured ones. missed: the true rate of the answer is too low;
    None without an answer. holds: the interval contains the true level. larger: the answer over the true level.
    below: the stated chance of the level below, and whether it missed."""

    shape: str
    is_beyond: bool
    missed: bool | None
    holds: bool | None
    larger: float | None
    below: tuple[float, bool] | None


def sized(job: Job) -> Sized | None:
    """Draws one set and sizes it; None if no level up to twice the last one has the true rate."""
    levels, chance = GRIDS[job.grid], job.chance
    rows = job.rows(levels, chance)
    last = levels[-1]
    wanted = 1e5 * job.curve(float(chance.uniform(*PLACES)) * last) * float(chance.uniform(*SHARES))
    reached = (n for n in np.arange(1.0, 2 * last + 1) if 1e5 * job.curve(float(n)) >= wanted)
    true = next(reached, None)
    if true is None:
        return None
    known = known_of_rows(rows, Terms(), breaks=job.breaks, samples=job.samples)
    question = LevelNeed(run="", axis="cores", unit="core", rate_words="rows/s", wanted=wanted, level=None)
    answer = held(question, known) if known.chosen is not None else question
    missed = holds = larger = below = None
    if answer.level is not None and answer.low is not None:
        missed = 1e5 * job.curve(answer.level) < wanted
        holds = answer.low <= max(true, levels[0] / 2) and (answer.high is None or true <= answer.high)
        larger = answer.level / float(true)
        if (one := answer.below) is not None and one.miss is not None:
            below = one.miss, 1e5 * job.curve(one.level) < wanted
    return Sized(shape=job.shape, is_beyond=float(true) > last, missed=missed, holds=holds, larger=larger, below=below)


def table(sets: list[Sized], key: Callable[[Sized], str]) -> Iterator[str]:
    """A row for each value of the key."""
    head = ("truth", "sets", "answered, %", "too small, %", "interval holds, %", "answer / true level, mean")
    rows = []
    for name in (*dict.fromkeys(map(key, sets)), "all"):
        those = [s for s in sets if name in (key(s), "all")]
        answered = [s for s in those if s.missed is not None]
        larger = [s.larger for s in answered if s.larger is not None]
        rows.append((name, str(len(those)), share([s.missed is not None for s in those]),
                     share([bool(s.missed) for s in answered]), share([bool(s.holds) for s in answered]),
                     f"{np.mean(larger):.2f}" if larger else "–"))  # fmt: skip
    yield from markdown(head, rows)


def calibration(sets: list[Sized]) -> Iterator[str]:
    """The stated chance to miss of the level below the answer, and how often it missed."""
    rows = []
    for low, high in BINS:
        those = [s.below for s in sets if s.below is not None and low < s.below[0] <= high]
        stated = f"{100 * np.mean([miss for miss, _ in those]):.0f}" if those else "–"
        rows.append((f"{100 * low:.0f} to {100 * high:.0f}", str(len(those)), stated, share([m for _, m in those])))
    yield from markdown(("stated chance to miss, %", "levels", "stated, mean, %", "missed, %"), rows)


def main() -> None:
    """Draws all sets, and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=4, help="sets of each combination of shape, grid and noise")
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--samples", type=int, default=400, help="bootstrap samples of each fit; a command takes 2,000")
    parser.add_argument("--only", default="", help="combinations whose name holds this, like linear or 1..8")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.processes) as pool:
        asked = jobs(options.draws, options.seed, options.samples, options.only)
        sets = [one for one in pool.map(sized, asked, chunksize=10) if one is not None]
    print(f"{len(sets)} sets, seed {options.seed}, {options.samples} bootstrap samples\n")
    where = table(sets, lambda s: "beyond the measured levels" if s.is_beyond else "within the measured levels")
    for lines in (table(sets, lambda s: s.shape), where, calibration(sets)):
        print("\n".join(lines), end="\n\n")


if __name__ == "__main__":
    main()
