"""TimescaleDB as a real process: rows, chunks and compression. No registry of packages has the extension, so this runs
where SCALE_TIMESCALEDB_HOME names a PostgreSQL that has it."""

import json

import pytest

from scale_sweep.model import VerdictKind
from tests.integration.real_server import from_elsewhere, with_rows
from tests.integration.unprivileged import watched
from tests.unit.trial_orders import artifact_of, result_of, trial_order


@pytest.fixture
def in_order(folder, monkeypatch):
    """in_order(*knobs, **flags): what a trial of 200 k rows was, and its facts."""
    from_elsewhere("timescaledb", "SCALE_TIMESCALEDB_HOME", monkeypatch)

    def in_order(*knobs, **more):
        flags = {"workload__step_ms": "1000", "load__warmup": "0s", "knobs__other": list(knobs), **more}
        events = watched(with_rows(trial_order(folder, "timescaledb", **flags), 200_000))
        return result_of(events), json.loads(artifact_of(events, "facts.json"))

    return in_order


@pytest.mark.parametrize(
    ("compress", "method"),
    [("off", "copy"), *(("on", one) for one in ("copy", "insert", "upsert", "copy-upsert", "jsonb"))],
)
def test_a_trial_counts_what_was_acknowledged(in_order, compress, method):
    result, facts = in_order(f"compress={compress}", "chunk_interval=10m", "space_partitions=2", load__method=method)
    m, said = result.measurement, result.effective
    assert m.rows_counted == m.rows_acked == 200_000, result.verdict
    assert result.verdict.kind not in (VerdictKind.LOST_ROWS, VerdictKind.ABORTED, VerdictKind.ERRORS), result.verdict
    assert (facts["mismatches"], facts["suspicious"], facts["counted"]["gaps"]) == ([], [], [])
    assert (said["chunk_interval"], said["space_partitions"], said["compress"]) == ("600s", "2", compress)
    assert " on PostgreSQL " in said["server_version"]
