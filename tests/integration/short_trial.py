"""One trial of a few rows on a real server that takes long to start: the part of its contract that runs everywhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from scale_sweep.server.targets import Target
from tests.integration.leftovers import ours_running
from tests.integration.real_server import with_rows
from tests.integration.unprivileged import watched
from tests.unit.trial_orders import artifact_of, result_of, trial_order


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
