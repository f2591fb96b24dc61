"""TimescaleDB as a real process: rows, chunks and compression. No registry of packages has the extension, so this runs
where SCALE_TIMESCALEDB_HOME names a PostgreSQL that has it."""

import json
import os

import pytest

from scale_sweep.model import VerdictKind
from scale_sweep.server.targets import load_target
from tests.integration.real_server import with_rows
from tests.integration.unprivileged import watched
from tests.unit.trial_orders import artifact_of, result_of, trial_order

HOME = os.environ.get("SCALE_TIMESCALEDB_HOME", "")
pytestmark = pytest.mark.skipif(not HOME, reason="SCALE_TIMESCALEDB_HOME names no PostgreSQL with TimescaleDB")


@pytest.fixture
def in_order(folder, monkeypatch):
    """in_order(*knobs, **flags): what a trial of 200 k rows was, and its facts."""
    target = load_target("timescaledb")
    found = target.find(HOME)
    assert found, f"no extension in {HOME}"
    monkeypatch.setattr(type(target), "find", lambda self, home: found)

    def in_order(*knobs, **more):
        flags = {"workload__step_ms": "1000", "load__warmup": "0s", "knobs__other": list(knobs), **more}
        events = watched(with_rows(trial_order(folder, "timescaledb", **flags), 200_000))
        return result_of(events), json.loads(artifact_of(events, "facts.json"))

    return in_order


@pytest.mark.parametrize("compress", ["off", "on"])
def test_a_trial_counts_what_was_acknowledged(in_order, compress):
    result, facts = in_order(f"compress={compress}", "chunk_interval=10m", "space_partitions=2")
    m = result.measurement
    assert m.rows_counted == m.rows_acked == 200_000, result.verdict
    assert result.verdict.kind not in (VerdictKind.LOST_ROWS, VerdictKind.ABORTED, VerdictKind.ERRORS), result.verdict
    assert (facts["mismatches"], facts["suspicious"], facts["counted"]["gaps"]) == ([], [], [])
    said = result.effective
    assert (said["chunk_interval"], said["space_partitions"], said["compress"]) == ("600s", "2", compress)
    assert " on PostgreSQL " in said["server_version"]


@pytest.mark.parametrize("method", ["insert", "upsert", "copy-upsert", "jsonb"])
def test_methods_beside_copy(in_order, method):
    result, facts = in_order("compress=on", "chunk_interval=10m", "space_partitions=2", load__method=method)
    m = result.measurement
    assert m.rows_counted == m.rows_acked == 200_000, result.verdict
    assert result.verdict.kind not in (VerdictKind.LOST_ROWS, VerdictKind.ABORTED, VerdictKind.ERRORS), result.verdict
    assert (facts["mismatches"], facts["suspicious"], facts["counted"]["gaps"]) == ([], [], [])
