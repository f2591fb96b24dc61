"""What some databases do beside the contract of all (test_database_contract.py), on their real servers."""

import json
import os
import signal
import subprocess
import threading
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scale_sweep.measure.trial import stored_rows as summed_trial
from scale_sweep.measure.trial.disks import check_placement
from scale_sweep.model.events import Event
from scale_sweep.model.measured import VerdictKind
from scale_sweep.server.targets.questdb.questdb_session import QuestdbSession
from tests.integration.changing import changed_in_the_load, once_stored
from tests.integration.real_server import from_elsewhere, real_server, required, with_rows
from tests.integration.short_trial import short_trial, watched
from tests.integration.test_reads_on_databases import NUMBERS
from tests.unit.reading_trials import WRONG, checked, reading_order
from tests.unit.trial_orders import artifact_of, here, result_of, trial_order


@pytest.fixture(scope="module")
def victoriametrics():
    return required("victoriametrics")


@pytest.mark.parametrize("method", ["remote-write", "import"])
def test_samples_hold_the_numbers_that_lines_hold(victoriametrics, folder, method):
    order = reading_order(
        folder, "victoriametrics", "range,latest,write=2", load__method=method, workload__columns=NUMBERS
    )
    result, answers = checked(here(order))
    assert set(answers) == {"range", "latest"}
    assert result.measurement.rows_counted == result.measurement.rows_acked + 20_000 > 20_000


def test_a_line_that_it_cannot_read_is_told_though_it_was_acknowledged(victoriametrics, tmp_path):
    with real_server(victoriametrics, tmp_path) as server:
        session = server.start()
        session.create_schema()
        url = f"http://127.0.0.1:{server.address.port}/api/v1/import"
        with urllib.request.urlopen(
            url, data=b'{"metric":{"__name__":"x"},"values":[1],"timestamps":[]}\n', timeout=30
        ) as answer:
            assert answer.status == 204
        found = session.count()
        assert found.rows == 0
        assert "VictoriaMetrics acknowledged samples" in found.gaps[0]
        server.end()


@pytest.fixture
def prometheus():
    return required("prometheus")


@pytest.mark.parametrize("name", ["prometheus", "victoriametrics"])
def test_text_is_refused_because_samples_are_numbers(name, tmp_path):
    (finding,) = required(name).check(trial_order(tmp_path, name, workload__columns="t:binary(8)").trial, None)
    assert finding.blocking and "t:binary" in finding.sentence


def test_rows_far_apart_and_out_of_order_are_all_stored(prometheus, folder):
    """Devices one after the other, each over two weeks: all but the first begin far before the newest sample."""
    step = {"workload__step_ms": "60000", "workload__tables": "4", "workload__rows_per_request": "500"}
    settings = short_trial(prometheus, folder, rows=80_000, **step)
    assert settings["out_of_order_time_window"] == "100y"


@pytest.fixture
def questdb():
    return required("questdb")


def test_tables_and_their_logs_lie_on_the_disks_in_turn(questdb, tmp_path):
    disks = (str(tmp_path / "1"), str(tmp_path / "2"))
    with real_server(questdb, tmp_path / "server", disks=disks) as server:
        session = server.start()
        session.create_schema()
        assert server.load(session, rows=100_000).returncode == 0
        session.flush()
        counted = session.count()
        assert (counted.rows, counted.gaps) == (100_000, ())
        parts = session.parts()
        assert len(parts) == server.trial.load.partitions
        half = len(parts) // 2
        assert check_placement(parts, (), disks) == {"parts_per_disk": f"{half},{half}"}
        for disk in disks:
            files = [path for path in Path(disk).rglob("*") if path.is_file() and path.stat().st_size]
            assert any("/wal" in str(path) for path in files)
            assert any(path.name.startswith("current.d") and "/wal" not in str(path) for path in files)
        assert session.effective()["partitions"] == str(len(parts))
        server.end()


TYPES = "a:bool,b:tinyint,c:smallint,d:int,e:bigint,f:utinyint,g:usmallint,h:uint,j:float,k:double,l:binary(20)"
CHANGE = "UPDATE measurement_p0 SET k = k + 1 WHERE device = '{device}' AND timestamp = {start}000"


