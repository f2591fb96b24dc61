"""How often does a gate pass a server at its margin, and one that is as fast? Which orders of sessions raise alarms?

Seeded simulation of runs as numbers, with the functions that `scale compare` and `scale ab` use, and truths that their
tests do not contain: heavy tails, trials and sessions that depend on those before, a drift, unequal noise. Prints the
tables in bench/evidence. `python bench/method_gates.py [--draws 2000] [--only orders|welch|gates|power] [--seed N]`.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
from scipy import stats

from scale_sweep.analysis.compare import sessions as between
from scale_sweep.analysis.compare.blocks import with_block_tests
from scale_sweep.analysis.compare.gates import GateInputs, blocks_pass_share, gate_result, slower_points
from scale_sweep.analysis.compare.ratios import Side, Tested
from scale_sweep.analysis.compare.runs import TestedRatios
from scale_sweep.analysis.compare.sessions import SHARE_MAX, share_of_drift
from scale_sweep.model.compared import Gate, PointRatio

SEED = 20261124
PROVE, SAME = Gate(kind="prove_not_slower", percent=5.0), Gate(kind="same_within", percent=3.0)
SLOWER = Gate(kind="fail_if_slower", percent=5.0)
WITHIN = 0.02 / math.sqrt(3)  # the error of a level's mean in one session: three trials with 2 % of noise
Chance = np.random.Generator


def noise_of(chance: Chance, law: str, size: int) -> np.ndarray:
    """Numbers of mean 0 and standard deviation 1, in the order in which they are measured."""
    if law == "heavy":  # Student's t with 3 degrees of freedom
        return chance.standard_t(3, size) / math.sqrt(3)
    drawn = chance.normal(size=size)
    if law == "memory":  # autoregression of order one
        for at in range(1, size):
            drawn[at] = 0.6 * drawn[at - 1] + 0.8 * drawn[at]
    return drawn


def ab_differences(
    chance: Chance, truths: Sequence[float], blocks: int, noise: float, law: str = "normal", drift: float = 0.0
) -> np.ndarray:
    """B less A in ln(rate), by level and block, of a run of `scale ab`. drift: the loss over the run, as a share."""
    levels, count = len(truths), 4 * len(truths) * blocks
    errors = noise * noise_of(chance, law, count) + math.log1p(-drift) * np.arange(count) / max(count - 1, 1)
    differences, at = np.empty((levels, blocks)), 0
    for block in range(blocks):
        for level in chance.permutation(levels):
            four = errors[at : at + 4]
            inner, outer = (four[1] + four[2]) / 2, (four[0] + four[3]) / 2
            differences[level, block] = truths[level] + (inner - outer if chance.integers(2) else outer - inner)
            at += 4
    return differences


def ab_run(
    chance: Chance,
    truths: Sequence[float],
    blocks: int,
    noise: float,
    gate: Gate,
    law: str = "normal",
    drift: float = 0.0,
) -> str:
    """The answer of a gate to one run of `scale ab`. truths: ln(ratio) at each level."""
    differences = ab_differences(chance, truths, blocks, noise, law, drift)
    mean = differences.mean(axis=1)
    squares = ((differences - mean[:, None]) ** 2).sum(axis=1)
    moments = Side(n=np.full(len(mean), float(blocks)), mean=mean, squares=squares)
    return answer(gate, with_block_tests(untested(len(mean)), moments))


def untested(levels: int) -> TestedRatios:
    """Ratios that wait for their tests."""
    rows = [PointRatio(level=float(n), variant="", trials_a=1, trials_b=1) for n in range(levels)]
    overall = PointRatio(level=None, variant="", trials_a=1, trials_b=1) if levels > 1 else None
    return TestedRatios(points=tuple(rows), overall=overall, unpaired=())


def answer(gate: Gate, ratios: TestedRatios) -> str:
    """The answer of a gate to tested ratios."""
    every = (*ratios.points, *([ratios.overall] if ratios.overall is not None else []))
    inputs = GateInputs(axis="cores", points=ratios.points, slower=slower_points(gate, every))
    return gate_result(gate, inputs).answer


def sessions_of(
    chance: Chance,
    order: str,
    truths: Sequence[float],
    spread: tuple[float, float],
    law: str = "normal",
    drift: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """ln(rate) by session and level, of A and of B. spread: the standard deviation between the sessions of each. drift:
    the loss from session to session, as a share."""
    moved = noise_of(chance, law, len(order)) * [spread[name == "B"] for name in order]
    moved = moved + math.log1p(-drift) * np.arange(len(order))
    logs = moved[:, None] + chance.normal(0, WITHIN, (len(order), len(truths)))
    is_b = np.array([name == "B" for name in order])
    return logs[~is_b], logs[is_b] + np.asarray(truths)


def tested_pair(a: np.ndarray, b: np.ndarray) -> tuple[Tested, np.ndarray]:
    """The tests of `scale compare`, and the adjusted p-values."""
    tested = between.tested_sessions(a, b)
    return tested, between.adjusted(tested, between.Sessions(points=(), a=a, b=b))


def session_run(
    chance: Chance,
    order: str,
    truths: Sequence[float],
    spread: tuple[float, float],
    gate: Gate,
    law: str = "normal",
    drift: float = 0.0,
) -> str:
    """The answer of a gate to sessions, whatever their order."""
    a, b = sessions_of(chance, order, truths, spread, law, drift)
    tested, adjusted = tested_pair(a, b)
    names = ("difference", "error", "degrees", "p_value", "own")
    own, whole = (
        Tested(**{name: getattr(tested, name)[where] for name in names})
        for where in (slice(0, len(truths)), slice(-1, None))
    )
    ratios = untested(len(truths)).with_tests(own, whole if len(truths) > 1 else None, adjusted, "sessions")
    return answer(gate, ratios)


def ordered(chance: Chance, order: str, session: float, drift: float, levels: int = 4) -> bool:
    """Whether a test of sessions in this order calls something different where nothing is."""
    return bool((tested_pair(*sessions_of(chance, order, [0.0] * levels, (session,) * 2, drift=drift))[1] < 0.05).any())


def orders(share: Callable[..., float]) -> None:
    """False alarms by order, on a machine that drifts."""
    print("| sessions | order | share of the drift | judged | no drift | 1 % a session | 2 % a session |")
    print("|---|---|---|---|---|---|---|")
    named = {
        3: ("AAABBB", "AABABB", "AABBAB", "ABABAB", "ABBABA"),
        5: ("AAAAABBBBB", "AAABABABBB", "AAABBABABB", "ABABABABAB"),
    }
    for count, listed in named.items():
        for order in listed:
            part = share_of_drift(order)
            alarms = [
                share(lambda c, o=order, d=drift: ordered(c, o, 0.01, d), order, drift) for drift in (0, 0.01, 0.02)
            ]
            words = " | ".join(f"{alarm:.1f} %" for alarm in alarms)
            print(f"| {count} + {count} | {order} | {part:.2f} | {'yes' if part <= SHARE_MAX else 'no'} | {words} |")
    for count in (2, 3, 5):
        every = sorted({"".join(one) for one in permutations("A" * count + "B" * count)}) if count < 5 else None
        kept = [one for one in every or [] if share_of_drift(one) <= SHARE_MAX]
        part = f"{100 * len(kept) / len(every):.0f} %" if every else "–"

        def any_judged(c: Chance, drift: float, n: int = count) -> bool:
            while True:
                order = "".join(c.permutation(list("A" * n + "B" * n)))
                if share_of_drift(order) <= SHARE_MAX:
                    return ordered(c, order, 0.01, drift)

        alarms = [share(lambda c, d=drift: any_judged(c, d), "judged", count, drift) for drift in (0, 0.01, 0.02)]
        words = " | ".join(f"{alarm:.1f} %" for alarm in alarms)
        print(f"| {count} + {count} | drawn from those that are judged ({part} of all) | | yes | {words} |", flush=True)


def welch(share: Callable[..., float]) -> None:
    """False alarms with unequal noise: Student's, Welch's, and the test in use."""
    print("| sessions of A, noise | of B, noise | Student | Welch | in use, 1 level | 4 levels | seen at −10 % |")
    print("|---|---|---|---|---|---|---|")
    for (n_a, sd_a), (n_b, sd_b) in (
        ((5, 0.01), (2, 0.04)), ((5, 0.01), (2, 0.02)), ((5, 0.01), (2, 0.01)), ((5, 0.04), (2, 0.01)),
        ((2, 0.01), (2, 0.01)), ((2, 0.01), (2, 0.04)), ((3, 0.01), (3, 0.01)), ((3, 0.01), (3, 0.04)),
        ((5, 0.01), (3, 0.01)), ((5, 0.01), (3, 0.04)), ((5, 0.01), (5, 0.01)), ((5, 0.01), (5, 0.04)),
        ((10, 0.01), (3, 0.04)), ((10, 0.01), (5, 0.04)),
    ):  # fmt: skip
        order = "A" * n_a + "B" * n_b

        def pair(c: Chance, levels: int, off: float = 0.0, spread=(sd_a, sd_b), o: str = order):
            return sessions_of(c, o, [off] * levels, spread)

        def plain(c: Chance, *, equal: bool, pair=pair) -> bool:
            a, b = pair(c, 1)
            return bool(stats.ttest_ind(a[:, 0], b[:, 0], equal_var=equal).pvalue < 0.05)

        def ours(c: Chance, levels: int, off: float = 0.0, pair=pair) -> bool:
            return bool((tested_pair(*pair(c, levels, off))[1] < 0.05).any())

        figures = [
            share(lambda c: plain(c, equal=True), order, sd_b),
            share(lambda c: plain(c, equal=False), order, sd_b),
            share(lambda c: ours(c, 1), order, sd_b),
            share(lambda c: ours(c, 4), order, sd_b),
            share(lambda c: ours(c, 4, math.log(0.9)), order, sd_b),
        ]
        words = " | ".join(f"{figure:.1f} %" for figure in figures)
        print(f"| {n_a}, {100 * sd_a:g} % | {n_b}, {100 * sd_b:g} % | {words} |", flush=True)


Run = Callable[[Chance, Sequence[float], Gate], str]


def conditions() -> list[tuple[str, int, Run]]:
    """Words, the number of levels, and one drawn answer."""
    found: list[tuple[str, int, Run]] = []
    laws = (("normal noise", "normal", 0.0), ("heavy tails", "heavy", 0.0), ("φ = 0.6 between trials", "memory", 0.0),
            ("10 % of drift", "normal", 0.1))  # fmt: skip
    for levels, blocks, noise in ((1, 5, 0.02), (4, 5, 0.02), (4, 8, 0.03)):
        for words, law, drift in laws:
            name = f"scale ab, {levels} × {blocks} blocks at {100 * noise:g} %, {words}"
            found.append((name, levels, lambda c, t, g, b=blocks, s=noise, w=law, d=drift: ab_run(c, t, b, s, g, w, d)))
    cases = (("normal", (0.01, 0.01), "normal", 0.0), ("heavy tails", (0.01, 0.01), "heavy", 0.0),
             ("φ = 0.6 between sessions", (0.01, 0.01), "memory", 0.0), ("1 % of drift a session", (0.01, 0.01),
             "normal", 0.01),
             ("noise 1 and 4 %", (0.01, 0.04), "normal", 0.0))  # fmt: skip
    for order in ("ABBABA", "ABBABAABAB"):
        for words, spread, law, drift in cases:
            name = f"sessions {order}, 4 levels, {words}"
            found.append((name, 4, lambda c, t, g, o=order, s=spread, w=law, d=drift: session_run(c, o, t, s, g, w, d)))
    name = "5 sessions at 1 % and 2 at 4 %, 4 levels"
    found.append((name, 4, lambda c, t, g: session_run(c, "AABABAA", t, (0.01, 0.04), g)))
    return found


def gates(share: Callable[..., float]) -> None:
    """False passes at the margin (at one level; the others are equal), passes without a difference, false code 11."""
    print(
        "| what is compared | `--prove-not-slower 5%` passes at −5 % | at 0 | `--same-within 3%` passes at −3 % "
        "| at +3 % | at 0 | any gate ends with 11 at 0 |\n|---|---|---|---|---|---|---|"
    )
    for words, levels, run in conditions():

        def passes(gate: Gate, off: float, run: Run = run, k: int = levels, words: str = words) -> float:
            truths = [math.log1p(off), *[0.0] * (k - 1)]
            return share(lambda c: run(c, truths, gate) == "shown", words, gate.kind, off)

        figures = [passes(PROVE, -0.05), passes(PROVE, 0), passes(SAME, -0.03), passes(SAME, 0.03), passes(SAME, 0)]
        equal = [0.0] * levels
        figures.append(share(lambda c, r=run, e=equal: r(c, e, SAME) == "slower", words, "slower"))
        print(f"| {words} | " + " | ".join(f"{figure:.1f} %" for figure in figures) + " |", flush=True)


def power(share: Callable[..., float]) -> None:
    """What a plan says of a gate, against drawn runs."""
    print("| gate | levels × blocks | noise | passes at 0, said | drawn | fires at the margin, said | drawn |")
    print("|---|---|---|---|---|---|---|")
    for gate in (PROVE, SAME, SLOWER):
        for levels, blocks, noise in ((1, 3, 0.02), (1, 5, 0.03), (1, 20, 0.03), (4, 5, 0.02), (4, 10, 0.03)):
            cells = []
            for off, wanted in ((0.0, True), (-gate.percent / 100, False)):
                truths = [math.log1p(off), *[0.0] * (levels - 1)]
                passes = 100 * blocks_pass_share(gate, truths, noise, blocks)

                def drawn(c: Chance, t=truths, b=blocks, s=noise, g=gate) -> bool:
                    return ab_run(c, t, b, s, g) in ("shown", "not found")

                found = share(drawn, gate.kind, levels, blocks, off)
                cells += [f"{one if wanted else 100 - one:.0f} %" for one in (passes, found)]
            print(
                f"| `{gate.flag}` | {levels} × {blocks} | {100 * noise:g} % | " + " | ".join(cells) + " |", flush=True
            )


TABLES = {"orders": orders, "welch": welch, "gates": gates, "power": power}


def main() -> None:
    """The tables, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", default="", choices=("", *TABLES))
    options = parser.parse_args()

    def share(draw: Callable[[Chance], bool], *name: object) -> float:
        """In percent of the draws. name: of the case, so that each has draws of its own."""
        chance = np.random.default_rng([options.seed, *repr(name).encode()])
        return 100 * sum(draw(chance) for _ in range(options.draws)) / options.draws

    for name, table in TABLES.items():
        if options.only in ("", name):
            print(f"\n{name}\n")
            table(share)


if __name__ == "__main__":
    main()
