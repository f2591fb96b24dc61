"""Trials of --prove: planned last, refused before the start, disturbed by real programs, and told in the report."""

import json
import math
import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from scale_sweep.analysis.observations import observations
from scale_sweep.analysis.proved import left_of, proof_intervals, proof_words, proofs_of_run
from scale_sweep.base.errors import StoreError, UsageError
from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.disturbed import disturbances_text, verdict_of_disturbed
from scale_sweep.machine.host import busy_work
from scale_sweep.machine.host.disturbing import SHARE, DisturbedPlace, Disturbing, disk_obstacle
from scale_sweep.measure.trial.disturbances import held_lines
from scale_sweep.model.measured import Bottleneck, BottleneckKind, Verdict, VerdictKind
from scale_sweep.model.proof import Disturbance, Elasticity, Proof, ProofPhase
from scale_sweep.plan.preparing import machine_findings
from scale_sweep.report.bottlenecks import bottlenecks_table
from scale_sweep.report.curve import with_fit
from scale_sweep.report.proof import proof_sentences, proof_table
from scale_sweep.report.sections import markdown
from scale_sweep.results.store.reader import extra_files
from scale_sweep.results.store.stored import Folder
from tests.unit.factories import make_result
from tests.unit.synthetic_run import synthetic_run
from tests.unit.test_plan import make_host, planned
from tests.unit.whole_commands import run as run_command

CPU = Disturbance(block=0, start_s=1, end_s=3, resource="cpu", place="CPU 0", asked_s=0.4, taken_s=0.4)
FREE = Disturbance(block=0, start_s=3, end_s=5)


def proofs(plan):
    return {t.level: t.disturbed for t in plan.trials if t.role == "proof"}


def test_the_lowest_and_the_highest_level_are_disturbed_last_and_are_not_fitted():
    plan = planned(make_host(2), cores="1..2", method__prove="auto")
    assert proofs(plan) == {1: ("cpu", "load"), 2: ("cpu",)}
    assert any("leaves out the load generator's CPUs at 2 cores" in note for note in plan.notes)
    assert [t.role for t in plan.trials[-3:]] == ["proof", "proof", "drift_check"]
    assert proofs(planned(cores="1..4", method__prove="clients,cpu")) == {1: ("clients", "cpu"), 4: ("clients", "cpu")}
    assert proofs(planned(cores="1..4")) == {}
    loads = [t.load for t in plan.trials if t.role == "proof"]
    assert all(load.duration_s and 16 < load.duration_s <= 62 and load.window_max_s is None for load in loads)
    trial = replace(make_result().trial, role="proof")
    assert [one.mark for one in observations([replace(make_result(), trial=trial)], "rows_per_s")] == ["disturbed"]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"load__rows": "1M"}, "--prove and --rows exclude"),
        ({"load__rate": "5k"}, "--prove and --rate exclude"),
        ({"load__slo": "p99 < 20ms"}, "--prove and --slo exclude"),
        ({"load__soak": "2m", "cores": "1"}, "--prove and --soak exclude"),
        ({"target__endpoint": "db:5432"}, "--prove and --endpoint exclude"),
        ({"vary": ["method=copy,insert"]}, "--prove and --vary exclude"),
        ({"method__prove": "cpu,dsk"}, "did you mean disk"),
        ({"method__prove": "memory"}, "--prove memory: the part of the memory bandwidth"),
        ({"cores": "0.5,1", "method__prove": "cpu"}, "has a quota"),
        ({"cores": "2", "method__prove": "load"}, "share their CPUs"),
    ],
)
def test_what_cannot_be_disturbed_is_refused_before_the_start(flags, words):
    with pytest.raises(UsageError) as refused:
        planned(make_host(2), **{"method__prove": "auto", **flags})
    assert words in refused.value.message and refused.value.exit_code == 2


def test_data_in_memory_and_disks_without_direct_writes_are_refused(tmp_path):
    plan = planned(cores="1", method__prove="disk")
    (refused,) = machine_findings.proving(plan, tmp_path, in_memory=True)
    assert refused.blocking and refused.is_input and "in memory" in refused.sentence
    assert machine_findings.proving(planned(cores="1", method__prove="cpu"), tmp_path, in_memory=True) == []
    assert "/proc" in disk_obstacle("/proc")


def test_the_flag_needs_no_value(tmp_path):
    words = ("plan", "cpu", "--cores", "1", "--target", "null", "--runtime", "process", "--json")
    for given, disturbed in (("--prove",), ["cpu", "load"]), (("--prove", "cpu"), ["cpu"]):
        done = run_command(*words, *given, cwd=tmp_path)
        assert json.loads(done.stdout)["plan"]["sweep"]["prove"] == disturbed, done.stderr


