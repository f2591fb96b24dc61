"""What every database does on its real server: it counts what was acknowledged, keeps it through a kill, and gives copies.

SCALE_SLOW_TESTS=1 asks those that take 10 to 20 CPU seconds to start; without it each of them has one short trial. No
registry has CrateDB and InfluxDB 2: SCALE_CRATEDB_HOME and SCALE_INFLUXDB2_HOME name one.
"""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass, replace

import psutil
import pytest

from scale_sweep.base.interrupts import Stop
from scale_sweep.measure.executing.place import data_of_run
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model.events import PhaseEntered
from scale_sweep.model.measured import VerdictKind
from scale_sweep.model.planned import Plan
from scale_sweep.server.targets import load_target
from tests.integration.cli import ours_running
from tests.integration.real_server import from_elsewhere, listeners, on_small_disk, real_server, required, with_rows
from tests.integration.short_trial import one_row_of_each_time_is_kept, short_trial, watched
from tests.needs import needs
from tests.unit.factories import make_sweep
from tests.unit.reading_trials import WRONG, answers_of, reading_order
from tests.unit.trial_orders import artifact_of, here, result_of, trial_order

COLUMNS = "f:float,d:double,b:bool,s:smallint,i:int,u:uint"
ELSEWHERE = ("cratedb", "influxdb2")
SLOW = {  # tests that start their servers too often
    **dict.fromkeys(("cassandra", "iotdb", "opentsdb"), ("methods", "kill", "disk", "setting", "dies")),
    "kairosdb": ("methods", "disk", "cassandra"),
}


@dataclass(frozen=True, kw_only=True)
class Contract:
    """loaded: rows that are counted and kept through a kill; rows: of a trial. disk: megabytes that its server starts
    in, and rows that fill them. knobs: NAME=VALUE of each. secret: of a database that refuses a load without one."""

    disk: tuple[int, int]
    loaded: int = 1_000_000
    rows: int = 200_000
    knobs: tuple[str, ...] = ()
    secret: str = ""


OF = {
    "influxdb": Contract(disk=(16, 150_000)),  # it goes on, slowly: each request that fails takes a second
    "influxdb2": Contract(disk=(16, 150_000), secret="made-for-this-test"),
    "victoriametrics": Contract(disk=(24, 600_000)),
    "prometheus": Contract(disk=(24, 600_000), loaded=300_000, rows=60_000),
    "questdb": Contract(disk=(256, 600_000)),
    "cratedb": Contract(disk=(64, 3_000_000), loaded=200_000, rows=100_000),
    "cassandra": Contract(disk=(160, 2_000_000), loaded=100_000, rows=10_000),
    "iotdb": Contract(disk=(220, 2_000_000), loaded=300_000, rows=100_000),
    "opentsdb": Contract(disk=(90, 300_000), loaded=20_000, rows=3_000),
    # What it runs from is copied to its disk first, 33 MB.
    "kairosdb": Contract(disk=(42, 20_000), loaded=2_000, rows=300, knobs=("datastore=h2",)),
}


KEPT = OF | {"clickhouse": Contract(disk=(0, 0), loaded=300_000, secret="made-for-this-test")}  # through a kill


def found(name, monkeypatch, about=""):
    """The target, whose server is here. about: what is asked, for those that take long."""
    if about in SLOW.get(name, ()) and not os.environ.get("SCALE_SLOW_TESTS"):
        pytest.skip("takes long to start: SCALE_SLOW_TESTS=1")
    if name not in ELSEWHERE:
        return required(name)
    return from_elsewhere(name, f"SCALE_{name.upper()}_HOME", monkeypatch)


