"""Provokes limits beside `scale judge`, and counts how often it names the right one.

    python bench/judge.py [--count N] [--only NAME] [--seed N] [--rest S] [--out FILE.csv]

CASES has what each run should show, written before it runs. Servers are on the first CPU, loads on the last. On
a machine where others run, OTHER_PROCESSES is the honest answer: look at the cores. Of a network in another namespace
judge sees nothing, so CONNECTIONS is as much as it can say there; of a row's lock in a database that it may not ask as
well.
Needs root, control groups of version 1, two CPUs, curl, iptables, and the tools with their servers: pgbench, sysbench,
redis-benchmark, wrk, ab.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runner"))

from bench import judged_servers
from bench.judged_servers import LOAD_CPU, SERVER_CPU, Server
from scale_sweep.loadgen.readers import reader_of
from scale_sweep.model.resources import CORES, Amount, Placement, Resources
from scale_sweep.server.runtimes.cgroup import Group, make_group

RATE_S = 0.5  # of a load that does not end by time
LOAD_QUOTA, SERVER_QUOTA = 0.25, 0.4
LOAD_S = 6  # 2 more where something is stopped
REST_PERCENT = 10.0
TOOLS = {  # the command, and the rate in its output
    "pgbench": ("pgbench -h 127.0.0.1 -p {port} -U postgres -n -T {seconds} {flags} postgres", ""),
    "sysbench": (
        "sysbench --mysql-host=127.0.0.1 --mysql-port={port} --mysql-user=root --time={seconds} {flags} run",
        r"transactions: +\d+ +\(([0-9.]+) per sec",
    ),
    "redis-benchmark": ("redis-benchmark -p {port} -n {many} {flags}", r"([0-9.]+) requests per second"),
    "wrk": ("wrk -d{seconds}s -H 'Accept-Encoding: gzip' {flags}", r"Requests/sec: +([0-9.]+)"),
    "ab": ("ab -q -H Accept-Encoding:gzip -t {seconds} -n 100000000 {flags}", r"Requests per second: +([0-9.]+)"),
    "python": (f"{sys.executable} {{folder}}/threads.py {{port}} {{seconds}} {{flags}}", r"([0-9.]+) answers/s"),
}
FILES = {
    "set.sql": "".join(f"\\set x{n} random(1, 100000)\n" for n in range(600)) + "SELECT 1;\n",
    "sum.sql": "SELECT sum(abalance) FROM pgbench_accounts WHERE aid < 2000;\n",
    "sleep.sql": "SELECT pg_sleep(0.01);\n",
    "hot.sql": "BEGIN;\nUPDATE hot SET n = n + 1;\nSELECT pg_sleep(0.02);\nEND;\n",
    "busy.lua": "function event() local x = 0 for i = 1, 200000 do x = x + math.sin(i) end db_query('SELECT 1') end\n",
    "slow.lua": "function request() local x = 0 for i = 1, 20000 do x = x + math.sin(i) end return wrk.format() end\n",
    "threads.py": """import http.client, sys, threading, time
port, seconds, threads = map(int, sys.argv[1:])
counts, end = [0] * threads, time.monotonic() + seconds
def ask(number):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    while time.monotonic() < end:
        connection.request("GET", "/small")
        connection.getresponse().read()
        counts[number] += 1
