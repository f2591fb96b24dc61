"""Rules about a load that another program makes, its pauses, and its verdict with and without lines of progress."""

from dataclasses import replace

import pytest

from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.outcome import evidence, outcome_of_load
from scale_sweep.judge.figures.resource_use import resources_of, second_uses, window_use
from scale_sweep.judge.figures.taken import stopped_s
from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.judge.figures.window import measure_window
from scale_sweep.judge.verdict.bottleneck import bottleneck_of, judge_standing
from scale_sweep.judge.verdict.evidence import ResourceUse, TakenCpus, TrialResources
from scale_sweep.model.loads import Interval, Latency, LoadProgram, LoadSummary
from scale_sweep.model.measured import BottleneckKind, VerdictKind
from scale_sweep.model.resources import Placement
from scale_sweep.model.samples import Sample, SubjectSample
from tests.unit.factories import make_sweep, make_trial

CLIENTS, CORES = load_axis("clients"), load_axis("cores")
GIVEN = TrialResources(
    cores=2.0, quota=False, generator_cpus=2, shared_cpus=(), threads=8, is_foreign=True, program="pgbench"
)
GIVEN = replace(GIVEN, more_threads="-j 4", more_clients="-c 16", pin="taskset -c 2,3 pgbench")
WAITS = {"server_cpu_cores": 0.6, "generator_cpu_cores": 0.3, "generator_threads": 4.0}
IDLE = ResourceUse(seconds=10.0, **WAITS, hot_generator_wanted=("pgbench", 0.2), in_flight=0.1, other_cpu_cores=0.0)
FULL = {"hot_generator_wanted": ("pgbench", 0.99), "hot_generator_queued": 0.0}
QUEUED = {"hot_generator_wanted": ("pgbench", 0.98), "hot_generator_queued": 0.58}
LOCKED = {"generator_waits": {"mutex: python": 0.7, "else": 0.1, "": 0.2}}
NEIGHBOUR = {"taken": (TakenCpus(whose="the load generator's", cpus=2, others=0.9, stolen=0.0),)}
BY_QUOTA = {"generator_throttled_s": 6.0, "hot_generator_wanted": ("pgbench", 0.6), "in_flight": 0.4}
OTHERS = {"other_cpu_cores": 1.3, "in_flight": 0.85}
DISK_WAITS = {"io_waiting_percent": 70.0, "in_flight": 0.85}
SHARED = {"shared_cpus": (0, 1)}
KIND = BottleneckKind


