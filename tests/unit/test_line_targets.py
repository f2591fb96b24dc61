"""Targets that are loaded with lines, without their servers: what is started, what is refused, what a count tells."""

import gzip
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest

from scale_sweep.base.errors import PreflightError, TargetError
from scale_sweep.model import Counted, Site
from scale_sweep.server.targets import Address, Installation, load_target, series
from scale_sweep.server.targets.debian import packaged
from scale_sweep.server.targets.influxdb.spelling import spelled
from scale_sweep.server.targets.java import effective, heap_bytes
from scale_sweep.server.targets.nouns import ACKNOWLEDGED, IN_LOG, ON_DISK
from scale_sweep.server.targets.web import Web, metrics
from tests.unit.factories import make_sweep, make_trial
from tests.unit.web_server import Answer, Request, web_server

NAMES = ("questdb", "influxdb", "influxdb2", "victoriametrics", "kairosdb", "cassandra")
KNOBS = {
    "questdb": {"partitions": "8", "connections": "8", "heap": "256m"},
    "influxdb": {"connections": "4", "shard_duration": "7d", "data_wal_fsync_delay": "0s"},
    "influxdb2": {"connections": "4", "shard_duration": "7d", "storage_wal_fsync_delay": "0s"},
    "victoriametrics": {"connections": "4", "memory": "1GiB"},
    "kairosdb": {"connections": "4", "heap": "256m", "datastore": "h2"},
    "cassandra": {"connections": "4", "heap": "256m", "commitlog_sync": "periodic"},
}
DATA = make_sweep(workload__start_ms="60000", workload__step_ms="10").work.data


def trial_of(name, cores=1.5, **flags):
    return replace(make_trial(make_sweep(**flags), cores=cores), knobs=KNOBS[name])


def spec_of(name, **more):
    site = Site(data_dir="/d", port=7001, bind_address="127.0.0.1", home="/h")
    return load_target(name).server(trial_of(name, **more), site, "")


@pytest.mark.parametrize("name", NAMES)
def test_a_server_listens_on_loopback_only(name):
    spec = spec_of(name)
    said = " ".join((*spec.argv, *spec.env.values(), *spec.files.values()))
    assert (
        "127.0.0.1:7001" in said
        or "native_transport_port: 7001" in said
        or 'address = "127.0.0.1"\nkairosdb.jetty.port = 7001' in said
    )
    assert "0.0.0.0" not in said
    assert spec.ports[0] == 7001


def test_no_timeout_of_cassandra_ends_the_others():
    said = " ".join(spec_of("cassandra").files.values())
    hour = ("read_request_timeout", "range_request_timeout", "native_transport_timeout")
    assert all(f"{name}: 3600s\n" in said for name in hour)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("questdb", "-XX:ActiveProcessorCount=2"),
        ("questdb", "-Xmx256m"),
        ("kairosdb", "-Xmx256m"),
        ("cassandra", "-Xmx256m"),
        ("influxdb", "2"),
        ("influxdb2", "2"),
        ("victoriametrics", "2"),
    ],
)
def test_threads_and_memory_come_from_the_level(name, words):
    spec = spec_of(name)
    assert words in (*spec.argv, spec.env.get("GOMAXPROCS"))
    assert words in spec.argv or spec_of(name, cores=3.0).env["GOMAXPROCS"] == "3"


def test_questdb_reports_nothing_and_shuts_the_doors_that_are_not_used():
    conf = spec_of("questdb").files["/d/questdb/conf/server.conf"].splitlines()
    for line in (
        "telemetry.enabled=false",
        "pg.enabled=false",
        "line.tcp.enabled=false",
        "http.min.enabled=false",
        "config.validation.strict=true",
        "wal.apply.worker.count=2",
        "cairo.commit.mode=nosync",
    ):
        assert line in conf


@pytest.mark.parametrize(
    ("method", "driver", "path"),
    [
        ("http", "lines", "/write?precision=ms"),
        ("remote-write", "samples", "/api/v1/write"),
        ("import", "samples", "/api/v1/import"),
    ],
)
def test_victoriametrics_is_written_where_each_method_says(method, driver, path):
    trial = trial_of("victoriametrics")
    trial = replace(trial, subject=replace(trial.subject, target="victoriametrics", method=method))
    session = load_target("victoriametrics").session(trial, Address(host="127.0.0.1", port=7001, secret=""))
    spec = session.load_spec()
    assert (spec["driver"], spec["method"], spec["write_path"]) == (driver, method, path)
    assert spec["port"] == "7001"


