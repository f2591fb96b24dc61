"""Databases that are compared: as many connections for each, and a finding where their runtimes differ."""

from dataclasses import replace

from scale_sweep.plan.preparing.findings import _unequal_runtimes
from tests.unit.test_several_databases import several


def test_each_database_has_as_many_connections():
    plan = several()
    assert {trial.load.connections for trial in plan.trials} == {4}


def test_different_runtimes_are_a_finding():
    plan = several()
    assert _unequal_runtimes(plan) == []
    trials = tuple(
        replace(t, subject=replace(t.subject, runtime="docker")) if t.subject.target == "postgres" else t
        for t in plan.trials
    )
    (found,) = _unequal_runtimes(replace(plan, trials=trials))
    assert "postgres by docker, questdb by process, victoriametrics by process" in found.sentence
    assert not found.blocking
