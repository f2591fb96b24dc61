"""KairosDB on H2 as a real process: the contract of databases of series, with rows as few as it takes in seconds.

SCALE_SLOW_TESTS=1 fills its disk as well, which takes it two minutes.
"""

from dataclasses import replace

import pytest

from runner.model import VerdictKind
from runner.targets.kairosdb import queries
from tests.integration.by_hand import by_hand
from tests.integration.database_contract import *  # noqa: F403
from tests.integration.real_server import required
from tests.unit.reading_trials import KINDS, WRONG, answers_of, reading_order
from tests.unit.trial_orders import here, result_of, trial_order

SLOW = (
    "test_a_disk_that_fills_is_no_valid_number",  # two minutes
    "test_reads_are_answered_rightly_beside_writes",
    "test_a_wrong_border_is_caught",
)
skipped = by_hand("takes long", only=SLOW)


@pytest.fixture(scope="module")
def target():
    return required("kairosdb")


@pytest.fixture
def small_disk():
    return 42, 20_000  # what it runs from is copied there first, 33 MB


@pytest.fixture
def rows():
    return 2_000, 300


def test_a_setting_that_it_cannot_use_ends_the_trial_in_its_words(target, folder):
    order = trial_order(folder, "kairosdb")
    wrong = replace(order.trial, knobs={**order.trial.knobs, "service.datastore": "no.such.Module"})
    result = result_of(here(replace(order, trial=wrong)))
    assert result.verdict.kind is VerdictKind.ABORTED
    assert "ended while starting" in result.verdict.reasons[0]
    assert "KairosDatastore" in result.log_tail, "the end of its words, which are a stack of calls"


OTHERS = ("set", "group_by_time_desc")  # what it has no words for
ONE_COLUMN = [f"{name}.columns=current" for name in ("range_value", "range_value_desc", "range_desc", "point")]


def test_reads_are_answered_rightly_beside_writes(target, folder):
    asked = {*KINDS, "first", "last"} - {*OTHERS}
    more = [*ONE_COLUMN, "group_by_time.step=10m", "point.devices=2"]
    mix = ",".join((*sorted(asked), "write=1"))
    order = reading_order(folder, "kairosdb", mix, alone=("latest",), also=more, preload__rows="4k")
    events = here(order)
    result, answers = result_of(events), answers_of(events)
    assert result.verdict.kind not in WRONG, result.verdict.reasons
    assert set(answers) == asked
    assert all(one["whole"] == 20 and not one["wrong"] for one in answers.values()), answers
    assert sum(one["counted"] for one in answers.values()) > 0


def test_a_wrong_border_is_caught(target, folder, monkeypatch):
    right = queries.rendered
    monkeypatch.setattr(queries, "rendered", lambda *given: right(*given).replace("{until}", "{to}"))
    verdict = result_of(here(reading_order(folder, "kairosdb", "range,latest", alone=("latest",)))).verdict
    assert verdict.kind is VerdictKind.WRONG_ANSWER
    assert "361 rows came, 360 are right" in verdict.reasons[0]
