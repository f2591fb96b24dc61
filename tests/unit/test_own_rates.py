"""Operations with connections and rates of their own: what a sweep says of them, their load processes, what counts."""

import json
from dataclasses import replace

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.experiment.axes import load_axis
from scale_sweep.experiment.work import offered_per_s
from scale_sweep.experiment.work.answers import grows
from scale_sweep.judge.figures.counts_per_second import rated_intervals, requests_per_s
from scale_sweep.judge.figures.operations import offered_of
from scale_sweep.judge.verdict.diagnose import diagnose
from scale_sweep.judge.verdict.evidence import Evidence, OfferedOperation, ResourceUse, TrialResources
from scale_sweep.loadgen.merge import merge_interval, merge_summaries
from scale_sweep.loadgen.protocol import parse_line
from scale_sweep.loadgen.spec import trial_spec
from scale_sweep.loadgen.split import begun_together, group_specs, specs_text
from scale_sweep.model.declared import Work
from scale_sweep.model.loads import OperationSummary
from scale_sweep.model.measured import Measurement, VerdictKind
from scale_sweep.model.questions import Query
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
MIX = "write=1,point=2,other=1"
TEXTS = {f"ask.{name}.text": "SELECT {device}, {at}" for name in ("point", "other")}
OTHER = "other.kind=point"


def sweep_of(*operation: str, mix: str = MIX, **flags: str):
    own = [OTHER, *operation] if mix == MIX else [*operation]
    return resolve_sweep("cpu", {"axis.cores": "1", **DATA, "mix": mix, "operation": own, **flags})


def work_of(*operation: str) -> Work:
    return sweep_of(*operation).work


def specs_of(*operation: str) -> list[dict[str, str]]:
    trial = make_trial(replace(make_sweep(load__method="copy"), work=work_of(*operation)))
    return group_specs(trial_spec(trial, {"driver": "null", "method": "discard", **TEXTS}), trial.work)


def test_loads_of_a_trial_draw_and_split_their_own_requests():
    trial = make_trial(replace(make_sweep(load__method="copy"), work=work_of()))
    sweep = [replace(trial, order=order) for order in range(20)]
    specs = [trial_spec(one, {"driver": "null"}) for one in sweep]
    assert len({spec["read_seed"] for spec in specs}) == 20
    assert len({spec["seed"] for spec in specs}) == 1
    assert specs == [trial_spec(one, {"driver": "null"}) for one in sweep], "the plan alone says what is drawn"
    other = trial_spec(replace(trial, seed=trial.seed + 1), {"driver": "null"})
    assert other["read_seed"] not in {spec["read_seed"] for spec in specs}
    (spec,) = specs_of()
    assert spec["operations"] == "write:1,point:2,other:1"
    assert begun_together([spec], 5) == [spec]
    assert "# group" not in specs_text([spec])
    mixed, write = specs_of("write.connections=3", "write.rate=1234567")
    assert (mixed["operations"], mixed["rate"]) == ("point:2,other:1", "0")
    assert {key for key in mixed if key.endswith(".text")} == set(TEXTS)
    assert (write["operations"], write["threads"], write["rate"]) == ("write:1", "3", "1234567")
    assert not [key for key in write if key.startswith("ask.")]
    assert write["rows_present"] == mixed["rows_present"] == "10000"
    both = begun_together([mixed, write], 1_000)
    assert len({spec["start_at_ns"] for spec in both}) == 1
    assert specs_text(both).count("# group ") == 2
    mixed, point = specs_of("point.rate=10")
    assert point["threads"] == mixed["threads"]
    given = ((), ("point.rate=10",), ("point.connections=3",))
    assert [work_of(*operation).connections(4) for operation in given] == [4, 8, 7]


@pytest.mark.parametrize(
    ("operation", "flags", "named"),
    [
        (["write.rate=fast"], {}, "operation.write.rate"),
        (["write.connections=0"], {}, "operation.write.connections"),
        ([f"{n}.connections=2" for n in ("write", "point", "other")], {}, "leave out"),
        (["write.rate=10k"], {"load.rate": "100"}, "--rate"),
        (["point.rate=10"], {"mix": "point"}, "operation.point"),
        (["write.rate=10"], {"mix": "write"}, "operation.write"),
    ],
)
def test_what_does_not_fit_is_named_and_nothing_starts(operation, flags, named):
    with pytest.raises(UsageError) as refused:
        sweep_of(*operation, **flags)
    (line,) = refused.value.message.splitlines()
    assert named in line


