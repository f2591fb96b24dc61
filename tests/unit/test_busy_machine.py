"""Other programs on the server's CPUs are named with their part; a sweep says once that they spoil it, and can wait."""

import itertools
import json
import os
from dataclasses import replace

import pytest

from scale_sweep.base.interrupts import Stop, Stopped
from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.searched import outcome
from scale_sweep.machine.sampling.programs import OtherPrograms
from scale_sweep.measure.executing.execute import Neighbours
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.waiting import until_quiet
from scale_sweep.model.derived import OTHERS_WERE
from scale_sweep.model.events import Noted, TrialFinished, TrialStarted
from scale_sweep.model.measured import Bottleneck, BottleneckKind, Verdict, VerdictKind
from scale_sweep.model.resources import Placement
from tests.unit.factories import make_result, make_trial
from tests.unit.raw_run import facts_of, load_lines, samples_of
from tests.unit.whole_commands import run

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Proc:
    """A folder like /proc."""

    def __init__(self, folder):
        self.folder = folder

    def has(self, pid, name, used_s, *, parent=1, children_s=0.0, started=5):
        (self.folder / f"{pid}").mkdir(exist_ok=True)
        times = (used_s * TICKS_PER_S, 0, children_s * TICKS_PER_S, 0)
        fields = ["S", parent, *range(9), *map(round, times), 20, 0, 1, 0, started, 0]
        (self.folder / f"{pid}/stat").write_text(f"{pid} ({name}) {' '.join(map(str, fields))}\n")

    def ends(self, pid):
        (self.folder / f"{pid}/stat").unlink()
        (self.folder / f"{pid}").rmdir()


def test_the_three_busiest_programs_are_named_with_their_part(tmp_path, monkeypatch):
    proc, clock = Proc(tmp_path), itertools.count(0, 10).__next__
    for pid, name in enumerate("cc1 make (odd)) name\x1b idle old".split(" "), 101):
        proc.has(pid, name, 100.0)
    proc.has(os.getpid(), "scale", 0.0)
    proc.has(301, "postgres", 0.0)
    proc.has(401, "g++", 2.0, parent=102)
    proc.has(402, "cc1plus", 5.0, parent=401)
    programs = OtherPrograms(str(tmp_path), clock)
    proc.has(101, "cc1", 109.0)
    proc.has(102, "make", 100.0, children_s=12.0)  # 5 s of them are of this time
    proc.ends(401)
    proc.ends(402)
    proc.has(103, "(odd))", 102.0)
    proc.has(104, "name\x1b", 101.0)
    proc.has(105, "idle", 100.1)
    proc.has(106, "new", 3.0, started=6)  # another process with the number of an old one
    proc.has(os.getpid(), "scale", 10.0)
    proc.has(201, "scale-loadgen", 10.0, parent=os.getpid())
    proc.has(301, "postgres", 10.0)
    proc.has(302, "postgres", 10.0, parent=301)
    (tmp_path / "locks").write_text("not a process")
    assert programs.busiest(own={301}) == (
        "cc1 (pid 101) 0.90 cores",
        "make (pid 102) 0.50 cores",
        "new (pid 106) 0.30 cores",
    )
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0} if pid == 102 else {1})
    assert [words.partition(" ")[0] for words in programs.busiest({1, 2}, own={301})] == ["cc1", "new", "(odd))"]


def finished(kind=BottleneckKind.OTHER_PROCESSES, *, named="cc1 (pid 7) 0.97 cores", verdict="RESOURCE_NOT_SATURATED"):
    reasons = ("others", *([f"{OTHERS_WERE}{named}"] if named else []))
    bottleneck = Bottleneck(kind=kind, sentence="others")
    judged = Verdict(kind=VerdictKind(verdict), reasons=reasons, bottleneck=bottleneck)
    return TrialFinished(result=replace(make_result(), verdict=judged))