@pytest.mark.parametrize("name", OF)
def test_a_trial_counts_what_was_acknowledged_by_each_method(name, folder, monkeypatch):
    target, its = found(name, monkeypatch, "methods"), OF[name]
    for method in target.facts.methods:
        flags = {"workload__columns": COLUMNS, "workload__rows_per_request": "1000", "load__method": method}
        flags |= {"knobs__other": list(its.knobs), "workload__step_ms": "1000"}  # lines of `put` have times in seconds
        order = trial_order(folder, name, load__warmup="0s", **flags)  # so few rows end within a warm-up
        events = watched(with_rows(order, its.rows))
        result = result_of(events)
        facts = json.loads(artifact_of(events, "facts.json"))
        assert result.measurement is not None, result.verdict
        m, is_answered = result.measurement, method not in target.facts.unanswered
        assert (m.rows_acked, m.rows_sent) == ((its.rows, None) if is_answered else (None, its.rows)), result.verdict
        assert m.rows_counted == its.rows, result.verdict
        assert (m.response_ms_max is not None) is is_answered
        assert result.verdict.kind not in WRONG, result
        assert (facts["mismatches"], facts["suspicious"], facts["counted"]["gaps"]) == ([], [], [])
        assert result.measurement.durable_rows_per_s
        assert result.effective["server_version"]


@pytest.mark.parametrize("name", KEPT)
def test_rows_are_counted_and_survive_a_kill(name, room, monkeypatch):
    target, its = found(name, monkeypatch, "kill"), KEPT[name]
    with real_server(target, room, its.secret, knobs__other=list(its.knobs)) as server:
        session = server.start()
        assert server.process is not None
        assert {address.rpartition(":")[0] for address in listeners(server.process.pid)} == {"127.0.0.1"}
        session.create_schema()
        assert_none_missing(session, 0)
        loaded = server.load(session, rows=its.loaded)
        assert loaded.returncode == 0, loaded.stderr
        assert_none_missing(session, its.loaded)
        before = session.commit_cycles()
        session.flush()
        assert session.commit_cycles() >= before >= 0
        server.end(signal.SIGKILL)
        session = server.start()
        assert_none_missing(session, its.loaded)
        late = server.trial.work.data.start_ms + 86_400_000  # of the first device, long after its others
        assert server.load(session, rows=1, tables=1, threads=1, start_ms=late).returncode == 0
        session.flush()
        counted = session.count()
        assert counted.rows == its.loaded + 1
        assert counted.gaps and "are missing in" in counted.gaps[0]
        server.end()
        wrong = [line for line in target.suspicious(server.log()) if "context canceled" not in line]
        assert wrong == [], "but for a compaction that its end stopped"
    assert ours_running(room) == []


def assert_none_missing(session, rows):
    """Whether the database keeps one row for each time is its own affair."""
    counted = session.count()
    assert (counted.rows, counted.gaps) == (rows, ())


@needs("root")
@pytest.mark.parametrize("name", OF)
def test_a_disk_that_fills_is_no_valid_number(name, folder, monkeypatch):
    found(name, monkeypatch, "disk")
    its, columns = OF[name], ",".join(f"d{i}:double" for i in range(10))
    for disk in on_small_disk(folder / "disk", its.disk[0]):
        more = {"workload__values": "random", "workload__columns": columns, "knobs__other": list(its.knobs)}
        events = here(with_rows(trial_order(disk, name, **more), rows=its.disk[1]))
        assert "schema" in [event.phase for event in events if isinstance(event, PhaseEntered)], result_of(events)
        result = result_of(events)
        assert result.verdict.kind in (VerdictKind.ABORTED, VerdictKind.ERRORS, VerdictKind.LOST_ROWS), result
        assert ours_running(disk) == []


@pytest.mark.parametrize(
    ("name", "rows", "flags", "said"),
    [
        ("cassandra", 5_000, {}, {}),
        ("iotdb", 5_000, {}, {}),
        ("opentsdb", 2_000, {"workload__step_ms": "1000"}, {"server_version": "2.4.1", "hbase_version": "2.4.18"}),
    ],
)
def test_a_short_trial_counts_what_was_acknowledged(name, rows, flags, said, folder):
    effective = short_trial(required(name), folder, rows, **flags)
    assert {key: effective[key] for key in said} == said