@pytest.mark.parametrize(
    ("use", "given", "kind", "said", "remedy"),
    [
        (FULL, {}, KIND.GENERATOR_CPU, "the busiest of 4 load threads (pgbench) used 99 % of its CPU; ", "-j 4"),
        (FULL | {"generator_threads": 1.0}, {}, KIND.GENERATOR_CPU, "the one busy load thread (pgbench) used", "-j 4"),
        (FULL, {"more_threads": ""}, KIND.GENERATOR_CPU, "; the server used 0.60 of 2 cores", "more threads or proc"),
        (FULL, {"generator_cpus": 1}, KIND.GENERATOR_CPU, "99 % of its CPU", "-j 4"),
        (FULL | {"generator_cpu_cores": 1.9}, {}, KIND.GENERATOR_CPU, "99 %", "more CPUs for the load, and -j 4"),
        (QUEUED, {}, KIND.GENERATOR_CPU, "ran 40 % and waited for a CPU 58 % of the time", "lift the quota"),
        (BY_QUOTA, {}, KIND.GENERATOR_CPU, "a CPU quota held up pgbench 60 % of the time; the server used", "lift"),
        (BY_QUOTA | NEIGHBOUR | QUEUED, {}, KIND.GENERATOR_CPU, "a CPU quota", "lift the quota"),
        (BY_QUOTA | {"server_cpu_cores": 1.9}, {}, KIND.SERVER_CPU, "the server used 1.90", "more cores"),
        ({"generator_throttled_s": 0.9, "in_flight": 0.85}, {}, KIND.CONNECTIONS, "8 clients waited", "-c 16"),
        (QUEUED | NEIGHBOUR, {}, KIND.OTHER_PROCESSES, "other processes used 0.90 cores of the load's CPUs", "stop"),
        ({"generator_cpu_cores": 1.85}, {}, KIND.GENERATOR_CPU, "pgbench used 92 % of its 2 CPUs", "more CPUs"),
        (LOCKED, {}, KIND.GENERATOR_CPU, "for locks inside their program 70 % of the time", "several processes"),
        (FULL | {"server_cpu_cores": 1.9}, {}, KIND.SERVER_CPU, "the server used 1.90 of 2 cores", "more cores"),
        (QUEUED | {"waits": {"lock: tuple": 0.8, "": 0.2}}, {}, KIND.LOCKS, "locks 80 %", ""),
        (QUEUED | {"disk_busy_percent": {"d1": 99.0}}, {}, KIND.DISK, "disk d1 was 99 % busy", ""),
        (QUEUED | {"throttled": 0.5}, {}, KIND.THROTTLING, "a CPU quota that the sweep did not set", ""),
        (LOCKED | {"hot_thread": ("redis", 0.97)}, {}, KIND.HOT_THREAD, "one thread of the server (redis)", ""),
        (QUEUED, SHARED, KIND.SHARED_CPU, "server and load may run on the same CPUs (0-1)", "taskset -c 2,3"),
        ({"server_cpu_cores": 1.9}, SHARED, KIND.SHARED_CPU, "same CPUs", "taskset"),
        (FULL, SHARED, KIND.GENERATOR_CPU, "used 99 % of its CPU", "-j 4"),
        ({"in_flight": 0.85}, {}, KIND.CONNECTIONS, "8 clients waited for an answer 85 % of the time (by", "-c 16"),
        (
            {"in_flight": 0.85},
            {"threads": 0, "more_clients": ""},
            KIND.CONNECTIONS,
            "the clients waited",
            "more clients",
        ),
        (OTHERS | {"server_queued_cores": 0.4}, {}, KIND.OTHER_PROCESSES, "on this machine used 1.30 cores", "stop"),
        (OTHERS | {"server_queued_cores": 0.04}, {}, KIND.CONNECTIONS, "8 clients waited", "-c 16"),
        (DISK_WAITS, {}, KIND.DISK, "something waited for I/O 70 % of the time", ""),
        ({"server_disk_waits": 0.8}, {}, KIND.DISK, "some thread of the server waited for a disk 80 % of the time", ""),
        (DISK_WAITS | {"server_disk_waits": 0.1}, {}, KIND.CONNECTIONS, "8 clients waited", "-c 16"),
        ({"in_flight": 0.85, "server_queued_cores": 1.3}, {}, KIND.UNKNOWN, "no measured", ""),
        ({}, {}, KIND.UNKNOWN, "no measured quantity explains it", ""),
    ],
)
def test_each_rule_of_a_foreign_load(use, given, kind, said, remedy):
    found = bottleneck_of(replace(IDLE, **use), replace(GIVEN, **given), CLIENTS)
    assert found.kind is kind
    assert said in found.sentence and remedy in found.remedy


OWN = {KIND.SERVER_CPU: {"server_cpu_cores": 1.9}, KIND.HOT_THREAD: {"hot_thread": ("redis", 0.97)}}


@pytest.mark.parametrize("use", OWN.values(), ids=OWN)
def test_only_evidence_of_its_own_makes_the_number_the_servers(use):
    assert judge_standing(replace(IDLE, **use), GIVEN, CLIENTS)[0] is VerdictKind.VALID


@pytest.mark.parametrize("use", [{}, FULL, QUEUED, LOCKED, {"in_flight": 0.85}, QUEUED | NEIGHBOUR])
@pytest.mark.parametrize("axis", [CLIENTS, CORES])
def test_no_other_load_is_valid(use, axis):
    kind, reasons = judge_standing(replace(IDLE, **use), GIVEN, axis)
    assert kind in (VerdictKind.RESOURCE_NOT_SATURATED, VerdictKind.GENERATOR_BOUND) and reasons
    assert judge_standing(replace(IDLE, **use), replace(GIVEN, **SHARED), axis)[0] is not VerdictKind.VALID


def test_a_swept_number_of_clients_may_be_the_limit():
    few, swept = replace(IDLE, in_flight=0.85), replace(GIVEN, grants_clients=True)
    assert judge_standing(few, swept, CLIENTS)[0] is VerdictKind.VALID
    assert bottleneck_of(few, swept, CLIENTS).remedy.startswith("more --clients")


WAITING = {"generator_wanted_cores": {"my_load": 0.3}}


