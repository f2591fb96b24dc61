"""Targets without their servers: what is started, what is refused, what a count tells, and a target that lacks a method."""

import gzip
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest

from scale_sweep.base.errors import PreflightError, TargetError, UsageError
from scale_sweep.model.resources import Site
from scale_sweep.server import targets
from scale_sweep.server.targets import Address, Installation, Target, load_facts, load_target, series
from scale_sweep.server.targets.influxdb.influxdb_session import spelled
from scale_sweep.server.targets.java import effective, heap_bytes
from scale_sweep.server.targets.records import ACKNOWLEDGED, IN_LOG, ON_DISK
from scale_sweep.server.targets.web import Web, metrics
from tests.unit.factories import make_sweep, make_trial
from tests.unit.web_server import Answer, Request, web_server

KNOBS = {
    "questdb": {"partitions": "8", "connections": "8", "heap": "256m"},
    "influxdb": {"connections": "4", "shard_duration": "7d", "data_wal_fsync_delay": "0s"},
    "influxdb2": {"connections": "4", "shard_duration": "7d", "storage_wal_fsync_delay": "0s"},
    "victoriametrics": {"connections": "4", "memory": "1GiB"},
    "kairosdb": {"connections": "4", "heap": "256m", "datastore": "h2"},
    "cassandra": {"connections": "4", "heap": "256m", "commitlog_sync": "periodic"},
    "iotdb": {"connections": "4", "heap": "256m", "aligned": "true"},
    "opentsdb": {"connections": "4", "heap": "256m"},
}
SITE = Site(data_dir="/d", port=7001, bind_address="127.0.0.1", home="/h")
ADDRESS = Address(host="127.0.0.1", port=7001, secret="")
DATA = make_sweep(workload__start_ms="60000", workload__step_ms="10").work.data
LOOPBACK, TWO_CPUS, HEAP = "127.0.0.1:7001", "-XX:ActiveProcessorCount=2", "-Xmx256m"
WAITS = ("read_request_timeout", "range_request_timeout", "native_transport_timeout")


def trial_of(name, cores=1.5, *, method="", knobs=None, **flags):
    trial = make_trial(make_sweep(**flags), cores=cores)
    subject = replace(trial.subject, target=name, method=method or trial.subject.method)
    return replace(trial, knobs=KNOBS[name] | (knobs or {}), subject=subject)


def spec_of(name, **more):
    return load_target(name).server(trial_of(name, **more), SITE, "")


def session_of(name, **more):
    return load_target(name).session(trial_of(name, **more), ADDRESS)


@pytest.mark.parametrize(
    ("name", "has_go", "flags", "words"),
    [
        ("questdb", False, {TWO_CPUS, HEAP}, (LOOPBACK,)),
        ("influxdb", True, set(), (LOOPBACK,)),
        ("influxdb2", True, set(), (LOOPBACK,)),
        ("victoriametrics", True, {"-retentionPeriod=100y"}, (LOOPBACK,)),
        ("kairosdb", False, {HEAP}, ('address = "127.0.0.1"\nkairosdb.jetty.port = 7001',)),
        ("cassandra", False, {HEAP}, ("native_transport_port: 7001", *(f"{name}: 3600s\n" for name in WAITS))),
    ],
)
def test_a_server_listens_on_loopback_only_and_has_threads_and_memory_of_its_level(name, has_go, flags, words):
    spec = spec_of(name)
    said = " ".join((*spec.argv, *spec.env.values(), *spec.files.values()))
    assert all(one in said for one in words) and "0.0.0.0" not in said
    assert spec.ports[0] == 7001
    assert flags <= set(spec.argv)
    threads = [spec_of(name, cores=cores).env.get("GOMAXPROCS") for cores in (1.5, 3.0)]
    assert threads == (["2", "3"] if has_go else [None, None])


