"""Other programs on this machine: whether a CPU is theirs, and which of them are sweeps, by the table of locks."""

import os
import subprocess
import sys

import pytest

from scale_sweep.machine.host.host_facts import read_host
from scale_sweep.machine.host.processes import other_cores
from scale_sweep.machine.state.runs import other_sweeps
from scale_sweep.plan.preparing import machine_findings


def test_a_program_that_runs_on_a_cpu_is_seen_there(tmp_path):
    host = read_host()
    program = f"import os; os.sched_setaffinity(0, {{{host.allowed[0]}}}); print(1, flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as busy:
        busy.stdout.readline()
        used = other_cores(host.allowed[:1])
        busy.kill()
    assert 0.2 < used < 1.2, "half a second in which no CPU was idle"
    assert other_cores((0,), tmp_path) is None, "a machine that cannot be read has no figure"


@pytest.mark.parametrize(
    ("used", "load", "warned"), [(0.0, 4.0, False), (1.5, 4.0, True), (None, 4.0, True), (1.5, 0.1, False)]
)
def test_a_high_load_average_alone_is_no_warning(monkeypatch, used, load, warned, wording):
    host = read_host()
    cpus = len(host.allowed)
    monkeypatch.setattr(machine_findings.os, "getloadavg", lambda: (load * cpus, 0.0, 0.0))
    monkeypatch.setattr(machine_findings, "other_cores", lambda cpus: used)
    monkeypatch.setattr(machine_findings.OtherPrograms, "busiest", lambda *_: ("cc1 (pid 7) 0.97 cores",))
    found = machine_findings.idle(host)
    assert bool(found) == warned
    for one in found:
        wording(f"{one.sentence} → {one.remedy}")


SCALE = ("/v/bin/python", "/v/bin/scale")
LOCK = "1: FLOCK  ADVISORY  WRITE {} fe:00:{} 0 EOF\n"


@pytest.fixture
def proc(tmp_path, monkeypatch):
    """A folder like /proc: each process holds a lock of a file of its own."""
    monkeypatch.delenv("SCALE_OTHER_SWEEPS")

    def made(pid, *words, path=""):
        folder = tmp_path / str(pid)
        (folder / "fd").mkdir(parents=True)
        (folder / "cmdline").write_text("\0".join([*words, ""]))
        with (tmp_path / "locks").open("a") as locks:
            locks.write(LOCK.format(pid, pid))
        if path:
            (folder / "fdinfo").mkdir()
            (folder / "fdinfo/1").write_text("pos:\t0\n")
            (folder / "fdinfo/9").write_text("lock:\t" + LOCK.format(pid, pid))
            os.symlink(path, folder / "fd/9")

    made.folder = tmp_path
    return made


def test_sweeps_are_named_by_their_run_and_other_programs_are_not(proc, wording):
    proc(101, *SCALE, "sweep", "cpu", path="/there/run")
    proc(102, "python3", "-P", "-m", "scale_sweep", "resume", "last", path="/there/a\x1b[31m\n\u202eb")
    proc(103, *SCALE, "ab", "cpu")
    proc(104, *SCALE, "report", "last", path="/there/reported")
    proc(105, "/usr/bin/dockerd", path="/var/lib/docker")
    proc(os.getpid(), *SCALE, "sweep", "cpu", path="/there/mine")
    with (proc.folder / "locks").open("a") as locks:
        locks.write("9: OFDLCK ADVISORY  READ -1 00:06:3 0 EOF\n9: -> FLOCK  ADVISORY  WRITE 106 fe:00:1 0 EOF\nodd\n")
    said = other_sweeps(proc=proc.folder)
    wording(*said)
    assert other_sweeps("run", proc=proc.folder) == said[1:], "of the controller, beside the agent of its run"
    (proc.folder / "locks").unlink()
    assert other_sweeps(proc=proc.folder) == ()
