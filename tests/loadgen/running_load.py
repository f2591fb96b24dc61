"""A load that is caught while it runs, and a PostgreSQL that is stopped under it; for tests of how loads end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from loadgen_program import Outcome, parse, spec_text
from postgres_server import PostgresServer

ANSWERED = r'"rows_total":[1-9]'  # of an interval: the server has acknowledged rows
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