every = [threading.Thread(target=ask, args=(number,)) for number in range(threads)]
[one.start() for one in every], [one.join() for one in every]
print(sum(counts) / seconds, "answers/s")
""",
}
Around = Callable[[Server], AbstractContextManager[tuple[str, ...]]]  # gives what stands before the tool


@contextmanager
def apart(server: Server) -> Iterator[tuple[str, ...]]:
    yield (*server.prefix, "taskset", "-c", LOAD_CPU)


@contextmanager
def together(server: Server) -> Iterator[tuple[str, ...]]:
    yield ("taskset", "-c", SERVER_CPU)


@contextmanager
def limited(cores: float) -> Iterator[Group]:
    placement = Placement(server_cpus=(), generator_cpus=(), quota_cores=cores)
    amounts = {CORES: Amount(value=cores, unit="core")}
    group = make_group(f"scale-bench-{os.getpid()}", Resources(amounts=amounts, placement=placement))
    assert group is not None, "control groups are not writable"
    try:
        yield group
    finally:
        group.remove()


@contextmanager
def limited_server(server: Server) -> Iterator[tuple[str, ...]]:
    with limited(SERVER_QUOTA) as group:
        move(server.processes(), group.procs_files)
        try:
            with apart(server) as words:
                yield words
        finally:
            move(server.processes(), tuple(str(Path(file).parents[1] / "cgroup.procs") for file in group.procs_files))


def move(processes: list[psutil.Process], files: tuple[str, ...]) -> None:
    for process, file in itertools.product(processes, files):
        with suppress(ProcessLookupError):
            Path(file).write_text(str(process.pid))


@contextmanager
def neighbour(server: Server) -> Iterator[tuple[str, ...]]:
    busy = subprocess.Popen(["taskset", "-c", SERVER_CPU, sys.executable, "-I", "-c", "while True: pass"])
    try:
        with apart(server) as words:
            yield words
    finally:
        busy.kill()
        busy.wait()


def limited_load(server: Server, tools: list[psutil.Process]) -> None:
    with limited(LOAD_QUOTA) as group:
        move(tools, group.procs_files)
        psutil.wait_procs(tools, timeout=60)


def stopped_load(server: Server, tools: list[psutil.Process]) -> None:
    stop(lambda: tools, 2.0)


def stopped_server(server: Server, tools: list[psutil.Process]) -> None:
    stop(server.processes, 3.0)


def stop(found: Callable[[], list[psutil.Process]], seconds: float) -> None:
    """From the third second of the load on."""
    time.sleep(2.5)
    processes = found()
    for sent in (signal.SIGSTOP, signal.SIGCONT):
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(sent)
        time.sleep(seconds)


def nothing(server: Server, tools: list[psutil.Process]) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Case:
    group: str  # whose limit it is: server, generator, other
    server: str  # a function of judged_servers
    tool: str
    flags: str
    limits: tuple[str, ...]  # each would be right
    around: Around = apart
    during: Callable[[Server, list[psutil.Process]], None] = nothing  # processes: of the tool

    @property
    def name(self) -> str:
        how = [one.__name__ for one in (self.around, self.during) if one not in (apart, nothing)]
        return " ".join((f"{self.group}:", self.tool, self.flags.replace(HTTP, ""), *how))


HTTP, EVAL = "http://127.0.0.1:{port}", 'eval "local x=0 for i=1,%d do x=x+i end return x" 0'
USUAL = {  # of each tool: its server, many clients, one client
    "pgbench": ("postgres", "-S -c 16", "-S -c 1"),
    "sysbench": (
        "mariadb",
        "--threads=8 --table-size=20000 oltp_point_select",
        "--threads=1 --table-size=20000 oltp_point_select",
    ),
    "redis-benchmark": ("redis", "-c 32 get big0", "-c 1 get big0"),
    "wrk": ("nginx", f"-t1 -c32 {HTTP}/small", f"-t1 -c1 {HTTP}/small"),
    "ab": ("nginx", f"-k -c 16 {HTTP}/small", f"-k -c 1 {HTTP}/small"),
}
FULL = {  # loads that make more work than one CPU does
    "pgbench": ("-S -c 8", "-S -c 16 -M prepared", "-N -c 8", "-c 4 -f {folder}/sum.sql"),
    "sysbench": tuple(
        f"--threads=8 --table-size=20000 oltp_{n}" for n in ("point_select", "read_only", "update_non_index")
    )
    + ("--threads=4 --table-size=20000 select_random_ranges",),
    "redis-benchmark": (
        f"-c 16 {EVAL % 50000}",
        f"-c 50 {EVAL % 20000}",
        "-c 20 bitcount big",
        "-c 20 lpos list 20000",
    ),
    "wrk": (f"-t1 -c8 {HTTP}/16k", f"-t1 -c64 {HTTP}/4k", f"-t2 -c32 {HTTP}/64k", f"-t1 -c16 {HTTP}/64k"),
    "ab": (f"-k -c 8 {HTTP}/16k", f"-k -c 32 {HTTP}/64k", f"-c 16 {HTTP}/16k", f"-k -c 100 {HTTP}/16k"),
}
SPENT = {  # that make more work for their one thread than for the server
    "pgbench": ("postgres", "-c 8 -j 1 -f {folder}/set.sql"),
    "sysbench": ("mariadb", "--threads=2 {folder}/busy.lua"),
    "wrk": ("nginx", f"-t1 -c16 -s {{folder}}/slow.lua {HTTP}/small"),
    "redis-benchmark": ("redis", "-c 200 get none"),  # nginx needs more CPU than ab
    "python": ("nginx", "8"),
}


def all_of(group: str, limits: str, tools: str, flags: int = 1, **more: object) -> list[Case]:
    """flags: the place in USUAL."""
    rows = ((tool, USUAL[tool]) for tool in tools.split())
    expected = tuple(limits.split())
    return [Case(group=group, server=u[0], tool=t, flags=u[flags], limits=expected, **more) for t, u in rows]


EVERY, WAITS = " ".join(USUAL), ("CONNECTIONS",)
CASES = (
    *(Case(group="server", server=USUAL[t][0], tool=t, flags=f, limits=("SERVER_CPU",)) for t in FULL for f in FULL[t]),
    *(Case(group="generator", server=s, tool=t, flags=f, limits=("GENERATOR_CPU",)) for t, (s, f) in SPENT.items()),
    *all_of("generator", "GENERATOR_CPU", EVERY, during=limited_load),
    *all_of("generator", "GENERATOR_LATE", EVERY, during=stopped_load),
    *all_of("generator", "SHARED_CPU", EVERY, around=together),
    *all_of("other", "QUOTA THROTTLING", "pgbench sysbench redis-benchmark wrk", around=limited_server),
    *all_of("other", "OTHER_PROCESSES", "pgbench sysbench wrk", around=neighbour),
    *all_of("other", "CONNECTIONS", "pgbench sysbench redis-benchmark wrk ab", flags=2),
    *all_of("other", "STALL", "pgbench sysbench redis-benchmark", during=stopped_server),
    Case(group="other", server="postgres", tool="pgbench", flags="-c 4 -f {folder}/sleep.sql", limits=WAITS),
    Case(group="other", server="redis", tool="redis-benchmark", flags="-c 4 blpop none 0.01", limits=WAITS),
    Case(group="other", server="postgres", tool="pgbench", flags="-c 8 -f {folder}/hot.sql", limits=("LOCKS", *WAITS)),
    Case(group="other", server="slow_postgres", tool="pgbench", flags="-N -c 8", limits=("DISK",)),
    Case(group="other", server="slow_postgres", tool="pgbench", flags="-N -c 16 -j 2", limits=("DISK",)),
    Case(group="other", server="far_nginx", tool="wrk", flags=f"-t1 -c16 {HTTP}/64k", limits=("NETWORK", *WAITS)),
)


def judged(case: Case, server: Server, folder: Path, load_s: int = LOAD_S) -> dict[str, object]:
    """What `scale judge` says of it."""
    command, pattern = TOOLS[case.tool]
    names = {
        "port": server.port,
        "folder": folder,
        "seconds": load_s + (2 if case.during in (stopped_load, stopped_server) else 0),
    }

    def words(many: int) -> list[str]:
        return shlex.split(command.format(**names, many=many, flags=case.flags.format(**names)))

    with case.around(server) as before:
        many = rate_of(before, words) * names["seconds"] if "{many}" in command else 0.0
        many = max(1, round(many * (LOAD_QUOTA if case.during is limited_load else 1)))
        given = () if reader_of(words(many)) else ("--rate-from", pattern)
        scale = [str(Path(sys.executable).parent / "scale"), "judge", "--json", "--pid", str(server.process.pid)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        run = subprocess.Popen([*scale, *given, "--", *before, *words(many)], cwd=folder, **pipes)
        case.during(server, tools_of(case, psutil.Process(run.pid)))
        out, errors = run.communicate(timeout=120)
    if not out:
        raise SystemExit(f"{case.name}: {errors}")
    return json.loads(out)


def rate_of(before: tuple[str, ...], words: Callable[[int], list[str]]) -> float:
    """Requests per second, of as many as take long enough to say so."""
    many, took_s = 10, 0.0
    while took_s < RATE_S:
        many, began_s = many * 5, time.monotonic()
        subprocess.run([*before, *words(many)], capture_output=True, timeout=60)
        took_s = time.monotonic() - began_s
    return many / took_s


def tools_of(case: Case, judge: psutil.Process) -> list[psutil.Process]:
    """Once they run; none if they have ended."""
    while judge.is_running() and judge.status() != psutil.STATUS_ZOMBIE:
        if tools := [p for p in judge.children(recursive=True) if p.name() == case.tool]:
            return tools
        time.sleep(0.05)
    return []


def wait_for_rest(seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and psutil.cpu_percent(interval=1.0) > REST_PERCENT:
        pass


class Servers(ExitStack):
    """Each when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder, self._running = folder, {}
        for name, text in FILES.items():
            (folder / name).write_text(text)

    def named(self, name: str) -> Server:
        if name not in self._running:
            (self._folder / name).mkdir()
            self._running[name] = self.enter_context(getattr(judged_servers, name)(self._folder / name))
        return self._running[name]