def operation(name: str, answered: int, **more) -> OperationSummary:
    times = latency([100] * answered) if answered else None
    counts = {"requests": answered, "units_acked": answered, "units_window": answered, "errors": 0, "retries": 0}
    told = {"name": name, "unit": "requests", "weight": 1, "response": times, "service": times, "window_s": 10.0}
    return OperationSummary(**{**told, **counts, **more})


WRITING = said([100] * 50, operations=(operation("write", 50, unit="rows", units_window=5000),))


def test_the_rate_counts_operations_without_a_rate_of_their_own():
    reading = said([100] * 30, operations=(operation("point", 20), operation("other", 10)))
    merged = merge_summaries([reading, WRITING])
    assert [(o.name, o.units_window) for o in merged.operations] == [("point", 20), ("other", 10), ("write", 5000)]
    every = ("write.rate=500", "point.rate=2", "other.rate=1")
    for own, rate in (((), 8.0), (("write.connections=2",), 8.0), (every[:1], 3.0), (every, 8.0)):
        assert requests_per_s(merged, work_of(*own)) == pytest.approx(rate)
    assert offered_per_s(work_of(*every)) == pytest.approx(500 / 100 + 2 + 1)
    trial = make_trial(replace(make_sweep(), work=work_of("write.rate=600", "write.connections=3")))
    (one,) = offered_of(trial, merge_summaries([said([100] * 9, operations=(operation("point", 9),)), WRITING]))
    assert (one.name, one.offered_per_s, one.achieved_per_s) == ("write", 600.0, 500.0)
    assert (one.units_of_request, one.connections, one.seconds) == (100, 3, 10.0)


def part(t_s: float, operations: dict[str, int], **more):
    line = {**json.loads(interval(t_s, 10, 10)), "operations": operations, "requests": sum(operations.values()), **more}
    found = parse_line(json.dumps(line))
    assert found is not None
    return found


def test_seconds_and_summaries_of_other_operations_are_merged_by_name(wording):
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
    run = synthetic_run()
    sweep = replace(run.plan.sweep, work=work_of("write.rate=20k", "other.connections=3"))
    load = dict(method_facts(replace(run, plan=replace(run.plan, sweep=sweep))))["Load"]
    wording(load)
    of_all = Query(tag="groupid", function="avg")
    assert grows(Query(tag="groupid", groups=1)) and grows(replace(of_all, bucket_ms=1000))
    for query in (of_all, replace(of_all, by_tag=True), Query(latest=True), Query(when="range", span_ms=1000)):
        assert not grows(query)


@pytest.mark.parametrize(
    ("achieved", "is_poisson", "met"),
    [
        (1000.0, False, True),
        (970.0, False, True),  # the edges of the window cut one request of each connection
        (950.0, False, False),
        (950.0, True, True),
        (500.0, True, False),
    ],
)
def test_an_operation_that_does_not_achieve_its_rate_is_named(achieved, is_poisson, met):
    one = OfferedOperation(
        name="write",
        unit="rows",
        offered_per_s=1000.0,
        achieved_per_s=achieved,
        units_of_request=100,
        connections=2,
        seconds=10.0,
        is_poisson=is_poisson,
    )
    given = TrialResources(cores=1.0, quota=False, generator_cpus=1, shared_cpus=(), threads=8)
    used = {
        "server_cpu_cores": 1.0,
        "generator_cpu_cores": 0.1,
        "other_cpu_cores": 0.0,
        "throttled": 0.0,
        "in_flight": 0.9,
    }
    window, m = ResourceUse(rate_per_s=3.0, **used), Measurement(requests_per_s=3.0, window_s=10.0)
    verdict = diagnose(Evidence(resources=given, measurement=m, window=window, offered=(one,)), load_axis("cores"))
    assert (verdict.kind is VerdictKind.OFFERED_NOT_MET) is not met
    assert (verdict.reasons[0].split()[:4] == ["write:", "1", "k", "rows/s"]) is not met
