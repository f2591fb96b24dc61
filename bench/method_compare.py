"""How often does a comparison call two equal servers different, and how often does it see one that is 5 % slower?

Seeded simulation of runs as numbers: no server, no files, but the functions that `scale compare` and `scale ab` use.
Prints the tables in bench/evidence. `python bench/method_compare.py [--pairs 1000] [--only NAME]`; a few minutes.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from scale_sweep.analysis.compare.blocks import tested_differences
from scale_sweep.analysis.compare.pairs import PointLogs, compare_points, family, window_spread
from scale_sweep.analysis.compare.ratios import Side, Tested, side
from scale_sweep.analysis.compare.sessions import Sessions, adjusted, tested_sessions
from scale_sweep.analysis.noise.drift_test import without_drift
from scale_sweep.model.observed import Observation

SEED = 20260811
Chance = np.random.Generator


def within(chance: Chance, levels: int, replicates: int, noise: list[float], drift: float, shift: float) -> bool:
    """One session a side: whether any point, or all together, is called different."""
    sides = [_session(chance, levels, replicates, noise, drift, off) for off in (0.0, shift)]
    points = [PointLogs(level=n, variant="", a=tuple(sides[0][n]), b=tuple(sides[1][n])) for n in range(levels)]
    found = compare_points(points)
    assert found is not None
    return bool((family(found[0])[0] < 0.05).any())


def _session(
    chance: Chance, levels: int, replicates: int, noise: list[float], drift: float, shift: float
) -> list[list[float]]:
    """ln(rate) by level, with the drift that is found taken out, as `scale compare` does."""
    order = [(n, block) for block in range(replicates) for n in chance.permutation(levels)]
    last = len(order) - 1
    observed = [
        Observation(
            level=float(n),
            order=at,
            block=block,
            value=math.exp(shift + chance.normal(0, noise[n]) + math.log1p(-drift) * at / last),
        )
        for at, (n, block) in enumerate(order)
    ]
    steady = without_drift(observed)
    return [[math.log(o.value) for o in steady if o.level == n] for n in range(levels)]


def between(chance: Chance, levels: int, runs: int, session: float, shift: float) -> bool:
    """Several sessions a side: a session moves all its levels by one draw; three replicates at 2 % noise each."""

    def side(off: float) -> np.ndarray:
        return off + chance.normal(0, session, (runs, 1)) + chance.normal(0, 0.02 / math.sqrt(3), (runs, levels))

    a, b = side(0.0), side(shift)
    found = tested_sessions(a, b)
    return bool((adjusted(found, Sessions(points=(), a=a, b=b)) < 0.05).any())


def naive_between(chance: Chance, levels: int, session: float) -> bool:
    """One session a side, tested against its own replicates: what a comparison of two runs cannot know."""
    sides = [chance.normal(0, session) + chance.normal(0, 0.02, (levels, 3)) for _ in range(2)]
    points = [PointLogs(level=n, variant="", a=tuple(sides[0][n]), b=tuple(sides[1][n])) for n in range(levels)]
    found = compare_points(points)
    assert found is not None
    return bool((family(found[0])[0] < 0.05).any())


def single(chance: Chance, phi: float, seconds: int) -> bool:
    """Single trials whose seconds are an autoregression of order one, 5 % each."""
    spreads = [window_spread(_seconds(chance, phi, seconds)) for _ in range(2)]
    logs = [_LAST.pop(0) for _ in range(2)]
    point = PointLogs(level=1, variant="", a=(logs[0],), b=(logs[1],), seconds_a=spreads[0], seconds_b=spreads[1])
    found = compare_points([point])
    return found is not None and bool(found[0].p_value[0] < 0.05)


_LAST: list[float] = []


def _seconds(chance: Chance, phi: float, seconds: int) -> np.ndarray:
    state = np.empty(seconds)
    state[0] = chance.normal()
    for at in range(1, seconds):
        state[at] = phi * state[at - 1] + math.sqrt(1 - phi**2) * chance.normal()
    rates = np.exp(0.05 * state)
    _LAST.append(math.log(rates.mean()))
    return rates


def ab(chance: Chance, levels: int, blocks: int, noise: list[float], drift: float, shift: float) -> bool:
    """`scale ab`: whether any level, or all together, is called different."""
    total = 4 * levels * blocks
    differences = np.empty((levels, blocks))
    at = 0
    for block in range(blocks):
        for level in chance.permutation(levels):
            first = chance.integers(2)
            logs = ([], [])
            for variant in (first, 1 - first, 1 - first, first):
                moved = math.log1p(-drift) * at / (total - 1)
                logs[variant].append(moved + variant * shift + chance.normal(0, noise[level]))
                at += 1
            differences[level, block] = np.mean(logs[1]) - np.mean(logs[0])
    found = by_blocks(differences)
    return bool((family(found)[0] < 0.05).any())


def looked(chance: Chance, looks: Sequence[int], level: float, shift: float, pairs: int) -> tuple[float, float]:
    """`scale ab` with 2 % noise, tested at this level of significance after each of these numbers of blocks: the share
    of the pairs in which a difference is found, and the mean number of blocks after which a run ends."""
    differences = shift + chance.normal(0, 0.02, (pairs, 1, looks[-1]))
    ends, differ = np.full(pairs, looks[-1]), np.zeros(pairs, dtype=bool)
    for blocks in looks:
        now = ~differ & (tested_differences(side(differences[..., :blocks])).p_value[:, 0] < level)
        ends[now], differ = blocks, differ | now
    return float(differ.mean()), float(ends.mean())


def by_blocks(differences: np.ndarray) -> Tested:
    """The test of `scale ab` on differences by level and block."""
    mean = differences.mean(axis=1)
    squares = ((differences - mean[:, None]) ** 2).sum(axis=1)
    return tested_differences(Side(n=np.full(len(mean), float(differences.shape[1])), mean=mean, squares=squares))


def cases(shift: float) -> Iterator[tuple[str, str, Callable[[Chance], bool]]]:
    """Name, words, and one drawn pair."""
    even, uneven = [0.02] * 8, [0.01, 0.02, 0.03, 0.04]
    yield "within", "1 session a side, 4 levels × 3", lambda c: within(c, 4, 3, even, 0, shift)
    yield "within", "1 session a side, 1 level × 5", lambda c: within(c, 1, 5, even, 0, shift)
    yield "within", "1 session a side, 8 levels × 2", lambda c: within(c, 8, 2, even, 0, shift)
    yield "uneven", "noise 1, 2, 3, 4 % by level, 4 × 3", lambda c: within(c, 4, 3, uneven, 0, shift)
    yield "uneven", "noise 1, 1, 1, 4 % by level, 4 × 3", lambda c: within(c, 4, 3, [0.01] * 3 + [0.04], 0, shift)
    yield "drift", "10 % of drift in each run, 4 × 3", lambda c: within(c, 4, 3, even, 0.10, shift)
    yield "drift", "10 % of drift in each run, 8 × 3", lambda c: within(c, 8, 3, even, 0.10, shift)
    for session in (0.0, 0.01, 0.02, 0.03, 0.05):
        for runs in (3, 5):
            words = f"{runs} sessions a side that differ by {100 * session:g} %, 4 levels"
            yield "between", words, lambda c, s=session, r=runs: between(c, 4, r, s, shift)
    yield "between", "5 sessions a side that differ by 2 %, 1 level", lambda c: between(c, 1, 5, 0.02, shift)
    yield "ab", "scale ab, 1 level × 5 blocks", lambda c: ab(c, 1, 5, even, 0, shift)
    yield "ab", "scale ab, 4 levels × 5 blocks", lambda c: ab(c, 4, 5, even, 0, shift)
    yield "ab", "scale ab, 4 levels × 3 blocks", lambda c: ab(c, 4, 3, even, 0, shift)
    yield "ab", "scale ab, 1 level × 5, 10 % of drift", lambda c: ab(c, 1, 5, even, 0.1, shift)
    yield "ab", "scale ab, 4 × 5, noise 1, 2, 3, 4 % by level", lambda c: ab(c, 4, 5, uneven, 0, shift)


LOOKS = (
    ("5 blocks", (5,), 0.05),
    ("20 blocks", (20,), 0.05),
    ("5,10,20, each at p < .05/3", (5, 10, 20), 0.05 / 3),
    ("each of 2 to 20, at p < .05 (not built)", tuple(range(2, 21)), 0.05),
)


def show_looks(pairs: int) -> None:
    """The table of runs that may end early: how often a difference is found, and after how many blocks they end."""
    shifts = (0, -2, -3, -5)
    print("| looks after | " + " | ".join(f"{shift} %" for shift in shifts) + " |\n|---|" + "---|" * len(shifts))
    for words, looks, level in LOOKS:
        cells = []
        for shift in shifts:
            chance = np.random.default_rng([SEED, *words.encode(), -shift])
            share, blocks = looked(chance, looks, level, math.log1p(shift / 100), pairs)
            cells.append(f"{100 * share:.1f} %, {blocks:.1f}")
        print(f"| {words} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """The table, then what one session a side hides, then single trials."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    if asked.only in "looks":
        show_looks(asked.pairs)
    if asked.only == "looks":
        return

    def share(draw: Callable[[Chance], bool], name: str) -> float:
        chance = np.random.default_rng([SEED, *name.encode()])
        return 100 * sum(draw(chance) for _ in range(asked.pairs)) / asked.pairs

    print("| what is compared | false alarms | power at −5 % |\n|---|---|---|")
    for (kind, words, equal), (_, _, slower) in zip(cases(0.0), cases(math.log(0.95)), strict=True):
        if asked.only in kind:
            print(f"| {words} | {share(equal, words):.1f} % | {share(slower, words):.0f} % |", flush=True)
    if asked.only in "naive":
        for session in (0.01, 0.02, 0.03, 0.05):
            words = f"1 session a side, sessions differ by {100 * session:g} % (not judged)"
            print(f"| {words} | {share(lambda c, s=session: naive_between(c, 4, s), words):.1f} % | – |", flush=True)
    if asked.only in "single":
        for phi in (0.0, 0.5, 0.8, 0.9):
            for seconds in (20, 40, 60):
                words = f"single trials of {seconds} s, φ = {phi:g} (not judged)"
                found = share(lambda c, p=phi, s=seconds: single(c, p, s), words)
                print(f"| {words} | {found:.1f} % | – |", flush=True)


if __name__ == "__main__":
    main()
