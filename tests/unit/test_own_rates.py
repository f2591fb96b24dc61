"""Operations with connections and rates of their own: what a sweep says of them, their load processes, what counts."""

import json
from dataclasses import replace

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.experiment.axes import load_axis
from scale_sweep.experiment.work import offered_per_s
from scale_sweep.experiment.work.answers import grows
from scale_sweep.judge.figures.operations import offered_of
from scale_sweep.judge.figures.rated import rated_intervals, requests_per_s
from scale_sweep.judge.verdict import Evidence, OfferedOperation, ResourceUse, TrialResources, diagnose
from scale_sweep.loadgen.merge import merge_interval, merge_summaries
from scale_sweep.loadgen.protocol import parse_line
from scale_sweep.loadgen.spec import trial_spec
from scale_sweep.loadgen.split import begun_together, group_specs, specs_text
from scale_sweep.model import Measurement, OperationSummary, Query, VerdictKind, Work
from scale_sweep.report.run_facts import method_facts
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.factories import make_sweep, make_trial
from tests.unit.synthetic_run import synthetic_run
from tests.unit.test_loadgen import latency
from tests.unit.test_loadgen import summary as said
from tests.unit.test_together import interval

DATA = {
    "workload.step_ms": "10000",
    "preload.rows": "100k",
    "workload.tables": "10",
    "workload.rows_per_request": "100",
}
TEXTS = {f"ask.{name}.text": "SELECT {device}, {at}" for name in ("point", "other")}
OTHER = "other.kind=point"


def sweep_of(*operation: str, **flags: str):
    given = {"axis.cores": "1", **DATA, "mix": "write=1,point=2,other=1", "operation": [OTHER, *operation], **flags}
    return resolve_sweep("cpu", given)


def work_of(*operation: str) -> Work:
    return sweep_of(*operation).work


def specs_of(*operation: str) -> list[dict[str, str]]:
    trial = make_trial(replace(make_sweep(load__method="copy"), work=work_of(*operation)))
    return group_specs(trial_spec(trial, {"driver": "null", "method": "discard", **TEXTS}), trial.work)


def test_each_trial_draws_its_own_requests_of_the_same_rows():
    trial = make_trial(replace(make_sweep(load__method="copy"), work=work_of()))
    sweep = [replace(trial, order=order) for order in range(20)]
    specs = [trial_spec(one, {"driver": "null"}) for one in sweep]
    assert len({spec["read_seed"] for spec in specs}) == 20
    assert len({spec["seed"] for spec in specs}) == 1
    assert specs == [trial_spec(one, {"driver": "null"}) for one in sweep], "the plan alone says what is drawn"
    other = trial_spec(replace(trial, seed=trial.seed + 1), {"driver": "null"})
    assert other["read_seed"] not in {spec["read_seed"] for spec in specs}


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"operation": ["write.rate=fast"]}, "operation.write.rate: 'fast' is not a number"),
        ({"operation": ["write.connections=0"]}, "operation.write.connections = 0: must be above 0"),
        (
            {"operation": [f"{n}.connections=2" for n in ("write", "point", "other")]},
            "leave out the connections of one",
        ),
        ({"operation": ["write.rate=10k"], "load.rate": "100"}, "--rate: is the rate of one mix"),
        ({"mix": "point", "operation": ["point.rate=10"]}, "operation.point: connections and rate are for one of"),
        ({"mix": "write", "operation": ["write.rate=10"]}, "operation.write: connections and rate are for one of"),
    ],
)
def test_what_does_not_fit_is_named_and_nothing_starts(flags, words):
    operation = [OTHER, *flags.pop("operation")] if "mix" not in flags else flags.pop("operation")
    given = {"axis.cores": "1", **DATA, "mix": "write=1,point=2,other=1", "operation": operation, **flags}
    with pytest.raises(UsageError) as refused:
        resolve_sweep("cpu", given)
    assert words in refused.value.message
    assert len(refused.value.message.splitlines()) == 1


def test_a_mix_without_them_is_one_load_process():
    (spec,) = specs_of()
    assert spec["operations"] == "write:1,point:2,other:1"
    assert begun_together([spec], 5) == [spec]
    assert "# group" not in specs_text([spec])


def test_each_group_is_a_load_with_its_operations_connections_and_rate():
    mixed, write = specs_of("write.connections=3", "write.rate=1234567")
    assert mixed["operations"] == "point:2,other:1"
    assert mixed["rate"] == "0"
    assert {key for key in mixed if key.endswith(".text")} == set(TEXTS)
    assert (write["operations"], write["threads"], write["rate"]) == ("write:1", "3", "1234567")
    assert not [key for key in write if key.startswith("ask.")]
    assert write["rows_present"] == mixed["rows_present"] == "10000"
    both = begun_together([mixed, write], 1_000)
    assert len({spec["start_at_ns"] for spec in both}) == 1
    assert specs_text(both).count("# group ") == 2


def test_without_a_number_of_its_own_a_group_has_the_connections_of_the_trial():
    mixed, point = specs_of("point.rate=10")
    assert point["threads"] == mixed["threads"]
    assert work_of("point.rate=10").connections(4) == 8
    assert work_of("point.connections=3").connections(4) == 7
    assert work_of().connections(4) == 4


