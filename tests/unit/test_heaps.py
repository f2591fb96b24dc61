"""Heaps of servers that run in Java: one rule of cores and memory, the same at all levels of a sweep."""

from dataclasses import replace

import pytest

from scale_sweep.model import ResourceRange
from scale_sweep.plan import complete, make_plan
from scale_sweep.server.targets import load_facts
from scale_sweep.server.targets.heap import heap
from scale_sweep.server.targets.java import heap_bytes
from tests.unit.factories import make_sweep
from tests.unit.test_plan import make_host

JAVA = ("questdb", "cassandra", "iotdb", "kairosdb", "opentsdb")
GIB = 2**30


@pytest.mark.parametrize(
    ("cores", "memory", "expected"),
    [
        ((1.0,), 8 * GIB, "1g"),
        ((0.5,), 8 * GIB, "1g"),
        ((1.0, 2.0), 24 * GIB, "1536m"),
        ((2.0,), 4 * 10**9, "896m"),
        ((1.0, 12.0), 24 * GIB, "6g"),
        ((12.0,), 64 * GIB, "6656m"),
        ((12.0,), None, "6656m"),
        ((2.0,), GIB // 2, "256m"),
    ],
)
def test_a_heap_follows_the_most_cores_and_the_memory(cores, memory, expected):
    size = heap(ResourceRange(cores=cores, memory_bytes=memory))
    assert size == expected
    assert heap_bytes(size) % 2**26 == 0


@pytest.mark.parametrize("name", JAVA)
def test_all_java_servers_have_the_same_heap_at_all_levels(name):
    facts = load_facts(name)
    sweep = replace(make_sweep(cores="1..4"), target=name, method="", knobs={})
    plan = make_plan(complete(sweep, facts, 24 * GIB), make_host(8), facts)
    heaps = [knob.name for knob in facts.knobs if knob.name in ("heap", "tsd_heap")]
    assert heaps
    assert {trial.knobs[knob] for trial in plan.trials for knob in heaps} == {"2560m"}
    small = complete(replace(sweep, memory_bytes=2 * GIB), facts, 24 * GIB)
    assert {small.knobs[knob].pieces[0].value for knob in heaps} == {"512m"}
