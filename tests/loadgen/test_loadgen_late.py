"""Open loop: the load generator's own lateness, which is neither the server's time nor a wait for a connection."""

from __future__ import annotations

import pytest
from test_loadgen_trace import records_of


def test_lateness_is_that_of_the_trace(load, tmp_path):
    """From the later of due time and last answer to the sending, of requests that were answered in the window."""
    spec = {"rate": 4000, "rows_per_request": 10, "threads": 2, "tables": 2, "null_latency_us": 300}
    done = load(**spec, duration_s=1, drain_s=5, arrival="poisson", trace=tmp_path / "a")
    start, end = done.summary["window_start_ns"], done.summary["window_end_ns"]
    records = sorted(records_of(tmp_path / "a"), key=lambda record: (record[4], record[5]))
    free = dict.fromkeys((0, 1), start)  # without a warm-up both start with the window
    late = []
    for due, sent, answered, _, worker, *_ in records:
        if answered <= end:
            late.append(sent - max(due, free[worker]))
        free[worker] = answered
    told = done.summary["late"]
    assert told["count"] == len(late) == done.summary["service"]["count"]
    assert told["max_us"] == pytest.approx(max(late) / 1e3, rel=0.01)
    assert told["mean_us"] == pytest.approx(sum(late) / len(late) / 1e3, rel=0.02)


def test_waiting_for_a_connection_is_no_lateness(load):
    """Offered ten times what one connection can do: nearly all of the response time is the wait for it."""
    summary = load(rate=10_000, rows_per_request=10, threads=1, null_latency_us=10_000, duration_s=1).summary
    assert summary["response"]["p50_us"] > 100_000
    assert summary["late"]["p50_us"] < summary["response"]["p50_us"] / 5
