"""A load that is caught while it runs, and a PostgreSQL that is stopped under it; for tests of how loads end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from loadgen_program import Outcome, parse, spec_text
from postgres_server import PostgresServer

ANSWERED = r'"rows_total":[1-9]'  # of an interval: the server has acknowledged rows
LASTING = {"tables": 2, "threads": 2, "duration_s": 60, "interval_s": 0.2}
METERS = "time timestamptz NOT NULL, device_id int4 NOT NULL, current real, voltage int4, phase real"


def make_table(server: PostgresServer, columns: str) -> None:
    server.query(f"DROP TABLE IF EXISTS measurement; CREATE TABLE measurement ({columns})")


def signal_all(server: PostgresServer, what: signal.Signals) -> None:
    """To the server and its backends, which are its children."""
    assert server.process is not None
    pid = server.process.pid
    children = open(f"/proc/{pid}/task/{pid}/children").read().split()
    for one in (pid, *map(int, children)):
        with suppress(ProcessLookupError):  # a child may end meanwhile
            os.kill(one, what)


@contextmanager
def begun(program: Path, spec: dict[str, object], said: str = '"interval"') -> Iterator[Callable[[], Outcome]]:
    """A load that has told its first interval, or what else it is to have `said`; what is yielded waits for its end."""
    with subprocess.Popen(
        [program, "load", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(spec_text(spec))
        process.stdin.close()
        process.stdin = None
        seen = ""
        while not re.search(said, seen):
            line = process.stdout.readline()
            assert line, f"it ended: {seen}"
            seen += line

        def end() -> Outcome:
            stdout, stderr = process.communicate(timeout=20)
            return parse(process.returncode, seen + stdout, stderr)

        try:
            yield end
        finally:
            process.kill()


def assert_late(outcome: Outcome, unanswered: int, seconds: float) -> None:
    """It ended in time, by the deadline, and says what it does not know."""
    assert (outcome.code, outcome.summary["outcome"]) == (5, "fatal"), outcome.stderr
    assert {e["code"] for e in outcome.of("error")} == {"deadline"}
    assert outcome.summary["error_kinds"][0]["code"] == "deadline"
    assert outcome.summary["rows_unanswered"] == unanswered
    assert outcome.summary["rows_failed"] == 0
    assert seconds < 8


def stopped_meanwhile(program: Path, server: PostgresServer, *, rows_per_request: int, **spec: object) -> Outcome:
    """A load of two threads whose server stops while it runs: each has a request without an answer at its deadline.

    The rows that are stored are at least those acknowledged, and at most those sent."""
    words = {**server.spec(), **LASTING, "rows_per_request": rows_per_request, "request_timeout_s": 1, **spec}
    with begun(program, words, said=ANSWERED) as end:
        signal_all(server, signal.SIGSTOP)
        stopped = time.monotonic()
        try:
            outcome = end()
            seconds = time.monotonic() - stopped
        finally:
            signal_all(server, signal.SIGCONT)
    assert_late(outcome, 2 * rows_per_request, seconds)
    stored, acked = int(server.query("SELECT count(*) FROM measurement")[0][0]), outcome.summary["rows_acked"]
    assert acked <= stored <= acked + 2 * rows_per_request
    return outcome