@pytest.mark.parametrize("total", [6, 9])
@pytest.mark.parametrize(("waits", "named"), [(False, "cc1 (pid 7) 0.97 cores"), (True, "")])
def test_after_two_spoiled_trials_a_sweep_says_so_once(tmp_path, waits, named, total, wording):
    said = []
    sink = Neighbours(tmp_path / "run", said.append, waits=waits)
    sink(TrialStarted(trial=make_trial(), position=6, total=total))
    for event in (finished(), finished(BottleneckKind.LOCKS), finished(verdict="VALID")):
        sink(event)
    assert said == []
    for _ in range(3):
        sink(finished(named=named))
    assert len(said) == 1
    wording(said[0].replace(str(tmp_path), "results"))


def test_the_verdict_names_them_if_they_are_the_cause():
    trial = make_trial(knobs={"connections": "8"})
    rows = [100_000] * 12
    lines = "".join(f"{line}\n" for line in map(json.dumps, load_lines(rows, 2, 0)))
    samples = [
        replace(one, server=replace(one.server, cpu_s_total=0.3 * at))
        for at, one in enumerate(samples_of(trial, rows, 0))
    ]
    facts = facts_of(lines, 0, 2 * 10**9, samples, others=("cc1 (pid 7) 0.60 cores", "make (pid 8) 0.10 cores"))
    verdict = outcome(load_axis("cores"), trial, facts).verdict
    assert verdict.bottleneck.kind is BottleneckKind.OTHER_PROCESSES
    assert f"{OTHERS_WERE}cc1 (pid 7) 0.60 cores, make (pid 8) 0.10 cores" in verdict.reasons
    without = outcome(load_axis("cores"), trial, replace(facts, others=())).verdict
    assert len(without.reasons) == len(verdict.reasons) - 1
    quiet = replace(facts, samples=tuple(samples_of(trial, rows, 0)))
    assert not any(OTHERS_WERE in reason for reason in outcome(load_axis("cores"), trial, quiet).verdict.reasons)


def order_of(*, wait_s=300.0, endpoint="", server_cpus=(0, 1)):
    trial = make_trial(placement=Placement(server_cpus=server_cpus, generator_cpus=(2,)))
    trial = replace(trial, subject=replace(trial.subject, endpoint=endpoint))
    plain = {"run_id": "r", "axis": "cores", "data_dir": "/d", "home": "", "client_home": "", "port": None, "disks": ()}
    more = {"disk_placement": "", "wal_disk": "", "disk_free_min_bytes": 0, "sample_hz": 1.0, "program": ""}
    return TrialOrder(trial=trial, wait_quiet_s=wait_s, **plain, **more)


def waited(order, uses):
    """What is said while other programs use so many cores, one after the other every 20 s; and the CPUs looked at."""
    clock, seen, left = itertools.count(0, 20).__next__, set(), iter(uses)

    def look(cpus):
        seen.add(tuple(cpus))
        return next(left), "cc1 (pid 7) 0.97 cores"

    events = list(until_quiet(order, Stop(), look, clock))
    assert all(isinstance(one, Noted) and one.trial_id == order.trial.trial_id for one in events)
    return [one.sentence for one in events], seen


def test_a_trial_waits_until_other_programs_are_quiet_but_not_for_ever(wording):
    assert waited(order_of(), [0.09]) == ([], {(0, 1)})
    wording(*waited(order_of(), [0.97, 0.5, 0.02])[0])
    wording(*waited(order_of(), [0.97] * 20)[0])
    said, seen = waited(order_of(endpoint="db:5432"), [0.97, 0.0])
    assert seen == {(2,)}, "the server's machine may be another one"
    assert "of the load generator" in said[0]
    assert waited(order_of(server_cpus=tuple(range(64))), [3.0])[0] == []  # a twentieth of the CPUs


def test_who_waits_can_be_stopped():
    stop = Stop()
    waiting = until_quiet(order_of(), stop, lambda cpus: (0.97, ""))
    next(waiting)
    stop.request()
    with pytest.raises(Stopped):
        next(waiting)


@pytest.mark.parametrize("words", [("sweep", "cpu"), ("ab", "cpu"), ("resume", "last")])
@pytest.mark.parametrize("time", ["0", "soon"])
def test_a_time_that_is_none_is_refused_before_anything_starts(words, time, tmp_path, wording):
    done = run(*words, "--wait-quiet", time, cwd=tmp_path)
    assert (done.code, done.stdout, list(tmp_path.iterdir())) == (2, "", [])
    wording(done.stderr.splitlines()[0])
