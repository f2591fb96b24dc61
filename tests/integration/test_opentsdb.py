"""OpenTSDB on a standalone HBase as two real processes: the contract of databases of series, and bad settings.

It takes about 20 CPU seconds for each start: one short trial runs everywhere, the others with SCALE_SLOW_TESTS=1.
"""

import json
from dataclasses import replace

import psutil
import pytest

from scale_sweep.model import VerdictKind
from scale_sweep.server.targets import series
from tests.integration.by_hand import by_hand
from tests.integration.database_contract import *  # noqa: F403
from tests.integration.leftovers import ours_running
from tests.integration.real_server import real_server, required
from tests.integration.short_trial import short_trial
from tests.unit.trial_orders import here, result_of, trial_order

skipped = by_hand("20 CPU seconds for each start", but=("test_a_short_trial_counts_what_was_acknowledged",))


@pytest.fixture(scope="module")
def target():
    return required("opentsdb")


@pytest.fixture
def small_disk():
    return 90, 300_000


@pytest.fixture
def rows():
    return 20_000, 3_000


@pytest.fixture
def write_late():
    def write(server, session):
        data = server.trial.work.data
        points = [
            {
                "metric": f"{series.MEASUREMENT}_{name}",
                "tags": {series.DEVICE: "d0"},
                "timestamp": data.start_ms + 86_400_000,
                "value": 1,
            }
            for name in series.columns_of(data)
        ]
        session._web.post_text("/api/put?sync", 30, json.dumps(points))

    return write


def test_a_short_trial_counts_what_was_acknowledged(target, folder):
    effective = short_trial(target, folder, 2_000, workload__step_ms="1000")
    assert (effective["server_version"], effective["hbase_version"]) == ("2.4.1", "2.4.18")


def test_a_setting_that_it_cannot_use_ends_the_trial(target, folder):
    order = trial_order(folder, "opentsdb")
    wrong = replace(order.trial, knobs={**order.trial.knobs, "tsd.network.worker_threads": "many"})
    result = result_of(here(replace(order, trial=wrong)))
    assert result.verdict.kind is VerdictKind.ABORTED
    assert "ended while starting" in result.verdict.reasons[0]


def test_one_program_that_is_killed_takes_the_other_along(target, tmp_path):
    with real_server(target, tmp_path) as server:
        server.start()
        assert server.process is not None
        both = [one for one in psutil.Process(server.process.pid).children() if one.name() == "java"]
        assert len(both) == 2
        both[0].kill()
        server.process.wait(60)
    assert ours_running(tmp_path) == []
