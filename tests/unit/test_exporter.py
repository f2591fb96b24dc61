"""Metrics: what is declared, documented and served is one list; counters never fall; the port is small and local."""

import http.client
import threading
from dataclasses import replace

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse

from scale_sweep.analysis.noise.drift_test import without_drift
from scale_sweep.analysis.observations import observations
from scale_sweep.capacity.objective import parse_objective
from scale_sweep.model.declared import Operation
from scale_sweep.model.derived import marks
from scale_sweep.model.events import (
    CeilingsMeasured,
    IntervalSeen,
    PhaseEntered,
    SampleTaken,
    StepBegan,
    StepEnded,
    TrialFinished,
    TrialStarted,
)
from scale_sweep.model.loads import Interval
from scale_sweep.model.measured import Bottleneck, BottleneckKind, Step, VerdictKind
from scale_sweep.model.questions import OperationFigures
from scale_sweep.model.samples import DiskCeiling, DiskSample, Sample, SubjectSample
from scale_sweep.results.store.reader import read_run
from scale_sweep.results.store.stored import Folder
from scale_sweep.watch.exporter.names import COMMON, METRICS
from scale_sweep.watch.exporter.openmetrics import openmetrics
from scale_sweep.watch.exporter.server import Exporter, LineWriter, MetricsServer, common_labels, text
from scale_sweep.watch.exporter.values import points_kept, points_now, points_phase
from scale_sweep.watch.live.state import POOLS_MAX, LiveState, ceiling_of, take
from scale_sweep.watch.live.time_left import progress
from tests.unit.factories import make_interval
from tests.unit.raw_run import raw_run
from tests.unit.synthetic_run import mixed_run

RUN = mixed_run()
S = 10**9


def sample(second: int, pools: dict[str, float] | None = None) -> Sample:
    side = SubjectSample(cpu_s_total=0.9 * second, throttled_s_total=0.1 * second, memory_bytes=10**9)
    counts = {"written_bytes_total": 10**8 * second, "read_bytes_total": second, "writes_total": 7 * second}
    disk = DiskSample(**counts, busy_s_total=0.5 * second, queue_s_total=1.5 * second, free_bytes=10**10)
    return Sample(
        monotonic_ns=second * S,
        server=side,
        generator=side,
        memory_available_bytes=10**10,
        psi_some_s_total={"cpu": 0.1 * second, "io": 0.0},
        thread_cpu_s_total=pools or {},
        host_cpu_busy_s_total=1.9 * second,
        host_cpu_stolen_s_total=0.0,
        disks={"d1": disk, "d2": disk},
    )


def interval(second: int) -> Interval:
    counts = {"rows": 1000, "rows_total": 1000 * second, "requests": 10, "errors": 1, "retries": 2, "backlog_rows": 50}
    response = {"response_us_p50": 900.0, "response_us_p99": 4000.0, "response_us_max": 9000.0}
    service = {"service_us_p50": 800.0, "service_us_p99": 3000.0, "service_us_max": 8000.0}
    operations = {"operations": {"write": 6, "range": 4}, "operations_p99_us": {"range": 7000.0}}
    return make_interval(t_s=float(second), **counts, **response, **service, **operations)


RANGE = OperationFigures(weight=1, requests_per_s=50.0, response_ms={"p50": 2.0, "p99": 8.0})
MIX = (Operation(), Operation(name="range", unit="requests"))
FULL = Bottleneck(kind=BottleneckKind.SERVER_CPU, sentence="all cores busy")
LIMIT = DiskCeiling(disks=("d1",), write_mb_per_s=100.0, sync_writes_per_s=None)
LAST = "cores-9-r1"
STEP = Step(rate=4e3, achieved_per_s=4e3, seconds=5.0, requests=2000, verdict=VerdictKind.VALID, excess=-0.1)
FAILED = (replace(STEP, rate=4500.0, excess=0.1), replace(STEP, rate=6000.0, excess=None))
STEPS = (STEP, replace(STEP, rate=3000.0), *FAILED)


def taken(state: LiveState, *events) -> LiveState:
    for event in events:
        state = take(state, event)
    return state


