"""What every database that is asked PromQL must do, on its real server. A module of each database takes these in.

A module has the fixtures `target`, `queries` (its module that renders), `lacking` (kinds, and shapes, that it has no
words for) and `last_border` (what keeps a row after the end out of an answer).
"""

from __future__ import annotations

from scale_sweep.model import VerdictKind
from tests.unit.reading_trials import KINDS, MORE, SHAPES, checked, none_wrong, reading_order, shapes_order
from tests.unit.trial_orders import here, result_of, trial_order

BY_TIME = "group_by_time.step=10m"  # ranges begin with a stretch of time
NUMBERS = {"workload__columns": "current:float,voltage:int,phase:double,on:bool,small:smallint"}


def test_text_is_refused_because_samples_are_numbers(target, tmp_path):
    order = trial_order(tmp_path, target.facts.name, workload__columns="t:binary(8)")
    (finding,) = target.check(order.trial, None)
    assert finding.blocking and "t:binary" in finding.sentence


def test_reads_are_answered_rightly_beside_writes(target, folder, lacking):
    asked = {*KINDS, *MORE, "some", "least", "mean"} - lacking
    more = [BY_TIME, "aggregate_range_value.devices=2", "some.kind=aggregate_range_value", "some.bound=9..11"]
    more += ["some.function=count", "least.kind=aggregate_range_value", "least.bound=9..11", "least.function=max"]
    more += ["mean.kind=group_by_time", "mean.step=10m", "mean.span=2h"]
    mix = ",".join((*sorted(asked), "write=2"))
    result, answers = checked(here(reading_order(folder, target.facts.name, mix, also=more, **NUMBERS)))
    assert set(answers) == asked
    assert result.measurement.rows_counted == result.measurement.rows_acked + 20_000 > 20_000
    ranges = result.measurement.operations["range"]
    assert abs(ranges.read_rows_per_s - 360 * ranges.requests_per_s) <= 3.6 * ranges.requests_per_s


def test_groups_are_answered_rightly(target, folder):
    asked = {"group_by_tag", "one", "aggregate_tag", "every", "scan_tag"}
    operation = ["one.kind=group_by_tag", "one.fraction=0.1", "aggregate_tag.function=count"]
    operation += ["every.kind=aggregate_tag", "every.fraction=1", "every.function=spread"]
    order = reading_order(folder, target.facts.name, ",".join(sorted(asked)), operation=operation)
    _, answers = checked(here(order))
    assert set(answers) == asked


def test_a_wrong_border_is_caught(target, folder, monkeypatch, queries, last_border):
    """The one at the end in place of that at the start; the stretch before; a row after the end."""
    rendered = queries.rendered
    for right, wrong, kind in (
        (" offset 1ms", "", "range"),
        ("offset -599999ms", "", "group_by_time"),
        (*last_border, "range_value"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(queries, "rendered", lambda *given, a=right, b=wrong: rendered(*given).replace(a, b))
            verdict = result_of(here(reading_order(folder, target.facts.name, kind, also=[BY_TIME]))).verdict
        assert verdict.kind is VerdictKind.WRONG_ANSWER
        assert verdict.reasons[0].startswith(f"{kind} of device"), verdict.reasons


def test_bounds_and_groups_are_answered_rightly(target, folder, lacking):
    without = lacking & set(SHAPES)
    none_wrong(here(shapes_order(folder, target.facts.name, without=without)), set(SHAPES) - without)