def test_connections_are_held_in_the_phases_of_the_clients():
    (trial,) = (t for t in planned(cores="2", method__prove="clients").trials if t.role == "proof")
    lines = held_lines(trial)
    assert int(lines["held"]) == max(1, round(SHARE * trial.load.connections)) < trial.load.connections
    times = [tuple(map(float, pair.split("-"))) for pair in lines["held_s"].split(",")]
    assert times == sorted(times) and times[0][0] > 0 and times[-1][1] < trial.load.duration_s
    assert held_lines(replace(trial, disturbed=("cpu",))) == {}


def test_a_verdict_of_a_disturbed_trial_keeps_only_what_is_wrong():
    neighbour = Bottleneck(kind=BottleneckKind.OTHER_PROCESSES, sentence="others")
    made = verdict_of_disturbed(Verdict(kind=VerdictKind.UNSTEADY, reasons=("it fell",), bottleneck=neighbour))
    assert (made.kind, made.bottleneck) == (VerdictKind.VALID, None) and "on purpose" in made.reasons[0]
    lost = Verdict(kind=VerdictKind.LOST_ROWS, reasons=("3 rows",))
    assert verdict_of_disturbed(lost) is lost


def test_the_raw_file_is_read_back_and_another_one_is_refused(tmp_path):
    run, rows = Folder(tmp_path), (CPU, FREE, replace(CPU, start_s=5, end_s=7, taken_s=None))
    (trial,) = (t for t in planned(cores="2", method__prove="cpu").trials if t.role == "proof")
    file = tmp_path / "trials" / trial.trial_id / "disturbances.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(disturbances_text(rows))
    assert extra_files(run, [trial]) == ({}, {trial.trial_id: rows})
    for wrong in ("{}", "1", disturbances_text(rows).replace("0.4", "Infinity")):
        file.write_text(wrong)
        with pytest.raises(StoreError, match="disturbances.jsonl"):
            extra_files(run, [trial])


def test_only_intervals_wholly_in_one_known_phase_count():
    unknown = replace(CPU, start_s=5, end_s=7, taken_s=None)
    series = [(t, {"rows_per_s": 100.0 + t}) for t in (1.0, 2.0, 3.01, 4.0, 4.99, 6.0, 7.0, 8.0)]
    seen = proof_intervals([*series, (4.2, {"rows_per_s": None})], (CPU, FREE, unknown), "rows_per_s")
    assert [(one.at_s, set(one.left)) for one in seen] == [(2.0, {"cpu"}), (3.01, {"cpu"}), (4.0, set()), (4.99, set())]
    assert seen[0].left["cpu"] == pytest.approx(math.log(0.8))
    two = (CPU, replace(CPU, place="CPU 1", taken_s=0.0))
    assert left_of(two, 2.0) == {"cpu": pytest.approx(math.log(0.9))}
    clients = Disturbance(block=0, start_s=1, end_s=3, resource="clients", place="connections", of=4, taken_s=2)
    assert left_of((clients,), 2.0) == {"clients": pytest.approx(math.log(0.75))}
    assert left_of((FREE,), 2.0) == {} and left_of((unknown,), 2.0) is None


def phase_of(start_s, *on):
    return ProofPhase(start_s=start_s, seconds=0.2, block=0, on=frozenset(on))


def test_real_programs_disturb_a_cpu_and_a_disk_and_leave_no_file(tmp_path):
    cpu, *_ = sorted(os.sched_getaffinity(0))
    places = [DisturbedPlace(resource="cpu", name=f"CPU {cpu}", cpus=(cpu,))]
    if not disk_obstacle(str(tmp_path)):
        places.append(DisturbedPlace(resource="disk", name="d1", cpus=(cpu,), folder=str(tmp_path)))
    phases = (phase_of(0), phase_of(0.2, "cpu"), phase_of(0.4, "cpu", "disk"), phase_of(9.0))
    disturbing = Disturbing(places)
    try:
        disturbing.start()
        assert disturbing.trouble == ""
        begun = time.monotonic_ns()
        disturbing.begin(phases, begun + 10**8, begun)
        time.sleep(0.8)
        rows = disturbing.rows()
    finally:
        disturbing.stop()
    assert [(row.resource, round(row.start_s, 3)) for row in rows] == [
        ("", 0.1),
        ("cpu", 0.3),
        *((place.resource, 0.5) for place in places),
    ]
    assert all(row.taken_s is not None and row.taken_s > 0 for row in rows[1:])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("times", [b"", b"%d %d\n"])
def test_a_disturbing_program_ends_when_the_one_that_started_it_has_ended(times):
    """It waits for its times, or is in a long phase."""
    command = [sys.executable, "-I", "-S", busy_work.__file__, "0.1", "60", ""]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as child:
        assert child.stdin is not None and child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        now = time.monotonic_ns()
        child.stdin.write(times % (now, now + 60 * 10**9) if times else times)
        child.stdin.close()  # as the kernel does when that one is killed
        assert child.wait(timeout=20) == 0


