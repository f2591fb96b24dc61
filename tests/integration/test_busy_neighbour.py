"""An open loop beside another program: the rate is met all the same, and its response times are no longer the server's."""

import json
import os
import subprocess
import sys

import pytest

from tests.integration.cli import run

pytestmark = pytest.mark.alone
OFFERED = ("--target", "postgres", "--runtime", "process", "--cores", "1", "--rate", "20k", "--rows-per-request", "100")
SHORT = ("--replicates", "1", "--duration", "6s", "--warmup", "1s", "--window-max", "0", "--json")


def test_a_neighbour_on_the_servers_cpu_makes_the_trial_external(tmp_path):
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            os.sched_setaffinity(busy.pid, {0})
            done = run("sweep", "cpu", *OFFERED, "--server-cpus", "0", "--generator-cpus", "1", *SHORT, cwd=tmp_path)
        finally:
            busy.kill()
    assert done.returncode == 10, done.stderr
    trial = json.loads(done.stdout)["trials"][0]
    verdict, figures = trial["verdict"], trial["measurement"]
    assert verdict["kind"] in {"RESOURCE_NOT_SATURATED", "OFFERED_NOT_MET", "GENERATOR_BOUND"}
    assert verdict["bottleneck"]["kind"] in {"OTHER_PROCESSES", "HYPERVISOR", "GENERATOR_LATE"}
    assert figures["service_ms_p99"] <= figures["response_ms_p99"]
    assert 0 <= figures["late_ms_p50"] <= figures["late_ms_p99"]
