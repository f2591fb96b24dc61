"""What does it cost to keep the times of requests? CPU nanoseconds per request with a trace and without, alternately.

Requests go into the null driver, which discards rows and answers queries from memory, so nothing hides the cost. Each
run has a fixed number of requests; the seconds for starting the program are in both.

    python bench/trace_cost.py --loadgen PATH
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from operator import truediv
from pathlib import Path

from measure import Programs, run_loadgen, say, spread, table

REQUESTS = 1_000_000
SHARED = {"driver": "null", "tables": 100, "requests": REQUESTS, "trace_max": REQUESTS, "check_every": 0}
READS = {"operations": "range", "ask.range.text": "{device} {at}", "rows_present": 1000}


@dataclass(frozen=True, kw_only=True)
class Case:
    """What a request is."""

    name: str
    spec: Mapping[str, object]


CASES = (
    Case(name="a query answered from memory", spec=READS),
    Case(name="a write of 1 row", spec={"rows_per_request": 1}),
    Case(name="a write of 100 rows", spec={"rows_per_request": 100}),
)


def cpu_ns(program: Path, case: Case, trace: Mapping[str, object]) -> float:
    """CPU time of one request, user and system."""
    done, _ = run_loadgen(Programs(loadgen=program, tsdbperf=program), {**SHARED, **case.spec, **trace})
    return done.cpu_s / REQUESTS * 1e9


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--loadgen", default=os.environ.get("SCALE_LOADGEN"), required="SCALE_LOADGEN" not in os.environ)
    p.add_argument("--runs", type=int, default=7, help="alternating runs (default 7)")
    arguments = p.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        traces = {"none": {}, "1": {"trace": f"{folder}/a"}, "100": {"trace": f"{folder}/a", "trace_every": 100}}
        for case in CASES:
            seen: dict[str, list[float]] = {name: [] for name in traces}
            for number in range(arguments.runs):
                for name in list(traces)[:: 1 if number % 2 else -1]:
                    seen[name].append(cpu_ns(Path(arguments.loadgen), case, traces[name]))
            ratios = [statistics.median(map(truediv, seen[name], seen["none"])) for name in ("1", "100")]
            rows.append([case.name, *(spread(seen[n], ".0f") for n in traces), *(f"{ratio:.3f}" for ratio in ratios)])
    say(f"CPU ns per request, {REQUESTS:,} requests, one thread, {arguments.runs} alternating runs")
    head = ("request", "no trace", "every request", "one in 100", "every / none", "one in 100 / none")
    table(head, rows)


if __name__ == "__main__":
    main()
