"""What does a TDengine client cost? CPU seconds of the client per million rows, beside the genuine taosBenchmark.

Both load the same schema (meters), tables, rows, rows in a request, threads and vgroups into the same server, which
this starts on CPU 0 with a configuration of its own and removes at the end; the client runs on CPU 1. Runs alternate.
Ratios are the medians of the ratios within one round, whose runs follow each other: the machine's speed moves between
rounds by more than the clients differ.
Database and tables are made before, by the same tool, outside of both meters. CPU seconds hold the start of the
program, preparing and sending.
taosBenchmark binds the same values in every batch of stmt; ours sends fresh values in every row.

    python bench/tdengine_client.py --loadgen PATH --home DIR      # DIR holds bin/taosd, bin/taosBenchmark, lib/
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from measure import run, say, spread, table
from tdengine_server import TdengineServer, find_home

RATE = re.compile(r"Spent ([\d.]+) \(real ([\d.]+)\) seconds to insert rows: (\d+)")


VARIANTS: dict[str, dict[str, object]] = {
    "stock order": {"order": "progressive", "placement": "stock"},
    "vgroups owned, one table after the other": {"order": "progressive"},
    "vgroups owned, tables in turn": {},
    "vgroups owned, tables in turn, 5 requests each": {"requests_per_table": 5},
}


@dataclass(frozen=True, kw_only=True)
class Load:
    """What both tools do."""

    tables: int
    rows_each: int
    per_request: int
    threads: int
    vgroups: int

    @property
    def rows(self) -> int:
        return self.tables * self.rows_each


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One run: CPU seconds of client and server, and rows a second while inserting."""

    cpu_s: float
    server_cpu_s: float
    rows_per_s: float


def pinned(command: list[str]) -> list[str]:
    return ["taskset", "-c", "1", *command]


def theirs(server: TdengineServer, load: Load, method: str) -> Seen:
    """The genuine tool, by a file of its own: its first run makes database and tables, the second loads."""
    command = [str(server.home / "bin" / "taosBenchmark"), "-f", str(server.folder / "insert.json")]
    write_file(server, load, method, is_setup=True)
    run(command)
    write_file(server, load, method, is_setup=False)
    before = server.cpu_s()
    done = run(pinned(command))
    after = server.cpu_s()
    found = RATE.search(re.sub(r"\x1b\[\d*m", "", done.output))
    assert found and int(found[3]) == load.rows, done.output
    return Seen(cpu_s=done.cpu_s, server_cpu_s=after - before, rows_per_s=load.rows / float(found[1]))


def write_file(server: TdengineServer, load: Load, method: str, *, is_setup: bool) -> None:
    """What its flags say by default, as a file: only there a database can be one that exists."""
    columns = [("current", "FLOAT"), ("voltage", "INT"), ("phase", "FLOAT")]
    table = {
        "name": "meters",
        "child_table_exists": "no" if is_setup else "yes",
        "childtable_count": load.tables,
        "childtable_prefix": "d",
        "insert_mode": {"sql": "taosc"}.get(method, method),
        "insert_rows": 0 if is_setup else load.rows_each,
        "timestamp_step": 1,
        "start_timestamp": 1500000000000,
        "columns": [{"name": name, "type": kind} for name, kind in columns],
        "tags": [{"name": "groupid", "type": "INT"}, {"name": "location", "type": "BINARY", "len": 24}],
    }
    database = {"name": "test", "drop": "yes" if is_setup else "no", "vgroups": load.vgroups}
    content = {
        "filetype": "insert",
        "cfgdir": str(server.client_config),
        "host": "localhost",
        "port": server.port,
        "user": "root",
        "password": "taosdata",
        "confirm_parameter_prompt": "no",
        "thread_count": load.threads,
        "num_of_records_per_req": load.per_request,
        "prepared_rand": 10_000,
        "result_file": str(server.folder / "output.txt"),
        "databases": [{"dbinfo": database, "super_tables": [table]}],
    }
    (server.folder / "insert.json").write_text(json.dumps(content))


def ours(server: TdengineServer, load: Load, loadgen: Path, method: str, more: dict[str, object]) -> Seen:
    schemaless = method.startswith("sml")
    create(server, load, supertable=not schemaless)
    spec = server.spec() | {
        "method": method,
        "database": "test",
        "tables": load.tables,
        "partitions": load.vgroups,
        "threads": load.threads,
        "rows": load.rows,
        "rows_per_request": load.per_request,
        **more,
    }
    text = "".join(f"{key}={value}\n" for key, value in spec.items())
    if not schemaless:
        run(pinned([str(loadgen), "tables", "-"]), text)
    before = server.cpu_s()
    done = run(pinned([str(loadgen), "load", "-"]), text)
    after = server.cpu_s()
    summary = json.loads(done.output.splitlines()[-1])
    assert summary["rows_acked"] == load.rows, summary
    return Seen(cpu_s=done.cpu_s, server_cpu_s=after - before, rows_per_s=summary["rows_per_s"])


