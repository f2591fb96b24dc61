"""A load that is caught while it runs, and a PostgreSQL that is stopped under it; for tests of how loads end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from loadgen_program import Outcome, parse, spec_text
from postgres_server import PostgresServer
from third_request import assert_late

ANSWERED = r'"rows_total":[1-9]'  # of an interval: the server has acknowledged rows
PATIENCE_S = 60  # for an end that the load's own deadlines bring in a few seconds
LASTING = {"tables": 2, "threads": 2, "duration_s": 600, "interval_s": 0.2}
METERS = "time timestamptz NOT NULL, device_id int4 NOT NULL, current real, voltage int4, phase real"


def make_table(server: PostgresServer, columns: str) -> None:
    server.query(f"DROP TABLE IF EXISTS measurement; CREATE TABLE measurement ({columns})")


def make_partitions(server: PostgresServer, partitions: int) -> None:
    """The table of meters in so many parts."""
    make_table(server, f"{METERS}) PARTITION BY HASH (device_id")
    for p in range(partitions):
        values = f"FOR VALUES WITH (MODULUS {partitions}, REMAINDER {p})"
        server.query(f"CREATE TABLE measurement_p{p} PARTITION OF measurement {values}")


def signal_all(server: PostgresServer, what: signal.Signals) -> None:
    """To the server and its backends, which are its children."""
    assert server.process is not None
    pid = server.process.pid
    children = open(f"/proc/{pid}/task/{pid}/children").read().split()
    for one in (pid, *map(int, children)):
        with suppress(ProcessLookupError):  # a child may end meanwhile
            os.kill(one, what)


@contextmanager
def stopped(server: PostgresServer) -> Iterator[None]:
    """The server takes connections, and answers nothing on any."""
    signal_all(server, signal.SIGSTOP)
    try:
        yield
    finally:
        signal_all(server, signal.SIGCONT)


@dataclass
class Running:
    """A load that runs. seen: what it has told and was read."""

    process: subprocess.Popen[bytes]
    seen: str = ""

    def until(self, said: str) -> None:
        """Reads on to the first line that matches."""
        assert self.process.stdout
        line = ""
        while not re.search(said, line):
            line = self.process.stdout.readline().decode()
            assert line, f"it ended: {self.seen}"
            self.seen += line

    def heed(self, how: signal.Signals) -> None:
        """Sends a signal, as soon as the program takes signals."""
        deadline = time.monotonic() + PATIENCE_S
        blocked = re.compile(r"^SigBlk:\s*(\w+)", re.MULTILINE)
        status = Path(f"/proc/{self.process.pid}/status")
        while not int(blocked.findall(status.read_text())[0], 16) >> (how - 1) & 1:  # it reads them from a descriptor
            assert time.monotonic() < deadline
            time.sleep(0.01)
        self.process.send_signal(how)

    def end(self) -> Outcome:
        stdout, stderr = self.process.communicate(timeout=PATIENCE_S)
        return parse(self.process.returncode, self.seen + stdout.decode(), stderr.decode())


@contextmanager
def begun(
    program: Path, spec: dict[str, object], said: str = '"interval"', verb: str = "load", **settings: str
) -> Iterator[Running]:
    """A load that has told its first interval, or what else it is to have `said`; "": that has just been started."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [program, verb, "-"],
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        bufsize=0,  # a buffer would hide lines from `communicate`
        env=os.environ | settings,
    ) as process:
        assert process.stdin
        process.stdin.write(spec_text(spec).encode())
        process.stdin.close()
        process.stdin = None
        running = Running(process)
        try:
            if said:
                running.until(said)
            yield running
        finally:
            process.kill()


def stopped_meanwhile(program: Path, server: PostgresServer, *, rows_per_request: int, **spec: object) -> Outcome:
    """A load of two threads whose server stops while it runs: each has a request without an answer at its deadline.

    The rows that are stored are at least those acknowledged, and at most those sent."""
    words = {**server.spec(), **LASTING, "rows_per_request": rows_per_request, "request_timeout_s": 2, **spec}
    with begun(program, words, said=ANSWERED) as running, stopped(server):
        outcome = running.end()
    assert_late(outcome, 2 * rows_per_request)
    stored, acked = int(server.query("SELECT count(*) FROM measurement")[0][0]), outcome.summary["rows_acked"]
    assert acked <= stored <= acked + 2 * rows_per_request
    return outcome
