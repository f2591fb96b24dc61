"""What the genuine taosBenchmark waits for without an end, beside `scale load` with the same file.

Needs what taosbenchmark_contract.py needs.
"""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

from tests.contract.taosbenchmark_contract import GENUINE, OURS, environment, pytestmark, server, told
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


def interrupted(command: list[str], folder: Path) -> tuple[int, str]:
    """Exit code and words of a command that runs for so long, and then gets Ctrl-C."""
    folder.mkdir()
    with subprocess.Popen(
        command, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
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
    code, said = interrupted([*GENUINE, "-f", str(path)], tmp_path / "theirs")
    assert code == 0 and not CONSUMED.search(said)
    code, said = interrupted([*OURS, "-f", str(path)], tmp_path / "ours")
    assert code == 130, said
    assert CONSUMED.findall(said)[-1][1] == "3000"


def test_a_consumer_that_waits_on_ends_with_more_rows_than_expected(filled, tmp_path):
    for tool in (genuine, ours):
        one = {"poll_delay": -1, "concurrent": 1, "expect_rows": 10, "group.id": tool.__name__}
        said = told(tool, tmp_path, "-f", str(subscribe_file(filled, tmp_path, **one)))
        assert 10 < int(CONSUMED.findall(said)[-1][1]) <= 3000


def test_a_threshold_of_slow_queries_is_named_and_nothing_hangs(filled, tmp_path):
    """taosBenchmark 3.3.0.0 does not begin to ask."""
    path = query_file(filled, tmp_path, specified_table_query=specified(), kill_slow_query_threshold=1)
    said = told(ours, tmp_path, "-f", str(path), "--json")
    document = json.loads(said[said.index("{") : said.rindex("}") + 1])
    assert [one["answered"] for one in document["queries"]] == [12, 12]
    (note,) = [one for one in document["notes"] if "kill_slow_query_threshold" in one]
    assert "no query is killed" in note
    assert len(asked(said)) == 2
