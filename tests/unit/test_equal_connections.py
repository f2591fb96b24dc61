"""Databases that are compared have as many connections each, however many parts one of them has."""

import pytest

from scale_sweep.plan import complete
from scale_sweep.plan.complete import with_equal_connections
from scale_sweep.plan.make import PlannedArm, plan_arms
from scale_sweep.server.targets import load_facts
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.test_plan import make_host

NAMES = ("tdengine", "postgres", "questdb")


def planned(names, **flags):
    """The plan of these databases, each with the connections that a comparison gives it."""
    asked = {}
    for name in names:
        sweep = resolve_sweep("cpu", {"target.name": name, "target.runtime": "process", **flags})
        asked[name] = (sweep, load_facts(name))
    completed = {name: complete(sweep, facts) for name, (sweep, facts) in asked.items()}
    equal = with_equal_connections(completed, asked)
    arms = [PlannedArm(variant={"target": name}, sweep=equal[name], facts=asked[name][1]) for name in names]
    return plan_arms(arms[0].sweep, make_host(16), arms)


def connections(plan):
    return {trial.subject.target: trial.load.connections for trial in plan.trials}


@pytest.mark.parametrize(("cores", "each"), [("1,2", 4), ("1..4", 8), ("1,12", 24)])
def test_each_has_the_most_that_one_of_them_would_have(cores, each):
    plan = planned(NAMES, **{"axis.cores": cores})
    assert connections(plan) == dict.fromkeys(NAMES, each)
    assert len({trial.load.connections for trial in plan.trials}) == 1, "at each level"


def test_tdengine_alone_has_as_many_as_vgroups():
    plan = planned(("tdengine",), **{"axis.cores": "1,12"})
    (trial, *_) = plan.trials
    assert (trial.load.connections, trial.knobs["vgroups"]) == (12, "12")


@pytest.mark.parametrize("flag", ["knobs.connections", "knobs.other"])
def test_a_number_that_was_given_stays(flag):
    given = "5" if flag == "knobs.connections" else ["connections=5"]
    plan = planned(NAMES, **{"axis.cores": "1,12", flag: given})
    assert connections(plan) == dict.fromkeys(NAMES, 5)
