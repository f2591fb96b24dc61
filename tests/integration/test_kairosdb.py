"""KairosDB as a real process: the contract of databases of series on H2, with rows as few as it takes in seconds, and
what Cassandra as its datastore changes.

A trial on Cassandra is that in a container (test_containers_of_databases.py). SCALE_SLOW_TESTS=1 looks at it more closely,
fills its disk, which takes it two minutes, and kills it beside its Cassandra.
"""

import json
import signal
from dataclasses import replace

import pytest

from scale_sweep.model import VerdictKind
from tests.integration.by_hand import by_hand
from tests.integration.database_contract import *  # noqa: F403
from tests.integration.leftovers import ours_running
from tests.integration.real_server import listeners, real_server, required, with_rows
from tests.integration.unprivileged import watched
from tests.unit.trial_orders import artifact_of, here, result_of, trial_order

SLOW = (
    "test_a_disk_that_fills_is_no_valid_number",  # two minutes
    "test_a_trial_counts_what_was_acknowledged_by_each_method",  # five starts of its JVM
    "test_a_short_trial_on_cassandra_counts_what_was_acknowledged",
    "test_rows_in_cassandra_survive_a_kill_of_both",
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


H2 = ["datastore=h2"]


@pytest.fixture
def knobs():
    return H2


def test_a_setting_that_it_cannot_use_ends_the_trial_in_its_words(target, folder):
    order = trial_order(folder, "kairosdb", knobs__other=H2)
    wrong = replace(order.trial, knobs={**order.trial.knobs, "service.datastore": "no.such.Module"})
    result = result_of(here(replace(order, trial=wrong)))
    assert result.verdict.kind is VerdictKind.ABORTED
    assert "ended while starting" in result.verdict.reasons[0]
    assert "KairosDatastore" in result.log_tail, "the end of its words, which are a stack of calls"


def on_cassandra(order):
    """The order with the datastore that is the default, and a small heap."""
    return replace(order, trial=replace(order.trial, knobs={**order.trial.knobs, "cassandra_heap": "512m"}))


def test_a_short_trial_on_cassandra_counts_what_was_acknowledged(target, folder):
    required("cassandra")
    order = on_cassandra(trial_order(folder, "kairosdb", load__warmup="0s", workload__rows_per_request="500"))
    events = watched(with_rows(order, 10_000))
    result, facts = result_of(events), json.loads(artifact_of(events, "facts.json"))
    assert result.measurement is not None, f"{result.verdict}\n{result.log_tail}"
    assert result.measurement.rows_counted == result.measurement.rows_acked == 10_000, result.verdict
    assert result.measurement.durable_rows_per_s
    assert (facts["mismatches"], facts["suspicious"], facts["counted"]["gaps"]) == ([], [], [])
    said = result.effective
    assert (said["datastore"], said["cassandra_version"], said["cassandra_heap"]) == ("cassandra", "5.0.9", "512m")
    assert said["acknowledged"] == "in KairosDB's queue, not yet in Cassandra"
    assert ours_running(folder) == []


def test_rows_in_cassandra_survive_a_kill_of_both(target, tmp_path, monkeypatch):
    required("cassandra")
    monkeypatch.setattr("tests.integration.real_server.trial_order", lambda *a, **b: on_cassandra(trial_order(*a, **b)))
    with real_server(target, tmp_path) as server:
        session = server.start()
        hosts = {address.rpartition(":")[0] for address in listeners(server.process.pid)}
        assert hosts == {"127.0.0.1"}
        assert server.load(session, rows=5_000).returncode == 0
        session.flush()
        assert session.commit_cycles() >= 0
        server.end(signal.SIGKILL)
        session = server.start()
        assert (session.count().rows, session.count().gaps) == (5_000, ())
        assert server.end() in (0, 143)
        assert target.suspicious(server.log()) == ()
    assert ours_running(tmp_path) == []
