"""QuestDB as a real process: the contract of databases that take lines, and what it does with bad settings."""

from dataclasses import replace

import pytest

from runner.model import VerdictKind
from tests.integration.database_contract import *  # noqa: F403
from tests.integration.real_server import required
from tests.unit.reading_trials import KINDS, MORE, WRONG, answers_of, reading_order
from tests.unit.trial_orders import here, result_of, trial_order


@pytest.fixture(scope="module")
def target():
    return required("questdb")


@pytest.fixture
def small_disk():
    return 256, 600_000


def test_a_setting_that_it_does_not_know_ends_the_trial_in_its_words(target, folder):
    order = trial_order(folder, "questdb")
    unknown = replace(order.trial, knobs={**order.trial.knobs, "no_such_item": "1"})
    verdict = result_of(here(replace(order, trial=unknown))).verdict
    assert verdict.kind is VerdictKind.ABORTED
    assert "no.such.item" in verdict.reasons[0]


def test_reads_are_answered_rightly_beside_writes(target, folder):
    order = reading_order(folder, "questdb")
    events = here(order)
    result, answers = result_of(events), answers_of(events)
    assert result.verdict.kind not in WRONG, result.verdict.reasons
    assert set(answers) == {*KINDS, *MORE}
    assert all(one["whole"] == 20 and not one["wrong"] for one in answers.values()), answers
    assert sum(one["counted"] for one in answers.values()) > 0
    assert result.measurement.rows_counted == result.measurement.rows_acked + 20_000 > 20_000
