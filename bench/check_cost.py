"""What does the check of answers cost the load generator? CPU microseconds per query with the check and without.

The same queries go to a real PostgreSQL in alternating runs. With the key that trials of 40 s have, two answers in each
second are handed over as text; without it, no answer is. Each round has two runs without: their ratio shows the error.
The server is removed at the end.

    python bench/check_cost.py --loadgen PATH
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Mapping
from operator import truediv
from pathlib import Path

from measure import Programs, run_loadgen, say, spread, table
from postgres_server import PostgresServer
from read_cost import CASES, ROWS, data, prepare

from scale_sweep.loadgen.spec import checks_per_s

TRIALS = {"check_per_s": checks_per_s(40)}
CHECKS: Mapping[str, Mapping[str, object]] = {"off": {}, "on": TRIALS, "off again": {}}
LONG = "SELECT g, g * 1.5::float8, g * 0.25::float8 FROM generate_series(1, 200000) g"


def asked() -> Mapping[str, Mapping[str, object]]:
    """What is asked, by its name."""
    some = {case.name: case.ours() for case in CASES if case.rows in (1, 5000)}
    return {**some, "200,000 rows": {"operations": "read", "ask.read.text": LONG}}


def cpu_us(with_: Programs, server: PostgresServer, spec: Mapping[str, object], seconds: int) -> float:
    """CPU time of one query, user and system, in a run of so many seconds."""
    lines = {**server.spec(), **data(), "rows_present": ROWS, "check_every": 0, "duration_s": seconds, **spec}
    done, summary = run_loadgen(with_, lines)
    return float(done.cpu_s / summary["requests"] * 1e6)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--loadgen", default=os.environ.get("SCALE_LOADGEN"), required="SCALE_LOADGEN" not in os.environ)
    p.add_argument("--runs", type=int, default=5, help="alternating runs (default 5)")
    p.add_argument("--seconds", type=int, default=5, help="of each run (default 5)")
    arguments = p.parse_args()
    with_ = Programs(loadgen=Path(arguments.loadgen), tsdbperf=Path())
    server, rows = PostgresServer.create(port=54333), []
    try:
        server.start()
        prepare(with_, server)
        for name, spec in asked().items():
            seen: dict[str, list[float]] = {check: [] for check in CHECKS}
            for number in range(arguments.runs):
                for check in list(CHECKS)[:: 1 if number % 2 else -1]:
                    seen[check].append(cpu_us(with_, server, {**spec, **CHECKS[check]}, arguments.seconds))
            ratios = [statistics.median(map(truediv, seen[check], seen["off"])) for check in ("on", "off again")]
            rows.append(
                [name, *(spread(seen[check], ".1f") for check in CHECKS), *(f"{ratio:.3f}" for ratio in ratios)]
            )
    finally:
        server.remove()
    say(f"CPU us per query, one connection, {arguments.runs} alternating runs of {arguments.seconds} s")
    table(("answer", "no check", "with checks", "no check again", "with / without", "without / without"), rows)


if __name__ == "__main__":
    main()
