"""OpenTSDB on a standalone HBase as two real processes: a short trial, and by hand the contract of databases of series.

It takes about 20 CPU seconds for each start, so only the trial runs everywhere; the others run with SCALE_SLOW_TESTS=1.
"""

import json
import os
from dataclasses import replace

import psutil
import pytest

from runner.model import VerdictKind
from runner.targets import series
from tests.integration.database_contract import *  # noqa: F403
from tests.integration.leftovers import ours_running
from tests.integration.real_server import real_server, required, with_rows
from tests.unit.trial_orders import artifact_of, here, result_of, trial_order

slow = pytest.mark.skipif(
    not os.environ.get("SCALE_SLOW_TESTS"), reason="20 CPU seconds for each start: SCALE_SLOW_TESTS=1"
)
for name in [name for name in globals() if name.startswith("test_")]:
    globals()[name] = slow(globals()[name])


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


def test_a_short_trial_counts_exactly_what_was_acknowledged(target, folder):
    order = with_rows(trial_order(folder, "opentsdb", load__warmup="0s", workload__step_ms="1000"), 2_000)
    events = here(order)
    result = result_of(events)
    assert result.measurement is not None, result.verdict
    m, facts = result.measurement, json.loads(artifact_of(events, "facts.json"))
    assert m.rows_counted == m.rows_acked == 2_000, result.verdict
    assert m.durable_rows_per_s
    assert (facts["mismatches"], facts["suspicious"], facts["counted"]["gaps"]) == ([], [], [])
    assert (result.effective["server_version"], result.effective["hbase_version"]) == ("2.4.1", "2.4.18")
    assert ours_running(folder) == []


@slow
def test_a_setting_that_it_cannot_use_ends_the_trial_in_its_words(target, folder):
    order = trial_order(folder, "opentsdb")
    wrong = replace(order.trial, knobs={**order.trial.knobs, "tsd.storage.flush_interval": "often"})
    result = result_of(here(replace(order, trial=wrong)))
    assert result.verdict.kind is VerdictKind.ABORTED
    assert "often" in result.verdict.reasons[0] + result.log_tail


@slow
def test_one_program_that_is_killed_takes_the_other_along(target, tmp_path):
    with real_server(target, tmp_path) as server:
        server.start()
        assert server.process is not None
        both = [one for one in psutil.Process(server.process.pid).children() if one.name() == "java"]
        assert len(both) == 2
        both[0].kill()
        server.process.wait(60)
    assert ours_running(tmp_path) == []
