"""Writes and reads on connections of their own: on a real PostgreSQL, a slow query does not delay the next write."""

import io
from collections import Counter

import pyarrow.parquet

from scale_sweep.base.interrupts import Stop
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model import ArtifactMade
from tests.unit.reading_trials import WRONG, answers_of, reading_order
from tests.unit.trial_orders import artifact_of, result_of

SLOW = ["slow.kind=sql", "slow.text=SELECT pg_sleep(0.25)::text", "range.span=10m"]
MIX = "write=1,slow=1,range=1,scan_tag=1"
OFFERED = 2000.0  # rows per second, in requests of 100


def measured(folder, *more: str):
    """The events of a trial of the mix on one connection, or with more parameters on several."""
    flags = {"knobs__connections": "1", "workload__rows_per_request": "100", "load__duration": "3s", "load__trace": "1"}
    events = list(run_trial(reading_order(folder, "postgres", MIX, operation=[*SLOW, *more], **flags), Stop()))
    assert result_of(events).verdict.kind not in WRONG, result_of(events).verdict.reasons
    return events


def trace_of(events) -> bytes:
    (made,) = (event for event in events if isinstance(event, ArtifactMade) and event.name == "trace.parquet")
    return made.content


def test_a_slow_query_delays_the_writes_of_its_connection_and_no_others(folder):
    coupled = result_of(measured(folder)).measurement.operations
    assert coupled["write"].requests_per_s < 8
    assert coupled["slow"].response_ms["min"] > 240

    events = measured(
        folder, f"write.rate={OFFERED:g}", "range.rate=10", "range.connections=2", "scan_tag.connections=1"
    )
    result = result_of(events)
    apart = result.measurement.operations
    assert apart["write"].requests_per_s * 100 > 0.9 * OFFERED
    assert apart["range"].requests_per_s > 8
    assert apart["slow"].requests_per_s < 5
    assert apart["slow"].response_ms["min"] > 240
    # The rate is that of the operations without a separate rate.
    closed = apart["slow"].requests_per_s + apart["scan_tag"].requests_per_s
    assert abs(result.measurement.requests_per_s - closed) < 0.01 * closed
    # Every write is in the database, and the answers of the other process are compared too.
    m = result.measurement
    assert m.rows_counted == m.rows_acked + 20_000 > 20_000 + 2 * OFFERED
    assert artifact_of(events, "spec").count("# group ") == 4
    # Each request of each process is kept.
    table = pyarrow.parquet.read_table(io.BytesIO(trace_of(events)))
    inside = table.filter(table["in_window"]).to_pylist()
    assert Counter(one["operation"] for one in inside) == {name: figures.requests for name, figures in apart.items()}
    assert {one["load_process"] for one in inside} == {0, 1, 2, 3}
    assert sum(one["rows"] for one in inside if one["operation"] == "write") == m.rows
    # Writes add rows to the answers of scan_tag, and to no answer of range.
    answers = answers_of(events)
    assert set(answers) == {"range", "scan_tag"}
    assert all(one["counted"] and not one["wrong"] for one in answers.values())
