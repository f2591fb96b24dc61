"""What a verdict says of rows and tags that a database is not asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scale_sweep.measure.trial.stored_rows import rows_summed
from scale_sweep.server.targets import all_facts
from tests.unit.test_loadgen import summary
from tests.unit.trial_orders import trial_order

COUNTED = [facts for facts in all_facts() if facts.stores_rows and not facts.sums]


@pytest.mark.parametrize("tags", [("groupid:int",), ()])
@pytest.mark.parametrize("facts", COUNTED, ids=[facts.name for facts in COUNTED])
def test_each_database_without_sums_says_what_is_not_compared(tmp_path, facts, tags):
    order = trial_order(tmp_path, facts.name)
    data = replace(order.trial.work.data, tags=tags)
    order = replace(order, trial=replace(order.trial, work=replace(order.trial.work, data=data)))
    note = rows_summed(order, None, facts, {}, summary([1]), None, 1.0).note
    said = facts.stores_tags and tags
    assert note == "values of rows: not compared" + ("; tags: not compared" if said else "")


def test_a_load_that_nothing_stores_says_nothing(tmp_path):
    (null,) = (facts for facts in all_facts() if not facts.stores_rows)
    assert rows_summed(trial_order(tmp_path), None, null, {}, summary([1]), None, 1.0) is None
