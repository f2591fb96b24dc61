"""How often do the intervals of a run with --until-ci hold the truth, and how many trials does that cost?

    python bench/method_until.py [--runs 1000] [--seed 1] [--levels N] [--only now]

Whole runs through the real planner: it adds replicates until the 95 % interval of each level is narrow enough, and ends
then or at --replicates-max. An interval that may end its run holds the truth less often than one of a fixed number of
trials, because a run ends where the spread is small by chance. Nothing is started.
Prints the table in bench/evidence/until_ci.csv.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable
from dataclasses import replace

from scale_sweep.analysis.noise.spread import intervals, rates_of
from scale_sweep.analysis.observations import observations
from scale_sweep.machine.host.host_facts import Cpu, Host
from scale_sweep.model.measured import Measurement, TrialResult, Verdict, VerdictKind
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.plan import replicates as rule
from scale_sweep.plan.make import make_plan
from scale_sweep.plan.target_defaults import complete
from scale_sweep.server.targets import load_target
from scale_sweep.sweep.resolve import resolve_sweep

RULES = {"as soon as it is narrow": ((), ()), "now": (rule.EXTRA_ALONE, rule.EXTRA)}
# Levels, replicates at first and at most, the noise of a trial in parts of the half-width that is wanted.
CASES = ((1, 3, 10), (1, 2, 10), (2, 3, 10), (4, 3, 10), (8, 2, 10))
NOISES = (0.5, 0.8, 1.2)
WANTED = 5.0


def heavy(chance: random.Random) -> float:
    """Student's t with five degrees of freedom, with a variance of 1."""
    return chance.gauss(0, 1) / math.sqrt(sum(chance.gauss(0, 1) ** 2 for _ in range(5)) / 3)


def normal(chance: random.Random) -> float:
    """The standard normal distribution."""
    return chance.gauss(0, 1)


def plan_of(levels: int, least: int, most: int, seed: int) -> Plan:
    """A plan with --until-ci."""
    cpus = tuple(Cpu(id=i, core=i, package=0, node=0) for i in range(16))
    host = Host(
        hostname="simulated",
        os="",
        kernel="",
        arch="x86_64",
        cpu_model="",
        cpus=cpus,
        allowed=tuple(range(16)),
        governor="",
        memory_bytes=2**36,
        cgroup="v2",
        cgroup_writable=True,
        psi=(),
        is_root=False,
    )
    flags = {
        "axis.cores": f"1..{levels}",
        "method.replicates": str(least),
        "method.replicates_max": str(most),
        "method.until_ci": f"{WANTED}%",
        "method.seed": str(seed),
        "method.drift_check": "off",
    }
    target = load_target("postgres")
    sweep = replace(resolve_sweep("cpu", flags), target="postgres", runtime="process")
    return make_plan(complete(sweep, target.facts), host, target.facts)


def run_of(plan: Plan, noise: float, draw: Callable[[random.Random], float], seed: str) -> list[TrialResult]:
    """The trials that the planner asks for."""
    chance, planner, done = random.Random(seed), rule.UntilInterval(plan), list[TrialResult]()

    def measured(trial: Trial) -> TrialResult:
        m = Measurement(rows_per_s=1e6 * trial.level * math.exp(noise * draw(chance)), window_s=10.0, rows=9)
        return TrialResult(trial=trial, measurement=m, verdict=Verdict(kind=VerdictKind.VALID))

    while trials := planner.next(done).trials:
        done += [measured(trial) for trial in trials]
    return done


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--levels", type=int, help="only cases with so many levels")
    parser.add_argument("--only", choices=tuple(RULES), help="only this rule")
    asked = parser.parse_args()
    rules = {name: extra for name, extra in RULES.items() if asked.only in (None, name)}
    print("| levels | replicates | noise | rule | intervals that hold | of the worst level | trials of a level |")
    print("|---|---|---|---|---|---|---|")
    for levels, least, most in (case for case in CASES if asked.levels in (None, case[0])):
        for part in NOISES:
            for shape in (normal, heavy) if part == NOISES[1] else (normal,):
                for name, extra in rules.items():
                    rule.EXTRA_ALONE, rule.EXTRA = extra
                    noise, plan = part * math.log1p(WANTED / 100), plan_of(levels, least, most, asked.seed)
                    held, trials = [0] * levels, 0
                    for number in range(asked.runs):
                        done = run_of(plan, noise, shape, f"{asked.seed}/{levels}/{least}/{part}/{number}")
                        trials += len(done)
                        for at, i in enumerate(intervals(rates_of(observations(done, "rows_per_s")))):
                            assert i.mean is not None and i.half_percent is not None
                            held[at] += abs(math.log(i.mean / (1e6 * i.level))) <= math.log1p(i.half_percent / 100)
                    tails = ", heavy tails" if shape is heavy else ""
                    print(
                        f"| {levels} | {least} to {most} | {100 * math.expm1(noise):.1f} %{tails} | {name} "
                        f"| {100 * sum(held) / levels / asked.runs:.1f} % | {100 * min(held) / asked.runs:.1f} % "
                        f"| {trials / levels / asked.runs:.1f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