def written(folder: Path, monkeypatch: pytest.MonkeyPatch, method: str, change: str) -> list[Event]:
    """The events of a trial that writes 40,000 rows, some of each table; another session changes one of them while it runs."""
    flags: dict[str, Any] = {"workload__columns": TYPES, "load__rate": "20k", "workload__rows_per_request": "100"}
    order = with_rows(trial_order(folder, "questdb", load__method=method, **flags), 40_000)

    def changed(session: QuestdbSession) -> None:
        ((device,),) = once_stored(lambda: session._rows("SELECT device FROM measurement_p0 LIMIT 1"))
        session._rows(change.format(device=device, start=order.trial.work.data.start_ms))

    return changed_in_the_load(order, QuestdbSession, changed if change else None, monkeypatch)


def test_drawn_tables_and_all_together_are_right_with_pgwire(folder, monkeypatch):
    monkeypatch.setattr(summed_trial, "TABLES_MAX", 5)
    monkeypatch.setattr(summed_trial, "DRAWN", 4)
    monkeypatch.setattr(summed_trial, "EACH_MAX", 0)
    events = written(folder, monkeypatch, "pgwire", "")
    result, summed = result_of(events), json.loads(artifact_of(events, "facts.json"))["summed"]
    assert [one["table"] is None for one in summed["tables"]] == [False] * 4 + [True], summed["note"]
    assert result.verdict.kind not in WRONG, result.verdict
    assert result.measurement.rows_compared == result.measurement.rows_counted > 0


def test_a_changed_row_is_found(folder, monkeypatch):
    result = result_of(written(folder, monkeypatch, "http", CHANGE))
    assert result.verdict.kind is VerdictKind.WRONG_ROWS, result.verdict
    assert "k: sum: stored" in result.verdict.reasons[0]
    assert "(1 of 10 tables compared differ)" in result.verdict.reasons[0]


@pytest.fixture
def cratedb(monkeypatch):
    return from_elsewhere("cratedb", "SCALE_CRATEDB_HOME", monkeypatch)


def test_settings_of_cratedb_are_read_back(cratedb, folder):
    named = ["table.translog.durability=ASYNC", "table.refresh_interval=5s", "table.codec=best_compression"]
    flags = {"knobs__other": [*named, "stats.enabled=false"]}
    said = short_trial(cratedb, folder, rows=1000, **flags)
    assert said["acknowledged"] == "in the log, not yet on disk"
    assert (said["table.refresh_interval"], said["stats.enabled"]) == ("5s", "false")


def test_shards_are_spread_over_the_disks(cratedb, room):
    disks = tuple(str(room / f"d{i}") for i in range(2))
    for disk in disks:
        Path(disk).mkdir()
    with real_server(cratedb, room, disks=disks, knobs__partitions="6") as server:
        session = server.start()
        session.create_schema()
        assert session.schema_pending() == ""
        parts = session.parts()
        assert [sum(part.path.startswith(disk) for part in parts) for disk in disks] == [3, 3]
        assert server.load(session, rows=10_000).returncode == 0
        assert (session.count().rows, session.count().gaps) == (10_000, ())


def test_a_request_that_fails_is_an_error_and_its_stored_part_no_wrong_count(cratedb, room):
    """A statement is no transaction: CrateDB stores the rows of the request that it can."""
    with real_server(cratedb, room) as server:
        session = server.start()
        session.create_schema()
        columns = "current REAL, voltage INTEGER, phase REAL"
        session._rows("DROP TABLE measurement")
        session._rows(
            f"CREATE TABLE measurement (device_id INTEGER, time TIMESTAMP WITH TIME ZONE, {columns},"
            " CONSTRAINT few CHECK (device_id < 5)) CLUSTERED INTO 2 SHARDS WITH (number_of_replicas = 0)"
        )
        for method, words in (("unnest", "inserted"), ("bulk", "Failed CONSTRAINT few")):
            loaded = server.load(session, rows=1000, tables=10, rows_per_request=1000, method=method)
            assert loaded.returncode == 6 and words in loaded.stdout
        counted = session.count()
        assert 0 < counted.rows < 2000 and counted.has_parts


@pytest.fixture
def influxdb2(monkeypatch):
    return from_elsewhere("influxdb2", "SCALE_INFLUXDB2_HOME", monkeypatch)


@pytest.fixture
def secret():
    return "made-for-this-test"


