"""What does a query to TDengine cost the client? CPU microseconds per query, beside the genuine taosBenchmark.

All ask the same statements of the same tables, one at a time through libtaos, and fetch all rows: taosBenchmark with a
query file, the load generator with the spec that `scale load` makes of such a file, and a C program that only calls
libtaos (bare_reads.c). What a run of one round costs is start-up, and is taken off. The server runs on CPU 0, clients
on CPU 1. Runs alternate; a ratio is the median of the ratios within one round. The server is removed at the end.

    python bench/tdengine_reads.py --loadgen PATH --home DIR      # DIR holds bin/taosd, bin/taosBenchmark, lib/
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from measure import ROOT, Finished, Programs, run, say, spread, table
from tdengine_client import pinned
from tdengine_server import HOW_TO_GET, TdengineServer, find_home

TABLES, ROWS, DATABASE = 50, 10_000, "test"
QUERIES = re.compile(r"completed total queries: (\d+)")
CLIENTS = ("taosBenchmark", "scale-loadgen", "libtaos alone")


@dataclass(frozen=True, kw_only=True)
class Case:
    """One statement; `xxxx` in it stands for each table in turn. rounds: how often it is asked; rows: of an answer."""

    name: str
    sql: str
    rounds: int
    rows: int

    @property
    def tables(self) -> int:
        """Queries of one round."""
        return TABLES if "xxxx" in self.sql else 1


CASES = (
    Case(name="last_row of one table", sql="select last_row(*) from d0", rounds=4000, rows=1),
    Case(name="last_row of each table", sql="select last_row(*) from xxxx", rounds=80, rows=1),
    Case(name="10,000 rows of each table", sql="select * from xxxx", rounds=12, rows=ROWS),
)


@dataclass(frozen=True, kw_only=True)
class Client:
    """The clients' programs, and the server that they ask."""

    server: TdengineServer
    loadgen: Path
    bare: Path

    def run(self, who: str, case: Case, rounds: int) -> Finished:
        done = {"taosBenchmark": self._genuine, "scale-loadgen": self._ours, "libtaos alone": self._bare}[who](
            case, rounds
        )
        assert done.output, who
        return done

    def _genuine(self, case: Case, rounds: int) -> Finished:
        part = {"query_times": rounds, "threads": 1, "sqls": [{"sql": case.sql}]}
        named = (
            {"super_table_query": part | {"stblname": "meters"}} if case.tables > 1 else {"specified_table_query": part}
        )
        reached = {"cfgdir": str(self.server.client_config), "host": "localhost", "port": self.server.port}
        content = {"filetype": "query", **reached, "user": "root", "password": "taosdata", "databases": DATABASE}
        path = self.server.folder / "query.json"
        path.write_text(json.dumps(content | {"confirm_parameter_prompt": "no", **named}))
        done = run(pinned([str(self.server.home / "bin" / "taosBenchmark"), "-f", str(path)]))
        found = QUERIES.search(done.output)
        assert found and int(found[1]) == rounds * case.tables, done.output
        return done

    def _ours(self, case: Case, rounds: int) -> Finished:
        spec = self.server.spec() | {
            "method": "sql",
            "database": DATABASE,
            "operations": "query",
            "ask.query.text": case.sql.replace("xxxx", "{item}"),
            "rounds": rounds,
            "check_every": 0,
            "rows_per_request": 1,
        }
        if case.tables > 1:
            items = self.server.folder / "items"
            items.write_text("".join(f"`{DATABASE}`.`d{i}`\n" for i in range(TABLES)))
            spec["items"] = items
        path = self.server.folder / "spec"
        path.write_text("".join(f"{key}={value}\n" for key, value in spec.items()))
        done = run(pinned([str(self.loadgen), "load", str(path)]))
        (query,) = json.loads([line for line in done.output.splitlines() if line.startswith("{")][-1])["operations"]
        assert query["units_acked"] == rounds * case.tables, done.output
        assert query["rows_window"] == query["units_acked"] * case.rows, done.output
        return done

    def _bare(self, case: Case, rounds: int) -> Finished:
        parts = case.sql.split("xxxx")
        counts = [str(TABLES)] if case.tables > 1 else []
        config, port = str(self.server.client_config), str(self.server.port)
        done = run(pinned([str(self.bare), config, port, DATABASE, str(rounds), *parts, *counts]))
        assert f"rows {rounds * case.tables * case.rows}\n" in done.output, done.output
        return done


