"""What the genuine taosBenchmark waits for without an end, beside `scale load` with the same file.

Needs what test_taosbenchmark.py needs.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.contract.test_taosbenchmark import HOME, ROOT, environment, pytestmark, server
from tests.contract.test_taosbenchmark_queries import (
    CONSUMED,
    asked,
    filled,
    genuine,
    ours,
    query_file,
    specified,
    subscribe_file,
)

__all__ = ["filled", "pytestmark", "server"]
SECONDS = 8


def interrupted(command: list[str], folder: Path, more: dict[str, str]) -> tuple[int, str]:
    """Exit code and words of a command that runs for so long, and then gets Ctrl-C."""
    folder.mkdir()
    with subprocess.Popen(
        command, cwd=folder, env=environment() | more, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            time.sleep(SECONDS)
            assert process.poll() is None, process.communicate()[0]
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, said


def test_consumers_that_wait_on_end_by_ctrl_c(filled, tmp_path):
    path = subscribe_file(filled, tmp_path, poll_delay=-1)
    code, said = interrupted([str(HOME / "bin" / "taosBenchmark"), "-f", str(path)], tmp_path / "theirs", {})
    assert code == 0 and not CONSUMED.search(said)
    program = [sys.executable, "-c", "from scale_sweep.cli import main\nmain()", "load", "-f", str(path)]
    code, said = interrupted(program, tmp_path / "ours", {"PYTHONPATH": str(ROOT / "runner"), "COLUMNS": "200"})
    assert code == 130, said
    assert CONSUMED.findall(said)[-1][1] == "3000"


def test_a_consumer_that_waits_on_ends_with_more_rows_than_expected(filled, tmp_path):
    for tool in (genuine, ours):
        path = subscribe_file(
            filled, tmp_path, poll_delay=-1, concurrent=1, expect_rows=10, **{"group.id": tool.__name__}
        )
        code, said = tool(tmp_path / tool.__name__, "-f", str(path))
        assert code == 0, said
        assert 10 < int(CONSUMED.findall(said)[-1][1]) <= 3000


def test_a_threshold_of_slow_queries_is_named_and_nothing_hangs(filled, tmp_path):
    """taosBenchmark 3.3.0.0 does not begin to ask."""
    path = query_file(filled, tmp_path, specified_table_query=specified(), kill_slow_query_threshold=1)
    code, said = ours(tmp_path / "ours", "-f", str(path), "--json")
    assert code == 0, said
    document = json.loads(said[said.index("{") : said.rindex("}") + 1])
    assert [one["answered"] for one in document["queries"]] == [12, 12]
    (note,) = [one for one in document["notes"] if "kill_slow_query_threshold" in one]
    assert "no query is killed" in note
    assert len(asked(said)) == 2
