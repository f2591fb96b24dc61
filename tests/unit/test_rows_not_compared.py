"""What a verdict says of rows and tags that a database is not asked for."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace

import pytest

from scale_sweep.measure.trial.stored_rows import _compared_tags, _stores_tags, rows_summed
from scale_sweep.server.targets import all_facts
from scale_sweep.server.targets.device_table import tags_in_table
from tests.unit.test_loadgen import summary
from tests.unit.trial_orders import trial_order

COUNTED = [facts for facts in all_facts() if facts.stores_rows and not (facts.sums or facts.is_simulated)]


@pytest.mark.parametrize("tags", [("groupid:int",), ()])
@pytest.mark.parametrize("facts", COUNTED, ids=[facts.name for facts in COUNTED])
def test_each_database_without_sums_says_what_is_not_compared(tmp_path, facts, tags):
    order = trial_order(tmp_path, facts.name)
    data = replace(order.trial.work.data, tags=tags)
    order = replace(order, trial=replace(order.trial, work=replace(order.trial.work, data=data)))
    note = rows_summed(order, None, facts, {}, summary([1]), None, 1.0).note
    assert note.count("not compared") == 1 + bool(facts.stores_tags and tags)
    (null,) = (facts for facts in all_facts() if not facts.stores_rows)
    assert rows_summed(trial_order(tmp_path), None, null, {}, summary([1]), None, 1.0) is None


@pytest.mark.parametrize(
    "answer",
    [lambda: {"d0": {("1", "a column more")}}, lambda: {}["tags"], lambda: int("no number"), lambda: {"d0": None}],
    ids=["more columns", "no tags", "no number", "null"],
)
def test_an_answer_about_tags_that_holds_something_else_is_a_finding(monkeypatch, answer):
    monkeypatch.setattr("scale_sweep.measure.trial.stored_rows.ask", lambda reached, question, limit_s: question())
    reached = SimpleNamespace(session=SimpleNamespace(stored_tags=lambda names: answer()))
    named = SimpleNamespace(names=["d0"], tags={"groupid": ["1"]})
    note, findings = _compared_tags(reached, named, [10], 1.0)
    assert note == "" and len(findings) == 1


def test_tags_of_a_table_of_devices_are_compared_by_their_text_if_they_have_one():
    asked, rows = [], [(0, 5, "a b"), (1, Decimal(7), None)]
    found = tags_in_table(("groupid:int", "place:binary(24)"), lambda said: asked.append(said) or rows, "`{0}`")
    assert found == {"0": {("5", "a b")}, "1": {("7", "")}}
    assert [one.split(" FROM ")[0].split()[1:] for one in asked] == [["device_id,", "`groupid`,", "`place`"]]
    for kind in ("bool", "float", "double(8)", "timestamp", "geometry(40)", "varbinary(9)", "json"):
        assert tags_in_table(("groupid:int", f"other:{kind}"), pytest.fail) is None


def test_a_table_of_devices_has_tags_where_the_load_reads(tmp_path):
    for facts in (facts for facts in all_facts() if facts.has_device_table):
        for flags, has_tags in (({}, False), ({"mix": "write,point", "preload__rows": "1k"}, True)):
            assert _stores_tags(trial_order(tmp_path, facts.name, **flags).trial, facts) is has_tags, facts.name
