"""How often is drift of the machine found, how often is it found where there is none, and what does it do to intervals?

Seeded simulation of whole runs: levels in a random order within each block, a drift check (the first trial repeated)
at the end. The first table has Gaussian noise of ln(rate) and a linear drift over the run. The second has courses of
the rate that the regression does not assume: noise that is like that of the trial before, a cold first trial, rates
that fall and rise again. Prints the tables in bench/evidence.
`python bench/method_drift.py [--runs 1000] [--noise 0.02] [--only courses]`; some minutes.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from scipy import special

from scale_sweep.analysis.noise.drift_test import trend_of
from scale_sweep.analysis.noise.spread import drift_of, intervals, noise_report, rates_of
from scale_sweep.model.observed import Observation

PLANS = ((8, 3, True), (8, 3, False), (4, 3, True), (12, 3, True), (4, 5, True), (2, 3, True), (2, 3, False))
OF_COURSES = ((8, 3), (4, 3), (4, 5), (2, 5))
DRIFTS = (0.0, 0.03, 0.05, 0.10)
SEED = 20260810


def run_of(levels: int, replicates: int, check: bool, drift: float, noise: float, chance: random.Random):
    """The observations of one simulated run that drifts downwards."""
    observed = planned(levels, replicates, check, chance)
    last = len(observed) - 1
    return [
        replace(one, value=one.value * math.exp(math.log1p(-drift) * one.order / last + chance.gauss(0, noise)))
        for one in observed
    ]


def planned(levels: int, replicates: int, check: bool, chance: random.Random) -> list[Observation]:
    """The observations of a run without noise."""
    order: list[tuple[float, int, str]] = []
    for block in range(replicates):
        of_block = [(float(n + 1), block, "point") for n in range(levels)]
        chance.shuffle(of_block)
        order += of_block
    if check:
        order.append((order[0][0], 0, "drift_check"))
    return [
        Observation(level=level, value=1e5 * level, order=at, block=block, role=role)
        for at, (level, block, role) in enumerate(order)
    ]


@dataclass(frozen=True, kw_only=True)
class Course:
    """logs: what a course adds to ln(rate) of the trials of a run, from their number, the noise and chance."""

    what: str
    logs: Callable[[int, float, random.Random], list[float]]


def alike(phi: float) -> Callable[[int, float, random.Random], list[float]]:
    """Noise that is correlated between neighbouring trials."""

    def logs(many: int, noise: float, chance: random.Random) -> list[float]:
        state, made = chance.gauss(0, noise), []
        for _ in range(many):
            made.append(state)
            state = phi * state + math.sqrt(1 - phi * phi) * chance.gauss(0, noise)
        return made

    return logs


def with_course(course: Callable[[float], float]) -> Callable[[int, float, random.Random], list[float]]:
    """Independent noise about a course. course: ln(rate) at a share of the run, 0 to 1."""

    def logs(many: int, noise: float, chance: random.Random) -> list[float]:
        return [course(at / (many - 1)) + chance.gauss(0, noise) for at in range(many)]

    return logs


def heavy(many: int, noise: float, chance: random.Random) -> list[float]:
    """Independent noise with heavy tails: Student's t with three degrees of freedom."""
    return [
        noise * chance.gauss(0, 1) / math.sqrt(sum(chance.gauss(0, 1) ** 2 for _ in range(3)) / 3) for _ in range(many)
    ]


COURSES = (
    Course(what="independent noise", logs=alike(0.0)),
    Course(what="noise with heavy tails", logs=heavy),
    Course(what="φ = 0.3 between trials", logs=alike(0.3)),
    Course(what="φ = 0.6 between trials", logs=alike(0.6)),
    Course(what="φ = 0.8 between trials", logs=alike(0.8)),
    Course(what="first trial 5 % slower", logs=with_course(lambda at: math.log(0.95) if at == 0 else 0.0)),
    Course(what="first trial 10 % slower", logs=with_course(lambda at: math.log(0.90) if at == 0 else 0.0)),
    Course(what="first trial 30 % slower", logs=with_course(lambda at: math.log(0.70) if at == 0 else 0.0)),
    Course(what="linear drift of 5 %", logs=with_course(lambda at: math.log(0.95) * at)),
    Course(what="linear drift of 10 %", logs=with_course(lambda at: math.log(0.90) * at)),
    Course(what="U: ends 10 % above the middle, a parabola", logs=with_course(lambda at: 0.1 * (2 * at - 1) ** 2)),
    Course(what="U: ends 20 % above the middle (± 10 %)", logs=with_course(lambda at: 0.182 * (2 * at - 1) ** 2)),
    Course(what="V: ends 20 % above the middle (± 10 %)", logs=with_course(lambda at: 0.182 * abs(2 * at - 1))),
    Course(what="V: ends 10 % above the middle, straight", logs=with_course(lambda at: 0.1 * abs(2 * at - 1))),
    Course(what="middle third 10 % slower", logs=with_course(lambda at: -0.105 if 1 / 3 < at < 2 / 3 else 0.0)),
    Course(what="second half 5 % slower", logs=with_course(lambda at: math.log(0.95) if at > 0.5 else 0.0)),
)