@dataclass(frozen=True, kw_only=True)
class Seen:
    """CPU us per query, and of it in user mode, without start-up."""

    cpu_us: float
    user_us: float


def seen(client: Client, who: str, case: Case) -> Seen:
    begun, done = client.run(who, case, 1), client.run(who, case, case.rounds)
    queries = (case.rounds - 1) * case.tables
    user_s, system_s = (getattr(done, n) - getattr(begun, n) for n in ("cpu_user_s", "cpu_system_s"))
    return Seen(cpu_us=(user_s + system_s) / queries * 1e6, user_us=user_s / queries * 1e6)


def compiled(home: Path, folder: Path) -> Path:
    """bare_reads.c, linked with that libtaos."""
    path, library = folder / "bare_reads", home / "lib"
    source = ROOT / "bench" / "bare_reads.c"
    run(
        [
            "cc",
            "-std=gnu11",
            "-O2",
            "-Wall",
            "-Wextra",
            source,
            "-o",
            path,
            f"-L{library}",
            "-ltaos",
            f"-Wl,-rpath,{library}",
        ]
    )
    return path


def prepare(server: TdengineServer) -> None:
    tool = [str(server.home / "bin" / "taosBenchmark"), "-c", str(server.client_config), "-y"]
    shape = ["-t", str(TABLES), "-n", str(ROWS), "-T", "2", "-v", "2", "-d", DATABASE]
    run([*tool, *shape, "-o", str(server.folder / "output.txt")])
    for _ in range(2):
        server.shell(f"FLUSH DATABASE {DATABASE}")


def lines(found: dict[tuple[str, str], list[Seen]]) -> list[list[str]]:
    def ratio(case: Case, who: str, whose: str) -> str:
        pairs = zip(found[case.name, who], found[case.name, whose], strict=True)
        return "1" if who == whose else spread([ours.cpu_us / theirs.cpu_us for ours, theirs in pairs], ".2f")

    return [
        [
            case.name,
            who,
            spread([s.cpu_us for s in found[case.name, who]], ".1f"),
            f"{statistics.median(s.user_us for s in found[case.name, who]):.1f}",
            ratio(case, who, "taosBenchmark"),
            ratio(case, who, "libtaos alone"),
        ]
        for case in CASES
        if (case.name, CLIENTS[0]) in found
        for who in CLIENTS
    ]


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--loadgen", default=os.environ.get("SCALE_LOADGEN") or shutil.which("scale-loadgen"))
    p.add_argument("--home", default=None, help="TDengine's directory (SCALE_TDENGINE_HOME)")
    p.add_argument("--runs", type=int, default=5, help="alternating rounds (default 5)")
    p.add_argument("--cases", default="0,1,2", help="numbers of cases (default 0,1,2)")
    a = p.parse_args()
    home = Path(a.home) if a.home else find_home()
    if home is None or not a.loadgen:
        sys.exit(f"name both: --loadgen PATH and --home DIR (or SCALE_LOADGEN, SCALE_TDENGINE_HOME); {HOW_TO_GET}")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the genuine tools may crash at their end
    with_ = Programs(loadgen=Path(a.loadgen).resolve(), tsdbperf=Path())
    found: dict[tuple[str, str], list[Seen]] = {}
    with tempfile.TemporaryDirectory(prefix="scale-bench-", dir="/var/tmp") as folder:
        server = TdengineServer(Path(folder), home, cpus="0")
        try:
            server.start()
            os.environ.update(server.environment())
            os.chdir(folder)  # taosBenchmark writes output.txt where it runs
            prepare(server)
            client = Client(server=server, loadgen=with_.loadgen, bare=compiled(home, Path(folder)))
            for _ in range(a.runs):
                for case in (CASES[int(number)] for number in a.cases.split(",")):
                    for who in CLIENTS:
                        found.setdefault((case.name, who), []).append(seen(client, who, case))
        finally:
            server.stop()
    load = Path("/proc/loadavg").read_text().split()[0]
    say(f"`{' '.join(sys.argv)}`: median (least..greatest) of {a.runs} alternating rounds; load average {load}\n")
    table(
        ["answer", "client", "client CPU-us per query", "of it user", "of taosBenchmark's", "of libtaos alone"],
        lines(found),
    )


if __name__ == "__main__":
    main()