def row_of(case: Case, told: dict[str, object]) -> dict[str, object]:
    seen, m = told["bottleneck"] or {"kind": "-", "sentence": ""}, told["measurement"]
    row = {"case": case.name, "group": case.group, "tool": case.tool, "expected": " or ".join(case.limits)}
    row |= {"seen": seen["kind"], "verdict": told["verdict"], "right": seen["kind"] in case.limits}
    cores = {part: m[f"{part}_cpu_cores"] for part in ("server", "generator", "other")}
    return (
        row
        | cores
        | {"rate": told["rate_per_s"], "sentence": seen["sentence"], "reason": "; ".join(told["reasons"][:2])}
    )


def bar(rows: list[dict[str, object]]) -> str:
    valid = {
        group: sum(r["verdict"] == "VALID" for r in rows if r["group"] == group) for group in ("server", "generator")
    }
    many = {group: sum(r["group"] == group for r in rows) for group in valid}
    right = sum(bool(r["right"]) for r in rows)
    return (
        f"right bottleneck: {right} of {len(rows)} (at least 95 %); generator-bound and VALID: {valid['generator']} of "
        f"{many['generator']} (0); server-bound and not VALID: {many['server'] - valid['server']} of {many['server']} "
        "(at most 1)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=len(CASES), help="so many of the cases")
    parser.add_argument("--only", default="", help="cases with these words in their name")
    parser.add_argument("--seed", type=int, default=1, help="of their order")
    parser.add_argument(
        "--rest", type=float, default=0.0, help="seconds to wait, at most, for idle CPUs before each run"
    )
    parser.add_argument("--out", type=Path, help="a CSV file of all rows")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # all servers end
    cases = [case for case in CASES if arguments.only in case.name]
    random.Random(arguments.seed).shuffle(cases)
    rows: list[dict[str, object]] = []
    print("| case | expected | seen | verdict | right | server | load | others | sentence |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name, Servers(Path(name)) as servers:
        for case in cases[: arguments.count]:
            wait_for_rest(arguments.rest)
            row = row_of(case, judged(case, servers.named(case.server), Path(name)))
            rows.append(row)
            shown = {k: f"{v:.2f}" if isinstance(v, float) else v for k, v in row.items()}
            keys = "case expected seen verdict right server generator other sentence".split()
            print(f"| {' | '.join(str(shown[key]) for key in keys)} |", flush=True)
    print(bar(rows))
    if arguments.out and rows:
        with arguments.out.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
