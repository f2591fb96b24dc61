"""A load generator that is not ours, as a shell script: its words are read to their end before they are judged."""

import os
import signal

import pytest

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen import foreign
from scale_sweep.loadgen.foreign import ForeignCommand, ForeignLoad, ForeignResult
from scale_sweep.model import LoadProgram

CPUS = tuple(sorted(os.sched_getaffinity(0)))
LIMIT_S = 120.0
PROGRAM = LoadProgram(name="sh")


def parse(output):
    """The last line is the count of rows. Raises ValueError."""
    rows = int(output.strip().splitlines()[-1].removeprefix("rows "))
    return ForeignResult(rows=rows, seconds=1.0, threads=1, delay_ms={})


def run(script):
    command = ForeignCommand(program=PROGRAM, argv=("/bin/sh", "-c", script), env={}, files={}, parse=parse)
    with ForeignLoad(command, CPUS) as load:
        for _ in load.lines(LIMIT_S):
            pass
        return load, load.summary()


def test_the_last_words_count_although_they_come_after_the_end():
    _, summary = run("echo begin; (sleep 0.7; echo rows 5) & exit 0")
    assert summary.rows_acked == 5
    assert summary.cpu_window_s is not None


def test_many_words_are_all_read():
    load, summary = run("seq 1 400000; echo rows 7")
    assert (summary.rows_acked, summary.program, len(load.raw)) == (7, PROGRAM, 400_001)


def test_why_it_failed_is_said_although_it_comes_after_the_end():
    with pytest.raises(LoadError, match="ended with code 3: no such table"):
        run("(sleep 0.7; echo no such table) & exit 3")


def test_words_that_never_end_are_not_waited_for(monkeypatch, tmp_path):
    monkeypatch.setattr(foreign, "READ_S", 0.5)
    _, summary = run(f"echo rows 9; sleep 600 & echo $! > {tmp_path}/pid; exit 0")
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert summary.rows_acked == 9
