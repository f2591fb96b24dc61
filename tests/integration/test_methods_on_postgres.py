"""PostgreSQL's methods beside COPY in whole trials: what was acknowledged is what the server counts."""

import json

import pytest

from scale_sweep.model import VerdictKind
from tests.integration.real_server import with_rows
from tests.integration.unprivileged import watched
from tests.unit.trial_orders import artifact_of, result_of, trial_order

ROWS = 50_000
WRONG = (VerdictKind.LOST_ROWS, VerdictKind.ABORTED, VerdictKind.ERRORS)
LATE = {
    "workload__disorder": "poisson",
    "workload__disorder_ratio": "50%",
    "workload__disorder_lambda": "40",
    "workload__disorder_max_k": "100",
}


def trial_by(folder, method, **flags):
    """The result of 50,000 rows, and the facts."""
    given = {"load__method": method, "load__warmup": "0s", "workload__rows_per_request": "1000", **flags}
    events = watched(with_rows(trial_order(folder, "postgres", **given), ROWS))
    result = result_of(events)
    assert result.verdict.kind not in WRONG, result.verdict
    assert result.measurement.rows_acked == ROWS
    return result, json.loads(artifact_of(events, "facts.json")), artifact_of(events, "loadgen.jsonl")


@pytest.mark.parametrize(("method", "flags"), [("insert", LATE), ("jsonb", {})])
def test_a_trial_counts_each_row_that_was_acknowledged(folder, method, flags):
    result, facts, said = trial_by(folder, method, **flags)
    assert result.measurement.rows_counted == facts["counted"]["rows"] == ROWS
    assert (facts["mismatches"], facts["suspicious"]) == ([], [])
    assert flags or facts["counted"]["gaps"] == []  # late rows leave gaps
    assert json.loads(said.splitlines()[0])["method"] == method


@pytest.mark.parametrize("method", ["upsert", "copy-upsert"])
def test_an_upsert_stores_a_device_and_time_once(folder, method):
    _, facts, said = trial_by(folder, method, **LATE)
    kept = json.loads(said.splitlines()[-1])["rows_distinct"]
    assert facts["counted"]["rows"] == kept == pytest.approx(0.7 * ROWS, rel=0.05)
    assert (facts["mismatches"], facts["suspicious"]) == ([], [])
