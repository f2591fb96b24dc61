"""Simulated servers: the speed that each law gives a level, the marks of their outputs, and what is refused."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.analysis.compare.pairs import check_comparable
from scale_sweep.base.errors import UsageError
from scale_sweep.machine.host.machine_file import read_machine
from scale_sweep.machine.host.placement import place
from scale_sweep.machine.sampling.sampler import Sampler
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.resources import Accounting
from scale_sweep.plan.make import make_plan
from scale_sweep.plan.preparing.machines import is_simulated, without_load
from scale_sweep.report.documents import documents
from scale_sweep.server.targets import load_facts, load_target
from scale_sweep.server.targets.records import Surroundings
from scale_sweep.server.targets.simulated.laws import NAMES, PARAMETERS, mistake_of, options_of
from tests.unit.factories import make_result, make_sweep, make_trial
from tests.unit.null_load import skip_without_loadgen
from tests.unit.whole_commands import run

MACHINES = Path(__file__).resolve().parents[2] / "sweeps/machines"
TWO_SOCKETS = MACHINES / "two-sockets.toml"
PLAN = ("plan", "cpu", "--target", "simulated", "--machine", str(TWO_SOCKETS))


def trial_at(cores: float, **knobs: str):
    placement = place(without_load(read_machine(TWO_SOCKETS)), cores, (), (), 128)
    return replace(make_trial(cores=cores, level=cores, placement=placement), knobs={"noise": "0", **knobs})


def service_us(cores: float, **knobs: str) -> int:
    return int(options_of(trial_at(cores, **knobs))["null_service_us"])


@pytest.mark.parametrize(
    ("law", "knobs", "cores", "speed"),
    [
        ("linear", {}, 64, 1),
        ("usl", {"alpha": "0.02", "beta": "0.001"}, 11, 1 / (1 + 0.2 + 0.11)),
        ("smt", {}, 64, 1),
        ("smt", {}, 128, (64 + 64 * 0.25) / 128),
        ("smt", {"smt": "0.5"}, 96, (64 + 32 * 0.5) / 96),
        ("numa", {}, 32, 1),
        ("numa", {}, 33, 0.85),
        ("bandwidth", {"most": "16"}, 16, 1),
        ("bandwidth", {"most": "16"}, 64, 0.25),
        ("plateau", {"most": "16", "fall": "0.01"}, 24, 16 / 24),
        ("plateau", {"most": "16", "fall": "0.01"}, 34, 16 * 0.9 / 34),
        ("partitions", {"per_partition": "1.5"}, 6, 4 * 1.5 / 6),
        ("table", {"speeds": "1:0.8/12:1.25"}, 12, 1.25),
        ("table", {"speeds": "1:0.8/12:1.25"}, 6, 1),
        ("usl+numa", {"alpha": "0.02", "beta": "0"}, 51, 0.85 / 2),
    ],
)
def test_each_law_makes_the_servers_as_slow_as_it_says(law, knobs, cores, speed):
    trial = trial_at(cores, law=law, service_us="1000000", **knobs)
    options = options_of(replace(trial, load=replace(trial.load, partitions=4)))
    assert options["null_servers"] == str(cores)
    assert int(options["null_service_us"]) == pytest.approx(1_000_000 / speed, rel=1e-5)


def test_what_changes_with_time_is_left_to_the_load_generator():
    assert options_of(trial_at(4, law="lock", lock="0.1"))["null_lock_us"] == "500"
    assert "null_quota_milli" not in options_of(trial_at(4, law="quota", most="4"))
    assert options_of(trial_at(8, law="quota", most="4"))["null_quota_milli"] == "4000"
    assert options_of(trial_at(0.5))["null_quota_milli"] == "500"
    warm = options_of(trial_at(4, law="warmup", cold="0.4", cold_s="3"))
    assert (warm["null_warm_ms"], warm["null_warm_percent"]) == ("3000", "40")
    for law in ("drift", "pause", "states"):
        assert len(options_of(trial_at(4, law=law))) == 5
    assert options_of(trial_at(4, law="usl+exponential"))["null_law"] == "exponential"


def test_noise_is_that_of_a_trial_and_its_seed():
    trial = trial_at(4, noise="5", service_us="1000000")
    assert options_of(trial) == options_of(trial)
    others = [replace(trial, seed=2), replace(trial, trial_id="cores-4-r2")]
    assert len({options_of(one)["null_service_us"] for one in (trial, *others)}) == 3


@pytest.mark.parametrize(
    ("knobs", "wrong"),
    [
        ({"law": "usl+other"}, "law"),
        ({"law": ""}, "law"),
        ({"alpha": "2"}, "alpha"),
        ({"most": "many"}, "most"),
        ({"service_us": "nan"}, "service_us"),
        ({"speeds": "1:0.5/2"}, "speeds"),
        ({"speeds": "1:0"}, "speeds"),
        ({"law": "+".join(NAMES), **{name: p.default for name, p in PARAMETERS.items()}}, ""),
    ],
)
def test_a_wrong_knob_is_named(knobs, wrong):
    assert mistake_of(knobs)[0] == wrong
    found = load_target("simulated").check(trial_at(1, **knobs), Surroundings(memory_bytes=1, free_bytes=1))
    assert [one.subject for one in found] == ([f"--knob {wrong}"] if wrong else [])


def test_the_sampler_reads_the_work_of_sleeping_servers_and_nothing_of_the_machine(tmp_path):
    accounting = Accounting(kind="counts", paths={"counts": str(tmp_path / "servers")})
    sampler = Sampler(server=accounting, generator=None, disks=(), hz=1, on_sample=lambda sample: None)
    assert sampler.take().server.cpu_s_total == 0, "no request has made the file"
    (tmp_path / "servers").write_bytes(struct.pack("=5Q", 3_500_000_000, 250_000_000, 0, 0, 0))
    sample = sampler.take()
    assert (sample.server.cpu_s_total, sample.server.throttled_s_total) == (3.5, 0.25)
    assert sample.host_cpu_busy_s_total is None and not sample.cpu_busy_s_total and not sample.psi_some_s_total


def stored(target: str) -> StoredRun:
    sweep = replace(make_sweep(target__name=target), method="x", runtime=target)
    plan = make_plan(sweep, without_load(read_machine(TWO_SOCKETS)), load_facts(target))
    results = tuple(make_result(level, 1e6 * level, n) for level in (1.0, 2.0) for n in (1, 2))
    return StoredRun(path="r", manifest={}, plan=plan, results=results, timeseries={}, fit=None)


def test_every_output_says_that_it_is_simulated():
    made = documents(stored("simulated"))
    assert made.fits["fit.json"].sentence.startswith("Simulated: ")
    assert made.fits["fit.json"].cautions[0].startswith("simulated: no database")
    assert "**Simulated: " in made.pages["report.md"] and "- simulated: no database" in made.pages["report.md"]
    assert "simulated rows/s" in made.pages["report.html"]
    other = documents(stored("null"))
    assert not any("imulated" in text for text in (*other.pages.values(), other.fits["fit.json"].sentence))


def test_simulated_runs_are_compared_with_their_kind_only():
    simulated, other = stored("simulated"), stored("null")
    check_comparable((simulated, simulated))
    with pytest.raises(UsageError, match="different units: rows/s and simulated rows/s"):
        check_comparable((simulated, other))
    assert is_simulated(simulated.plan.sweep) and not is_simulated(other.plan.sweep)
    with pytest.raises(UsageError, match="a simulated server is compared with no database"):
        is_simulated(make_sweep(vary=["target=simulated,null"]))


def test_only_a_simulated_server_is_on_another_machine(tmp_path):
    """And the plan gives it all CPUs of that machine, since the load has none of them."""
    skip_without_loadgen()
    refused = run("sweep", "cpu", "--cores", "1", "--target", "null", "--machine", str(TWO_SOCKETS), cwd=tmp_path)
    assert refused.code == 2 and "--machine: a sweep measures this machine" in refused.stderr
    refused = run(*PLAN, "--cores", "1,2", "--prove", cwd=tmp_path)
    assert refused.code == 2 and "--prove: a simulated server has no CPUs to disturb" in refused.stderr
    planned = run(*PLAN, "--cores", "1,128", cwd=tmp_path)
    assert planned.code == 0, planned.stderr
    assert "0-127" in planned.stdout and "simulates the machine two-sockets" in planned.stdout
    wrong = run(*PLAN, "--cores", "1", "--knob", "law=unknown", cwd=tmp_path)
    assert wrong.code == 2 and "--knob law: 'unknown' is none of linear, usl" in wrong.stderr
