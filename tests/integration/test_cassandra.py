"""Cassandra as a real process: the contract of databases of series, and what it does with bad settings.

It takes about ten CPU seconds for each start: one short trial runs everywhere, the others with SCALE_SLOW_TESTS=1.
"""

from dataclasses import replace

import pytest

from scale_sweep.model import VerdictKind
from scale_sweep.server.targets.cassandra_node.cql import Cql
from tests.integration.by_hand import by_hand
from tests.integration.database_contract import *  # noqa: F403
from tests.integration.real_server import required
from tests.integration.short_trial import short_trial
from tests.unit.trial_orders import here, result_of, trial_order

skipped = by_hand("ten CPU seconds for each start", but=("test_a_short_trial_counts_what_was_acknowledged",))


@pytest.fixture(scope="module")
def target():
    return required("cassandra")


@pytest.fixture
def small_disk():
    return 160, 2_000_000


@pytest.fixture
def rows():
    return 100_000, 10_000


@pytest.fixture
def write_late():
    def write(server, session):
        late = server.trial.work.data.start_ms + 86_400_000
        Cql(host="127.0.0.1", port=server.address.port).ask(
            f"INSERT INTO {session.load_spec()['table']} (device, ts) VALUES ('d0', {late})", 30
        )

    return write


def test_a_setting_that_it_does_not_know_ends_the_trial_in_its_words(target, folder):
    order = trial_order(folder, "cassandra")
    unknown = replace(order.trial, knobs={**order.trial.knobs, "no_such_item": "1"})
    verdict = result_of(here(replace(order, trial=unknown))).verdict
    assert verdict.kind is VerdictKind.ABORTED
    assert "no_such_item" in verdict.reasons[0]


def test_a_short_trial_counts_what_was_acknowledged(target, folder):
    short_trial(target, folder, 5_000)
