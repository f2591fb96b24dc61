"""Stretches of time without rows on real servers: each database fills them rightly, and what it cannot is refused."""

import os

import pytest

from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work import queries_of
from scale_sweep.model import VerdictKind
from scale_sweep.server.targets import load_facts
from scale_sweep.server.targets.postgres import queries
from tests.integration.real_server import required
from tests.unit.reading_trials import FILLED, WRONG, answers_of, filled_order
from tests.unit.trial_orders import here, result_of

REFUSED = {
    "postgres": {name for name in FILLED if name.startswith(("previous", "linear"))} | {"null_devices"},
    "questdb": set(),
    "influxdb": {"previous_newest"},
    "victoriametrics": {
        name
        for name in FILLED
        if name.startswith(("null", "linear")) or name.endswith("newest") or name == "previous_uneven"
    },
    "iotdb": {name for name in FILLED if name.endswith(("together", "devices", "tags", "uneven"))}
    | {"previous_newest"},
}
REFUSED["kairosdb"], REFUSED["opentsdb"] = set(FILLED) - {"null", "null_together"}, set(FILLED) - {"null"}
SLOW = ("iotdb", "kairosdb", "opentsdb")  # to start


@pytest.mark.parametrize("half", [0, 1])  # an order has 16 operations at most
@pytest.mark.parametrize("target", REFUSED)
def test_stretches_without_rows_are_filled_rightly(target, half, folder):
    required(target)
    if target in SLOW and not os.environ.get("SCALE_SLOW_TESTS"):
        pytest.skip("takes long: SCALE_SLOW_TESTS=1")
    asked = [name for name in FILLED if name not in REFUSED[target]]
    if len(asked) <= 2 and half:
        pytest.skip("one order asks for all")
    asked = asked[half::2] if len(asked) > 2 else asked
    events = here(filled_order(folder, target, asked))
    result, answers = result_of(events), answers_of(events)
    assert result.verdict.kind not in WRONG, result.verdict.reasons
    assert set(answers) == set(asked)
    assert all(one["whole"] == 20 and not one["wrong"] for one in answers.values()), answers
    # A window of few seconds may hold no answer of an operation; those that it holds are compared.
    assert all(one["compared"] or not one["counted"] for one in answers.values()), answers
    assert any(one["compared"] for one in answers.values())


@pytest.mark.parametrize("target", REFUSED)
def test_what_a_database_cannot_fill_is_refused(target, folder):
    facts, refused = load_facts(target), set()
    for half in (0, 1):
        work = filled_order(folder, "questdb", list(FILLED)[half::2]).trial.work
        for name, query in queries_of(work).items():
            try:
                facts.rendered(query, work.data, facts.methods[0])
            except CannotAsk:
                refused.add(name)
    assert refused == REFUSED[target]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("LEFT JOIN", "JOIN"), ("generate_series(", "generate_series(interval '10 s' + "), ("avg(", "0.001 + avg(")],
)
def test_stretches_that_are_not_filled_rightly_are_found(folder, monkeypatch, right, wrong):
    rendered = queries.rendered
    monkeypatch.setattr(queries, "rendered", lambda *asked: rendered(*asked).replace(right, wrong))
    result = result_of(here(filled_order(folder, "postgres", ["null"])))
    assert result.verdict.kind is VerdictKind.WRONG_ANSWER
    assert result.verdict.reasons[0].startswith("null of device ")
