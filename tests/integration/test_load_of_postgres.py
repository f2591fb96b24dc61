"""Writes and reads on a real PostgreSQL: what is counted, what connections wait for, and a wrong text is found out."""

import io
import json
import os
import re
import tempfile
from collections import Counter
from dataclasses import replace

import pyarrow.parquet
import pytest

from bench.provoke import hot_row_home
from scale_sweep.base.interrupts import Stop
from scale_sweep.experiment.work import queries_of
from scale_sweep.judge.figures.window import measure_window
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model.events import ArtifactMade, SampleTaken
from scale_sweep.model.measured import VerdictKind
from scale_sweep.model.samples import Sample
from scale_sweep.results.store.codec import from_plain
from scale_sweep.results.store.texts import samples_text
from scale_sweep.server.targets import Address
from scale_sweep.server.targets.postgres import postgres_queries as queries
from scale_sweep.server.targets.postgres.postgres_session import TABLE, PostgresSession
from tests.integration.loaded_server import send_loads_through
from tests.integration.real_server import with_rows
from tests.integration.short_trial import watched
from tests.loadgen.lying_postgres import LIES, LyingPostgres
from tests.loadgen.postgres_server import running_postgres
from tests.loadgen.proxy import WHEN, at_times
from tests.unit import reading_trials as reading
from tests.unit.factories import make_sweep, make_trial
from tests.unit.reading_trials import WRONG, answers_of, reading_order
from tests.unit.test_tsbs_devops import devops
from tests.unit.trial_orders import artifact_of, here, result_of, trial_order

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


def test_lost_rows_show_although_the_total_agrees():
    rows = "SELECT to_timestamp(60 + n / 1000.0), d, n FROM generate_series(0, 999) n, generate_series(1, 3) d"
    trial = make_trial(make_sweep(workload__columns="v:int", workload__start_ms="60000"))
    with running_postgres(listen="127.0.0.1") as server:
        server.query("CREATE ROLE scale SUPERUSER LOGIN")
        asked = PostgresSession(trial, Address(host="127.0.0.1", port=server.port, secret=""), "")
        assert asked.not_ready() == ""
        asked.create_schema()
        server.query(f"INSERT INTO {TABLE} {rows}")
        assert (asked.count().rows, asked.count().gaps) == (3000, ())
        server.query(f"DELETE FROM {TABLE} WHERE device_id = 1 AND v = 0")  # its first row
        assert "device 1" in asked.count().gaps[0]
        server.query(f"INSERT INTO {TABLE} VALUES (to_timestamp(60), 1, 0)")
        server.query(f"DELETE FROM {TABLE} WHERE device_id = 2 AND v = 500")
        server.query(f"INSERT INTO {TABLE} VALUES (to_timestamp(61), 3, 1000)")
        counted = asked.count()
        assert counted.rows == 3000
        assert counted.gaps and "are missing in 1 device;" in counted.gaps[0] and "device 2" in counted.gaps[0]
        asked.close()


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


def mistaken(rendered, wrong):
    """A renderer whose queries have other parts. wrong: each right part with the one in its place."""

    def other(*query):
        text = rendered(*query)
        for right, part in wrong.items():
            text = text.replace(right, part)
        return text

    return other


def test_every_kind_is_answered_rightly_beside_writes(folder):
    events = here(reading.reading_order(folder, "postgres", load__duration="3s"))  # some of each kind
    result, answers = reading.checked(events)
    m = result.measurement
    assert set(answers) == {*reading.KINDS, *reading.MORE}
    assert all(answers[name]["compared"] for name in ("point", "range", "aggregate", "group_by_time", "set"))
    assert not answers["latest"]["compared"], "the writes of the load change it"
    assert m.preload_rows == 20_000
    assert m.preload_bytes_per_row > 20
    assert m.rows_counted == m.rows_acked + 20_000 > 20_000
    assert m.requests_per_s == pytest.approx(sum(o.requests_per_s for o in m.operations.values()), rel=0.01)
    assert m.operations["range"].read_rows_per_s == pytest.approx(360 * m.operations["range"].requests_per_s, rel=0.01)
    assert m.operations["range"].response_ms["max"] > 0
    assert m.operations["write"].read_rows_per_s is None
    assert m.operations["range"].rows_per_s is None
    assert m.durable_rows_per_s is None


