"""One trial of a few rows on a real server: the part of its contract that runs where its start takes long, and what
happens to rows of the same time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from scale_sweep.model import VerdictKind
from scale_sweep.server.targets import Target
from tests.integration.leftovers import ours_running
from tests.integration.real_server import with_rows
from tests.integration.unprivileged import watched
from tests.unit.trial_orders import artifact_of, here, result_of, trial_order


def short_trial(target: Target, folder: Path, rows: int, **flags: str) -> Mapping[str, str]:
    """Starts it, writes, counts, flushes and stops it. Its settings as it reported them."""
    order = with_rows(trial_order(folder, target.facts.name, load__warmup="0s", **flags), rows)
    events = watched(order)
    result = result_of(events)
    assert result.measurement is not None, f"{result.verdict}\n{result.log_tail}"
    facts = json.loads(artifact_of(events, "facts.json"))
    assert result.measurement.rows_counted == result.measurement.rows_acked == rows, result.verdict
    assert result.measurement.durable_rows_per_s
    assert (facts["mismatches"], facts["suspicious"], facts["counted"]["gaps"]) == ([], [], [])
    assert result.effective["server_version"]
    assert ours_running(folder) == []
    return result.effective


def one_row_of_each_time_is_kept(name: str, folder: Path, rows: int) -> None:
    """Of rows that are sent twice, a database of series keeps one, and no more are expected when they are counted."""
    order = {"workload__disorder": "poisson", "workload__disorder_ratio": "50%", "load__warmup": "0s"}
    delays = {"workload__disorder_lambda": "40", "workload__disorder_max_k": "100"}
    events = here(with_rows(trial_order(folder, name, **order, **delays), rows))
    facts, result = json.loads(artifact_of(events, "facts.json")), result_of(events)
    kept = json.loads(artifact_of(events, "loadgen.jsonl").splitlines()[-1])["rows_distinct"]
    assert result.measurement is not None and result.measurement.rows_acked == rows
    assert facts["counted"]["rows"] == kept == pytest.approx(0.7 * rows, rel=0.05)
    assert result.verdict.kind not in (VerdictKind.LOST_ROWS, VerdictKind.ABORTED, VerdictKind.ERRORS), result.verdict
