"""KairosDB on H2 as a real process: the contract of databases of series, with rows as few as it takes in seconds.

SCALE_SLOW_TESTS=1 fills its disk as well, which takes it two minutes.
"""

from dataclasses import replace

import pytest

from runner.model import VerdictKind
from tests.integration.by_hand import by_hand
from tests.integration.database_contract import *  # noqa: F403
from tests.integration.real_server import required
from tests.unit.trial_orders import here, result_of, trial_order

skipped = by_hand("takes two minutes", only=("test_a_disk_that_fills_is_no_valid_number",))


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
