"""A report of a run of searches: time and memory of `scale report`, and the time in which a search decides.

    python bench/report_search.py

The run is made up (tests/unit/searched_run.py): 12 levels × 3 searches of 14 steps, and the confirming trials. A
decision is the work of a search between two steps: it judges the last one and chooses the next rate. Its samples are
those of the whole search at 4 a second. Goals: the report in less than 3 s, a decision in less than 50 ms.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "runner"))

SAMPLES_PER_S = 4


def decisions_ms() -> list[float]:
    """The milliseconds of each decision of one search."""
    from scale_sweep.experiment.axes import load_axis
    from scale_sweep.judge.figures.searched import judged_step, next_step_rate
    from scale_sweep.model.measured import Step
    from tests.unit.raw_run import samples_of
    from tests.unit.searched_run import Queue, SearchedTrials, searched_plan

    plan = searched_plan(1, 1)
    trial, axis = plan.trials[0], load_axis("cores")
    made = SearchedTrials(plan, Queue())
    start_ns, spent, judged = 10**12, list[float](), list[Step]()
    facts = made.opening(trial, start_ns)
    ticks = samples_of(trial, [1] * 220, start_ns)
    each_ns = 10**9 // SAMPLES_PER_S
    samples = [replace(s, monotonic_ns=s.monotonic_ns + at * each_ns) for s in ticks for at in range(SAMPLES_PER_S)]
    facts = replace(facts, samples=tuple(samples))
    rate = next_step_rate(trial, facts.summary, judged)
    while rate is not None:
        seen = made.step(trial, rate, len(judged), start_ns)
        began = time.perf_counter()
        judged.append(judged_step(axis, trial, facts, seen))
        rate = next_step_rate(trial, facts.summary, judged)
        spent.append(1e3 * (time.perf_counter() - began))
    return spent


def main() -> None:
    """Measures decisions, then makes the run once and calls the command several times."""
    from bench.report import measured
    from tests.unit.searched_run import searched_plan, searched_run

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--levels", type=int, default=12)
    parser.add_argument("--searches", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    spent = [one for _ in range(given.runs) for one in decisions_ms()]
    print(f"a decision: {median(spent):.1f} ms ({min(spent):.1f}..{max(spent):.1f}), {len(spent)} of them", flush=True)
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="scale-bench-search-") as folder:
        path = searched_run(Path(folder), searched_plan(given.levels, given.searches)).path
        for command in ("report", "verify"):
            for _ in range(given.runs):
                wall, cpu, memory = measured([command, path])
                size = (Path(path) / "report.html").stat().st_size / 1e6
                print(
                    f"scale {command}: {given.levels} levels × {given.searches} searches: {wall:.1f} s ({cpu:.1f} s of "
                    f"CPU), {memory:.0f} MiB so far, report.html {size:.1f} MB",
                    flush=True,
                )


if __name__ == "__main__":
    main()