def test_questdb_reports_nothing_and_has_a_volume_on_each_disk(monkeypatch):
    spec = spec_of("questdb")
    conf = spec.files["/d/questdb/conf/server.conf"].splitlines()
    assert {
        "telemetry.enabled=false",
        "pg.enabled=false",
        "line.tcp.enabled=false",
        "http.min.enabled=false",
        "config.validation.strict=true",
        "wal.apply.worker.count=2",
        "cairo.commit.mode=nosync",
    } < set(conf)
    assert not any(line.startswith("cairo.volumes") for line in conf)
    target, trial, disks = load_target("questdb"), trial_of("questdb"), ("/1/t", "/2/t")
    spec = target.server(trial, replace(SITE, disks=disks), "")
    assert "cairo.volumes=volume1 -> /1/t/volume, volume2 -> /2/t/volume\n" in spec.files["/d/questdb/conf/server.conf"]
    assert {"/1/t/volume", "/2/t/volume"} < set(spec.folders)
    session = target.session(trial, replace(ADDRESS, data_dir="/d", disks=disks))
    asked, part = [], ["measurement_p1", "measurement_p1~4 (->)"]
    monkeypatch.setattr(session, "_rows", lambda sql: asked.append(sql) or [part])
    session.create_schema()
    assert [sql.rpartition(" ")[2] for sql in asked] == ["'volume1'", "'volume2'"] * (trial.load.partitions // 2)
    (part,) = session.parts()
    assert (part.path, part.disk) == ("/d/questdb/db/measurement_p1~4", 1)


def test_questdb_takes_inserts_with_the_secret_of_the_trial_and_waits_for_its_disk_only_where_asked():
    target, trial = load_target("questdb"), trial_of("questdb", method="pgwire", workload__tags="groupid:int")
    spec = target.server(trial, SITE, "a secret")
    conf = spec.files["/d/questdb/conf/server.conf"].splitlines()
    wanted = {"pg.enabled=true", "pg.net.bind.to=127.0.0.1:7002", "pg.user=admin", "line.tcp.enabled=false"}
    assert wanted < set(conf)
    assert spec.ports == (7001, 7002)
    assert spec.env["QDB_PG_PASSWORD"] == "a secret"
    assert "a secret" not in " ".join((*spec.argv, *spec.files.values()))
    session = target.session(trial, replace(ADDRESS, secret="a secret"))
    settings = [["pg.password", "a secret", "env"], ["pg.user", "admin", "conf"]]
    session._rows = lambda sql: [[1]] if "tables()" in sql else settings
    told = session.load_spec()
    assert (told["driver"], told["port"], told["user"]) == ("pgwire", "7002", "admin")
    assert "a secret" not in str(told) + str(session.effective())
    for mode, where in (("nosync", IN_LOG), ("async", IN_LOG), ("sync", ON_DISK)):
        session, answers = session_of("questdb"), iter([[["cairo.commit.mode", mode, "conf"]], [[8]]])
        session._rows = lambda sql, answers=answers: next(answers)
        assert session.effective()[ACKNOWLEDGED] == where


@pytest.fixture
def cassandra(monkeypatch):
    """The installations of Cassandra that are found."""
    found = [Installation(home="/c", version="5.0.9", source="there")]
    stores = "scale_sweep.server.targets.kairosdb.kairosdb_stores"
    monkeypatch.setattr(f"{stores}.find_jars", lambda *where: next(iter(found), None))
    return found


def test_kairosdb_has_two_datastores(cassandra):
    sync = {"cassandra.commitlog_sync": "batch"}
    for knobs, refused in (
        ({"datastore": "h2"}, []),
        ({"datastore": "cassandra"}, []),
        ({"datastore": "cassandra", "cassandra_heap": "2g", **sync}, []),
        ({"datastore": "scylla"}, ["scylla"]),
        ({"datastore": "h2", **sync}, ["cassandra.commitlog_sync"]),
        ({"datastore": "h2", "cassandra_heap": "2g"}, ["cassandra_heap"]),
    ):
        findings = load_target("kairosdb").check(trial_of("kairosdb", knobs=knobs), None)
        assert [one.blocking for one in findings] == [True for _ in refused]
        assert all(name in one.sentence for one, name in zip(findings, refused, strict=True))


def test_kairosdb_and_its_cassandra_are_one_server_also_in_an_image(cassandra):
    given = {"datastore": "cassandra", "cassandra.commitlog_sync": "batch", "queue_processor.batch_size": "400"}
    spec = spec_of("kairosdb", knobs=given)
    assert spec.argv == ("/bin/sh", "/d/kairosdb/both.sh")
    assert spec.ports == (7001, 7003, 7004)
    script, conf = spec.files["/d/kairosdb/both.sh"], spec.files["/d/kairosdb/kairosdb.conf"]
    assert script.index("-cp '/c/lib/*' org.apache.cassandra") < script.index("-cp '/h/lib/*' org.kairosdb.core.Main")
    assert script.count(TWO_CPUS) == script.count(HEAP) == 2
    assert {
        'kairosdb.datastore.cassandra.write_cluster.cql_host_list = ["127.0.0.1:7003"]',
        'kairosdb.datastore.cassandra.table_create_with.data_points = ""',
        'kairosdb.queue_processor.batch_size = "400"',
    } < set(conf.splitlines())
    assert "commitlog_sync" not in conf and "heap" not in conf
    yaml = spec.files["/d/cassandra/cassandra.yaml"].splitlines()
    assert {"commitlog_sync: batch", "rpc_address: 127.0.0.1"} < set(yaml)
    target, trial = load_target("kairosdb"), trial_of("kairosdb", knobs={"datastore": "cassandra"})
    assert target.image_folders() == {"/opt/cassandra/lib/": "/c/lib"}
    cassandra.clear()
    with pytest.raises(PreflightError, match="not on this machine"):
        target.image_folders()
    (finding,) = target.check_installed("", trial)
    assert finding.blocking and finding.remedy.endswith("install cassandra")
    site = Site(data_dir="/d", port=7001, bind_address="0.0.0.0", home="/opt/kairosdb", in_image=True)
    spec = target.server(trial, site, "")
    assert spec.ports == (7001, 7003), "no other node asks Cassandra"
    script, conf = spec.files["/d/kairosdb/both.sh"], spec.files["/d/kairosdb/kairosdb.conf"]
    assert script.count("setpriv --pdeathsig KILL /opt/java/openjdk/bin/java ") == 2
    assert "'/opt/cassandra/lib/*'" in script and "'/opt/kairosdb/lib/*'" in script
    assert 'jetty.address = "0.0.0.0"' in conf and 'cql_host_list = ["127.0.0.1:7003"]' in conf
    yaml = spec.files["/d/cassandra/cassandra.yaml"]
    assert "listen_address: 127.0.0.1\nrpc_address: 0.0.0.0\nbroadcast_rpc_address: 127.0.0.1\n" in yaml


@pytest.fixture
def now(monkeypatch):
    """The time of KairosDB's session."""
    seconds = [0.0]
    clock = SimpleNamespace(
        monotonic=lambda: seconds[0],
        sleep=lambda s: seconds.__setitem__(0, seconds[0] + s),
        time_ns=lambda: int(seconds[0] * 1e9),
    )
    monkeypatch.setattr("scale_sweep.server.targets.kairosdb.kairosdb_target.time", clock)
    return seconds


def test_what_kairosdb_queues_is_waited_for(now):
    asked = []
    for datastore in ("h2", "cassandra"):
        session = session_of("kairosdb", knobs={"datastore": datastore})
        session._store_point = lambda: asked.append(now[0])
        session._by_device = lambda name, what: {"d0": (0, sum(at + 0.5 < now[0] for at in asked))}
        session._wait_for_queue()
    assert len(asked) == 2, "none for H2"
    assert now[0] > asked[1] + 0.5 > asked[0] + 1


@pytest.mark.parametrize("method", ["datapoints", "gzip", "telnet"])
def test_kairosdb_opens_the_door_of_telnet_and_waits_for_its_lines(now, method):
    is_telnet, spec = method == "telnet", spec_of("kairosdb", method=method)
    conf = spec.files["/d/kairosdb/kairosdb.conf"].splitlines()
    assert spec.ports == ((7001, 7002) if is_telnet else (7001,))
    assert ('kairosdb.service.telnet = "<disabled>"' in conf) is not is_telnet
    for line in ('kairosdb.telnetserver.address = "127.0.0.1"', "kairosdb.telnetserver.port = 7002"):
        assert (line in conf) is is_telnet
    session = session_of("kairosdb", method=method)
    told = session.load_spec()
    assert (told["method"], told["port"]) == (method, "7002" if is_telnet else "7001")
    assert session.effective()[ACKNOWLEDGED].startswith("never") is is_telnet
    rows = {"workload__start_ms": "60000", "workload__step_ms": "10"}
    session = session_of("kairosdb", method=method, workload__columns="f:float,i:int", **rows)
    # The second column lacks points longer than the first: eight pauses of 0.2 s.
    left = {"measurement_f": [3, *[5] * 20], "measurement_i": [0, *[1] * 8, 4, 5]}

    def counted(column, what):
        rows = left[column].pop(0) if len(left[column]) > 1 else left[column][0]
        return {"d0": (60000 if what == "first" else 60000 + (rows - 1) * 10, rows)}

    session._by_device = counted
    found = session.count()
    assert (found.rows, bool(found.gaps)) == ((5, False) if is_telnet else (3, True))


@pytest.mark.parametrize(
    ("column", "names"),
    [
        ("v:ubigint", "questdb kairosdb cassandra iotdb opentsdb"),
        ("v:varbinary(8)", "influxdb influxdb2"),
        ("v:nchar(8)", "victoriametrics"),
        ("v:bigint", "victoriametrics"),
        ("v:binary(8)", "kairosdb"),
    ],
)
def test_columns_that_it_cannot_hold_are_refused(column, names):
    for name in names.split():
        (finding,) = load_target(name).check(trial_of(name, workload__columns=f"a:int,{column}"), None)
        assert finding.blocking and column.partition("(")[0] in finding.sentence
        assert load_target(name).check(trial_of(name), None) == ()


HARMLESS = {
    "iotdb": "WARN CommonConfig Change system status to ReadOnly! Only query statements are permitted!",
    "opentsdb": "WARN UniqueId Race condition: tried to assign ID 4\nERROR ClientCnxn Error while calling watcher.",
}


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
        ("iotdb", "ERROR DataRegion Error occurred when writing"),
        ("iotdb", "WARN WALBuffer java.io.IOException: No space left on device"),
        ("iotdb", "WARN TierManager All disks of tier 0 are full."),
        ("iotdb", "java.lang.OutOfMemoryError: Java heap space"),
        ("opentsdb", "ERROR PutDataPointRpc Internal server error"),
        ("opentsdb", "WARN FSHLog java.io.IOException: No space left on device"),
        ("opentsdb", "java.lang.OutOfMemoryError: Java heap space"),
        ("opentsdb", "put: HBase error: org.hbase.async.PleaseThrottleException"),
    ],
)
def test_a_log_that_tells_of_lost_rows_is_doubtful(name, line):
    target = load_target(name)
    harmless = f"all is well\nlistening on 127.0.0.1:7001\n{HARMLESS.get(name, '')}\n"
    assert (target.suspicious(f"{harmless}{line}\n"), target.suspicious(harmless)) == ((line,), ())