def test_questdb_takes_inserts_with_the_secret_of_the_trial():
    trial = trial_of("questdb", workload__tags="groupid:int")
    trial = replace(trial, subject=replace(trial.subject, target="questdb", method="pgwire"))
    site = Site(data_dir="/d", port=7001, bind_address="127.0.0.1", home="/h")
    spec = load_target("questdb").server(trial, site, "a secret")
    conf = spec.files["/d/questdb/conf/server.conf"].splitlines()
    for line in ("pg.enabled=true", "pg.net.bind.to=127.0.0.1:7002", "pg.user=admin", "line.tcp.enabled=false"):
        assert line in conf
    assert spec.ports == (7001, 7002)
    assert spec.env["QDB_PG_PASSWORD"] == "a secret"
    assert "a secret" not in " ".join((*spec.argv, *spec.files.values()))
    session = load_target("questdb").session(trial, Address(host="127.0.0.1", port=7001, secret="a secret"))
    session._rows = lambda sql: (
        [[1]] if "tables()" in sql else [["pg.password", "a secret", "env"], ["pg.user", "admin", "conf"]]
    )
    told = session.load_spec()
    assert (told["driver"], told["port"], told["user"]) == ("pgwire", "7002", "admin")
    assert "a secret" not in str(told) + str(session.effective())


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"datastore": "h2"}, ()),
        ({"datastore": "cassandra"}, ()),
        ({"datastore": "scylla"}, ("KairosDB has no datastore 'scylla' here",)),
        (
            {"datastore": "h2", "cassandra.commitlog_sync": "batch"},
            ("cassandra.commitlog_sync belongs to another datastore",),
        ),
        (
            {"datastore": "h2", "cassandra_heap": "2g"},
            ("cassandra_heap belongs to another datastore: this trial has h2",),
        ),
        ({"datastore": "cassandra", "cassandra_heap": "2g", "cassandra.commitlog_sync": "batch"}, ()),
    ],
)
def test_kairosdb_has_two_datastores(monkeypatch, knobs, words):
    found = Installation(home="/c", version="5.0.9", source="there")
    monkeypatch.setattr("scale_sweep.server.targets.kairosdb.on_cassandra.find", lambda home: found)
    trial = trial_of("kairosdb")
    trial = replace(trial, knobs={**trial.knobs, **knobs})
    findings = load_target("kairosdb").check(trial, None)
    assert len(findings) == len(words)
    assert all(one.blocking and word in one.sentence for one, word in zip(findings, words, strict=True))


def test_kairosdb_on_cassandra_needs_one_on_this_machine(monkeypatch):
    monkeypatch.setattr("scale_sweep.server.targets.kairosdb.on_cassandra.find", lambda home: None)
    trial = trial_of("kairosdb")
    (finding,) = load_target("kairosdb").check_installed(
        "", replace(trial, knobs={**trial.knobs, "datastore": "cassandra"})
    )
    assert finding.blocking and finding.remedy == "scale servers install cassandra"


def test_kairosdb_and_its_cassandra_in_one_image(monkeypatch):
    monkeypatch.setattr("scale_sweep.server.targets.kairosdb.on_cassandra.find", lambda home: None)
    trial = trial_of("kairosdb")
    trial = replace(trial, knobs={**trial.knobs, "datastore": "cassandra"})
    site = Site(data_dir="/d", port=7001, bind_address="0.0.0.0", home="/opt/kairosdb", in_image=True)
    target = load_target("kairosdb")
    spec = target.server(trial, site, "")
    assert spec.ports == (7001, 7003), "no other node asks Cassandra"
    script, conf = spec.files["/d/kairosdb/both.sh"], spec.files["/d/kairosdb/kairosdb.conf"]
    assert script.count("setpriv --pdeathsig KILL /opt/java/openjdk/bin/java ") == 2
    assert "'/opt/cassandra/lib/*'" in script and "'/opt/kairosdb/lib/*'" in script
    assert 'jetty.address = "0.0.0.0"' in conf and 'cql_host_list = ["127.0.0.1:7003"]' in conf
    yaml = spec.files["/d/cassandra/cassandra.yaml"]
    assert "listen_address: 127.0.0.1\nrpc_address: 0.0.0.0\nbroadcast_rpc_address: 127.0.0.1\n" in yaml
    with pytest.raises(PreflightError, match="not on this machine"):
        target.image_folders()
    found = Installation(home="/c", version="5.0.9", source="there")
    monkeypatch.setattr("scale_sweep.server.targets.kairosdb.on_cassandra.find", lambda home: found)
    assert target.image_folders() == {"/opt/cassandra/lib/": "/c/lib"}


