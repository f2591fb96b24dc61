"""A search by the whole command on a server whose capacity is known: the simulated one of the null driver. Steps of 2 s
are too short for a capacity, so the test asks the search itself what these steps come to."""

import json

import pytest

from scale_sweep.capacity import Probe, answer_of
from tests.integration.cli import run

pytestmark = pytest.mark.alone
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