def test_what_packages_servers_and_their_jvm_say_is_read(tmp_path):
    program = tmp_path / "usr" / "bin" / "victoria-metrics"
    changes = tmp_path / "usr" / "share" / "doc" / "victoria-metrics" / "changelog.Debian.gz"
    for path in (program, changes):
        path.parent.mkdir(parents=True)
    program.touch()
    changes.write_bytes(gzip.compress(b"victoria-metrics (1.79.5+ds1-2) unstable; urgency=medium\n"))
    victoriametrics = load_target("victoriametrics")
    found = victoriametrics.find(str(tmp_path))
    assert (found.home, found.version) == (str(tmp_path / "usr"), "1.79.5")
    assert victoriametrics.find(str(tmp_path / "other")) is None
    (tmp_path / "jvm.log").write_text("[gc,init] CPUs: 2 total, 1 available\n[gc,init] Heap Max Capacity: 512M\n")
    assert effective(str(tmp_path)) == {"jvm_processors": "1", "jvm_heap": "512m"}
    assert effective(str(tmp_path / "nowhere")) == {}
    assert [heap_bytes(text) for text in ("512m", "1g", "64K", "1024", "much")] == [2**29, 2**30, 65536, 1024, 0]
    assert metrics('# HELP a b\na{x="y z"} 3\nb 1e3\nc nothing\n\n') == {'a{x="y z"}': 3.0, "b": 1000.0}
    days = {"7d": "168h0m0s", "24h": "24h0m0s", "2w": "336h0m0s"}
    durations = {**days, "90m": "1h30m0s", "5m": "5m0s", "1500ms": "1.5s", "100ms": "100ms", "0s": "0s", "INF": "INF"}
    assert {asked: spelled("shard_duration", asked) for asked in durations} == durations
    sizes = {"512m": str(512 << 20), "1073741824": "1073741824"}
    assert {asked: spelled("data_cache_max_memory_size", asked) for asked in sizes} == sizes
    for rows, faulty in (
        ({"d0": (3, 60000, 60020), "d1": (1, 60000, 60000)}, []),
        ({"d0": (2, 60000, 60020), "d1": (1, 60000, 60000)}, ["d0"]),  # the middle one is lost
        ({"d0": (2, 60010, 60020), "d1": (1, 60000, 60000)}, ["d0"]),  # the first one
        ({"d0": (3, 60000, 60020), "d1": (2, 60000, 60000)}, ["d1"]),  # one twice
        ({}, []),
    ):
        found = series.counted(rows, DATA)
        assert found.rows == sum(n for n, _, _ in rows.values())
        assert [gap.rpartition("; ")[2].split()[0] for gap in found.gaps] == faulty