def begun(*, vary: bool = False, reads: bool = False, searches: bool = False) -> LiveState:
    """A run with finished trials, one trial under load, and everything known that can be known. reads: of a load that
    asks too. searches: the trial under load runs its fifth step."""
    sweep = RUN.plan.sweep
    work = replace(sweep.work, operations=MIX) if reads else sweep.work
    trials = tuple(replace(trial, work=work) for trial in RUN.plan.trials)
    plan = replace(RUN.plan, sweep=replace(sweep, load=replace(sweep.load, rate=5000.0), work=work), trials=trials)
    variant = {"method": "copy"} if vary else {}
    ceilings = {t.trial_id: 1e8 for t in plan.trials} | {LAST: 1e8}
    measured = CeilingsMeasured(rows_per_s=ceilings, disks=(LIMIT,))
    state = take(LiveState(run="20260102T030405Z-x", plan=plan), measured)
    for position, r in enumerate(RUN.results, start=1):
        figures = {"requests_per_s": r.measurement.rows_per_s, "operations": {"range": RANGE}} if reads else {}
        m = replace(r.measurement, service_ms_p50=1.0, response_ms_p99=9.0, **figures)
        trial = replace(r.trial, work=work, subject=replace(r.trial.subject, variant=variant))
        result = replace(r, trial=trial, measurement=m, verdict=replace(r.verdict, bottleneck=FULL))
        times = {"unix_s": 1000.0 * position, "monotonic_ns": position}
        begins = TrialStarted(trial=trial, position=position, total=13, **times)
        state = taken(state, begins, TrialFinished(result=result))
    first = plan.trials[0]
    load = replace(first.load, objective=parse_objective("p99 < 20ms, errors < 1%") if searches else None)
    subject, knobs = replace(first.subject, variant=variant), {**first.knobs, "mode": "fast"}
    last = replace(first, trial_id=LAST, subject=subject, knobs=knobs, load=load)
    begins = TrialStarted(trial=last, position=13, total=13, unix_s=2000.0, monotonic_ns=S)
    state = taken(state, begins, PhaseEntered(trial_id=LAST, phase="measure", monotonic_ns=2 * S))
    for second in (3, 4):
        sampled = SampleTaken(trial_id=LAST, sample=sample(second, {"vnode": 1.0 * second}))
        state = taken(state, sampled, IntervalSeen(trial_id=LAST, interval=interval(second)))
    if not searches:
        return state
    first, second = (IntervalSeen(trial_id=LAST, interval=interval(at)) for at in (1, 2))
    for step in STEPS:
        begins = StepBegan(trial_id=LAST, rate=step.rate)
        state = taken(state, begins, first, StepEnded(trial_id=LAST, step=step))
    phase = PhaseEntered(trial_id=LAST, phase="step", monotonic_ns=5 * S)
    return taken(state, StepBegan(trial_id=LAST, rate=4200.0), phase, second)


def parts(state: LiveState):
    return points_kept(state), points_phase(state), points_now(state, 5 * S)


Samples = dict[tuple[str, frozenset], float]
SERVED: list[tuple[LiveState, Samples]] = []  # a state is never changed, and has no hash


def served(state: LiveState) -> Samples:
    for known, samples in SERVED:
        if known is state:
            return samples
    body = b"".join(text(p, common_labels(state)) for p in parts(state))
    found = {(s.name, frozenset(s.labels.items())): s.value for f in parse(body.decode()) for s in f.samples}
    SERVED.append((state, found))
    return found


def value(state: LiveState, name: str, **labels: str) -> float | None:
    found = [v for (n, own), v in served(state).items() if n == f"scale_{name}" and labels.items() <= dict(own).items()]
    assert len(found) < 2, found
    return found[0] if found else None


def test_all_that_is_declared_is_served_with_its_type_and_nothing_else():
    states = [begun(vary=True, reads=reads, searches=searches) for reads in (True, False) for searches in (True, False)]
    seen = {name: set(dict(labels)) for state in states for name, labels in served(state)}
    assert seen == {m.name: {*COMMON, *m.labels} for m in METRICS}
    lines = b"".join(text(p, {}) for state in states for p in parts(state)).decode().splitlines()
    kinds = dict(line.split()[2:] for line in lines if line.startswith("# TYPE"))
    assert kinds == {m.name: "gauge" if m.kind == "info" else m.kind for m in METRICS}


def values(state: LiveState, *names: str, **labels: str) -> list[float | None]:
    return [value(state, name, **labels) for name in names]


