"""Sweeps that measure: provoked limits are named, and a search finds a known capacity."""

import json
import os
import subprocess
import sys

import pytest

from scale_sweep.capacity.search import Probe, answer_of
from tests.integration.cli import run

pytestmark = pytest.mark.alone
QUICK = (
    "--runtime process --replicates 1 --duration 4s --warmup 1s --window-max 0 --connections-check off --json".split()
)


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        (("--target", "postgres", "--cores", "0.5"), {"QUOTA"}),
        (("--target", "postgres", "--cores", "2", "--connections", "1"), {"CONNECTIONS"}),
        (("--target", "postgres", "--cores", "1", "--data-dir", "auto"), {"SERVER_CPU"}),  # no wait for a disk
        (("--target", "postgres", "--cores", "1", "--rate", "5k"), {"OFFERED_RATE", "GENERATOR_LATE"}),
        # below its ceiling when the machine has grown slower since that was measured: it is its CPUs all the same
        (("--target", "null", "--cores", "1"), {"GENERATOR_CEILING", "GENERATOR_CPU"}),
    ],
)
def test_the_limit_that_was_provoked_is_named(tmp_path, words, kinds):
    done = run("sweep", "cpu", *QUICK, *words, cwd=tmp_path)
    trial = json.loads(done.stdout)["trials"][0]
    limit, taken_by = (
        trial["verdict"]["bottleneck"],
        {"OTHER_PROCESSES": "other_cpu_cores", "HYPERVISOR": "stolen_cpu_cores"},
    )
    if limit["kind"] in taken_by:
        assert trial["measurement"][taken_by[limit["kind"]]] > 0.05, "named others although there were none"
    else:
        assert limit["kind"] in kinds, (limit, trial["measurement"])
    assert sum(limit["shares"].values()) == pytest.approx(100)


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
    if verdict["bottleneck"]["kind"] == "OTHER_PROCESSES":
        assert any(f"(pid {busy.pid}) " in reason for reason in verdict["reasons"]), verdict["reasons"]
    assert figures["service_ms_p99"] <= figures["response_ms_p99"]
    assert figures["late_ms_p99"] >= 0


SERVER = ("--target", "null", "--knob", "null_servers=4", "--knob", "null_service_us=2000")
LOAD = ("--cores", "1", "--connections", "64", "--rows-per-request", "1", "--arrival", "poisson")
SEARCH = ("--slo", "p99 < 10ms", "--duration", "2s", "--replicates", "1", "--confirm", "off", "--no-metrics", "--json")
CAPACITY = 1711  # requests a second, by a long simulation: bench/method_capacity_real.py
CLOSED_LOOP = 2000  # 4 servers of 2 ms
WITHIN = 0.12  # steps of 2 s are a fifth of the usual ones
DISTURBED = {"OTHER_PROCESSES", "HYPERVISOR", "GENERATOR_LATE", "GENERATOR_CPU"}


def test_a_search_finds_the_known_capacity_or_says_who_disturbed_it(tmp_path):
    done = run("sweep", "cpu", *SERVER, *LOAD, *SEARCH, cwd=tmp_path)
    assert done.returncode in (0, 10), done.stderr
    out = json.loads(done.stdout)
    trial = out["trials"][0]
    verdict, figures = trial["verdict"], trial["measurement"]
    assert figures["rows_per_s"] <= 1.02 * CLOSED_LOOP
    assert all(step["service_ms"]["p50"] >= 2 for step in figures["steps"])
    assert figures["capacity_per_s"] is None
    if verdict["kind"] != "VALID":
        assert verdict["bottleneck"]["kind"] in DISTURBED or any(not step["usable"] for step in figures["steps"])
        return
    assert verdict["reasons"][0].startswith("no capacity: ") and "held for 2 s" in verdict["reasons"][0]
    steps = [Probe(rate=s["rate"], excess=s["excess"], usable=s["usable"]) for s in figures["steps"]]
    answer = answer_of(steps)
    assert answer.rate == pytest.approx(CAPACITY, rel=WITHIN)
    assert answer.low < answer.rate < answer.high
    assert len(figures["steps"]) >= 14
    verified = run("verify", out["path"], cwd=tmp_path)
    assert verified.returncode == 0, verified.stdout + verified.stderr