def test_kairosdb_and_its_cassandra_are_one_server(monkeypatch):
    found = Installation(home="/c", version="5.0.9", source="there")
    monkeypatch.setattr("scale_sweep.server.targets.kairosdb.on_cassandra.find", lambda home: found)
    trial, given = trial_of("kairosdb"), {"datastore": "cassandra", "cassandra.commitlog_sync": "batch"}
    trial = replace(trial, knobs={**trial.knobs, **given, "queue_processor.batch_size": "400"})
    site = Site(data_dir="/d", port=7001, bind_address="127.0.0.1", home="/h")
    spec = load_target("kairosdb").server(trial, site, "")
    assert spec.argv == ("/bin/sh", "/d/kairosdb/both.sh")
    assert spec.ports == (7001, 7003, 7004)
    script, conf = spec.files["/d/kairosdb/both.sh"], spec.files["/d/kairosdb/kairosdb.conf"]
    assert script.index("-cp '/c/lib/*' org.apache.cassandra") < script.index("-cp '/h/lib/*' org.kairosdb.core.Main")
    assert script.count("-XX:ActiveProcessorCount=2") == 2
    assert script.count("-Xmx256m") == 2
    for line in (
        'kairosdb.datastore.cassandra.write_cluster.cql_host_list = ["127.0.0.1:7003"]',
        'kairosdb.datastore.cassandra.table_create_with.data_points = ""',
        'kairosdb.queue_processor.batch_size = "400"',
    ):
        assert line in conf.splitlines()
    assert "commitlog_sync" not in conf and "heap" not in conf
    assert "commitlog_sync: batch\n" in spec.files["/d/cassandra/cassandra.yaml"]
    assert "rpc_address: 127.0.0.1\n" in spec.files["/d/cassandra/cassandra.yaml"]


def test_what_kairosdb_queues_is_waited_for(monkeypatch):
    now = [0.0]
    clock = SimpleNamespace(
        monotonic=lambda: now[0], sleep=lambda s: now.__setitem__(0, now[0] + s), time_ns=lambda: int(now[0] * 1e9)
    )
    monkeypatch.setattr("scale_sweep.server.targets.kairosdb.kairosdb_session.time", clock)
    asked = []
    for datastore in ("h2", "cassandra"):
        trial = trial_of("kairosdb")
        trial = replace(trial, knobs={**trial.knobs, "datastore": datastore})
        session = load_target("kairosdb").session(trial, Address(host="127.0.0.1", port=1, secret=""))
        session._store_point = lambda: asked.append(now[0])
        session._by_device = lambda name, what: {"d0": (0, sum(at + 0.5 < now[0] for at in asked))}
        session._wait_for_queue()
    assert len(asked) == 2, "none for H2"
    assert now[0] > asked[1] + 0.5 > asked[0] + 1


@pytest.mark.parametrize(("method", "ports"), [("datapoints", 1), ("gzip", 1), ("telnet", 2)])
def test_kairosdb_opens_the_door_of_telnet_where_it_is_used(method, ports):
    trial = trial_of("kairosdb")
    trial = replace(trial, subject=replace(trial.subject, target="kairosdb", method=method))
    spec = load_target("kairosdb").server(
        trial, Site(data_dir="/d", port=7001, bind_address="127.0.0.1", home="/h"), ""
    )
    conf = spec.files["/d/kairosdb/kairosdb.conf"].splitlines()
    assert len(spec.ports) == ports
    assert ('kairosdb.service.telnet = "<disabled>"' in conf) is (method != "telnet")
    for line in ('kairosdb.telnetserver.address = "127.0.0.1"', "kairosdb.telnetserver.port = 7002"):
        assert (line in conf) is (method == "telnet")
    session = load_target("kairosdb").session(trial, Address(host="127.0.0.1", port=7001, secret=""))
    told = session.load_spec()
    assert (told["method"], told["port"]) == (method, "7002" if method == "telnet" else "7001")
    assert session.effective()["acknowledged"].startswith("never") is (method == "telnet")


