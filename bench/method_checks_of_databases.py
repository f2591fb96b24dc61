"""Connections checks of one database beside others that vary more: how many give the wrong answer, or none?

    python bench/method_checks_of_databases.py [--runs 200] [--seed 1]

Each run has eight databases at two levels with three replicates. The server of each uses no more than 2.2 of 4 cores.
Two of them vary by 20 and 40 % from trial to trial, five by 5 %; the figures are those of the eighth. Twice the
connections raise its rate by a gain: 0 % (the reason is inside the server), or more (it lacks connections). Each run
goes through the real planner and the real comparison. Nothing is started. Prints the table in bench/evidence.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "runner"))

from bench.method_bottleneck import plan_of  # noqa: E402
from bench.method_checks import FULL, IDLE  # noqa: E402
from scale_sweep.analysis.connections_check import checks  # noqa: E402
from scale_sweep.measure.executing.execute import run_campaign  # noqa: E402
from scale_sweep.model.events import Event, TrialFinished  # noqa: E402
from scale_sweep.model.measured import Measurement, TrialResult  # noqa: E402
from scale_sweep.model.planned import Plan, Trial  # noqa: E402
from scale_sweep.plan import planner_of  # noqa: E402
from scale_sweep.sweep.vary import slug  # noqa: E402

CAPACITY, LEVELS, REPLICATES = 2.2, "2,4", 3
OTHERS = (0.05, 0.05, 0.05, 0.05, 0.05, 0.2, 0.4)
NOISES, GAINS, SLOW = (0.02, 0.05, 0.08), (0.0, 0.10, 0.25, 0.50), 0.85
NAME = "rows_per_request"  # whose values stand for the databases
DATABASES = tuple(str(100 * (1 + number)) for number in range(1 + len(OTHERS)))


def several(seed: int) -> Plan:
    """The levels, once for each database."""
    return plan_of(seed, REPLICATES, LEVELS, {NAME: DATABASES})


def answer(plan: Plan, noise: float, gain: float, slow: float, seed: str) -> bool | None:
    """The answer of the first database's check. slow: the speed of the machine in the block of the checks."""
    chance, results = random.Random(seed), list[TrialResult]()

    def run(trial: Trial) -> Iterator[Event]:
        number = DATABASES.index(trial.variant[NAME])
        more = math.log1p(gain) if trial.role == "check" and number == 0 else 0.0
        speed = math.log(slow) if trial.block == 2 else 0.0
        log = math.log(1e6 * min(trial.level, CAPACITY)) + more + speed
        value = math.exp(log + chance.gauss(0, OTHERS[number - 1] if number else noise))
        m = Measurement(rows_per_s=value, window_s=10.0, rows=9)
        yield TrialFinished(
            result=TrialResult(trial=trial, measurement=m, verdict=IDLE if trial.level > CAPACITY else FULL)
        )

    def sink(event: Event) -> None:
        if isinstance(event, TrialFinished):
            results.append(event.result)

    run_campaign(plan, planner_of(plan), run, [sink])
    own = slug({NAME: DATABASES[0]})
    (found,) = [check for check in checks(plan, results) if check.point[1] == own]
    return found.is_internal


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print("| its noise | block of the check | gain | inside the server | lacks connections | not known |")
    print("|---|---|---|---|---|---|")
    for noise in NOISES:
        for slow in (1.0, SLOW):
            for gain in GAINS:
                told: Counter[bool | None] = Counter()
                for number in range(asked.runs):
                    seed = f"{asked.seed}/{noise}/{slow}/{gain}/{number}"
                    told[answer(several(asked.seed + number), noise, gain, slow, seed)] += 1
                shares = " | ".join(f"{100 * told[one] / asked.runs:.0f} %" for one in (True, False, None))
                block = "as the others" if slow == 1.0 else f"{100 * (1 - slow):.0f} % slower"
                print(f"| {100 * noise:g} % | {block} | {100 * gain:g} % | {shares} |", flush=True)


if __name__ == "__main__":
    main()
