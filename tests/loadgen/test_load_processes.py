"""The door to the load generator with real processes: several of them as one, however they end."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen.process import LoadProcesses
from scale_sweep.loadgen.protocol import Phase
from scale_sweep.loadgen.recorded import read_recorded
from scale_sweep.loadgen.split import split_spec
from scale_sweep.model import Interval

CPUS = tuple(sorted(os.sched_getaffinity(0)))
SPEC = {"protocol": "1", "driver": "null", "tables": "10", "threads": "2", "rows_per_request": "100"}
LIMIT_S = 60.0


def ended_in_warmup(program: Path, upon: type) -> LoadProcesses:
    """Two processes that were told to end before their window, upon the first line of a kind."""
    specs = split_spec({**SPEC, "rate": "1000", "duration_s": "30", "warmup_s": "30"}, 1, time.monotonic_ns())
    with LoadProcesses(str(program), specs, CPUS, secret="") as load:
        told = False
        for line in load.lines(LIMIT_S):
            if isinstance(line, upon) and not told:
                told = True
                for pid in load.pids:
                    os.kill(pid, signal.SIGTERM)
    assert told
    return load


def test_processes_that_end_before_the_window_are_summed_up(program):
    summary = ended_in_warmup(program, Interval).summary()
    assert summary is not None
    assert summary.outcome == "interrupted"
    assert summary.window_end_ns == summary.window_start_ns
    assert (summary.rows_window, summary.rows_per_s, summary.cpu_window_s) == (0, None, None)
    assert summary.rows_acked > 0
    assert summary.last_ack_ns is not None and summary.last_ack_ns < summary.window_start_ns


def test_no_interval_is_lost_when_one_process_ends_before_the_other(program):
    """Its last, short interval and all that the other says after it; the recorded lines give the same."""
    specs = split_spec({**SPEC, "rate": "5000", "duration_s": "4", "warmup_s": "1"}, 1, time.monotonic_ns())
    with LoadProcesses(str(program), specs, CPUS, secret="") as load:
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


def test_processes_that_end_before_their_first_answer_are_summed_up(program):
    summary = ended_in_warmup(program, Phase).summary()
    assert summary is not None
    assert (summary.rows_acked, summary.last_ack_ns, summary.cpu_window_s) == (0, None, None)


@pytest.mark.parametrize(("said", "words"), [('"protocol":7,', "speaks protocol 7, "), ("", "speaks protocol none, ")])
def test_an_answer_in_another_protocol_is_refused(tmp_path, said, words):
    other = tmp_path / "scale-loadgen"
    hello = f'{{"event":"hello",{said}"version":"9.1.0","driver":"null","method":"discard"}}'
    other.write_text(f"#!/bin/sh\ncat > {tmp_path}/spec\necho '{hello}'\nexec sleep 60\n")
    other.chmod(0o755)
    with LoadProcesses(str(other), [SPEC], CPUS, secret="") as load:
        with pytest.raises(LoadError, match=f"9.1.0 {words}asked for was protocol 1") as caught:
            for _ in load.lines(LIMIT_S):
                pass
    assert "SCALE_LOADGEN" in caught.value.remedy


def test_the_protocol_that_was_asked_for_is_accepted(program):
    with LoadProcesses(str(program), [{**SPEC, "rows": "1000"}], CPUS, secret="") as load:
        for _ in load.lines(LIMIT_S):
            pass
    assert load.hello is not None
    assert str(load.hello.protocol) == SPEC["protocol"]


def test_a_process_that_is_late_is_refused_and_named(program):
    """Two processes whose windows are 0.4 s apart have no rate together."""
    first, second = split_spec({**SPEC, "rate": "1000", "duration_s": "2"}, 1, time.monotonic_ns())
    late = {**second, "start_at_ns": str(int(second["start_at_ns"]) + 400_000_000)}
    with LoadProcesses(str(program), [first, late], CPUS, secret="") as load:
        with pytest.raises(LoadError, match=r"window of process 2 of 2 of the load generator began 0\.4\d\d s after"):
            for _ in load.lines(LIMIT_S):
                pass
    assert load.summary() is not None  # it is kept, for the record


def test_processes_with_a_number_of_rows_need_not_end_together(program):
    specs = split_spec({**SPEC, "rate": "5000", "rows": "9000", "threads": "3"}, 2, time.monotonic_ns())
    with LoadProcesses(str(program), specs, CPUS, secret="") as load:
        for _ in load.lines(LIMIT_S):
            pass
    summary = load.summary()
    assert summary is not None
    assert summary.rows_acked == 9000


def test_a_process_that_says_that_it_was_late_is_named(tmp_path):
    other = tmp_path / "scale-loadgen"
    other.write_text("#!/bin/sh\ngrep -q first_worker=1 && exit 8\nexit 0\n")
    other.chmod(0o755)
    specs = split_spec({**SPEC, "duration_s": "1"}, 1, time.monotonic_ns())
    with LoadProcesses(str(other), specs, CPUS, secret="") as load:
        with pytest.raises(
            LoadError, match=r"the load generator \(process 2 of 2\) was not ready when all were to begin"
        ):
            list(load.lines(LIMIT_S))


def test_errors_are_told_once_a_code_with_the_count_of_all_processes(program):
    lines = {**SPEC, "rate": "10000", "duration_s": "1", "retries": "0", "null_fail_every": "10"}
    specs = split_spec(lines, 1, time.monotonic_ns())
    with LoadProcesses(str(program), specs, CPUS, secret="") as load:
        list(load.lines(LIMIT_S))
    (trouble,) = load.troubles
    summary = load.summary()
    assert summary is not None
    assert trouble.count == summary.errors > 2