def test_a_load_that_reads_says_its_requests_and_those_of_each_operation():
    reading, writing = begun(reads=True), begun()
    achieved = ("achieved_requests_per_second", "achieved_rows_per_second")
    assert (values(reading, *achieved), values(writing, *achieved)) == ([10.0, 1000.0], [None, 1000.0])
    ceilings = ("generator_ceiling_requests_per_second", "generator_ceiling_rows_per_second")
    assert values(reading, *ceilings) == [1e8, None]
    of_operation = ("operation_requests_total", "operation_response_time_seconds")
    assert values(reading, *of_operation, operation="range") == pytest.approx([8.0, 0.007])
    assert values(writing, *of_operation, operation="write") == pytest.approx([20.0, 0.004])
    assert value(reading, "operation_response_time_seconds", operation="write") is None
    for counted, other, state in (("requests", "rows", reading), ("rows", "requests", writing)):
        assert values(state, f"offered_{counted}_per_second", f"backlog_{counted}") == [5000, 50]
        assert all(values(state, f"curve_{counted}_per_second", f"curve_fitted_{counted}_per_second", level="1"))
        assert value(state, "run_info", unit=counted) == 1
        absent = (f"offered_{other}_per_second", f"backlog_{other}", f"curve_{other}_per_second")
        assert values(state, *absent) == [None] * 3
    for second, percentiles, served_s in ((5, {}, 0.007), (6, {"range": 9000.0}, 0.009)):
        event = replace(interval(second), operations_p99_us=percentiles)
        state = take(reading, IntervalSeen(trial_id=LAST, interval=event))
        assert value(state, "operation_response_time_seconds", operation="range") == pytest.approx(served_s)
    one = {"trial": reading.results[0].trial.trial_id, "operation": "range"}
    assert value(reading, "trial_operation_requests_per_second", **one) == 50.0
    assert value(reading, "trial_operation_response_time_seconds", **one, quantile="0.99") == pytest.approx(0.008)


def test_the_fast_writer_writes_what_prometheus_client_writes():
    state = begun()
    for case in (state, replace(state, run='a "quoted" \\ name')):
        writer = LineWriter(common_labels(case))
        for points in map(list, parts(case)):
            assert writer.write(points) == writer.write(points) == text(points, common_labels(case))


def test_names_and_units_follow_the_conventions():
    for metric in METRICS:
        assert (metric.kind == "counter") == metric.name.endswith("_total"), metric.name
        assert (metric.kind == "info") == metric.name.endswith("_info"), metric.name
        assert ("quantile" in metric.labels) == (metric.kind == "summary"), metric.name
        assert not {"ms", "us", "mb", "gb", "percent"} & set(metric.name.split("_")), metric.name


def test_values_are_the_trials():
    state = begun()
    rates = ("achieved_rows_per_second", "offered_rows_per_second", "generator_ceiling_rows_per_second")
    assert values(state, *rates, "rows_acknowledged_total", "errors_total") == [1000, 5000, 1e8, 4000, 2]
    disk = ("disk_utilisation_ratio", "disk_queue_requests", "disk_written_bytes_total")
    assert values(state, *disk, disk="d1") == values(state, *disk, disk="d2") == pytest.approx([0.5, 1.5, 10**8])
    assert value(state, "cpu_used_cores", side="server") == pytest.approx(0.9)
    assert value(state, "response_time_seconds", quantile="0.99") == pytest.approx(0.004)
    assert value(state, "service_time_seconds", quantile="1") == pytest.approx(0.008)
    assert value(state, "trial_setting", setting="mode") is None
    of_clients = replace(state, plan=replace(state.plan, sweep=replace(state.plan.sweep, axis="clients")))
    assert value(of_clients, "trial_setting", setting="clients") == state.running.trial.level
    quick = {r.trial.trial_id for r in RUN.results if "quick" in marks(r)}
    assert quick and all(value(state, "trial_mark", trial=name, mark="quick") == 1 for name in quick)
    valid = sum(r.verdict.kind is VerdictKind.VALID for r in RUN.results)
    assert value(state, "run_finished_trials_total", verdict="VALID") == valid
    counted = [o.value for o in without_drift(observations(RUN.results, "rows_per_s")) if o.level == 1 and not o.mark]
    curve = ("curve_rows_per_second", "curve_speedup_ratio")
    assert values(state, *curve, level="1") == pytest.approx([sum(counted) / len(counted), 1.0])
    figures = ("scale_trial_rows_per_second", "scale_curve_rows_per_second")
    targets = [dict(labels)["target"] for name, labels in served(state) if name in figures]
    assert len(targets) > len(RUN.plan.sweep.levels) and set(targets) == {RUN.plan.sweep.target}
    added = replace(state.plan.trials[0], trial_id="cores-1-r99", replicate=99)
    assert ceiling_of(state, added) == 1e8, "that of its point"