def test_nothing_is_written_or_read_without_the_token(influxdb2, room, secret):
    with real_server(influxdb2, room, secret) as server:
        session = server.start()
        session.create_schema()
        other = replace(server, address=replace(server.address, secret="another"))
        assert other.load(session, rows=100).returncode != 0
        assert session.count().rows == 0
        assert server.load(session, rows=100).returncode == 0
        assert session.count().rows == 100
        server.end()
        assert secret not in server.log() + " ".join((*server.spec.argv, *server.spec.env.values()))


def test_it_stops_cleanly_and_keeps_its_rows(influxdb2, room, secret):
    with real_server(influxdb2, room, secret) as server:
        session = server.start()
        session.create_schema()
        assert server.load(session, rows=1000).returncode == 0
        assert server.end(signal.Signals[server.spec.stop_signal]) == 0
        assert "Stopping" in server.log() and influxdb2.suspicious(server.log()) == ()
        assert server.start().count().rows == 1000


def test_its_settings_are_read_back(influxdb2, folder):
    flags = {"knobs__other": ["storage_wal_fsync_delay=100ms", "shard_duration=1d"], "load__warmup": "0s"}
    events = here(with_rows(trial_order(folder, "influxdb2", **flags), 1000))
    said = result_of(events).effective
    assert json.loads(artifact_of(events, "facts.json"))["mismatches"] == []
    assert (said["storage_wal_fsync_delay"], said["shard_duration"]) == ("100ms", "24h0m0s")
    assert said["acknowledged"] == "in the log, not yet on disk"
    assert said["reporting_disabled"] == said["no_tasks"] == "true"
    assert said["server_version"].startswith("2.")


@pytest.fixture(scope="module")
def mariadb():
    return required("mariadb")


def test_rows_survive_a_kill_and_a_server_that_stands_still_is_waited_for_a_while(mariadb, room):
    """With the vendor's setting, by which a request is on disk when it is acknowledged."""
    with real_server(mariadb, room, "made-for-this-test", target__settings="defaults") as server:
        root = ("--user=root",) if os.geteuid() == 0 else ()
        (setup,) = server.spec.setup
        subprocess.run([*setup[:-1], setup[-1] + " " + " ".join(root)], check=True, capture_output=True, timeout=120)
        server.spec = replace(server.spec, argv=(*server.spec.argv, *root))
        session = server.start()
        session.create_schema()
        assert server.load(session, rows=100_000).returncode == 0
        assert (session.count().rows, session.count().gaps) == (100_000, ())
        server.end(signal.SIGKILL)
        session = server.start()
        assert (session.count().rows, session.count().gaps) == (100_000, ())
        at = server.trial.work.data.start_ms + 86_400_000
        assert server.load(session, rows=1, tables=1, threads=1, start_ms=at).returncode == 0
        session.flush()
        assert "are missing in" in session.count().gaps[0]
        assert mariadb.suspicious(server.log()) == ()
        threading.Timer(1.0, server.process.send_signal, (signal.SIGSTOP,)).start()
        late = server.load(session, rows=100_000_000, request_timeout_s=1)
        summary = json.loads(late.stdout.splitlines()[-1])
        assert summary["rows_unanswered"] > 0 and '"code":"deadline"' in late.stdout.replace(" ", ""), late.stdout[
            -600:
        ]
        server.end(signal.SIGKILL)


@pytest.fixture(scope="module")
def clickhouse():
    return required("clickhouse")


def test_what_its_version_lacks_is_named(clickhouse, folder):
    result = result_of(here(trial_order(folder, "clickhouse", load__method="async")))
    assert result.verdict.kind is VerdictKind.ABORTED and "no async inserts" in result.verdict.reasons[0]
    (finding,) = clickhouse.check(replace(trial_order(folder, "clickhouse").trial, knobs={"<evil>": "1"}), None)
    assert finding.blocking and finding.subject == "--knob <evil>"


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
def test_chunks_count_what_was_acknowledged(in_order, compress, method):
    result, facts = in_order(f"compress={compress}", "chunk_interval=10m", "space_partitions=2", load__method=method)
    m, said = result.measurement, result.effective
    assert m.rows_counted == m.rows_acked == 200_000, result.verdict
    assert result.verdict.kind not in (VerdictKind.LOST_ROWS, VerdictKind.ABORTED, VerdictKind.ERRORS), result.verdict
    assert (facts["mismatches"], facts["suspicious"], facts["counted"]["gaps"]) == ([], [], [])
    assert (said["chunk_interval"], said["space_partitions"], said["compress"]) == ("600s", "2", compress)
    assert " on PostgreSQL " in said["server_version"]