@pytest.mark.parametrize("method", ["datapoints", "telnet"])
def test_lines_of_telnet_are_waited_for_until_their_number_stays(monkeypatch, method):
    """The second column lacks points longer than the first."""
    now = [0.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda s: now.__setitem__(0, now[0] + s))
    monkeypatch.setattr("scale_sweep.server.targets.kairosdb.kairosdb_session.time", clock)
    rows = {"workload__start_ms": "60000", "workload__step_ms": "10"}
    trial = trial_of("kairosdb", workload__columns="f:float,i:int", **rows)
    trial = replace(trial, subject=replace(trial.subject, target="kairosdb", method=method))
    session = load_target("kairosdb").session(trial, Address(host="127.0.0.1", port=1, secret=""))
    left = {"measurement_f": [3, *[5] * 20], "measurement_i": [0, *[1] * 8, 4, 5]}  # eight pauses of 0.2 s

    def counted(column, what):
        rows = left[column].pop(0) if len(left[column]) > 1 else left[column][0]
        return {"d0": (60000 if what == "first" else 60000 + (rows - 1) * 10, rows)}

    session._by_device = counted
    found = session.count()
    assert (found.rows, bool(found.gaps)) == ((5, False) if method == "telnet" else (3, True))


def test_victoriametrics_keeps_what_is_old():
    assert "-retentionPeriod=100y" in spec_of("victoriametrics").argv


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("questdb", "v:ubigint"),
        ("influxdb", "v:varbinary(8)"),
        ("influxdb2", "v:varbinary(8)"),
        ("victoriametrics", "v:nchar(8)"),
        ("victoriametrics", "v:bigint"),
        ("kairosdb", "v:binary(8)"),
        ("kairosdb", "v:ubigint"),
        ("cassandra", "v:ubigint"),
    ],
)
def test_columns_that_it_cannot_hold_are_refused(name, column):
    (finding,) = load_target(name).check(trial_of(name, workload__columns=f"a:int,{column}"), None)
    assert finding.blocking
    assert column.partition("(")[0] in finding.sentence
    assert load_target(name).check(trial_of(name), None) == ()


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("questdb", "2026-01-01 C i.q.c.w.ApplyWal2TableJob job failed, table suspended [table=m_p0]"),
        ("questdb", "java.lang.OutOfMemoryError: Java heap space"),
        ("influxdb", "write failed: engine: cache-max-memory-size exceeded: (1073752234/1073741824)"),
        ("influxdb", "partial write: points beyond retention policy dropped=12"),
        ("influxdb2", 'lvl=info msg="Write failed" shard=1 error="engine: write wal: no space"'),
        ("influxdb2", 'lvl=info msg="Error writing snapshot" error="cannot sync"'),
        ("victoriametrics", "2026-01-01 panic lib/storage/partition.go:12 FATAL: cannot create in-memory part"),
        ("victoriametrics", "error: write /d: no space left on device"),
        ("cassandra", "ERROR CommitLog Failed to persist commits to disk; disk failure policy is stop"),
        ("kairosdb", "ERROR org.kairosdb.core.http.rest.MetricsResource Failed to add metric."),
    ],
)
def test_a_log_that_tells_of_lost_rows_is_doubtful(name, line):
    target = load_target(name)
    assert target.suspicious(f"all is well\n{line}\n") == (line,)
    assert target.suspicious("all is well\nlistening on 127.0.0.1:7001\n") == ()


@pytest.mark.parametrize(
    ("rows", "faulty"),
    [
        ({"d0": (3, 60000, 60020), "d1": (1, 60000, 60000)}, ""),
        ({"d0": (2, 60000, 60020), "d1": (1, 60000, 60000)}, "d0"),  # the middle one is lost
        ({"d0": (2, 60010, 60020), "d1": (1, 60000, 60000)}, "d0"),  # the first one
        ({"d0": (3, 60000, 60020), "d1": (2, 60000, 60000)}, "d1"),  # one twice
    ],
)
def test_a_count_tells_which_device_lacks_rows(rows, faulty):
    found = series.counted(rows, DATA)
    assert found.rows == sum(n for n, _, _ in rows.values())
    assert (f"{faulty} is one" in found.gaps[0]) if faulty else not found.gaps


def test_nothing_is_counted_of_nothing():
    assert series.counted({}, DATA) == Counted(rows=0)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("7d", "168h0m0s"),
        ("24h", "24h0m0s"),
        ("2w", "336h0m0s"),
        ("90m", "1h30m0s"),
        ("5m", "5m0s"),
        ("1500ms", "1.5s"),
        ("100ms", "100ms"),
        ("0s", "0s"),
        ("INF", "INF"),
    ],
)
def test_a_duration_is_compared_as_the_server_spells_it(asked, said):
    assert spelled("shard_duration", asked) == said


def test_a_size_is_compared_in_bytes():
    assert spelled("data_cache_max_memory_size", "512m") == str(512 << 20)
    assert spelled("data_cache_max_memory_size", "1073741824") == "1073741824"