@pytest.mark.parametrize("name", ["influxdb", "influxdb2", "mariadb"])
def test_of_rows_with_the_same_time_one_is_kept_and_counted(name, folder, monkeypatch):
    found(name, monkeypatch)
    one_row_of_each_time_is_kept(name, folder, 20_000 if name == "mariadb" else 200_000)


@pytest.mark.parametrize(
    ("name", "knob", "value", "said"),
    [
        ("cassandra", "no_such_item", "1", "no_such_item"),
        ("iotdb", "wal_mode", "SOMETIMES", "SOMETIMES"),
        ("opentsdb", "tsd.network.worker_threads", "many", "ended while starting"),
        ("kairosdb", "service.datastore", "no.such.Module", "KairosDatastore"),  # its words are a stack of calls
        ("questdb", "no_such_item", "1", "no.such.item"),
        ("clickhouse", "no_such_setting", "1", "no_such_setting"),
        ("cratedb", "no_such.setting", "1", "no_such"),
        ("cratedb", "table.no_such", "1", "no_such"),
    ],
)
def test_a_setting_that_it_cannot_use_ends_the_trial_in_its_words(name, knob, value, said, folder, monkeypatch):
    found(name, monkeypatch, "setting")
    order = trial_order(folder, name, knobs__other=list(OF[name].knobs) if name in OF else [])
    wrong = replace(order.trial, knobs={**order.trial.knobs, knob: value})
    result = result_of(here(replace(order, trial=wrong)))
    assert result.verdict.kind is VerdictKind.ABORTED
    assert said in " ".join(result.verdict.reasons) + result.log_tail


@pytest.mark.parametrize(
    ("name", "knob", "value", "said"),
    [
        ("victoriametrics", "noSuchFlag", "1", "noSuchFlag"),
        ("prometheus", "no.such-flag", "1", "no.such-flag"),
        ("prometheus", "query.timeout", "soon", "soon"),
        ("mariadb", "no_such_variable", "1", "no-such-variable"),
        ("influxdb2", "storage_no_such_item", "1", "storage-no-such-item"),
    ],
)
def test_a_setting_that_it_cannot_use_is_refused_before_anything_starts(name, knob, value, said, tmp_path, monkeypatch):
    target, order = found(name, monkeypatch), trial_order(tmp_path, name)
    unknown = replace(order.trial, knobs={**order.trial.knobs, knob: value})
    (finding,) = target.check_installed(order.home, unknown)
    assert finding.blocking and said.replace("-", "_") in finding.sentence.replace("-", "_")
    assert target.check_installed(order.home, order.trial) == ()


def facts_with(folder, **knobs):
    """Of a trial of InfluxDB with other settings."""
    required("influxdb")
    order = trial_order(folder, "influxdb")
    order = replace(order, trial=replace(order.trial, knobs={**order.trial.knobs, **knobs}))
    return json.loads(artifact_of(here(order), "facts.json"))


def test_a_setting_that_it_does_not_say_it_has_is_no_valid_number(folder):
    told = facts_with(folder, data_no_such_item="1")["mismatches"]
    assert told == ["data_no_such_item was to be 1, the server does not report it"]


def test_settings_are_read_back_in_the_words_of_the_server(folder):
    knobs = {"shard_precreation_check_interval": "5m", "subscriber_enabled": "false", "shard_duration": "90m"}
    knobs |= {"data_cache_snapshot_memory_size": "10m", "data_cache_snapshot_write_cold_duration": "90s"}
    assert facts_with(folder, **knobs)["mismatches"] == []


@pytest.mark.parametrize("name", ["iotdb", "opentsdb"])
def test_one_program_that_is_killed_takes_the_other_along(name, room, monkeypatch):
    with real_server(found(name, monkeypatch, "dies"), room) as server:
        server.start()
        assert server.process is not None
        both = [one for one in psutil.Process(server.process.pid).children() if one.name() == "java"]
        assert len(both) == 2
        both[0].kill()
        server.process.wait(60)
    assert ours_running(room) == []


