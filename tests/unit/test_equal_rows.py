"""Where memory pages become dear within a trial of --quick, all levels write the same rows, and the plan says why."""

from dataclasses import replace

import pytest

from scale_sweep.model.resources import NewPages
from scale_sweep.plan.data_sets import equal_rows_sentence, held_bytes, held_sentence, rows_in_cheap_pages, trial_bytes
from scale_sweep.plan.preparing import machines, prepared
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.test_plan import planned

ALIKE = {"first_us": 1.2, "again_us": 1.2, "touched_bytes": 6 * 10**9, "available_bytes": 4 * 10**9}
DEAR = NewPages(**ALIKE, last_us=11.8, cheap_bytes=3 * 10**9)
EVEN = NewPages(**ALIKE, last_us=1.3, cheap_bytes=None)
QUICK = {"load__quick": "1"}
PLAN = planned(cores="1..2", **QUICK)
LONG = [replace(t, load=replace(t.load, warmup_least_s=10.0, warmup_s=60.0)) for t in PLAN.trials]
SLOW = replace(PLAN, trials=tuple(LONG))  # of a server that needs a long warm-up
FEW = replace(DEAR, cheap_bytes=10**8)


@pytest.mark.parametrize(
    ("plan", "pages", "rate", "rows"),
    [
        (PLAN, DEAR, 4.7e5, 3_700_000),
        (PLAN, FEW, 3.1e5, 2_400_000),  # half of the memory is held
        (PLAN, replace(FEW, available_bytes=10**9), 3e5, None),
        (PLAN, replace(FEW, available_bytes=10**11), 4.7e5, 3_700_000),  # more only takes longer
        (PLAN, DEAR, 4e5, 3_200_000),
        (PLAN, DEAR, 3e5, 2_400_000),  # a slow machine writes fewer: four seconds at the most cores
        (planned(cores="1,2,4", **QUICK), DEAR, 2e5, 3_200_000),
        (planned(cores="1,2,4", **QUICK), DEAR, 1.5e5, 2_400_000),
        (PLAN, DEAR, 1e6, None),  # less than four seconds
        (PLAN, DEAR, 1500, None),  # no page becomes dear
        (PLAN, EVEN, 4e5, None),
        (PLAN, None, 4e5, None),
        (SLOW, DEAR, 4e5, None),
    ],
)
def test_the_rows_fit_into_the_cheap_pages(plan, pages, rate, rows):
    assert rows_in_cheap_pages(plan, pages, rate) == rows


def test_a_load_that_only_reads_writes_no_more_than_its_copy_of_the_rows():
    plan = planned(cores="1..2", mix="range=1", preload__rows="1M", workload__step_ms="10000")
    assert 0 < trial_bytes(plan) < 10**9
    assert held_bytes(plan, replace(DEAR, cheap_bytes=0, available_bytes=10**11)) == trial_bytes(plan)


def test_a_server_that_stores_no_rows_needs_no_memory(monkeypatch, tmp_path):
    monkeypatch.setattr(machines, "measure_new_pages", lambda wanted: replace(DEAR, available_bytes=14 * 10**9))
    found = prepared.prepare(resolve_sweep("cpu", {"axis.cores": "1", "target.name": "null"}), tmp_path)
    assert (found.held_bytes, [note for note in found.plan.notes if "memory" in note]) == (0, [])


def test_memory_is_held_if_a_trial_fits_into_it_or_as_much_as_may_be(wording):
    plan = planned(load__rows="3M")
    assert held_bytes(plan, None) == held_bytes(plan, EVEN) == 0
    assert held_bytes(plan, replace(DEAR, available_bytes=8 * 10**9)) == trial_bytes(plan) > 10**9
    little = replace(DEAR, available_bytes=2 * 10**9)
    assert held_bytes(plan, little) == held_bytes(plan, replace(little, cheap_bytes=0)) == 10**9, "half at most"
    slow = replace(DEAR, cheap_bytes=0, last_us=100.0, available_bytes=10**11)
    assert held_bytes(plan, slow) == round(20 / 100e-6) * 4096
    wording(held_sentence(plan, trial_bytes(plan)), held_sentence(plan, 10**9), equal_rows_sentence(1_500_000))


def test_a_long_run_pays_for_more_pages_than_a_short_one():
    much = replace(DEAR, cheap_bytes=1, available_bytes=10**14)
    one = planned(cores="1..4", load__duration="10000s")
    four = replace(one, trials=one.trials * 4)
    assert held_bytes(one, replace(much, available_bytes=10**11)) == 5 * 10**10
    assert held_bytes(four, much) == pytest.approx(4 * held_bytes(one, much), rel=0.01)


@pytest.mark.parametrize("given", ["duration=8s", "warmup=2s", "rows=1M", "rate=10k", "slo=p99 < 50ms"])
def test_a_window_stays_where_the_work_was_given(given):
    key, _, value = given.partition("=")
    assert rows_in_cheap_pages(planned(cores="1..2", **QUICK, **{f"load__{key}": value}), DEAR, 4e5) is None
    for plan in (planned(cores="1..2"), planned(cores="2", **QUICK)):
        assert rows_in_cheap_pages(plan, DEAR, 4e5) is None


def test_every_trial_of_the_prepared_plan_writes_these_rows(monkeypatch, tmp_path):
    monkeypatch.setattr(machines, "measure_new_pages", lambda wanted: replace(DEAR, available_bytes=6 * 10**9))
    monkeypatch.setattr(prepared, "ENOUGH_BYTES", 0)
    monkeypatch.setattr(machines, "speed_now", lambda: 3.35)  # a fast machine
    sweep = resolve_sweep("cpu", {"axis.cores": "1..2", "load.quick": "1", "target.name": "postgres"})
    found = prepared.prepare(sweep, tmp_path)
    plan = found.plan
    assert {(t.load.rows, t.load.duration_s, t.load.warmup_s) for t in plan.trials} == {(3_800_000, None, 0.0)}
    assert plan.sweep.origin["load.rows"] == "host"
    assert len(plan.trials) == 6  # more while the time lasts: see test_quick_time.py
    assert equal_rows_sentence(3_800_000) in plan.notes
    assert found.held_bytes == trial_bytes(plan)
    assert held_sentence(plan, found.held_bytes) in plan.notes
    assert all(not one.remedy for one in found.findings if one.subject == "memory")
