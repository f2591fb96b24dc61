"""A warning of a busy machine is about other programs, not about what this one did in the last minute."""

import subprocess
import sys

import pytest

from scale_sweep.machine.host import read_host
from scale_sweep.machine.host.other_programs import other_cores
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
def test_a_high_load_average_alone_is_no_warning(monkeypatch, used, load, warned):
    host = read_host()
    cpus = len(host.allowed)
    monkeypatch.setattr(machine_findings.os, "getloadavg", lambda: (load * cpus, 0.0, 0.0))
    monkeypatch.setattr(machine_findings, "other_cores", lambda cpus: used)
    found = machine_findings.idle(host)
    assert bool(found) == warned
    assert all("4.0 per CPU" in one.sentence for one in found)