def test_a_search_shows_the_offered_rate_and_the_rates_between_which_the_capacity_is():
    state = begun(searches=True)
    # 1,000 rows were achieved in the first two seconds of the step.
    assert values(state, "offered_rows_per_second", "achieved_rows_per_second") == [4200.0, 500.0]
    searched = ("search_held_rows_per_second", "search_failed_rows_per_second", "search_steps_total")
    assert values(state, *searched) == [4000.0, 4500.0, 4]
    assert value(state, "objective_seconds", condition="p99") == pytest.approx(0.02)
    assert value(state, "rows_acknowledged_total") == 4000 + 4 * 1000 + 2000, "of all loads"
    assert value(state, "trial_phase", phase="step") == 1
    assert value(begun(), "search_steps_total") is None


def test_what_is_not_known_has_no_sample():
    plan = RUN.plan
    state = take(LiveState(run="x", plan=plan), TrialStarted(trial=plan.trials[0], position=1, total=4))
    of_trial = {"rows_acknowledged_total", "cpu_used_cores", "response_time_seconds", "trial_verdict"}
    rates = {"curve_rows_per_second", "generator_ceiling_rows_per_second", "offered_rows_per_second"}
    assert not {f"scale_{name}" for name in of_trial | rates} & {name for name, _ in served(state)}
    assert value(state, "run_remaining_seconds") > 0


def test_rates_end_with_the_load_and_counters_stay():
    state = take(begun(), PhaseEntered(trial_id=LAST, phase="verify", monotonic_ns=9 * S))
    assert values(state, "achieved_rows_per_second", "rows_acknowledged_total") == [None, 4000]
    assert value(state, "disk_write_bytes_per_second", disk="d1") is None
    assert value(state, "trial_phase", phase="verify") == 1


def test_a_thread_that_ends_keeps_what_it_used_and_pools_are_bounded():
    state = take(begun(), SampleTaken(trial_id=LAST, sample=sample(5, {"commit": 0.5})))
    assert value(state, "thread_pool_cpu_seconds_total", pool="vnode") == 1.0
    assert value(state, "thread_pool_cpu_seconds_total", pool="commit") == 0.5
    many = sample(5, {f"t{i}": 1.0 for i in range(200)})
    state = take(begun(), SampleTaken(trial_id=LAST, sample=many))
    pools = [dict(labels)["pool"] for name, labels in served(state) if name == "scale_thread_pool_cpu_seconds_total"]
    assert len(pools) == POOLS_MAX + 1
    assert value(state, "thread_pool_cpu_seconds_total", pool="other") == 200 - (POOLS_MAX - 1)


def test_progress_counts_the_running_trials_part_and_a_plan_that_grew():
    plan = replace(RUN.plan, seconds_estimated=10.0 * len(RUN.plan.trials))
    begins = TrialStarted(trial=plan.trials[0], position=1, total=20, monotonic_ns=S)
    at = progress(take(LiveState(run="x", plan=plan), begins), 6 * S)
    assert (at.done, at.total) == (0, 20)
    assert at.done_ratio == pytest.approx(0.5 / 20)
    assert at.remaining_s == pytest.approx(195.0)


def test_confirming_trials_that_are_shorter_than_searches_do_not_lengthen_the_time_left():
    """A search has 80 s of steps and 20 s besides; a confirming trial has a window of 10 s in their place."""
    load = replace(RUN.plan.trials[0].load, duration_s=10.0)
    search, confirm = (replace(RUN.plan.trials[0], load=load, role=role) for role in ("point", "confirm"))
    trials = tuple(replace(one, trial_id=f"{one.role}{i}") for one in (search, confirm) for i in range(2))
    step = Step(rate=1e3, achieved_per_s=1e3, seconds=20.0, requests=9, verdict=VerdictKind.VALID)
    searched = replace(RUN.results[0], wall_s=100.0, measurement=replace(RUN.results[0].measurement, steps=(step,) * 4))
    ended = [replace(searched, trial=trial) for trial in trials[:2]]
    state = LiveState(run="x", plan=replace(RUN.plan, trials=trials), results=tuple(ended), total=4)
    assert progress(state, 0).remaining_s == 2 * 30
    confirmed = replace(RUN.results[0], trial=trials[2], wall_s=33.0)
    assert progress(replace(state, results=(*ended, confirmed)), 0).remaining_s == 33