def test_groups_of_devices_and_sets_are_answered_rightly(folder):
    result, answers = reading.checked(here(reading.grouped_order(folder, "postgres")))
    assert set(answers) == {*reading.GROUPED, *reading.SETS, "every", "some"} and all(
        one["compared"] for one in answers.values()
    )
    scanned = result.measurement.operations["scan_tag"]
    assert scanned.read_rows_per_s > scanned.requests_per_s > 0  # every group has devices
    assert result.measurement.operations["every"].empty == 0


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("time >= {from}", "time > {from}", "359 rows came, 360 are right"),
        ("ORDER BY time", "ORDER BY time DESC", "not ordered by time, oldest first"),
        ('"voltage"', '"voltage" + 1', "row 1 of 360 is"),
    ],
)
def test_a_wrong_text_is_found_out(folder, monkeypatch, right, wrong, words):
    rendered = queries.rendered
    monkeypatch.setattr(queries, "rendered", lambda *asked: rendered(*asked).replace(right, wrong))
    result = result_of(here(reading.reading_order(folder, "postgres", "range")))
    assert result.verdict.kind is VerdictKind.WRONG_ANSWER
    assert result.verdict.reasons[0].startswith("range of device ")
    assert words in result.verdict.reasons[0]


def test_a_server_that_lies_to_the_load_alone_is_found_out(folder, monkeypatch):
    """The answers before the load are right; between the load generator and the server, all are falsified."""
    with LyingPostgres(LIES["floats times 11"]) as lying:
        send_loads_through(lying, PostgresSession, monkeypatch)
        result = result_of(here(reading.reading_order(folder, "postgres", "range")))
    assert result.verdict.kind is VerdictKind.WRONG_ANSWER
    assert "while the load ran" in result.verdict.reasons[0]


@pytest.mark.parametrize("when", [lambda number: number >= 5, WHEN["half of each half second"]], ids=["later", "half"])
def test_a_server_that_lies_at_times_is_found_out(folder, monkeypatch, when):
    lie = at_times(LIES["floats times 11"], lambda answer: answer.rows, when)
    with LyingPostgres(lie) as lying:
        send_loads_through(lying, PostgresSession, monkeypatch)
        result = result_of(here(reading.reading_order(folder, "postgres", "range", load__duration="3s")))
    assert lying.lies and result.verdict.kind is VerdictKind.WRONG_ANSWER, result.verdict


def test_wrong_groups_and_sets_are_found_out(folder, monkeypatch):
    wrong = {"= {value}": ">= {value}", "GROUP BY 1 ORDER BY 1": "GROUP BY 1 ORDER BY 1 DESC", "UNION": "UNION ALL"}
    monkeypatch.setattr(queries, "rendered", mistaken(queries.rendered, wrong))
    order = reading.reading_order(folder, "postgres", "scan_tag,group_by_tag,set")
    result = result_of(here(order))
    assert result.verdict.kind is VerdictKind.WRONG_ANSWER
    reasons = "\n".join(result.verdict.reasons)
    assert re.search(r"scan_tag of \d devices in groups .*: [\d,]+ rows came, [\d,]+ are right", reasons)
    assert re.search(r"group_by_tag of 10 devices in groups 1 to \d+: row 1 of \d+ is", reasons)
    assert re.search(r"set of device .*: 480 rows came, 360 are right", reasons)


def test_bounds_orders_and_groups_are_answered_rightly(folder):
    events = here(reading.shapes_order(folder, "postgres"))
    reading.none_wrong(events, reading.SHAPES)
    answers = reading.answers_of(events)
    passed = {name: answers[name]["passed_rows"] / answers[name]["tested_rows"] for name in ("below", "several")}
    assert all(0 < share < 1 for share in passed.values()), passed


def test_wrong_bounds_and_orders_are_found_out(folder, monkeypatch):
    wrong = {"< {value}": "> {value}", '"voltage" DESC': '"voltage"', "ranked DESC": "device_id"}
    monkeypatch.setattr(queries, "rendered", mistaken(queries.rendered, wrong))
    order = reading.shapes_order(folder, "postgres", without=set(reading.SHAPES) - {"below", "largest", "top_devices"})
    result = result_of(here(order))
    assert result.verdict.kind is VerdictKind.WRONG_ANSWER
    reasons = "\n".join(result.verdict.reasons)
    assert re.search(r"below of device .*: [\d,]+ rows came, [\d,]+ are right", reasons)
    assert re.search(r"largest of device .*: the rows are not ordered by voltage, largest first", reasons)
    assert re.search(r"top_devices of device .*: (the rows are not ordered|row \d of 3 is not one)", reasons)


def test_all_queries_of_tsbs_devops_are_answered_rightly(folder):
    flags = {"workload__name": "tsbs-devops", "workload__tables": "10", "preload__rows": "45k"}
    events = here(trial_order(folder, "postgres", load__duration="3s", **flags))
    reading.none_wrong(events, queries_of(devops().work))
    result, answers = result_of(events), reading.answers_of(events)
    assert sum(one["compared"] for one in answers.values()) > 0
    assert answers["high-cpu-1"]["compared"] and answers["high-cpu-1"]["devices"], (
        "values equal to the bound are decided"
    )
    passed = result.measurement.operations["high-cpu-1"]
    assert 9 < passed.passed_percent < 11 and result.measurement.operations["lastpoint"].passed_percent is None
    assert 0.05 < passed.read_rows_per_s / passed.requests_per_s / 4320 < 0.15, "a tenth of the rows is above the bound"
