"""--equal-durability: each database fsyncs before it answers where it can, and the plan says what it gets instead."""

from dataclasses import replace

import pytest

from scale_sweep.plan import complete
from scale_sweep.plan.make import PlannedArm, plan_arms
from scale_sweep.server.targets import TARGETS, load_facts
from tests.unit.factories import make_sweep
from tests.unit.test_plan import make_host

WRITES = [name for name in TARGETS.names() if name != "null"]


def plan_of(*names, **flags):
    arms = []
    for name in names:
        sweep = replace(make_sweep(**flags), target=name, runtime="process", vary={"target": names})
        facts = load_facts(name)
        arms.append(PlannedArm(variant={"target": name}, sweep=complete(sweep, facts), facts=facts))
    return plan_arms(arms[0].sweep, make_host(), arms)


def said(plan):
    return [note.removeprefix("equal durability: ") for note in plan.notes if note.startswith("equal durability")]


def knobs_of(plan, name):
    return next(t.knobs for t in plan.trials if t.subject.target == name)


def test_each_says_what_it_gets():
    names = ("questdb", "influxdb", "victoriametrics", "postgres", "cassandra", "tdengine")
    plan = plan_of(*names, method__equal_durability="true")
    assert said(plan) == [
        "questdb answers when rows are fsynced (cairo_commit_mode=sync)",
        "influxdb answers when rows are fsynced (data_wal_fsync_delay=0s)",
        "victoriametrics has no setting for it: when it answers, rows are in memory, and written within about 10 s",
        "postgres answers when rows are fsynced (synchronous_commit=on)",
        "cassandra answers when rows are fsynced (commitlog_sync=batch)",
        "tdengine answers when rows are fsynced (wal_level=2, wal_fsync_period=0)",
    ]
    assert knobs_of(plan, "postgres")["synchronous_commit"] == "on"
    assert knobs_of(plan, "tdengine")["wal_fsync_period"] == "0"


def test_without_the_flag_nothing_is_set():
    plan = plan_of("questdb", "postgres")
    assert said(plan) == []
    assert "synchronous_commit" not in knobs_of(plan, "postgres")


def test_a_knob_that_was_asked_for_stays():
    plan = plan_of("postgres", method__equal_durability="true", knobs__other=["synchronous_commit=off"])
    assert knobs_of(plan, "postgres")["synchronous_commit"] == "off"
    assert said(plan) == ["postgres keeps synchronous_commit=off, as configured"]


def test_a_method_without_answers_has_no_durability():
    plan = plan_of("questdb", method__equal_durability="true", load__method="tcp")
    assert said(plan) == ["questdb acknowledges nothing by this method, so nothing is set"]


@pytest.mark.parametrize("name", WRITES)
def test_every_target_says_how_or_what_instead(name):
    facts = load_facts(name)
    assert (facts.fsynced is None) is bool(facts.acknowledged)