def seen(t_s, *, server=None, load=None, **fields):
    use = {"throttled_s_total": None, "memory_bytes": None}
    return Sample(
        monotonic_ns=round(t_s * 1e9),
        server=SubjectSample(cpu_s_total=1.9 * t_s if server is None else server, **use),
        generator=SubjectSample(cpu_s_total=0.5 * t_s if load is None else load, **use),
        memory_available_bytes=None,
        psi_some_s_total={},
        thread_cpu_s_total={},
        **{"generator_threads": 2, "generator_stopped": 0} | fields,
    )


def test_the_busiest_thread_over_a_window_without_the_reading_before_it():
    wanted = {"generator_wanted_cores": {"pgbench": 0.8, "psql": 0.1}, "generator_queued_cores": {"pgbench": 0.2}}
    waits = [{"mutex: pgbench": 3.0 * t, "else": 1.0 * t, "": 6.0 * t} for t in range(5)]
    samples = [seen(t, **wanted, generator_waits_total=waits[t]) for t in range(1, 5)]
    use = measure_window([seen(0, generator_threads=None), *samples], 0, 4 * 10**9)
    assert use.hot_generator_wanted == ("pgbench", pytest.approx(0.8))
    assert (use.hot_generator_queued, use.generator_threads) == (pytest.approx(0.2), pytest.approx(2.0))
    assert use.generator_waits == {"mutex: pgbench": pytest.approx(0.3), "else": 0.1, "": 0.6}
    ours = measure_window([seen(t, generator_threads=None) for t in range(5)], 0, 4 * 10**9)
    assert (ours.hot_generator_wanted, ours.generator_waits) == (None, {})


@pytest.mark.parametrize("begin_s", [3.0, 3.3, 3.5, 3.9])
@pytest.mark.parametrize(("usual", "off"), [(1.0, 0.05), (0.3, 0.05), (0.0, 1.0)])
def test_a_stop_of_two_seconds_is_seen_once_a_second(begin_s, usual, off):
    def ran_s(t):
        return min(t, begin_s) + max(0.0, t - begin_s - 2.0)

    def at(t):
        wanted = {"generator_wanted_cores": {"pgbench": usual * (ran_s(t) - ran_s(t - 1))}} if usual else {}
        return seen(t, generator_stopped=3 if begin_s < t < begin_s + 2.0 else 0, **wanted)

    assert stopped_s([at(t) for t in range(10)], 0, 9 * 10**9) == pytest.approx(2.0, abs=off)


def test_a_load_that_waits_for_its_server_was_not_stopped():
    still = [seen(t, **(WAITING if t < 4 else {})) for t in range(10)]
    assert stopped_s(still, 0, 9 * 10**9) == 0.0
    one_of_several = [seen(t, **WAITING, generator_stopped=int(2 < t < 8)) for t in range(10)]
    assert stopped_s(one_of_several, 0, 9 * 10**9) < 0.1


NONE = Latency(
    count=0,
    min_us=None,
    mean_us=None,
    p50_us=None,
    p90_us=None,
    p95_us=None,
    p99_us=None,
    p999_us=None,
    max_us=None,
    hdr="",
)
SUMMARY = LoadSummary(
    outcome="ok",
    window_s=20.0,
    window_start_ns=0,
    window_end_ns=20 * 10**9,
    last_ack_ns=None,
    rows_window=0,
    rows_per_s=None,
    rows_acked=0,
    rows_failed=0,
    requests=0,
    errors=0,
    retries=0,
    cpu_window_s=None,
    offered_rows_per_s=None,
    threads=8,
    send_s=0.0,
    make_s=0.0,
    response=NONE,
    service=NONE,
    program=LoadProgram(name="my_load.sh", more_threads="-j 4", pin="taskset -c 2 ./my_load.sh"),
    is_counted=False,
)
TRIAL = make_trial(make_sweep(), cores=2.0, placement=Placement(server_cpus=(0, 1), generator_cpus=(2, 3)))
TRIAL = replace(TRIAL, load=replace(TRIAL.load, generator="command", warmup_least_s=None))


def facts_of(*, summary=SUMMARY, **fields):
    return TrialFacts(summary=summary, samples=tuple(seen(t, **WAITING, **fields) for t in range(21)))


