"""The door to the load generator with real processes: several of them as one, however they end."""

from __future__ import annotations

import os
import signal
import time

import pytest

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen.handle import read_recorded
from scale_sweep.loadgen.process import LoadProcesses
from scale_sweep.loadgen.protocol import Phase
from scale_sweep.loadgen.split import split_spec
from scale_sweep.model.loads import Interval

CPUS = tuple(sorted(os.sched_getaffinity(0)))
SPEC = {"protocol": "1", "driver": "null", "tables": "10", "threads": "2", "rows_per_request": "100"}
LIMIT_S = 60.0


def ran(program, specs: list[dict[str, str]]) -> LoadProcesses:
    """All lines of processes that ended well."""
    with LoadProcesses(str(program), specs, CPUS, secret="") as load:
        list(load.lines(LIMIT_S))
    return load


def split(processes: int = 1, **more: str) -> list[dict[str, str]]:
    return split_spec(SPEC | more, processes, time.monotonic_ns())


@pytest.mark.parametrize("upon", [Interval, Phase])
def test_processes_that_end_before_the_window_are_summed_up(program, upon):
    """Told to end upon the first line of a kind: an interval, or a phase, which comes before the first answer."""
    with LoadProcesses(str(program), split(rate="1000", duration_s="30", warmup_s="30"), CPUS, secret="") as load:
        told = False
        for line in load.lines(LIMIT_S):
            if isinstance(line, upon) and not told:
                told = True
                for pid in load.pids:
                    os.kill(pid, signal.SIGTERM)
    summary = load.summary()
    assert told and summary is not None
    assert summary.outcome == "interrupted"
    assert summary.window_end_ns == summary.window_start_ns
    assert (summary.rows_window, summary.rows_per_s, summary.cpu_window_s) == (0, None, None)
    assert (summary.rows_acked > 0) == (upon is Interval)
    assert (summary.last_ack_ns or 0) < summary.window_start_ns
    assert (summary.last_ack_ns is None) == (upon is Phase)


def test_no_interval_is_lost_when_one_process_ends_before_the_other(program):
    """Its last, short interval and all that the other says after it; the recorded lines give the same."""
    with LoadProcesses(str(program), split(rate="5000", duration_s="4", warmup_s="1"), CPUS, secret="") as load:
        seen = []
        for line in load.lines(LIMIT_S):
            if isinstance(line, Interval):
                seen.append(line)
                if len(seen) == 2:
                    os.kill(load.pids[0], signal.SIGTERM)
    summary = load.summary()
    assert summary is not None
    assert [int(i.t_s) for i in seen[:5]] == [1, 2, 3, 4, 5]
    assert sum(i.rows for i in seen) == summary.rows_acked == seen[-1].rows_total
    assert sum(i.requests for i in seen) == summary.requests
    assert 1.5 < seen[1].rows / seen[4].rows < 2.5
    recorded = read_recorded("".join(load.raw))
    assert (list(recorded.intervals), recorded.summary) == (seen, summary)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (
            'echo \'{"event":"hello","protocol":7,%s}\'; exec sleep 60',
            "9.1.0 speaks protocol 7, asked for was protocol 1",
        ),
        ('echo \'{"event":"hello",%s}\'; exec sleep 60', "9.1.0 speaks protocol none, asked for was protocol 1"),
        ("grep -q first_worker=1 spec.$$ && exit 8", r"\(process 2 of 2\) was not ready when all were to begin"),
    ],
)
def test_a_program_that_speaks_otherwise_or_was_late_is_refused_by_name(tmp_path, script, words):
    other = tmp_path / "scale-loadgen"
    hello = '"version":"9.1.0","driver":"null","method":"discard"'
    script = script.replace("%s", hello)
    other.write_text(f"#!/bin/sh\ncd {tmp_path}\ncat > spec.$$\n{script}\nexit 0\n")
    other.chmod(0o755)
    with pytest.raises(LoadError, match=words) as caught:
        ran(other, split(duration_s="1"))
    assert ("SCALE_LOADGEN" in caught.value.remedy) == ("protocol" in words)


def test_a_process_that_is_late_is_refused_and_named(program):
    """Two processes whose windows are 0.4 s apart have no rate together."""
    first, second = split(rate="1000", duration_s="1")
    late = {**second, "start_at_ns": str(int(second["start_at_ns"]) + 400_000_000)}
    with LoadProcesses(str(program), [first, late], CPUS, secret="") as load:
        with pytest.raises(LoadError, match=r"window of process 2 of 2 of the load generator began 0\.4\d\d s after"):
            list(load.lines(LIMIT_S))
    assert load.summary() is not None  # it is kept, for the record


def test_processes_with_a_number_of_rows_need_not_end_together(program):
    load = ran(program, split(2, rate="5000", rows="9000", threads="3"))
    summary = load.summary()
    assert summary is not None and load.hello is not None
    assert str(load.hello.protocol) == SPEC["protocol"]
    assert summary.rows_acked == 9000


def test_errors_are_told_once_a_code_with_the_count_of_all_processes(program):
    load = ran(program, split(rate="10000", duration_s="1", retries="0", null_fail_every="10"))
    (trouble,), summary = load.troubles, load.summary()
    assert summary is not None
    assert trouble.count == summary.errors > 2