def test_questdb_has_a_volume_on_each_disk_and_its_tables_on_them_in_turn(monkeypatch):
    site = Site(data_dir="/d", port=7001, bind_address="127.0.0.1", home="/h", disks=("/1/t", "/2/t"))
    target, trial = load_target("questdb"), trial_of("questdb")
    spec = target.server(trial, site, "")
    assert "cairo.volumes=volume1 -> /1/t/volume, volume2 -> /2/t/volume\n" in spec.files["/d/questdb/conf/server.conf"]
    assert {"/1/t/volume", "/2/t/volume"} < set(spec.folders)
    session = target.session(trial, Address(host="127.0.0.1", port=7001, secret="", data_dir="/d", disks=site.disks))
    asked = []
    monkeypatch.setattr(
        session, "_rows", lambda sql: asked.append(sql) or [["measurement_p1", "measurement_p1~4 (->)"]]
    )
    session.create_schema()
    assert [sql.rpartition(" ")[2] for sql in asked] == ["'volume1'", "'volume2'"] * (trial.load.partitions // 2)
    (part,) = session.parts()
    assert (part.path, part.disk) == ("/d/questdb/db/measurement_p1~4", 1)
    assert "cairo.volumes" not in spec_of("questdb").files["/d/questdb/conf/server.conf"]


@pytest.mark.parametrize(("mode", "where"), [("nosync", IN_LOG), ("async", IN_LOG), ("sync", ON_DISK)])
def test_questdb_has_rows_on_disk_only_where_it_waits_for_it(monkeypatch, mode, where):
    session = load_target("questdb").session(trial_of("questdb"), Address(host="127.0.0.1", port=7001, secret=""))
    answers = iter([[["cairo.commit.mode", mode, "conf"]], [[8]]])
    monkeypatch.setattr(session, "_rows", lambda sql: next(answers))
    assert session.effective()[ACKNOWLEDGED] == where


def test_a_version_is_read_from_the_packages_list_of_changes(tmp_path):
    program = tmp_path / "usr" / "bin" / "victoria-metrics"
    changes = tmp_path / "usr" / "share" / "doc" / "victoria-metrics" / "changelog.Debian.gz"
    for path in (program, changes):
        path.parent.mkdir(parents=True)
    program.touch()
    changes.write_bytes(gzip.compress(b"victoria-metrics (1.79.5+ds1-2) unstable; urgency=medium\n"))
    found = packaged("victoria-metrics", "victoria-metrics", str(tmp_path))
    assert (found.home, found.version) == (str(tmp_path / "usr"), "1.79.5")
    assert packaged("victoria-metrics", "victoria-metrics", str(tmp_path / "other")) is None


def test_what_the_jvm_got_is_read_from_its_log(tmp_path):
    (tmp_path / "jvm.log").write_text("[gc,init] CPUs: 2 total, 1 available\n[gc,init] Heap Max Capacity: 512M\n")
    assert effective(str(tmp_path)) == {"jvm_processors": "1", "jvm_heap": "512m"}
    assert effective(str(tmp_path / "nowhere")) == {}


def test_metrics_are_read_by_name_and_labels():
    assert metrics('# HELP a b\na{x="y z"} 3\nb 1e3\nc nothing\n\n') == {'a{x="y z"}': 3.0, "b": 1000.0}


def answer(request: Request) -> Answer | None:
    """As the path says."""
    if request.path == "/silence":
        threading.Event().wait(2)
        return None
    bodies = {"/json": {"a": 1}, "/fails": "words of the\nserver"}
    return Answer(500 if request.path == "/fails" else 200, bodies.get(request.path, "<html>"))


@pytest.fixture(scope="module")
def web():
    with web_server(answer) as server:
        yield Web(who="Example", host="127.0.0.1", port=server.port)


def test_an_answer_is_read(web):
    assert web.get_json("/json", 10) == {"a": 1}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/fails", "Example refused /fails: HTTP status 500: words of the server"),
        ("/page", "Example answered /page with text that is not JSON: '<html>'"),
    ],
)
def test_what_goes_wrong_is_told_in_the_servers_words(web, path, words):
    with pytest.raises(TargetError) as told:
        web.get_json(path, 10)
    assert told.value.message == words


def test_a_question_has_a_deadline(web):
    with pytest.raises(TargetError, match="Example did not answer /silence"):
        web.get("/silence", 0.2)


def test_a_server_that_is_not_there_is_said():
    with pytest.raises(TargetError, match="Connection refused"):
        Web(who="Example", host="127.0.0.1", port=1).get("/ping", 5)


def test_a_heap_is_read_as_the_jvm_reads_it():
    assert [heap_bytes(text) for text in ("512m", "1g", "64K", "1024", "much")] == [2**29, 2**30, 65536, 1024, 0]
