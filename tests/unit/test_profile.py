"""Profiled trials: planned last and not fitted, stacks recorded by the real perf where it is, graphs of our own."""

import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import replace

import psutil
import pytest

from scale_sweep.analysis.observations import observations
from scale_sweep.plan.preparing import machine_findings
from scale_sweep.report.flame import flame_svg, grown, profile_html, tree
from scale_sweep.server.runtimes.stacks import StackRecorder, fold, profile_obstacle
from tests.needs import needs
from tests.unit.factories import make_result
from tests.unit.synthetic_run import synthetic_run
from tests.unit.test_plan import planned

FIRST = "postgres;main;copy;parse 60\npostgres;main;copy;insert 40\n"
LAST = "postgres;main;copy;parse 30\npostgres;main;copy;insert 20\npostgres;main;copy;insert;spin<lock> 50\n"
SCRIPT = """postgres
\t    55d0 ExecInsert+0x12 (/usr/lib/postgres)
\t    55d1 [unknown] (/usr/lib/postgres)
\t    55d2 __libc_start_main (/usr/lib/libc.so.6)

postgres
\t    55d0 ExecInsert+0x99 (/usr/lib/postgres)
\t    55d1 [unknown] (/usr/lib/postgres)
\t    55d2 __libc_start_main (/usr/lib/libc.so.6)

swapper
\tffffffff81 pv;native ([kernel.kallsyms])
"""


def test_stacks_are_folded_from_the_outermost_frame_on():
    folded = fold(SCRIPT.splitlines())
    assert folded.splitlines() == ["postgres;__libc_start_main;[postgres];ExecInsert 2", "swapper;pv:native 1"]
    assert fold([]) == ""
    unnamed = ":28329\n\t 55d0 copy+0x1 (/usr/lib/postgres)\n\n:28330\n\t 55d0 copy+0x1 (/usr/lib/postgres)\n"
    assert fold(unnamed.splitlines()) == "[process];copy 2\n"


def test_the_lowest_and_the_highest_level_are_profiled_after_all_else_if_the_machine_can(monkeypatch, tmp_path):
    def profiled(**flags):
        trials = planned(**flags).trials
        assert [t.order for t in trials] == list(range(len(trials)))
        return [t.trial_id for t in trials if t.role == "profile"], [t.role for t in trials[-3:]]

    last = ["profile", "profile", "drift_check"]
    assert profiled(cores="1..4", method__profile="1") == (["cores-1-profile", "cores-4-profile"], last)
    assert profiled(cores="2", method__profile="1")[0] == ["cores-2-profile"]
    assert profiled(cores="1..4")[0] == []
    result = make_result()
    seen = observations([result, replace(result, trial=replace(result.trial, role="profile"))], "rows_per_s")
    assert [one.mark for one in seen] == ["", "profiled"]
    monkeypatch.setenv("PATH", str(tmp_path))
    (finding,) = machine_findings.profiling(wanted=True)
    assert finding.blocking and "program perf" in finding.sentence and finding.remedy.endswith(" linux-perf")
    assert machine_findings.profiling(wanted=False) == []


def test_a_frame_is_as_wide_as_its_share_and_a_name_is_no_markup():
    copy = tree(LAST).calls["postgres"].calls["main"].calls["copy"]
    assert (copy.share, copy.calls["insert"].share) == pytest.approx((1.0, 0.7))
    frames = {}
    for g in ET.fromstring(flame_svg(LAST, FIRST)).iter("g"):
        name, _, percents = g.find("title").text.partition(": ")
        frames[name] = (float(g.find("rect").get("width")), percents, g.find("rect").get("fill"))
    assert frames["copy"][0] == 1000.0
    assert frames["parse"][:2] == (300.0, "30.0 % (-30.0)")
    assert frames["spin<lock>"][:2] == (500.0, "50.0 % (+50.0)")
    assert frames["main"][2] == "hsl(0,0%,92%)" != frames["spin<lock>"][2]  # what did not change is grey
    assert ET.fromstring(flame_svg("")).findall("g") == []
    assert grown(FIRST, LAST)[0] == ("spin<lock>", 0.0, 0.5)
    assert [name for name, *_ in grown(LAST, FIRST)] == ["parse", "insert"]


def test_the_report_has_both_graphs_and_their_difference_only_of_profiled_runs():
    run = synthetic_run()
    assert profile_html(run) == ""
    ids = sorted(r.trial.trial_id for r in (run.results[0], run.results[-1]))
    page = profile_html(replace(run, profiles=dict(zip(ids, (FIRST, LAST), strict=True))))
    assert page.count("<svg") == 3 and "Growth from" in page and "spin&lt;lock&gt;" in page


def used_until(pid, folder):
    """Until perf has begun, and the process has used half a CPU second since then."""
    deadline, begun = time.monotonic() + 60, None
    while time.monotonic() < deadline:
        used = sum(psutil.Process(pid).cpu_times()[:2])
        if begun is None and any(file.stat().st_size for file in folder.glob("*/perf.data")):
            begun = used
        if begun is not None and used > begun + 0.5:
            return
        time.sleep(0.05)
    raise AssertionError("no half CPU second within a minute")


@pytest.mark.skipif(profile_obstacle() is not None, reason="perf does not record here")
def test_the_real_perf_records_a_process_that_works_and_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setenv("SCALE_STATE_DIR", str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        recorder = StackRecorder()
        try:
            recorder.start(lambda: (busy.pid,), tuple(os.sched_getaffinity(0)))
            used_until(busy.pid, tmp_path / "scratch")
            recorder.stop()
        finally:
            busy.kill()
            recorder.close()
            recorder.close()
    assert recorder.trouble == "" and "python" in recorder.folded
    assert all(line.rpartition(" ")[2].isdigit() for line in recorder.folded.splitlines())
    assert not list((tmp_path / "scratch").iterdir()) and not list((tmp_path / "records").iterdir())


@pytest.mark.skipif(profile_obstacle() is not None, reason="perf does not record here")
def test_processes_of_later_are_recorded_and_one_that_ended_is_left_out():
    """As PostgreSQL's: a process for each connection, made when the load begins, and workers that come and go."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    later = (
        "import os, sys, time\nsys.stdin.readline()\n"
        "if not os.fork():\n end = time.process_time() + 0.5\n while time.process_time() < end: pass\n os._exit(0)\n"
        "os.wait()\nprint()\ntime.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-uc", later], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        recorder, seen = StackRecorder(), [(server.pid,), (server.pid, ended.pid)]
        try:
            recorder.start(seen.pop, tuple(os.sched_getaffinity(0)))
            assert recorder.trouble == "" and seen == []
            server.stdin.write(b"\n")
            server.stdin.flush()
            server.stdout.readline()
        finally:
            recorder.close()
            server.kill()
    assert recorder.trouble == "", recorder.trouble
    assert sum(int(line.rpartition(" ")[2]) for line in recorder.folded.splitlines()) >= 10


@needs("perf")
def test_a_recording_that_fails_says_why_and_is_not_the_end():
    recorder = StackRecorder()
    recorder.start(lambda: (2**22 + 1,), tuple(os.sched_getaffinity(0)))
    recorder.close()
    assert recorder.folded == "" and "no stacks" in recorder.trouble