def test_a_disturbing_program_without_times_ends_by_itself():
    command = [sys.executable, "-I", "-S", busy_work.__file__, "0.1", "0.1", ""]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.wait(timeout=20) == 0


def proof_run(kind=BottleneckKind.UNKNOWN, cause=0.97):
    """A run whose lowest level has a proof: rates that follow the CPU with the exponent `cause`."""
    run = synthetic_run()
    named = [
        replace(r, verdict=replace(r.verdict, bottleneck=Bottleneck(kind=kind, sentence="40 % of 1 core")))
        for r in run.results
    ]
    first = next(r for r in named if r.trial.level == min(t.level for t in run.plan.trials))
    trial = replace(first.trial, trial_id="cores-1-proof", role="proof", disturbed=("cpu",))
    phases = [
        replace(CPU, block=n // 4, start_s=1 + 2 * n, end_s=3 + 2 * n) if n % 4 in (1, 2) else
        replace(FREE, block=n // 4, start_s=1 + 2 * n, end_s=3 + 2 * n)
        for n in range(24)
    ]  # fmt: skip
    jitter = {s: 0.004 * math.sin(12.9 * s) for s in range(50)}
    series = [(0.0, {"rows_per_s": 100.0})] + [
        (float(s), {"rows_per_s": 1e5 * (0.8 if phases[(s - 2) // 2].place else 1.0) ** cause * (1 + jitter[s])})
        for s in range(2, 50)
    ]
    return replace(
        run,
        fit=None,
        results=(*named, replace(first, trial=trial, verdict=verdict_of_disturbed(first.verdict))),
        timeseries={**run.timeseries, trial.trial_id: (series[0], (1.0, {"rows_per_s": 1e5}), *series[1:])},
        disturbances={trial.trial_id: tuple(phases)},
    )


def test_the_report_states_the_cause_and_that_the_rules_named_another():
    run = with_fit(proof_run())
    (level,) = run.fit.proofs
    assert level.proof.causes == ("cpu",) and level.differs and level.rules == "UNKNOWN"
    (e,) = level.proof.elasticities
    assert e.low <= 0.97 <= e.high
    sentences = proof_sentences(run)
    assert sentences[0].startswith("At 1 core, proved: the server's CPUs, 0.9")
    assert any("the rules named: not known" in one for one in sentences)
    assert any("measured are" in one for one in sentences)
    assert bottlenecks_table(run).rows[0][1] == "the server's CPUs (by proof)"
    assert proof_table(run).rows[0][:2] == ("1", "the server's CPUs")
    assert "## Proof of the bottleneck" in markdown(run)
    assert "## Proof" not in markdown(synthetic_run())


def test_rules_that_agree_stay_and_none_of_the_resources_is_a_result():
    agreeing = with_fit(proof_run(BottleneckKind.SERVER_CPU))
    assert not agreeing.fit.proofs[0].differs and "(by proof)" not in str(bottlenecks_table(agreeing).rows)
    (inside,) = with_fit(proof_run(BottleneckKind.SERVER_CPU, cause=0.0)).fit.proofs
    assert inside.proof.causes == () and inside.differs and "none of these" in inside.sentence
    run = proof_run()
    (none,) = proofs_of_run(replace(run, disturbances={}), load_axis("cores"), "rows_per_s", ())
    assert none.sentence.startswith("not decided: ") and not none.differs


@pytest.mark.parametrize(
    ("commits", "words"), [(1, "took 50 s; let it take at most 8 s"), (0, "more than 50 s"), (9, "")]
)
def test_on_the_axis_of_disks_a_block_must_have_a_commit_cycle(commits, words):
    """A server that only fills its buffers does not follow a busy disk."""
    run = proof_run()
    *points, proof = run.results
    proof = replace(proof, measurement=replace(proof.measurement, commits=commits, window_s=50.0))
    run = replace(run, results=(*points, proof))
    (level,) = proofs_of_run(run, load_axis("disks"), "rows_per_s", ())
    assert words in level.proof.reason and bool(level.proof.reason) == bool(words)
    (level,) = proofs_of_run(run, load_axis("cores"), "rows_per_s", ())
    assert level.proof.reason == ""


def test_a_proof_in_words():
    e = [Elasticity(resource=r, value=0.62, low=0.5, high=0.74) for r in ("cpu", "disk")]
    shared = Proof(elasticities=tuple(e), causes=("cpu", "disk"))
    assert (
        proof_words(shared)
        == "two share it: the server's CPUs, 0.62 (0.50 to 0.74); the data disks, 0.62 (0.50 to 0.74)"
    )
    assert proof_words(Proof(reason="more blocks")) == "not decided: more blocks"