def test_rows_of_kairosdb_in_cassandra_survive_a_kill_of_both(room, monkeypatch):
    target = found("kairosdb", monkeypatch, "cassandra")
    required("cassandra")
    with real_server(target, room, knobs__other=["cassandra_heap=512m"]) as server:
        session = server.start()
        assert {address.rpartition(":")[0] for address in listeners(server.process.pid)} == {"127.0.0.1"}
        assert server.load(session, rows=5_000).returncode == 0
        session.flush()
        assert session.commit_cycles() >= 0
        server.end(signal.SIGKILL)
        session = server.start()
        assert_none_missing(session, 5_000)
        assert server.end() in (0, 143)
        assert target.suspicious(server.log()) == ()
    assert ours_running(room) == []


def test_a_row_of_prometheus_whose_time_is_changed_is_named(room):
    with real_server(load_target("prometheus"), room) as server:
        session = server.start()
        assert server.load(session, rows=1000).returncode == 0
        assert session.count().gaps == ()
        late = server.trial.work.data.start_ms + 3_600_000
        assert server.load(session, rows=1, tables=1, threads=1, start_ms=late).returncode == 0
        counted = session.count()
        assert counted.rows == 1001 and "are missing in" in counted.gaps[0]
        server.end()


NUMERIC = "f:float,d:double,b:bool,s:smallint,i:int,u:uint,l:bigint,"
TYPED = {  # columns of every type, and rows in an order with them
    "mariadb": (f"{NUMERIC}v:ubigint,t:binary(12),n:nchar(5),x:varbinary(6)", 60_000),
    "clickhouse": (f"{NUMERIC}v:ubigint,t:binary(12),n:nchar(5),x:varbinary(6),w:timestamp", 200_000),
    "cratedb": (f"{NUMERIC}t:tinyint,ut:utinyint,us:usmallint,x:binary(12),n:nchar(5),w:timestamp", 50_000),
}


@pytest.mark.parametrize(
    ("name", "flags", "said"),
    [
        *(
            (
                "mariadb",
                {"load__method": method, "target__settings": "loading", "workload__null_ratio": "20%"},
                {
                    "acknowledged": "in the log, not yet on disk",
                    "innodb_flush_log_at_trx_commit": "2",
                    "partitions": "4",
                },
            )
            for method in ("load-data", "insert")
        ),
        (
            "clickhouse",
            {},
            {"acknowledged": "in files, not yet on disk", "max_threads": "1", "server_version": "18.16.1"},
        ),
        (
            "cratedb",
            {"workload__values": "random", "workload__null_ratio": "20%"},
            {"acknowledged": "on disk (log fsynced)", "jvm_processors": "1", "table.translog.durability": "REQUEST"},
        ),
    ],
)
def test_rows_of_every_type_are_stored_as_they_were_sent(name, flags, said, folder, monkeypatch):
    columns, rows = TYPED[name]
    more = {"workload__columns": columns, "workload__rows_per_request": "1000", **flags}
    settings = short_trial(found(name, monkeypatch), folder, rows=rows, **more)
    assert {key: settings[key] for key in said} == said


@pytest.mark.parametrize("name", ["mariadb", "clickhouse", "influxdb2"])
def test_the_secret_is_in_no_result(name, folder, monkeypatch):
    found(name, monkeypatch)
    monkeypatch.setattr("scale_sweep.measure.trial.provision._secret", lambda is_ours: "made-for-this-test")
    events = here(trial_order(folder, name, load__warmup="0s"))
    assert result_of(events).measurement is not None and "made-for-this-test" not in repr(events)
    assert json.loads(artifact_of(events, "facts.json"))["mismatches"] == []


