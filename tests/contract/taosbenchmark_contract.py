"""What the contract tests of taosBenchmark share: a server, both programs, and what a load leaves behind.

They need a real TDengine 3.3 with taosBenchmark: SCALE_TDENGINE_HOME=DIR holding bin/ and lib/.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.contract.tdengine_contract import HOME, NEEDS_SERVER, ROOT, TdengineServer, running
from tests.unit.test_compat_output import SPENT

COLOUR = re.compile(r"\x1b\[\d*m")
GENUINE = [f"{HOME}/bin/taosBenchmark"]
OURS = [sys.executable, "-c", "from scale_sweep.cli import main\nmain()", "load"]
Tool = Callable[..., tuple[int, str]]
pytestmark = [
    *NEEDS_SERVER,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not Path(GENUINE[0]).exists(), reason=f"there is no {GENUINE[0]}"),
]


class Server(TdengineServer):
    """With its adapter, in a directory of its own."""

    def shell(self, statement: str) -> str:
        """The shell's answer without the lines that hold times."""
        lines = super().shell(statement).splitlines()
        return "\n".join(line.rstrip() for line in lines if "|" in line or "error" in line.lower())


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running(lambda folder: Server(folder, HOME, adapter=True), "scale-compat-") as one:
        yield one


def environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TAOS_")}
    ours = {"PYTHONPATH": str(ROOT / "runner"), "COLUMNS": "200"}
    return kept | ours | {"LD_LIBRARY_PATH": f"{HOME}/lib", "TZ": "UTC", "LC_ALL": "C.UTF-8"}


def genuine(folder: Path, *options: str) -> tuple[int, str]:
    """Exit code and standard error; options may hold several, apart by spaces."""
    code, _, err = _run(GENUINE, folder, *options)
    return code, err


def ours(folder: Path, *options: str) -> tuple[int, str]:
    """As `genuine`."""
    code, _, err = _run(OURS, folder, *options)
    return code, err


def genuine_with_output(folder: Path, *options: str) -> tuple[int, str]:
    """Exit code, and all that it says: queries go to standard output."""
    code, out, err = _run(GENUINE, folder, *options)
    return code, out + err


def ours_with_output(folder: Path, *options: str) -> tuple[int, str]:
    """As `genuine_with_output`."""
    code, out, err = _run(OURS, folder, *options)
    return code, out + err


def _run(command: list[str], folder: Path, *options: str) -> tuple[int, str, str]:
    folder.mkdir(exist_ok=True)
    words = [*command, *" ".join(options).split()]
    settings = {"cwd": folder, "env": environment(), "stdin": subprocess.DEVNULL, "timeout": 300, "check": False}
    done = subprocess.run(words, capture_output=True, text=True, **settings)
    return done.returncode, COLOUR.sub("", done.stdout), COLOUR.sub("", done.stderr)


def told(tool: Tool, folder: Path, *options: str) -> str:
    """What it says when it succeeds, in a folder of its own."""
    code, said = tool(folder / tool.__name__, *options)
    assert code == 0, said
    return said


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