def test_a_database_that_has_not_ended_a_trial_takes_the_plans_mean_and_not_the_time_of_another():
    quick = RUN.plan.trials[0]
    slow = replace(quick, subject=replace(quick.subject, target="cassandra"))
    trials = tuple(replace(one, trial_id=f"{one.subject.target}{i}") for one in (quick, slow) for i in range(3))
    plan = replace(RUN.plan, trials=trials, seconds_estimated=6 * 60.0)
    ended = replace(RUN.results[0], trial=trials[0], wall_s=15.0)
    state = LiveState(run="x", plan=plan, results=(ended,), total=6)
    assert progress(state, 0).remaining_s == 2 * 15 + 3 * 60
    slow_ended = replace(RUN.results[0], trial=trials[3], wall_s=300.0)
    assert progress(replace(state, results=(ended, slow_ended)), 0).remaining_s == 2 * 15 + 2 * 300


def get(port: int, path: str = "/metrics", method: str = "GET") -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path)
    reply = connection.getresponse()
    return reply.status, reply.read()


def test_the_port_gives_metrics_and_refuses_all_else():
    with Exporter(begun(), 0) as exporter:
        status, body = get(exporter.port)
        assert (status, b"scale_trial_running" in body) == (200, True)
        assert get(exporter.port, "/")[0] == 404
        assert get(exporter.port, "/metrics", "POST")[0] == 501
    with pytest.raises(OSError):
        get(exporter.port)


def test_lingering_ends_when_the_page_was_read_once_more_by_every_reader_that_is_connected():
    server = MetricsServer(0, lambda: b"x")
    one, other = (http.client.HTTPConnection("127.0.0.1", server.port, timeout=60) for _ in range(2))

    def read(*readers):
        for reader in readers:
            reader.request("GET", "/metrics")
            reader.getresponse().read()

    def lingering():
        waiting = threading.Thread(target=server.linger, args=(600.0,), daemon=True)
        waiting.start()
        return waiting

    def has_ended(waiting):
        waiting.join(60)
        return not waiting.is_alive()

    try:
        assert has_ended(lingering()), "nobody ever read it"
        get(server.port)
        server.mark()
        get(server.port)
        assert has_ended(lingering())
        read(one, other)
        server.mark()
        read(one)
        waiting = lingering()
        waiting.join(0.2)
        assert waiting.is_alive()
        read(other)
        assert has_ended(waiting)
        server.mark()
        read(one)
        other.close()  # who went away is not waited for
        assert has_ended(lingering())
    finally:
        one.close()
        server.stop()


def samples_of(path):
    content = openmetrics(Folder(path), read_run(path)).decode()
    families = parse_openmetrics(content)  # refuses times that fall, repeats, and a missing end
    return [one for family in families for one in family.samples]


def test_a_stored_run_as_openmetrics_has_its_times_in_order(tmp_path):
    raw_run(tmp_path)
    path = next(tmp_path.iterdir())
    run, samples = read_run(path), samples_of(path)
    series: dict[tuple, list[float]] = {}
    for s in samples:
        series.setdefault((s.name, frozenset(s.labels.items())), []).append(float(s.timestamp))
    assert {name for name, _ in series} <= {m.name for m in METRICS}
    assert all(times == sorted(set(times)) for times in series.values())
    first = run.results[0].trial.trial_id
    of_first = [s for s in samples if s.labels.get("trial") == first]
    acked = [s.value for s in of_first if s.name == "scale_rows_acknowledged_total"]
    assert acked == sorted(acked)
    assert acked[-1] == run.results[0].measurement.rows_acked
    # Without journals it is placed by its start, which all synthetic trials say the same.
    for journal in path.glob("trials/*/journal.jsonl"):
        journal.unlink()
    starts = {s.value for s in samples_of(path) if s.name == "scale_trial_start_time_seconds"}
    assert starts == {1767323045.0}