def test_the_log_of_iotdb_can_be_on_disk_before_each_answer(folder, monkeypatch):
    found("iotdb", monkeypatch, "setting")
    order = trial_order(folder, "iotdb", load__warmup="0s", load__method="tablets")
    knobs = {**order.trial.knobs, "wal_mode": "SYNC", "aligned": "false"}
    events = here(with_rows(replace(order, trial=replace(order.trial, knobs=knobs)), 20_000))
    result = result_of(events)
    assert result.measurement is not None, result.verdict
    assert result.measurement.rows_counted == result.measurement.rows_acked == 20_000, result.verdict
    assert json.loads(artifact_of(events, "facts.json"))["mismatches"] == []
    assert (result.effective["wal_mode"], result.effective["aligned"]) == ("SYNC", "false")
    assert result.effective["acknowledged"].startswith("on disk")


def test_devices_of_iotdb_are_aligned_or_not_by_each_method(room, monkeypatch):
    target = found("iotdb", monkeypatch, "setting")
    with real_server(target, room) as server:
        server.start()
        for aligned in ("true", "false"):
            trial = replace(server.trial, knobs={**server.trial.knobs, "aligned": aligned})
            session = target.session(trial, server.address)
            for method in target.facts.methods:
                session.create_schema()
                session.create_tables()
                loaded = server.load(session, rows=20_000, method=method, interlace_rows=10)
                assert loaded.returncode == 0, loaded.stderr
                assert_none_missing(session, 20_000)
                assert {row[1] for row in session._rows("SHOW DEVICES root.scale.d*")} == {aligned}
                session.drop_schema()


PRELOADED = {"influxdb": 100_000, "victoriametrics": 100_000, "mariadb": 30_000, "clickhouse": 30_000}
PRELOADED |= {"influxdb2": 100_000, "cratedb": 30_000}
COPIED_SLOW = {"prometheus": 30_000, "questdb": 100_000, "cassandra": 20_000, "kairosdb": 4_000}


COPIED_KNOBS = {"kairosdb": {"datastore": "h2"}}
ON_CASSANDRA = ("kairosdb", {"cassandra_heap": "512m"})


@pytest.mark.parametrize(
    ("name", "knobs"), [*((name, COPIED_KNOBS.get(name, {})) for name in (*PRELOADED, *COPIED_SLOW)), ON_CASSANDRA]
)
def test_a_copy_of_its_files_answers_rightly_warm_and_cold(name, knobs, folder, monkeypatch):
    if name in COPIED_SLOW and not os.environ.get("SCALE_SLOW_TESTS"):
        pytest.skip("takes long: SCALE_SLOW_TESTS=1")
    found(name, monkeypatch)
    more, rows = ["range.columns=current"], (PRELOADED | COPIED_SLOW)[name]
    # On a busy machine a server that has just started needs seconds for its first answer.
    duration = "20s" if name == "cratedb" else "8s"
    flags = {"preload__rows": str(rows), "load__duration": duration, "load__warmup": "0s"}
    order = reading_order(folder, name, "range,write", also=more, **flags)
    order = replace(order, trial=replace(order.trial, knobs={**order.trial.knobs, **knobs}))
    plan = Plan(sweep=make_sweep(), trials=(order.trial,), confounds=(), notes=(), seconds_estimated=0.0)
    seen, phases = {}, {}
    with data_of_run(plan, order.run_id) as data_set:
        for cache in ("warm", "cold"):
            trial = replace(order.trial, work=replace(order.trial.work, cache=cache))
            events = list(run_trial(replace(order, trial=trial, data=data_set(trial)), Stop()))
            result, seen[cache] = result_of(events), result_of(events).measurement
            phases[cache] = [e.phase for e in events if isinstance(e, PhaseEntered)]
            assert result.verdict.kind not in WRONG, result.verdict
            assert answers_of(events)["range"]["whole"] == 20
            assert seen[cache].rows_counted == seen[cache].rows_acked + rows
            assert seen[cache].preload_copied in ("copy", "reflink")
    assert seen["warm"].preload_s == seen["cold"].preload_s, "they were loaded once"
    assert (phases["warm"][0], phases["cold"][0]) == ("preload", "provision")
    assert phases["cold"].count("provision") == 2, "its server was started again, on files that were not in memory"
    assert seen["warm"].preload_cached_percent > 90
