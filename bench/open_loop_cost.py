"""What does a request of an open loop cost, beside another build? CPU nanoseconds per request, alternately.

Requests go into the null driver, which answers at once, so nothing hides the cost. Without waits the offered rate is
beyond what is possible, and every request is sent at once; with waits each request sleeps until it is due. Each run has
a fixed number of requests; the CPU time of the program's start is in both. The programs run in the order before, after,
before, and so on, and the first of both is left out of the figures.

    python bench/open_loop_cost.py --before PATH --after PATH --runs 9
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from operator import truediv
from pathlib import Path

from measure import Programs, run_loadgen, say, spread, table

SHARED = {"driver": "null", "tables": 100, "rows_per_request": 1}
READS = {"operations": "range", "ask.range.text": "{device} {at}", "rows_present": 1000, "check_every": 0}


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is offered, and how many requests of it."""

    name: str
    requests: int
    spec: Mapping[str, object]


CASES = (
    Case(name="writes of 1 row, no waits", requests=2_000_000, spec={"rate": 1e9}),
    Case(name="queries, no waits", requests=2_000_000, spec={"rate": 1e9, **READS}),
    Case(name="writes of 1 row, 20 k/s, 8 connections", requests=60_000, spec={"rate": 20_000, "threads": 8}),
)


def cpu_ns(program: Path, case: Case) -> float:
    """CPU time of one request, user and system."""
    spec = {**SHARED, **case.spec, "requests": case.requests}
    done, _ = run_loadgen(Programs(loadgen=program, tsdbperf=program), spec)
    return done.cpu_s / case.requests * 1e9


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--before", type=Path, required=True)
    p.add_argument("--after", type=Path, required=True)
    p.add_argument("--runs", type=int, default=9, help="alternating runs (default 9)")
    asked = p.parse_args()
    rows = []
    for case in CASES:
        seen: dict[Path, list[float]] = {asked.before: [], asked.after: []}
        for _ in range(asked.runs + 1):
            for program, costs in seen.items():
                costs.append(cpu_ns(program.resolve(), case))
        before, after = (costs[1:] for costs in seen.values())
        ratios = list(map(truediv, after, before))
        row = [case.name, spread(before, ".0f"), spread(after, ".0f"), f"{statistics.median(ratios):.3f}"]
        rows.append([*row, f"{statistics.median(after) - statistics.median(before):+.0f}"])
    say(f"CPU ns per request, medians (least..greatest) of {asked.runs} alternating runs")
    table(("load", "before", "after", "after / before", "difference, ns"), rows)


if __name__ == "__main__":
    main()
