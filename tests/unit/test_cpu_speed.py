"""The speed of the CPUs before each trial: measured, stored, and named in the report where it changed."""

import os
from dataclasses import replace

import pytest

from runner.executing.speed_stage import CpuSpeeds
from runner.host.cpu_speed import work_us
from runner.report.cpu_speed import speed_cautions
from tests.unit.synthetic_run import synthetic_run


def test_the_work_is_measured_on_our_cpus_only():
    ours = sorted(os.sched_getaffinity(0))
    found = work_us(ours)
    assert found is not None and 10 < found < 1e6
    assert work_us(()) is None
    assert work_us((4095,)) is None
    assert sorted(os.sched_getaffinity(0)) == ours


def test_a_run_that_goes_on_keeps_what_was_measured():
    trial = synthetic_run().plan.trials[0]
    here = replace(
        trial,
        resources=replace(
            trial.resources, placement=replace(trial.placement, server_cpus=(min(os.sched_getaffinity(0)),))
        ),
    )
    speeds = CpuSpeeds({"cores-1-r9": 400.0})
    speeds.measure(here)
    assert set(speeds.by_trial) == {"cores-1-r9", trial.trial_id}
    speeds.measure(replace(here, trial_id="elsewhere", subject=replace(here.subject, endpoint="host:1")))
    assert "elsewhere" not in speeds.by_trial


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ({"a": 400.0, "b": 450.0}, ()),
        (None, ()),
        ({"a": "fast"}, ()),
        (
            {"a": 400.0, "b": 470.0, "c": 460.0},
            (
                "the speed of the CPUs changed: the same work took 400 to 470 µs of CPU time before the trials. Other "
                "machines that share the cores cause it, and steal time does not show it",
            ),
        ),
    ],
)
def test_a_change_of_speed_is_a_caution_of_the_report(stored, said):
    run = synthetic_run()
    assert speed_cautions(replace(run, manifest={**run.manifest, "cpu_work_us": stored})) == said
