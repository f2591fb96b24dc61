"""The genuine taosBenchmark and `scale load` with the same options leave the same database and print the same lines.

Needs a real TDengine 3.3 with taosBenchmark: SCALE_TDENGINE_HOME=DIR holding bin/ and lib/. Starts a server of its own.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scale_sweep.base.errors import PreflightError
from scale_sweep.loadgen.binary import loadgen_path
from tests.contract.tdengine_contract import running
from tests.unit.test_compat_output import CREATED, DELAY, SPENT

HOME = Path(os.environ.get("SCALE_TDENGINE_HOME", "/nonexistent"))
ROOT = Path(__file__).resolve().parents[2]
ADAPTER_OFFSET = 11
COLOUR = re.compile(r"\x1b\[\d*m")


def _missing() -> str:
    if not (HOME / "bin" / "taosBenchmark").exists():
        return "SCALE_TDENGINE_HOME names no directory holding bin/taosBenchmark"
    try:
        drivers = subprocess.run([loadgen_path(), "drivers"], capture_output=True, text=True, check=True).stdout
    except PreflightError as error:
        return error.message
    return "" if '"tdengine"' in drivers else "the load generator has no driver tdengine"


pytestmark = [
    pytest.mark.tdengine,
    pytest.mark.timeout(600),
    pytest.mark.skipif(bool(_missing()), reason=_missing() or "-"),
]


class Server:
    """A taosd of our own, with its adapter, on free ports and in a directory of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, _free_port()
        self.config = folder / "cfg"
        self._processes: list[subprocess.Popen[bytes]] = []
        self._write()

    def _write(self) -> None:
        for name in ("cfg", "data", "log", "tmp"):
            (self.folder / name).mkdir()
        (self.config / "taos.cfg").write_text(
            f"fqdn localhost\nfirstEp localhost:{self.port}\nserverPort {self.port}\ndataDir {self.folder}/data\n"
            f"logDir {self.folder}/log\ntempDir {self.folder}/tmp\nmonitor 0\naudit 0\ntelemetryReporting 0\n"
            "crashReporting 0\nudf 0\nsupportVnodes 64\nminimalTmpDirGB 0.1\nminimalLogDirGB 0.1\ntimezone UTC\n"
        )
        (self.config / "taosadapter.toml").write_text(
            f'debug = false\nport = {self.port + ADAPTER_OFFSET}\ntaosConfigDir = "{self.config}"\n'
            "[monitor]\ndisable = true\n[opentsdb_telnet]\nenable = false\n[collectd]\nenable = false\n"
            f'[statsd]\nenable = false\n[log]\npath = "{self.folder}/log"\n[uploadKeeper]\nenable = false\n'
        )

    def start(self) -> None:
        self._start("taosd", "-c", str(self.config))
        deadline = time.monotonic() + 60
        while "ready" not in self.shell("show dnodes"):
            assert time.monotonic() < deadline, "taosd is not ready"
            time.sleep(0.3)
        self._start("taosadapter", "-c", str(self.config / "taosadapter.toml"))
        while not _listens(self.port + ADAPTER_OFFSET):
            assert time.monotonic() < deadline, "taosadapter does not listen"
            time.sleep(0.3)

    def _start(self, program: str, *arguments: str) -> None:
        with (self.folder / f"{program}.out").open("wb") as out:
            self._processes.append(
                subprocess.Popen(
                    [str(HOME / "bin" / program), *arguments],
                    env=environment(),
                    stdout=out,
                    stderr=out,
                    start_new_session=True,
                )
            )

    def stop(self) -> None:
        for process in reversed(self._processes):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()

    def shell(self, statement: str) -> str:
        """The shell's answer without the lines that hold times.

        The shell writes by lines: at its exit it can abort, and what it still holds is lost.
        """
        done = subprocess.run(
            ["stdbuf", "-oL", str(HOME / "bin" / "taos"), "-c", str(self.config), "-s", statement],
            env=environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        kept = [line.rstrip() for line in done.stdout.splitlines() if "|" in line or "error" in line.lower()]
        return "\n".join(kept)


def environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TAOS_")}
    return kept | {"LD_LIBRARY_PATH": str(HOME / "lib"), "TZ": "UTC", "LC_ALL": "C.UTF-8"}


def _free_port() -> int:
    for port in range(17130, 17900, 40):
        if not _listens(port) and not _listens(port + ADAPTER_OFFSET):
            return port
    raise AssertionError("no free port")


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def server():
    with running(Server, "scale-compat-") as one:
        yield one


def genuine(folder: Path, *options: str) -> tuple[int, str]:
    """Exit code and standard error; options may hold several, apart by spaces."""
    return _run([str(HOME / "bin" / "taosBenchmark"), *" ".join(options).split()], folder, environment())


def ours(folder: Path, *options: str) -> tuple[int, str]:
    """As `genuine`."""
    code = "from scale_sweep.cli import main\nmain()"
    env = environment() | {"PYTHONPATH": str(ROOT / "runner"), "COLUMNS": "200"}
    return _run([sys.executable, "-c", code, "load", *" ".join(options).split()], folder, env)


def _run(command: list[str], folder: Path, env: dict[str, str]) -> tuple[int, str]:
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        command, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False
    )
    return done.returncode, COLOUR.sub("", done.stderr)