def test_a_load_without_a_known_rate_still_has_a_verdict():
    outcome = outcome_of_load(CLIENTS, TRIAL, facts_of())
    assert (outcome.verdict.kind, outcome.verdict.bottleneck.kind) == (VerdictKind.VALID, KIND.SERVER_CPU)
    assert outcome.measurement.requests_per_s is outcome.measurement.rows_per_s is outcome.measurement.rows is None
    assert outcome.measurement.generator_cpu_cores == pytest.approx(0.5)
    assert any("the server's CPU use" in reason for reason in outcome.verdict.reasons)
    assert any("the tool's rate is not known" in reason for reason in outcome.verdict.reasons)
    failed = outcome_of_load(CLIENTS, TRIAL, facts_of(summary=replace(SUMMARY, errors=3, requests=90)))
    assert (failed.verdict.kind, failed.verdict.reasons[0]) == (VerdictKind.ERRORS, "3 of 90 requests failed")


def test_without_progress_the_servers_cpu_use_must_be_steady():
    rising = TrialFacts(summary=SUMMARY, samples=tuple(seen(t, server=0.05 * t * t, **WAITING) for t in range(21)))
    assert outcome_of_load(CORES, TRIAL, rising).measurement.rate_drift_percent > 50
    line = Interval(
        monotonic_ns=10**9,
        t_s=1.0,
        phase="measure",
        rows=0,
        rows_total=0,
        requests=9,
        errors=0,
        retries=0,
        response_us_p50=None,
        response_us_p99=None,
        response_us_max=None,
        backlog_rows=None,
    )
    lines = replace(rising, intervals=tuple(replace(line, monotonic_ns=t * 10**9, t_s=float(t)) for t in range(1, 21)))
    found = outcome_of_load(CORES, TRIAL, lines)
    assert not any("prints no progress" in reason for reason in found.verdict.reasons)


def test_what_applies_to_an_own_load_does_nothing():
    facts = facts_of()
    given, use = resources_of(TRIAL, facts), window_use(TRIAL, facts, SUMMARY, [])
    assert (given.ceiling_per_s, given.offered_per_s, use.late, use.workers_busy) == (None, None, (), None)
    assert (given.is_foreign, given.more_threads, given.pin) == (True, "-j 4", "taskset -c 2 ./my_load.sh")
    assert use.in_flight == pytest.approx(0.7)
    assert [second.in_flight for second in second_uses(TRIAL, facts, SUMMARY, [])] == pytest.approx([0.7] * 20)
    found = evidence(TRIAL, facts, outcome_of_load(CLIENTS, TRIAL, facts).measurement)
    assert (found.contradiction, found.offered, found.overdue) == ("", (), None)


def test_a_run_of_an_older_version_keeps_its_rules():
    old = TrialFacts(summary=SUMMARY, samples=tuple(seen(t, generator_threads=None) for t in range(21)))
    assert not resources_of(TRIAL, old).is_foreign
    assert outcome_of_load(CORES, TRIAL, old).measurement.rate_drift_percent is None


def test_a_stopped_load_is_no_measurement_of_the_server():
    stopped = [seen(t, generator_stopped=int(8 < t < 11), **({} if 8 < t < 12 else WAITING)) for t in range(21)]
    outcome = outcome_of_load(CLIENTS, TRIAL, TrialFacts(summary=SUMMARY, samples=tuple(stopped)))
    assert outcome.verdict.bottleneck.kind is KIND.GENERATOR_LATE
    assert outcome.verdict.kind is VerdictKind.GENERATOR_BOUND


def test_without_progress_a_stall_is_seen_by_the_servers_cpu_use():
    def facts(idle, load):
        used = [0.0]
        for t in range(1, 21):
            used.append(used[-1] + (0.0 if t in idle else 1.2))
        samples = [seen(t, server=used[t], **({} if t in idle else WAITING) | load) for t in range(21)]
        return TrialFacts(summary=SUMMARY, samples=tuple(samples))

    stalled = outcome_of_load(CLIENTS, TRIAL, facts((9, 10, 11), {}))
    assert stalled.verdict.bottleneck.kind is KIND.STALL
    assert "for 3.0 s: the server's threads did not run" in stalled.verdict.bottleneck.sentence
    for idle, load in (
        ((1, 2, 3), {}),
        ((18, 19, 20), {}),
        ((9, 10, 11), {"generator_wanted_cores": {"my_load": 0.9}}),
    ):
        found = outcome_of_load(CLIENTS, TRIAL, facts(idle, load))
        assert found.verdict.bottleneck.kind is not KIND.STALL, idle
