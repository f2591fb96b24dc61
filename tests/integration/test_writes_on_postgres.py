"""Writes on a real PostgreSQL: its methods beside COPY, what is counted, and what its connections wait for."""

import io
import json
import os
import tempfile
from collections import Counter
from dataclasses import replace

import pyarrow.parquet
import pytest

from bench.provoke import hot_row_home
from scale_sweep.base.interrupts import Stop
from scale_sweep.judge.figures.window import measure_window
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model import ArtifactMade, Sample, SampleTaken, VerdictKind
from scale_sweep.results.store.codec import from_plain
from scale_sweep.results.store.texts import samples_text
from scale_sweep.server.targets import Address
from scale_sweep.server.targets.postgres.postgres_session import TABLE, PostgresSession
from tests.integration.real_server import with_rows
from tests.integration.short_trial import watched
from tests.loadgen.postgres_server import running_postgres
from tests.unit.factories import make_sweep, make_trial
from tests.unit.reading_trials import WRONG, answers_of, reading_order
from tests.unit.trial_orders import artifact_of, result_of, trial_order

ROWS = 50_000
BAD = (VerdictKind.LOST_ROWS, VerdictKind.ABORTED, VerdictKind.ERRORS)
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
    assert result.verdict.kind not in BAD, result.verdict
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


@pytest.fixture
def session():
    with running_postgres(listen="127.0.0.1") as server:
        server.query("CREATE ROLE scale SUPERUSER LOGIN")
        session = PostgresSession(
            make_trial(make_sweep(workload__columns="v:int", workload__start_ms="60000")),
            Address(host="127.0.0.1", port=server.port, secret=""),
            "",
        )
        assert session.not_ready() == ""
        session.create_schema()
        server.query(
            f"INSERT INTO {TABLE} SELECT to_timestamp(60 + n / 1000.0), d, n FROM generate_series(0, 999) n,"
            " generate_series(1, 3) d"
        )
        yield session, server
        session.close()


def test_lost_rows_show_although_the_total_agrees(session):
    asked, server = session
    assert asked.count().rows == 3000
    assert asked.count().gaps == ()
    server.query(f"DELETE FROM {TABLE} WHERE device_id = 2 AND v = 500")
    server.query(f"INSERT INTO {TABLE} VALUES (to_timestamp(61), 3, 1000)")
    counted = asked.count()
    assert counted.rows == 3000
    assert counted.gaps and "are missing in 1 device;" in counted.gaps[0] and "device 2" in counted.gaps[0]


def test_a_table_that_lacks_its_first_row_is_found(session):
    asked, server = session
    server.query(f"DELETE FROM {TABLE} WHERE device_id = 1 AND v = 0")
    assert "device 1" in asked.count().gaps[0]


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


def test_a_row_that_every_writer_updates_shows_in_the_wait_events(folder, monkeypatch):
    flags = {"load__duration": "4s", "knobs__connections": "8", "workload__rows_per_request": "10"}
    with tempfile.TemporaryDirectory(dir="/var/tmp") as programs:
        os.chmod(programs, 0o755)  # the server does not run as root
        monkeypatch.setenv("XDG_CACHE_HOME", programs)  # no server that was installed into a closed home directory
        order = replace(trial_order(folder, "postgres", **flags), home=hot_row_home(programs))
        events = list(run_trial(order, Stop()))
    result = result_of(events)
    assert result.measurement.rows, result.verdict
    samples = [event.sample for event in events if isinstance(event, SampleTaken)]
    waits = measure_window(samples, samples[0].monotonic_ns, samples[-1].monotonic_ns).waits
    assert sum(share for name, share in waits.items() if name.startswith("lock: ")) > 0.4, waits
    stored = samples_text(samples).splitlines()[-1]
    assert from_plain(json.loads(stored), Sample, folder).waits_total == samples[-1].waits_total
