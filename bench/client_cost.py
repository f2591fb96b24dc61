"""What does a client cost beside the reference client of its database? CPU seconds per million rows.

Both send the same number of rows of three values (float, int, float) and a device into the same real server, in
requests of 1000 rows (--per-request) of one device, over one connection; the clients in turn. Ours sends fresh values
in every row, and its CPU seconds are those of the whole process. The reference client (bench/reference_clients.py)
sends the same values in every request, and its CPU seconds are those of its calls only. The database counts the rows of
each run.

    python -m venv VENV && VENV/bin/pip install questdb pandas psycopg[binary] influxdb cassandra-driver apache-iotdb
    python bench/client_cost.py DATABASE --python VENV/bin/python --loadgen PATH

`"questdb, pgwire"` is a method of a database; its password is the environment's SCALE_PASSWORD, which must be set.
Beside it runs libpq's pipeline mode as well (bare_pipeline.c; needs cc and libpq.so.5); without --python, that alone.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from measure import ROOT, Finished, run, say, spread, table

sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "runner"))

from scale_sweep.loadgen.spec import spec_text, trial_spec
from scale_sweep.server.targets import Session
from tests.integration.real_server import RealServer, real_server, required

DEVICES = 100
APART_MS = 1_000_000_000  # the rows of each run are later than those before
REFERENCES = {
    "questdb": ("questdb, Sender.row", "questdb, Sender.dataframe"),
    "questdb, pgwire": ("psycopg, executemany",),
    "influxdb": ("influxdb, write_points",),
    "cassandra": ("cassandra-driver, batches of 100",),
    "iotdb": ("apache-iotdb, Tablet", "apache-iotdb, NumpyTablet"),
}
PIPELINED = "questdb, pgwire"


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One run of a client: its CPU seconds, rows a second, and how many rows the database has from it."""

    cpu_s: float
    rows_per_s: float
    stored: int


Client = Callable[[int, int], Seen]
"""Loads so many rows from this time on."""


def ours(server: RealServer, session: Session, sending: str = "real") -> Client:
    def load(rows: int, start_ms: int) -> Seen:
        spec = {**trial_spec(server.trial, session.load_spec()), "threads": "1", "warmup_s": "0", "sending": sending}
        del spec["duration_s"]
        spec.pop("tags", None)
        text = spec_text({**spec, "rows": str(rows), "start_ms": str(start_ms)}) + "tags=\n"  # none, as the others
        done = run([server.program, "load", "-"], text)
        summary = last_line(done)
        assert summary["rows_acked"] == rows, summary
        return Seen(cpu_s=done.cpu_s, rows_per_s=summary["rows_per_s"], stored=rows if sending == "real" else 0)

    return load


def theirs(server: RealServer, python: str, name: str) -> Client:
    def load(rows: int, start_ms: int) -> Seen:
        work = {
            "host": server.address.host,
            "port": server.address.port,
            "rows": rows,
            "devices": DEVICES,
            "per_request": server.trial.work.data.rows_per_request,
            "start_ms": start_ms,
            "parts": server.trial.load.partitions,
        }
        items = ",".join(f"{key}={value}" for key, value in work.items())
        return reported(run([python, ROOT / "bench" / "reference_clients.py", name, items]), rows)

    return load


def pipelined(server: RealServer, session: Session, folder: Path) -> Client:
    """bare_pipeline.c, which it compiles. The server has a table for each partition."""
    program, source = folder / "bare_pipeline", ROOT / "bench" / "bare_pipeline.c"
    run(["cc", "-std=gnu11", "-O3", source, "-o", program, "-l:libpq.so.5"])
    host, port = (session.load_spec()[key] for key in ("host", "port"))

    def load(rows: int, start_ms: int) -> Seen:
        per_request, parts = server.trial.work.data.rows_per_request, server.trial.load.partitions
        numbers = (rows, DEVICES, per_request, start_ms, parts)
        return reported(run([program, host, port, *map(str, numbers)]), rows)

    return load


def reported(done: Finished, rows: int) -> Seen:
    """The CPU seconds and the rate of a client that prints `cpu_s` and `elapsed_s`."""
    figures = last_line(done)
    return Seen(cpu_s=figures["cpu_s"], rows_per_s=rows / figures["elapsed_s"], stored=rows)


def last_line(done: Finished) -> dict:
    """A library may have written warnings before."""
    return json.loads(done.output.splitlines()[-1])


def measure(a: argparse.Namespace, folder: Path) -> dict[str, list[Seen]]:
    name, _, method = a.database.partition(", ")
    flags = {"workload__tables": str(DEVICES), "workload__rows_per_request": str(a.per_request)}
    flags |= {"load__method": method} if method else {}
    with real_server(required(name), folder, secret=os.environ.get("SCALE_PASSWORD", ""), **flags) as server:
        session = server.start()
        session.create_schema()
        session.create_tables()
        clients = {name: theirs(server, a.python, name) for name in REFERENCES[a.database]} if a.python else {}
        if a.database == PIPELINED:
            clients["libpq, pipeline mode"] = pipelined(server, session, folder)
            clients["scale-loadgen, nothing sent"] = ours(server, session, "stubbed")
        clients["scale-loadgen"] = ours(server, session)
        seen: dict[str, list[Seen]] = {name: [] for name in clients}
        start_ms, stored = server.trial.work.data.start_ms, 0
        for turn in range(a.runs + 1):  # the first one warms the server, and does not count
            for name, load in clients.items():
                cost = load(a.rows, start_ms)
                start_ms += APART_MS
                stored += cost.stored
                counted = session.count()
                assert counted and counted.rows == stored, (name, counted, stored)
                if turn:
                    seen[name].append(cost)
        server.end()
    return seen


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("database", choices=REFERENCES)
    p.add_argument("--python", help="python of an environment with the reference clients")
    p.add_argument("--loadgen", default=os.environ.get("SCALE_LOADGEN"), help="scale-loadgen")
    p.add_argument("--runs", type=int, default=5, help="alternating runs (default 5)")
    p.add_argument("--rows", type=int, default=200_000, help="rows of a run (default 200000)")
    p.add_argument("--per-request", type=int, default=1000, help="rows of a request (default 1000)")
    arguments = p.parse_args()
    if not arguments.python and arguments.database != PIPELINED:
        p.error("--python is needed: where the reference clients are")
    if arguments.loadgen:
        os.environ["SCALE_LOADGEN"] = str(Path(arguments.loadgen).resolve())
    folder = Path(tempfile.mkdtemp(prefix="scale-client-cost-", dir="/var/tmp"))
    try:
        seen = measure(arguments, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    millions = arguments.rows / 1e6
    own = statistics.median(s.cpu_s for s in seen["scale-loadgen"])
    say(f"{arguments.database}: median (least..greatest) of {arguments.runs} alternating runs of {arguments.rows} rows")
    say(f"`{' '.join(sys.argv)}`\n")
    table(
        ["client", "client CPU-s per M rows", "scale-loadgen's of it", "rows/s"],
        [
            [
                name,
                spread([s.cpu_s / millions for s in found], ".3f"),
                f"{own / statistics.median(s.cpu_s for s in found):.3f}",
                spread([s.rows_per_s for s in found], ".0f"),
            ]
            for name, found in seen.items()
        ],
    )


if __name__ == "__main__":
    main()
