"""QuestDB as a real process: the contract of databases that take lines, and what it does with bad settings."""

from dataclasses import replace

import pytest

from runner.model import VerdictKind
from tests.integration.database_contract import *  # noqa: F403
from tests.integration.real_server import required
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