def former(observed: Sequence[Observation]) -> bool:
    """The regression as it was: independent errors, no first trial, no bend."""
    groups: dict[float, list[tuple[float, float]]] = {}
    for one in observed:
        groups.setdefault(one.level, []).append((one.order, math.log(one.value)))
    across = together = squares = 0.0
    for of_it in groups.values():
        order, log = (sum(part) / len(of_it) for part in zip(*of_it, strict=True))
        across += sum((x - order) ** 2 for x, _ in of_it)
        together += sum((x - order) * (y - log) for x, y in of_it)
        squares += sum((y - log) ** 2 for _, y in of_it)
    degrees = len(observed) - len(groups) - 1
    error = math.sqrt((squares - together**2 / across) / degrees / across)
    return 2 * float(special.stdtr(degrees, -abs(together / across) / error)) < 0.05


def by_check(observed: list[Observation]) -> bool:
    """The former way: the repeated trial against the first one, with the pooled spread (which contains the drift)."""
    from scale_sweep.analysis.noise.spread import _as_measured

    drift = drift_of(observed, _as_measured(observed))
    return drift is not None and drift.ratio.differs_from_one


def covered(observed: list[Observation], drift: float) -> float:
    """The share of levels whose interval holds the true rate in the middle of the run."""
    middle = math.log1p(-drift) / 2
    found = intervals(rates_of(observed))
    inside = [abs(math.log(i.mean / (1e5 * i.level)) - middle) <= math.log1p(i.half_percent / 100) for i in found]
    return sum(inside) / len(inside)


def drifts(runs_of_row: int, noise: float, seed: int) -> None:
    """A row for each plan and drift."""
    print(
        "| levels × replicates | drift check | drift | found by regression | by the repeated trial alone "
        "| intervals that hold | could have been found |"
    )
    print("|---|---|---|---|---|---|---|")
    for levels, replicates, check in PLANS:
        for drift in DRIFTS:
            chance = random.Random(f"{seed}/{levels}/{replicates}/{check}/{drift}")
            runs = [run_of(levels, replicates, check, drift, noise, chance) for _ in range(runs_of_row)]
            trends = [trend_of(r) for r in runs]
            found = sum(t.is_drifting for t in trends if t) / runs_of_row
            old = f"{100 * sum(map(by_check, runs)) / runs_of_row:.1f} %" if check else "–"
            inside = sum(covered(r, drift) for r in runs[: runs_of_row // 4]) / (runs_of_row // 4)
            seen = sorted(t.smallest_percent for t in trends if t)[runs_of_row // 2]
            print(
                f"| {levels} × {replicates} | {'yes' if check else 'no'} | {100 * drift:g} % | {100 * found:.1f} % "
                f"| {old} | {100 * inside:.1f} % | {seen:.1f} % |",
                flush=True,
            )
    assert noise_report(runs[0]).trend is not None


def courses(runs: int, noise: float, seed: int, only: str) -> None:
    """A row for each plan and each course whose name holds `only`."""
    print(
        "| course | levels × replicates | drift found, before | drift or bend found | of these a bend "
        "| first trial named |"
    )
    print("|---|---|---|---|---|---|")
    for course in (course for course in COURSES if only in course.what):
        for levels, replicates in OF_COURSES:
            chance = random.Random(f"{seed}/{course.what}/{levels}/{replicates}")
            made = []
            for _ in range(runs):
                observed = planned(levels, replicates, True, chance)
                logs = course.logs(len(observed), noise, chance)
                made.append(
                    [replace(one, value=one.value * math.exp(y)) for one, y in zip(observed, logs, strict=True)]
                )
            trends = [trend for trend in map(trend_of, made) if trend]
            shares = [
                sum(map(former, made)),
                sum(t.is_drifting for t in trends),
                sum(t.bend_percent is not None for t in trends),
                sum(t.first_percent is not None for t in trends),
            ]
            words = " | ".join(f"{100 * share / runs:.1f} %" for share in shares)
            print(f"| {course.what} | {levels} × {replicates} | {words} |", flush=True)


def main() -> None:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--noise", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", choices=("drift", "courses"))
    parser.add_argument("--course", default="", help="courses whose name holds this, like φ")
    asked = parser.parse_args()
    if asked.only != "courses":
        drifts(asked.runs, asked.noise, asked.seed)
    if asked.only != "drift":
        courses(asked.runs, asked.noise, asked.seed, asked.course)


if __name__ == "__main__":
    main()
