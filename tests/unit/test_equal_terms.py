"""Databases that are compared: as many connections for each, the same durability by --equal-durability, one runtime."""

from dataclasses import replace

import pytest

from scale_sweep.plan.make import PlannedArm, plan_arms
from scale_sweep.plan.preparing.findings import unequal_runtimes
from scale_sweep.plan.target_defaults import complete, with_equal_connections
from scale_sweep.server.targets import TARGETS, load_facts
from tests.unit.factories import make_sweep
from tests.unit.test_plan import make_host
from tests.unit.test_several_databases import several

NAMES = ("tdengine", "postgres", "questdb")


def planned(*names, **flags):
    """The plan of these databases, each with the connections that a comparison gives it."""
    asked = {}
    for name in names:
        sweep = replace(make_sweep(**flags), target=name, runtime="process", vary={"target": names})
        asked[name] = (sweep, load_facts(name))
    equal = with_equal_connections({name: complete(*each) for name, each in asked.items()}, asked)
    arms = [PlannedArm(variant={"target": name}, sweep=equal[name], facts=asked[name][1]) for name in names]
    return plan_arms(arms[0].sweep, make_host(16), arms)


def connections(plan):
    return {trial.subject.target: trial.load.connections for trial in plan.trials}


def test_each_has_the_most_connections_that_one_of_them_would_have_or_those_that_were_given():
    for cores, each in (("1,2", 4), ("1..4", 8), ("1,12", 24)):
        plan = planned(*NAMES, cores=cores)
        assert connections(plan) == dict.fromkeys(NAMES, each)
        assert len({trial.load.connections for trial in plan.trials}) == 1, "at each level"
    for given in ({"knobs__connections": "5"}, {"knobs__other": ["connections=5"]}):
        assert connections(planned(*NAMES, cores="1,12", **given)) == dict.fromkeys(NAMES, 5)
    alone = planned("tdengine", cores="1,12").trials[0]
    assert (alone.load.connections, alone.knobs["vgroups"]) == (12, "12")


def durable(*names, **flags):
    """Knobs by database, and what the plan says of each."""
    plan = planned(*names, **{"method__equal_durability": "true", **flags})
    said = [note.removeprefix("equal durability: ") for note in plan.notes if note.startswith("equal durability")]
    return {t.subject.target: t.knobs for t in plan.trials}, said


def test_each_fsyncs_before_it_answers_where_it_can_and_says_what_it_gets(wording):
    knobs, said = durable("questdb", "influxdb", "victoriametrics", "postgres", "cassandra", "tdengine")
    assert knobs["postgres"]["synchronous_commit"] == "on"
    assert knobs["tdengine"]["wal_fsync_period"] == "0"
    kept, said_of_kept = durable("postgres", knobs__other=["synchronous_commit=off"])
    assert kept["postgres"]["synchronous_commit"] == "off"
    wording(*said, *said_of_kept, *durable("questdb", load__method="tcp")[1])
    plain, nothing = durable("questdb", "postgres", method__equal_durability="false")
    assert nothing == [] and "synchronous_commit" not in plain["postgres"]


@pytest.mark.parametrize("name", [name for name in TARGETS.names() if name != "null"])
def test_every_target_says_how_or_what_instead(name):
    facts = load_facts(name)
    assert (facts.fsynced is None) is bool(facts.acknowledged)


def test_different_runtimes_are_a_finding():
    plan = several()
    assert unequal_runtimes(plan) == []
    in_docker = tuple(
        replace(t, subject=replace(t.subject, runtime="docker")) if t.subject.target == "postgres" else t
        for t in plan.trials
    )
    (found,) = unequal_runtimes(replace(plan, trials=in_docker))
    assert all(f"by {name}" in found.sentence for name in ("docker", "process"))
    assert not found.blocking