def answer(request: Request) -> Answer | None:
    """As the path says."""
    if request.path == "/silence":
        threading.Event().wait(2)
        return None
    bodies = {"/json": {"a": 1}, "/fails": "words of the\nserver"}
    return Answer(500 if request.path == "/fails" else 200, bodies.get(request.path, "<html>"))


def test_an_answer_is_read_and_what_goes_wrong_is_told_in_the_servers_words(wording):
    told = []
    with web_server(answer) as server:
        web = Web(who="Example", host="127.0.0.1", port=server.port)
        assert web.get_json("/json", 10) == {"a": 1}
        for path, within_s in (("/fails", 10), ("/page", 10), ("/silence", 0.2)):
            with pytest.raises(TargetError) as raised:
                web.get_json(path, within_s)
            told.append(raised.value.message)
    wording(*told)
    with pytest.raises(TargetError, match="Connection refused"):
        Web(who="Example", host="127.0.0.1", port=1).get("/ping", 5)


class WithoutSession(Target):
    def server(self, trial, site, secret):
        raise AssertionError("nothing may start")


def test_a_target_that_lacks_a_part_is_refused_with_what_is_missing(monkeypatch):
    for named in (f"{__name__}:WithoutSession", f"{__name__}:Nothing", "no_such_package:Target"):
        facts = replace(load_facts("null"), name="incomplete", implementation=named)
        with monkeypatch.context() as patched, pytest.raises(UsageError, match="incomplete") as refused:
            patched.setattr(targets, "load_facts", lambda name, facts=facts: facts)
            load_target("incomplete")
        missing = named.removesuffix(":Target").rpartition(":")[2].removeprefix("Without").lower()
        assert missing in refused.value.message.lower()