def create(server: TdengineServer, load: Load, *, supertable: bool) -> None:
    server.shell("DROP DATABASE IF EXISTS test")
    server.shell(f"CREATE DATABASE test VGROUPS {load.vgroups}")
    if supertable:  # schemaless lines make theirs, with tags of text
        server.shell(
            "CREATE STABLE test.meters (ts TIMESTAMP, current FLOAT, voltage INT, phase FLOAT)"
            " TAGS (groupid INT, location BINARY(24))"
        )


def check_count(server: TdengineServer, load: Load) -> None:
    said = server.shell("SELECT COUNT(*) FROM test.meters")
    assert re.search(rf"\b{load.rows}\b", said), said


def measure(
    server: TdengineServer, load: Load, programs: dict[str, Path], methods: list[str], runs: int
) -> dict[str, list[Seen]]:
    variants: dict[str, list[Seen]] = {}
    for _ in range(runs):
        for method in methods:
            genuine = method in ("stmt", "sql")
            if genuine:
                server.shell("DROP DATABASE IF EXISTS test")
                variants.setdefault(f"taosBenchmark {method}", []).append(theirs(server, load, method))
                check_count(server, load)
            for name, more in VARIANTS.items():
                for whose, loadgen in programs.items():
                    if whose == "before" and "requests_per_table" in more:
                        continue  # a build from before this key
                    seen = ours(server, load, loadgen, method, more)
                    variants.setdefault(f"{whose} {method}, {name}", []).append(seen)
                    check_count(server, load)
    server.shell("DROP DATABASE IF EXISTS test")
    return variants


def row(name: str, runs: list[Seen], seen: dict[str, list[Seen]], millions: float) -> list[str]:
    base = seen.get(f"taosBenchmark {name.split()[1].rstrip(',')}")
    against = ["-", "-"]
    if base:
        against = [
            spread([a.cpu_s / b.cpu_s for a, b in zip(runs, base, strict=True)], ".3f"),
            spread([a.rows_per_s / b.rows_per_s for a, b in zip(runs, base, strict=True)], ".3f"),
        ]
    return [
        name,
        spread([r.cpu_s / millions for r in runs], ".3f"),
        against[0],
        spread([r.rows_per_s for r in runs], ".0f"),
        against[1],
        spread([r.server_cpu_s / millions for r in runs], ".3f"),
    ]


def arguments() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--loadgen", default=os.environ.get("SCALE_LOADGEN") or shutil.which("scale-loadgen"))
    p.add_argument("--before", default=None, help="another build of ours, beside the first")
    p.add_argument("--home", default=None, help="TDengine's directory (SCALE_TDENGINE_HOME)")
    p.add_argument("--runs", type=int, default=7, help="alternating runs (default 7)")
    p.add_argument("--methods", default="stmt,sql", help="of stmt, sql, rest, ws, sml-line (default stmt,sql)")
    p.add_argument("--tables", type=int, default=100)
    p.add_argument("--rows-each", type=int, default=100_000)
    p.add_argument("--per-request", type=int, default=10_000)
    p.add_argument("--threads", type=int, default=4)
    p.add_argument("--vgroups", type=int, default=4)
    return p.parse_args()


def main() -> None:
    a = arguments()
    home = Path(a.home) if a.home else find_home()
    if home is None or not a.loadgen:
        sys.exit("name both: --loadgen PATH and --home DIR (or SCALE_LOADGEN, SCALE_TDENGINE_HOME)")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the genuine tools may crash at their end
    load = Load(tables=a.tables, rows_each=a.rows_each, per_request=a.per_request, threads=a.threads, vgroups=a.vgroups)
    methods = a.methods.split(",")
    with tempfile.TemporaryDirectory(prefix="scale-bench-", dir="/var/tmp") as folder:
        server = TdengineServer(Path(folder), home, cpus="0", adapter=bool({"rest", "ws"} & set(methods)))
        try:
            server.start()
            quiet = Path("/proc/loadavg").read_text().split()[0]
            programs = {"ours": Path(a.loadgen).resolve()}
            if a.before:
                programs["before"] = Path(a.before).resolve()
            seen = measure(server, load, programs, methods, a.runs)
        finally:
            server.stop()
    say(f"{load}; medians (least..greatest) of {a.runs} alternating runs; load average before: {quiet}\n")
    table(
        [
            "client",
            "client CPU-s per M rows",
            "of the stock tool's",
            "rows/s",
            "of the stock tool's",
            "server CPU-s per M rows",
        ],
        [row(name, runs, seen, load.rows / 1e6) for name, runs in seen.items()],
    )


if __name__ == "__main__":
    main()