def operation(name: str, answered: int, **more) -> OperationSummary:
    times = latency([100] * answered) if answered else None
    told = {"unit": "requests", "weight": 1, "requests": answered, "errors": 0, "retries": 0, "units_acked": answered}
    return OperationSummary(
        **{
            **told,
            "name": name,
            "units_window": answered,
            "response": times,
            "service": times,
            "window_s": 10.0,
            **more,
        }
    )


def test_the_rate_counts_operations_without_a_rate_of_their_own():
    writing = said([100] * 50, operations=(operation("write", 50, unit="rows", units_window=5000),))
    reading = said([100] * 30, operations=(operation("point", 20), operation("other", 10)))
    merged = merge_summaries([reading, writing])
    assert [(o.name, o.units_window) for o in merged.operations] == [("point", 20), ("other", 10), ("write", 5000)]
    assert requests_per_s(merged, work_of()) == pytest.approx(8.0)
    assert requests_per_s(merged, work_of("write.connections=2")) == pytest.approx(8.0)
    assert requests_per_s(merged, work_of("write.rate=500")) == pytest.approx(3.0)
    every = work_of("write.rate=500", "point.rate=2", "other.rate=1")
    assert requests_per_s(merged, every) == pytest.approx(8.0)
    assert offered_per_s(every) == pytest.approx(500 / 100 + 2 + 1)


def part(t_s: float, operations: dict[str, int], **more):
    line = {**json.loads(interval(t_s, 10, 10)), "operations": operations, "requests": sum(operations.values()), **more}
    found = parse_line(json.dumps(line))
    assert found is not None
    return found


def test_seconds_of_processes_with_other_operations_are_merged_by_name():
    reads = part(1.0, {"point": 20, "other": 5}, operations_p99_us={"point": 9.0}, response_hdr="R", service_hdr=None)
    writes = part(1.0, {"write": 7}, response_us_p99=3.0, response_hdr="W", service_hdr="S", backlog_rows=300)
    whole = merge_interval([reads, writes])
    assert whole.operations == {"point": 20, "other": 5, "write": 7}
    assert whole.operations_p99_us == {"point": 9.0, "write": 3.0}
    assert whole.response_hdr == ("R", "W")
    assert whole.service_hdr == ("R", "S")  # in a closed loop they are the response times
    (counted,) = rated_intervals([whole], work_of("write.rate=700"))
    assert (counted.count, counted.unit, counted.rows) == (25, "requests", 20)
    assert counted.backlog is None


def judged(*offered: OfferedOperation):
    given = TrialResources(cores=1.0, quota=False, generator_cpus=1, shared_cpus=(), threads=8)
    use = ResourceUse(
        rate_per_s=3.0, server_cores=1.0, generator_cores=0.1, other_cores=0.0, throttled=0.0, in_flight=0.9
    )
    m = Measurement(requests_per_s=3.0, window_s=10.0)
    return diagnose(Evidence(resources=given, measurement=m, window=use, offered=offered), load_axis("cores"))


@pytest.mark.parametrize(
    ("achieved", "changes", "met"),
    [
        (1000.0, {}, True),
        (970.0, {}, True),  # the edges of the window cut one request of each connection
        (950.0, {}, False),
        (950.0, {"is_poisson": True}, True),
        (500.0, {"is_poisson": True}, False),
    ],
)
def test_an_operation_that_does_not_achieve_its_rate_is_named(achieved, changes, met):
    one = OfferedOperation(
        name="write",
        unit="rows",
        offered_per_s=1000.0,
        achieved_per_s=achieved,
        units_of_request=100,
        connections=2,
        seconds=10.0,
        is_poisson=False,
    )
    verdict = judged(replace(one, **changes))
    assert (verdict.kind is VerdictKind.OFFERED_NOT_MET) is not met
    if not met:
        assert verdict.reasons[0].startswith("write: 1 k rows/s offered, ")


def test_what_was_offered_and_achieved_is_read_from_the_summary():
    trial = make_trial(replace(make_sweep(), work=work_of("write.rate=600", "write.connections=3")))
    writing = said([100] * 50, operations=(operation("write", 50, unit="rows", units_window=5000),))
    (one,) = offered_of(trial, merge_summaries([said([100] * 9, operations=(operation("point", 9),)), writing]))
    assert (one.name, one.offered_per_s, one.achieved_per_s) == ("write", 600.0, 500.0)
    assert (one.units_of_request, one.connections, one.seconds) == (100, 3, 10.0)


def test_the_report_says_which_operations_have_connections_of_their_own():
    run = synthetic_run()
    sweep = replace(run.plan.sweep, work=work_of("write.rate=20k", "other.connections=3"))
    load = dict(method_facts(replace(run, plan=replace(run.plan, sweep=sweep))))["Load"]
    assert "write on as many separate connections, 20 k rows/s" in load
    assert load.endswith("other on 3 separate connections")


@pytest.mark.parametrize(
    ("query", "does"),
    [
        (Query(tag="groupid", groups=1), True),
        (Query(tag="groupid", function="avg", bucket_ms=1000), True),
        (Query(tag="groupid", function="avg"), False),
        (Query(tag="groupid", function="avg", by_tag=True), False),
        (Query(latest=True), False),
        (Query(when="range", span_ms=1000), False),
    ],
)
def test_only_answers_over_all_time_grow_with_writes(query, does):
    assert grows(query) is does