def left(server: Server, database: str, table: str) -> dict[str, str]:
    """What a load left behind: rows, tables with their rows, schema, times, vgroups."""
    where = f"`{database}`.`{table}`"
    info = "information_schema"
    statements = (
        f"select table_name, columns, stable_name from {info}.ins_tables where db_name='{database}' order by table_name",
        f"describe {where}",
        f"select count(*), first(ts), last(ts) from {where}",
        f"select tbname, count(*) from {where} group by tbname order by tbname",
        f"select count(*) from {info}.ins_vgroups where db_name='{database}'",
    )
    names = ("tables", "schema", "rows", "rows of each", "vgroups")
    answers = [server.shell(s) for s in statements]
    for _ in range(20):  # the information schema sometimes has no rows for a moment
        if all(answers):
            break
        time.sleep(0.5)
        answers = [answer or server.shell(s) for answer, s in zip(answers, statements, strict=True)]
    return dict(zip(names, answers, strict=True))


def rows_told(words: str) -> list[tuple[str, str, str]]:
    """Rows, threads and database of each `Spent` line."""
    return [(m[3], m[4], m[5]) for m in SPENT.findall(words)]


CASES = {
    "demo": ("test", "meters", "-t 10 -n 1000 -T 2"),
    "stmt": ("test", "meters", "-I stmt -t 10 -n 25000 -T 3 -v 4"),
    "types": ("test", "meters", "-t 7 -n 30 -T 3 -b INT,BINARY(10),NCHAR,bool -A INT,NCHAR(5),binary -w 20"),
    "numbers": (
        "test",
        "meters",
        "-t 3 -n 30 -T 2 -b TINYINT,SMALLINT,BIGINT,UTINYINT,USMALLINT,UINT,UBIGINT,FLOAT,DOUBLE,TIMESTAMP -A BIGINT",
    ),
    "all of it by stmt": (
        "test",
        "meters",
        "-I stmt -t 3 -n 30 -T 2 -b TINYINT,SMALLINT,BIGINT,UTINYINT,UINT,DOUBLE,TIMESTAMP,BOOL,BINARY(9),NCHAR(9)",
    ),
    "more columns": ("test", "meters", "-t 5 -n 10 -T 3 -l 5 -b float"),
    "partial": ("test", "meters", "-t 5 -n 10 -T 2 -L 2"),
    "upper case": ("test", "meters", "-I stmt -E -m Dev -t 5 -n 10 -T 2"),
    "lower case": ("mydb", "meters", "-m Dev -d MYDB -t 5 -n 10 -T 2"),
    "interlaced": ("test", "meters", "-B 10 -r 50 -t 10 -n 100 -T 2"),
    "interlaced, uneven": ("test", "meters", "-I stmt -B 7 -r 20 -t 5 -n 33 -T 2"),
    "more threads than tables": ("test", "meters", "-t 3 -n 10 -T 20"),
    "time": ("test", "meters", "-t 3 -n 10 -T 2 -S 1000 -s 1600000000000"),
    "long": ("test", "meters", "--tables=3 --records 10 --threads=2 --answer-yes --vgroups 1"),
    "automatic": ("test", "meters", "-t 30 -n 10"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_same_options_leave_the_same(server, tmp_path, name):
    database, table, options = CASES[name]
    arguments = ["-c", str(server.config), "-y", options]
    code, said = genuine(tmp_path / "theirs", *arguments)
    assert code == 0, said
    theirs = left(server, database, table)
    code, words = ours(tmp_path / "ours", *arguments)
    assert code == 0, words
    assert left(server, database, table) == theirs
    assert rows_told(words) == rows_told(said) != []
    assert len(DELAY.findall(words)) == len(DELAY.findall(said)) == 1
    assert CREATED.search(words).groups()[1:] == CREATED.search(said).groups()[1:]
    for folder in ("theirs", "ours"):
        written = (tmp_path / folder / "output.txt").read_text()
        assert SPENT.search(written)
        assert DELAY.search(written)


def test_normal_tables(server, tmp_path):
    seen = []
    for tool in (genuine, ours):
        code, said = tool(tmp_path / tool.__name__, "-c", str(server.config), "-y", "-N -t 5 -n 10 -T 2")
        assert code == 0, said
        rows = "union all ".join(f"select count(*) from test.d{i} " for i in range(5))
        seen.append((left(server, "test", "d0")["tables"], server.shell("describe test.d3"), server.shell(rows)))
        seen[-1] += (rows_told(said),)
    assert seen[0] == seen[1]


def test_rest(server, tmp_path):
    port = str(server.port + ADAPTER_OFFSET)
    seen = []
    for tool in (genuine, ours):
        arguments = ["-h", "localhost", "-P", port, "-y", "-I rest -t 5 -n 100 -r 20 -T 2"]
        code, said = tool(tmp_path / tool.__name__, *arguments)
        assert code == 0, said
        seen.append((left(server, "test", "meters"), rows_told(said)))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("interface", ["sml", "sml-line", "sml-telnet", "sml-json", "sml-taosjson"])
def test_schemaless_loads_every_row(server, tmp_path, interface):
    arguments = ["-c", str(server.config), "-y", f"-I {interface} -t 6 -n 50 -r 20 -T 2"]
    said = genuine(tmp_path / "theirs", *arguments)[1]
    code, words = ours(tmp_path / "ours", *arguments)
    assert code == 0, words
    assert rows_told(words) == rows_told(said) == [("300", "2", "test")]
    assert re.search(r"\b300\b", server.shell("select count(*) from test.meters"))


def test_supplement_and_nodrop_add_to_what_is_there(server, tmp_path):
    config = ["-c", str(server.config), "-y"]
    assert genuine(tmp_path / "a", *config, "-t 4 -n 10 -T 2")[0] == 0
    for extra in ("-U -s 1600000000000", "-Q -s 1700000000000"):
        code, words = ours(tmp_path / "b", *config, f"-t 4 -n 10 -T 2 {extra}")
        assert code == 0, words
    assert re.search(r"\b120\b", server.shell("select count(*) from test.meters"))


def test_insert_interval_takes_as_long(server, tmp_path):
    spent = []
    for tool in (genuine, ours):
        arguments = ["-c", str(server.config), "-y", "-i 100 -r 10 -t 2 -n 100 -T 2"]
        code, said = tool(tmp_path / tool.__name__, *arguments)
        assert code == 0, said
        spent.append(float(SPENT.search(said).group(2)))
    assert spent[1] == pytest.approx(spent[0], rel=0.2)


def insert_file(server: Server) -> dict:
    columns = [
        {"type": "INT"},
        {"type": "DOUBLE", "count": 3},
        {"type": "BINARY", "len": 16, "count": 2},
        {"type": "NCHAR", "name": "nn"},
        {"type": "NCHAR", "name": "mm", "count": 2, "len": 4},
    ]
    tags = [{"type": "TINYINT", "count": 2}, {"type": "BINARY", "len": 16, "count": 2}, {"type": "INT", "name": "g"}]
    stb = {"name": "stb", "childtable_count": 10, "childtable_prefix": "stb_", "insert_mode": "taosc"}
    stb |= {"insert_rows": 250, "timestamp_step": 10, "start_timestamp": "2020-10-01 00:00:00.000"}
    stc = {"name": "stc", "childtable_count": 4, "childtable_prefix": "c_", "insert_mode": "stmt", "insert_rows": 50}
    stc |= {"start_timestamp": 1600000000000000, "interlace_rows": 5, "columns": [{"type": "FLOAT", "name": "current"}]}
    info = {"name": "db1", "drop": "yes", "vgroups": 3, "buffer": 16, "precision": "us", "cachemodel": "'both'"}
    return {
        "filetype": "insert",
        "host": "localhost",
        "port": server.port,
        "cfgdir": str(server.config),
        "user": "root",
        "password": "taosdata",
        "thread_count": 3,
        "create_table_thread_count": 2,
        "result_file": "./lines.txt",
        "confirm_parameter_prompt": "no",
        "num_of_records_per_req": 100,
        "databases": [
            {
                "dbinfo": info,
                "super_tables": [stb | {"columns": columns, "tags": tags}, stc | {"tags": [{"type": "int"}]}],
            }
        ],
    }


def test_the_same_insert_file_leaves_the_same(server, tmp_path):
    path = tmp_path / "insert.json"
    path.write_text(json.dumps(insert_file(server)))
    seen = []
    for tool in (genuine, ours):
        code, said = tool(tmp_path / tool.__name__, "-f", str(path))
        assert code == 0, said
        created = re.sub(r"`db1`.*?VGROUPS", "", server.shell("show create database db1"))
        seen.append((left(server, "db1", "stb"), left(server, "db1", "stc"), created, rows_told(said)))
        assert len(DELAY.findall((tmp_path / tool.__name__ / "lines.txt").read_text())) == 2
    assert seen[0] == seen[1]


def test_a_wrong_password_is_refused_and_not_told(server, tmp_path):
    code, words = ours(tmp_path / "ours", "-c", str(server.config), "-y", "-p", "hunter2", "-t", "2", "-n", "5")
    assert code == 7
    assert "hunter2" not in words + (tmp_path / "ours" / "output.txt").read_text()
