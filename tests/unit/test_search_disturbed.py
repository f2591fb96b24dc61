"""A search on a machine that others disturb: the verdict names them, and not the bottleneck of the closed loop."""

import pytest

from scale_sweep.judge import method
from scale_sweep.model import BottleneckKind, StoredRun, VerdictKind
from scale_sweep.report.bottlenecks import remedies
from scale_sweep.verify import verify_run
from tests.unit.searched_run import Queue, searched_plan, searched_results, searched_run
from tests.unit.test_method import bless

PLAN = searched_plan(1, 1, confirms=False)


@pytest.fixture(scope="module")
def run():
    plan, results = searched_results(PLAN, Queue(stolen=0.19))
    return StoredRun(path="r", manifest={}, plan=plan, results=tuple(results), timeseries={}, fit=None)


def test_the_verdict_of_a_search_that_the_hypervisor_disturbed_names_it(run):
    (result,) = run.results
    verdict = result.verdict
    assert len(result.measurement.steps) == 6, "the search ends early"
    assert len({step.rate for step in result.measurement.steps}) == 1, "no step moves it"
    assert (verdict.kind, verdict.bottleneck.kind) == (
        VerdictKind.RESOURCE_NOT_SATURATED,
        BottleneckKind.HYPERVISOR,
    )
    assert verdict.reasons[0] == "no capacity: none of 6 steps was usable"
    assert verdict.reasons[1].startswith("6 of 6 steps left out: 6 × the hypervisor took 19 % of the load generator's")
    assert set(verdict.bottleneck.shares) == {"HYPERVISOR"}
    assert remedies(run) == (
        "1 × RESOURCE_NOT_SATURATED, bottleneck: hypervisor: another time, or a machine with dedicated CPUs",
    )


def test_the_text_of_a_step_that_was_left_out_is_short(run):
    step = run.results[0].measurement.steps[0]
    assert not step.usable and step.why.startswith("the hypervisor took 19 % of the load generator's")


def test_a_search_that_others_left_alone_has_the_bottleneck_of_its_closed_loop():
    _, results = searched_results(PLAN, Queue())
    assert results[0].verdict.kind is VerdictKind.VALID
    assert results[0].verdict.bottleneck.kind is BottleneckKind.SERVER_CPU


def test_a_search_in_which_no_rate_holds_says_so():
    _, results = searched_results(PLAN, Queue(slow=100.0))
    verdict = results[0].verdict
    assert verdict.kind is VerdictKind.OFFERED_NOT_MET
    assert "no rate holds the objective" in verdict.reasons[0] and "the lowest p99 was" in verdict.reasons[0]
    run = StoredRun(path="r", manifest={}, plan=PLAN, results=tuple(results), timeseries={}, fit=None)
    assert remedies(run) == ("1 × OFFERED_NOT_MET: a higher limit (--slo), or a larger level",)


def test_verify_compares_the_judgement_of_steps_within_one_method_only(tmp_path, monkeypatch):
    folder = tmp_path / searched_run(tmp_path, PLAN, Queue(stolen=0.19)).path.rpartition("/")[2]
    path = folder / "trials" / "cores-1-r1" / "trial.json"
    path.write_text(path.read_text().replace('"why": "the hypervisor took', '"why": "the hypervisor had'))
    bless(folder)
    assert any("why" in one.sentence for one in verify_run(folder).disagreements)
    monkeypatch.setattr(method, "METHOD", method.METHOD + 1)
    assert not verify_run(folder).disagreements
