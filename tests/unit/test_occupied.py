"""Little's law: real recorded trials obey it; one whose times, rate or connections are wrong is named."""

import gzip
import json
from dataclasses import replace

import pytest

from scale_sweep.judge.figures.littles_law import Occupied, contradiction, occupied_of
from scale_sweep.loadgen.handle import read_recorded
from scale_sweep.model.declared import Operation
from scale_sweep.results.store.reader import read_plan, read_result
from scale_sweep.results.store.stored import Folder
from scale_sweep.verify.trial import trial_again
from tests.unit.test_recorded_limits import RECORDED, as_run

NAMED = "defect of the measurement"
CLOSED = Occupied(
    requests_per_s=1000.0, service_s=0.007, longest_s=0.05, making_s=0.001, window_s=10.0, connections=8, may_wait=False
)
(ONE_CORE,) = (path for path in RECORDED if "postgresql-one-core" in path.name)


def recorded(path, folder, change=lambda summary: None):
    """A recorded trial as a run in the folder; change: what is done to its summary before."""
    told = json.loads(gzip.decompress(path.read_bytes()))
    for line in told["loadgen"]:
        if line["event"] == "summary":
            change(line)
    trial = as_run(told, folder)
    return trial, read_result(Folder(folder), f"trials/{trial.name}/trial.json")


def judged_of(path, folder, change=lambda summary: None):
    _, result = recorded(path, folder, change)
    return trial_again(Folder(folder), read_plan(Folder(folder)), result).judged


def test_the_law_holds_within_its_error():
    assert contradiction(CLOSED) == contradiction(None) == ""
    assert CLOSED.busy == pytest.approx(CLOSED.sending) == pytest.approx(7.0)
    assert contradiction(replace(CLOSED, service_s=0.006)) != ""
    assert contradiction(replace(CLOSED, service_s=0.006, longest_s=0.5)) == "", "the longest widens the error"
    for name, values in {
        "service_s": (0.0035, 0.014),
        "requests_per_s": (500.0, 1500.0),
        "connections": (10, 6),
    }.items():
        for sentence in (contradiction(replace(CLOSED, **{name: value})) for value in values):
            assert sentence.startswith(NAMED) and "Little's law" in sentence
    waiting = replace(CLOSED, may_wait=True)
    assert contradiction(replace(waiting, requests_per_s=100.0)) == ""
    assert contradiction(replace(waiting, requests_per_s=1100.0)) == ""
    assert f"at most {CLOSED.connections}" in contradiction(replace(waiting, requests_per_s=1500.0))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_real_trials_obey_it(path, tmp_path):
    assert not [reason for reason in judged_of(path, tmp_path).reasons if NAMED in reason]


def halved(line):
    for name in ("response", "service"):
        line[name]["mean_us"] /= 2
        line[name]["max_us"] /= 2


def doubled(line):
    line["rows_window"] *= 2
    line["rows_per_s"] *= 2


@pytest.mark.parametrize("change", [halved, doubled])
def test_a_recorded_trial_whose_times_or_rate_are_wrong_is_named(change, tmp_path):
    judged = judged_of(ONE_CORE, tmp_path, change)
    assert sum(NAMED in reason for reason in judged.reasons) == 1
    assert judged.kind is judged_of(ONE_CORE, tmp_path / "again").kind, "a defect is named; the verdict stays"


def test_what_cannot_be_compared_is_not_and_an_open_loop_and_fixed_work_may_wait(tmp_path):
    folder, result = recorded(ONE_CORE, tmp_path)
    trial, summary = result.trial, read_recorded((folder / "loadgen.jsonl").read_text()).summary
    assert not occupied_of(trial, summary).may_wait
    no_answer = replace(summary.service, count=0)
    for unknown in ({"send_s": 0.0, "make_s": 0.0}, {"is_answered": False}, {"errors": 1}, {"service": no_answer}):
        assert occupied_of(trial, replace(summary, **unknown)) is None
    paced = (Operation(), replace(Operation(), name="other", rate=5.0))
    for waits in (
        {"load": replace(trial.load, rate=1e5)},
        {"load": replace(trial.load, rows=10**6, duration_s=None)},
        {"work": replace(trial.work, operations=paced)},
    ):
        assert occupied_of(replace(trial, **waits), summary).may_wait
