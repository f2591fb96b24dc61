"""Requests of one table before the next one's: asked for by one setting, told to the load generator, said in the plan."""

from dataclasses import replace

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.loadgen.ceiling import Means, ceiling_key
from scale_sweep.loadgen.spec import trial_spec
from scale_sweep.plan.target_defaults import complete
from scale_sweep.report.run_facts import method_facts
from scale_sweep.server.targets import load_target
from tests.unit.factories import make_sweep
from tests.unit.synthetic_run import synthetic_run
from tests.unit.test_plan import planned

COPY = {"driver": "postgres", "method": "copy"}


def test_it_is_told_and_the_plan_and_the_report_say_so(wording):
    plan, usual = planned(workload__requests_per_table="5"), planned()
    assert all(trial_spec(trial, COPY)["requests_per_table"] == "5" for trial in plan.trials)
    assert {trial_spec(trial, COPY)["requests_per_table"] for trial in usual.trials} == {"1"}
    assert len(set(plan.notes) - set(usual.notes)) == 1
    wording(*set(plan.notes) - set(usual.notes), *map(rows_of_report, ("1", "3")))


def rows_of_report(number: str) -> str:
    run = synthetic_run()
    sweep = replace(run.plan.sweep, work=make_sweep(workload__requests_per_table=number).work)
    return dict(method_facts(replace(run, plan=replace(run.plan, sweep=sweep))))["Rows"]


def test_it_can_be_varied_and_each_has_a_ceiling_of_its_own():
    plan = planned(cores="1", vary=["requests_per_table=1,5"])
    specs = {trial.subject.variant["requests_per_table"]: trial_spec(trial, COPY) for trial in plan.trials}
    assert {one: spec["requests_per_table"] for one, spec in specs.items()} == {"1": "1", "5": "5"}
    keys = {ceiling_key(spec, (0,), 0, means) for spec in specs.values() for means in (Means.STUBBED, Means.DISCARDED)}
    assert len(keys) == 4


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"workload__requests_per_table": "2", "workload__interlace_rows": "10"}, "leave out --interlace-rows"),
        ({"workload__interlace_rows": "10", "vary": ["requests_per_table=1,2"]}, "leave out --interlace-rows"),
        ({"vary": ["requests_per_table=0,2"]}, "--vary requests_per_table: '0' is not a whole number from 1 on"),
        ({"vary": ["rows_per_request=0"]}, "--vary rows_per_request: '0' is not a whole number from 1 on"),
        ({"workload__requests_per_table": "0"}, "--requests-per-table: '0' is too little: at least 1"),
    ],
)
def test_what_cannot_be_is_one_line(settings, words):
    with pytest.raises(UsageError, match=words) as caught:
        planned(**settings)
    assert "\n" not in caught.value.message
    flags = {"load__generator": "taosbenchmark", "load__rows": "10", "workload__requests_per_table": "2"}
    sweep = replace(make_sweep(**flags), target="tdengine", runtime="process")
    with pytest.raises(UsageError, match="--requests-per-table: taosbenchmark has a fixed order"):
        complete(sweep, load_target("tdengine").facts)
