"""Connections checks on a machine that changes while the run goes on: how many give the wrong answer?

    python bench/method_checks.py [--runs 200] [--noise 0.02] [--seed 1]

A server uses no more than 6.2 cores. Twice the connections raise its rate by a gain: 0 % (the reason is inside the
server), or more (it lacks connections). Each run goes through the real planner and the real comparison. Beside it, the
former way on the same course and noise: all checks after all replicates, compared with the mean of their level. Nothing
is started. Prints the table in bench/evidence/connections_check.csv.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "runner"))

from bench.method_bottleneck import plan_of  # noqa: E402
from scale_sweep.analysis.confidence import student  # noqa: E402
from scale_sweep.analysis.connections_check import ASSUMED_DEGREES, ASSUMED_NOISE, checks  # noqa: E402
from scale_sweep.measure.executing.execute import run_campaign  # noqa: E402
from scale_sweep.model.events import Event, TrialFinished  # noqa: E402
from scale_sweep.model.measured import Bottleneck, BottleneckKind, Measurement, TrialResult, Verdict, VerdictKind  # noqa: E402
from scale_sweep.model.planned import Plan, Trial  # noqa: E402
from scale_sweep.plan import planner_of  # noqa: E402

CAPACITY = 6.2
GAINS = (0.0, 0.10, 0.20, 0.50)
IDLE = Verdict(
    kind=VerdictKind.RESOURCE_NOT_SATURATED,
    once_checked=VerdictKind.SOFTWARE_BOTTLENECK,
    bottleneck=Bottleneck(kind=BottleneckKind.CONNECTIONS, sentence="all connections waited"),
)
FULL = Verdict(kind=VerdictKind.VALID)


@dataclass(frozen=True, kw_only=True)
class Course:
    """logs: what the machine adds to ln(rate) of each of so many trials, in their order."""

    what: str
    logs: Callable[[int, random.Random], Sequence[float]]


def line(change: float) -> Callable[[int, random.Random], Sequence[float]]:
    """A change of ln(rate), linear in the number of the trial."""
    return lambda many, _: [math.log1p(change) * at / (many - 1) for at in range(many)]


def walk(many: int, chance: random.Random) -> Sequence[float]:
    """A random walk of 1 % a trial."""
    made = [0.0]
    for _ in range(many - 1):
        made.append(made[-1] + chance.gauss(0, 0.01))
    return made


COURSES = (
    Course(what="none", logs=line(0.0)),
    Course(what="−6 %", logs=line(-0.06)),
    Course(what="−12 %", logs=line(-0.12)),
    Course(what="+12 %", logs=line(0.12)),
    Course(what="second half 10 % slower", logs=lambda many, _: [-0.105 * (2 * at > many) for at in range(many)]),
    Course(what="last tenth 10 % slower", logs=lambda many, _: [-0.105 * (10 * at > 9 * many) for at in range(many)]),
    Course(what="a random walk of 1 % a trial", logs=walk),
)


def rate(trial: Trial, gain: float) -> float:
    """ln of the rate without noise."""
    more = math.log1p(gain) if trial.role == "check" and trial.level > CAPACITY else 0.0
    return math.log(1e6 * min(trial.level, CAPACITY)) + more


def answers(plan: Plan, gain: float, course: Course, noise: float, seed: str) -> list[bool | None]:
    """The answer of each check of a run: the reason is inside the server, it lacks connections (False), or None."""
    chance, results = random.Random(seed), list[TrialResult]()
    idle = sum(level > CAPACITY for level in plan.sweep.levels)
    logs = course.logs(len(plan.trials) + idle, chance)

    def run(trial: Trial) -> Iterator[Event]:
        value = math.exp(rate(trial, gain) + logs[len(results)] + chance.gauss(0, noise))
        m = Measurement(rows_per_s=value, window_s=10.0, rows=9)
        verdict = IDLE if trial.level > CAPACITY else FULL
        yield TrialFinished(result=TrialResult(trial=trial, measurement=m, verdict=verdict))

    def sink(event: Event) -> None:
        if isinstance(event, TrialFinished):
            results.append(event.result)

    run_campaign(plan, planner_of(plan), run, [sink])
    return [check.is_internal for check in checks(plan, results)]


def former(plan: Plan, gain: float, course: Course, noise: float, seed: str) -> list[bool | None]:
    """The answers of checks after all replicates, each compared with the mean of its level."""
    chance = random.Random(seed)
    idle = sorted(level for level in plan.sweep.levels if level > CAPACITY)
    logs = course.logs(len(plan.trials) + len(idle), chance)
    points: dict[float, list[float]] = {}
    body = [trial for trial in plan.trials if trial.role == "point"]
    for at, trial in enumerate(body):
        points.setdefault(trial.level, []).append(rate(trial, gain) + logs[at] + chance.gauss(0, noise))
    squares = sum((y - sum(of_it) / len(of_it)) ** 2 for of_it in points.values() for y in of_it)
    degrees = sum(len(of_it) - 1 for of_it in points.values())
    spread = math.sqrt(squares / degrees) if degrees else ASSUMED_NOISE
    found: list[bool | None] = []
    for at, level in enumerate(idle, start=len(body)):
        mean = sum(points[level]) / len(points[level])
        checked = math.log(1e6 * CAPACITY) + math.log1p(gain) + logs[at] + chance.gauss(0, noise)
        margin = student(degrees or ASSUMED_DEGREES, 0.95) * spread * math.sqrt(1 + 1 / len(points[level]))
        rises = checked - mean > max(margin, math.log1p(0.05))
        found.append(False if rises else None if margin > math.log1p(0.25) else True)
    return found


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--noise", type=float, default=0.02, help="of ln(rate), from trial to trial")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print(
        "| the machine | replicates | gain of twice the connections | SOFTWARE_BOTTLENECK, before | now "
        "| lacks connections, before | now | not known, before | now |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for course in COURSES:
        for replicates in (3, 2):
            for gain in GAINS:
                pairs: tuple[list[bool | None], list[bool | None]] = ([], [])
                for number in range(asked.runs):
                    plan = plan_of(asked.seed + number, replicates)
                    seed = f"{asked.seed}/{course.what}/{gain}/{number}"
                    for told, way in zip(pairs, (former, answers), strict=True):
                        told.extend(way(plan, gain, course, asked.noise, seed))
                shares = [
                    f"{100 * made.count(answer) / len(made):.1f} %" for answer in (True, False, None) for made in pairs
                ]
                print(f"| {course.what} | {replicates} | {100 * gain:g} % | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main()
