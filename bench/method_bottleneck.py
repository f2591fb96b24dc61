"""A server that cannot use more than 6.2 of 12 cores: which verdicts its trials get, and which curve comes out of them.

    python bench/method_bottleneck.py [--runs 200] [--noise 0.02] [--seed 1]

Each run is simulated from a known truth through the real planner, diagnosis, connections check and fit: a trial's
evidence goes to the rules, the planner asks for the checks, and what is fitted are the observations. Nothing is
started. The last columns say what the fit predicts for 12 cores: before the check existed (levels with idle cores left
out), and now.
"""

from __future__ import annotations

import argparse
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import median

from scale_sweep.analysis.connections_check import with_checks
from scale_sweep.analysis.fit.curve import fit_curve, value_at
from scale_sweep.analysis.fit.words import Terms
from scale_sweep.analysis.observations import observations
from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.verdict.diagnose import diagnose
from scale_sweep.judge.verdict.evidence import Evidence, ResourceUse, TrialResources
from scale_sweep.machine.host.host_facts import Cpu, Host
from scale_sweep.measure.executing.execute import run_campaign
from scale_sweep.model.events import Event, PlanGrew, TrialFinished
from scale_sweep.model.fitted import FitReport
from scale_sweep.model.measured import Measurement, TrialResult, VerdictKind
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.plan import planner_of
from scale_sweep.plan.make import make_plan
from scale_sweep.plan.target_defaults import complete
from scale_sweep.server.targets import load_target
from scale_sweep.sweep.resolve import resolve_sweep

LEVELS, GIVEN_CORES, PER_CORE = 12, 12.0, 1e6
CORES = load_axis("cores")


@dataclass(frozen=True, kw_only=True)
class Truth:
    """cores: what the server uses at a level with so many connections. use: what the other figures look like then."""

    what: str
    cores: Callable[[float, int], float]
    use: dict[str, object]


TRUTHS = (
    Truth(what="a lock: 6.2 cores, all connections wait", cores=lambda n, _: min(n, 6.2), use={"in_flight": 0.96}),
    Truth(
        what="a lock that the database tells",
        cores=lambda n, _: min(n, 6.2),
        use={"in_flight": 0.96, "waits": {"lock: tuple": 0.8, "": 0.2}},
    ),
    Truth(what="one hot thread at 6.2 cores", cores=lambda n, _: min(n, 6.2), use={"hot_thread": ("writer", 0.97)}),
    Truth(what="nothing explains 6.2 cores", cores=lambda n, _: min(n, 6.2), use={"in_flight": 0.4}),
    Truth(
        what="too few connections: 24 of 0.26 cores each",
        cores=lambda n, many: min(n, 0.26 * many),
        use={"in_flight": 0.96},
    ),
    Truth(
        what="a busy neighbour takes the rest", cores=lambda n, _: min(n, 6.2), use={"in_flight": 0.96, "others": True}
    ),
    Truth(what="no limit within 12 cores", cores=lambda n, _: n, use={"in_flight": 0.96}),
)


def plan_of(
    seed: int, replicates: int, levels: str = f"1..{LEVELS}", vary: Mapping[str, tuple[str, ...]] | None = None
) -> Plan:
    """A plan for a machine with sixteen CPUs. vary: the second factors of its sweep, with their values."""
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
    flags = {"axis.cores": levels, "method.replicates": str(replicates), "method.seed": str(seed)}
    target = load_target("postgres")
    sweep = replace(resolve_sweep("cpu", flags), target="postgres", runtime="process", vary=dict(vary or {}))
    return make_plan(complete(sweep, target.facts), host, target.facts)


def judged(truth: Truth, trial: Trial, noise: float, chance: random.Random) -> TrialResult:
    """The trial as the rules see it."""
    used = truth.cores(trial.level, trial.load.connections)
    rate = PER_CORE * used * math.exp(chance.gauss(0, noise))
    figures = {name: value for name, value in truth.use.items() if name != "others"}
    others = trial.cores - used if truth.use.get("others") else 0.0
    use = ResourceUse(
        seconds=10.0,
        rate_per_s=rate,
        server_cpu_cores=0.97 * used,
        generator_cpu_cores=0.5,
        other_cpu_cores=others,
        **figures,
    )
    m = Measurement(rows=9, rows_per_s=rate, window_s=10.0, server_cpu_cores=use.server_cpu_cores)
    given = TrialResources(
        cores=trial.cores, quota=False, generator_cpus=4, shared_cpus=(), threads=trial.load.connections
    )
    verdict = diagnose(Evidence(resources=given, measurement=m, window=use, seconds=(use,)), CORES)
    return TrialResult(trial=trial, measurement=m, verdict=verdict)


def simulated(truth: Truth, plan: Plan, noise: float, seed: int) -> tuple[Plan, list[TrialResult]]:
    """A whole run, the checks that the planner asks for included."""
    chance, results, plans = random.Random(f"{truth.what}/{seed}"), [], [plan]

    def run(trial: Trial) -> Iterator[Event]:
        yield TrialFinished(result=judged(truth, trial, noise, chance))

    def sink(event: object) -> None:
        if isinstance(event, PlanGrew):
            plans.append(event.plan)
        elif isinstance(event, TrialFinished):
            results.append(event.result)

    run_campaign(plan, planner_of(plan), run, [sink])
    return plans[-1], results


def predicted(results: list[TrialResult] | tuple[TrialResult, ...]) -> tuple[FitReport, float | None]:
    """The fit, and what its chosen model says of all cores."""
    terms = Terms(axis="cores", one="core", rate="rows/s")
    found = fit_curve(observations(results, "rows_per_s"), terms, rate="rows_per_s")
    return found, value_at(found, GIVEN_CORES)


def row(truth: Truth, runs: int, noise: float, seed: int, replicates: int) -> str:
    """One line of the table."""
    kinds: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    before, now, checks = [], [], 0
    for number in range(runs):
        plan, results = simulated(truth, plan_of(seed + number, replicates), noise, seed + number)
        final = with_checks(plan, results)
        above = [r for r in final if r.trial.role == "point" and r.trial.level > 6]
        kinds.update(r.verdict.kind.value for r in above)
        checks += sum(r.trial.role == "check" for r in final)
        before.append(predicted([r for r in final if r.verdict.kind is not VerdictKind.SOFTWARE_BOTTLENECK])[1])
        fit, value = predicted(final)
        now.append(value)
        verdicts[fit.verdict] += 1
    total = sum(kinds.values())
    told = ", ".join(f"{kind} {100 * count / total:.0f} %" for kind, count in kinds.most_common())
    curve = ", ".join(f"{kind} {100 * count / runs:.0f} %" for kind, count in verdicts.most_common())
    real = truth.cores(GIVEN_CORES, 24)
    return f"| {truth.what} | {real:.1f} | {checks / runs:.1f} | {told} | {middle(before)} | {middle(now)} | {curve} |"


def middle(values: list[float | None]) -> str:
    """The median in M rows/s of the runs that have a value."""
    known = [value for value in values if value is not None]
    return f"{median(known) / 1e6:.1f}" if known else "none"


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--noise", type=float, default=0.02, help="of ln(rate), from trial to trial")
    parser.add_argument("--replicates", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print(
        "| truth | M rows/s at 12 | checks a run | verdicts of levels 7 to 12 | 12 without them "
        "| 12 with them | curve |"
    )
    print("|---|---|---|---|---|---|---|")
    for truth in TRUTHS:
        print(row(truth, asked.runs, asked.noise, asked.seed, asked.replicates), flush=True)


if __name__ == "__main__":
    main()
