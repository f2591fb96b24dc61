"""InfluxDB 2 without its server: which influxd it takes, how a server of ours is set up, where its token goes."""

import json
from dataclasses import replace

import pytest

from scale_sweep.base.errors import TargetError
from scale_sweep.model.resources import Site
from scale_sweep.server.targets import Address, load_facts, load_target
from scale_sweep.server.targets.records import ACKNOWLEDGED, IN_LOG, ON_DISK
from tests.unit.factories import executable, make_trial
from tests.unit.web_server import Answer, web_server

TARGET = load_target("influxdb2")
KNOBS = {"connections": "4", "shard_duration": "1d", "storage_wal_fsync_delay": "0s"}
TRIAL = make_trial(knobs=KNOBS)
SECRET = "made-for-this-test"
SITE = Site(data_dir="/d", port=7001, bind_address="127.0.0.1", home="/h")


@pytest.mark.parametrize(
    ("says", "taken_by", "version"),
    [
        ("InfluxDB v1.6.7~rc0 (git: unknown unknown)", "influxdb", "1.6.7"),
        ("InfluxDB v2.7.12 (git: ec9dcde5d6) build_date: 2025-05-20", "influxdb2", "2.7.12"),
        ("InfluxDB", "influxdb", ""),
    ],
)
def test_each_target_takes_its_version_only(tmp_path, says, taken_by, version):
    home = str(tmp_path)
    executable(tmp_path / "bin" / "influxd", f"echo '{says}'")
    found = {name: load_target(name).find(home) for name in ("influxdb", "influxdb2")}
    assert [name for name, one in found.items() if one] == [taken_by]
    assert (found[taken_by].home, found[taken_by].version) == (home, version)


def test_it_reports_nothing_and_refuses_a_wrong_duration_of_shards():
    spec = TARGET.server(TRIAL, SITE, SECRET)
    wanted = {"--reporting-disabled", "--no-tasks", "--ui-disabled", "--storage-wal-fsync-delay=0s"}
    assert wanted <= set(spec.argv)
    assert not any(flag.startswith(("--shard", "--write", "--gomaxprocs")) for flag in spec.argv)
    assert SECRET not in repr(spec)
    assert spec.stop_signal == "SIGINT", "SIGTERM has no handler"
    assert spec.env["INFLUXD_CONFIG_PATH"] in spec.folders, "no configuration of the machine or the image"
    facts = load_facts("influxdb2")
    assert facts.default_image("") in facts.to_install
    assert TARGET.check(TRIAL, None) == ()
    for text in ("soon", "0d", "", "7", "7m"):
        (finding,) = TARGET.check(replace(TRIAL, knobs={**KNOBS, "shard_duration": text}), None)
        assert finding.blocking and f"shard_duration: {text!r}" in finding.sentence


SAYS = {
    "/health": (200, {"version": "v2.7.12", "status": "pass"}),
    "/api/v2/setup": (201, {}),
    "/api/v2/orgs": (200, {"orgs": [{"id": "0a", "name": "theirs"}]}),
    "/api/v2/buckets": (200, {"id": "0b", "buckets": [{"id": "0b", "retentionRules": [{"shardGroupDurationSeconds": 86400}]}]}),
    "/api/v2/buckets/0b": (204, ""),
    "/api/v2/dbrps": (200, {"content": []}),
    "/api/v2/config": (200, {"config": {"storage-wal-fsync-delay": "0s", "storage-cache-max-memory-size": 1073741824, "storage-write-timeout": 10000000000}}),
    "/metrics": (200, 'storage_compactions_duration_seconds_count{bucket="b",level="cache"} 2\n'
                      'storage_compactions_duration_seconds_count{bucket="b",level="1"} 5\n'),
}  # fmt: skip


@pytest.fixture
def says():
    """Status and body by path."""
    return dict(SAYS)


@pytest.fixture
def server(says):
    with web_server(lambda request: Answer(*says.get(request.path.partition("?")[0], (404, {})))) as one:
        yield one


def session_with(server, **more):
    return TARGET.session(TRIAL, Address(host="127.0.0.1", port=server.port, secret=SECRET, **more))


def asked(server):
    return [(one.method, one.path.partition("?")[0]) for one in server.requests]


def test_a_server_of_ours_is_set_up_with_the_trials_token_and_says_what_was_set(server):
    session = session_with(server)
    assert (session.not_ready(), session.version()) == ("", "2.7.12")
    session.create_schema()
    bodies = {one.path: json.loads(one.body) for one in server.requests if one.method == "POST"}
    assert bodies["/api/v2/setup"]["token"] == SECRET
    (rule,) = bodies["/api/v2/buckets"]["retentionRules"]
    assert (rule["everySeconds"], rule["shardGroupDurationSeconds"]) == (0, 86_400), "rows never expire"
    assert bodies["/api/v2/dbrps"]["bucketID"] == "0b"
    assert {one.authorization for one in server.requests if one.path.startswith("/api/v2/")} == {f"Token {SECRET}"}
    spec = session.load_spec()
    assert spec["write_path"] == "/api/v2/write?org=scale&bucket=scale&precision=ms"
    assert spec["auth_scheme"] == "Token" and SECRET not in repr(spec)
    said, wanted = session.effective(), session.expected()
    same = {"storage_cache_max_memory_size": "1073741824", "shard_duration": "24h0m0s"}
    assert same.items() <= said.items() & wanted.items() and "gomaxprocs" not in wanted
    assert (said[ACKNOWLEDGED], said["storage_write_timeout"]) == (ON_DISK, "10s")
    assert session.commit_cycles() == 2


def test_a_server_of_theirs_keeps_its_organisation_and_users_and_a_bucket_that_is_a_database(server, says):
    says["/api/v2/dbrps"] = (200, {"content": [{"database": "scale", "virtual": True}]})
    session = session_with(server, is_ours=False)
    session.create_schema()
    session.drop_schema()
    assert not {("POST", "/api/v2/setup"), ("POST", "/api/v2/dbrps")} & set(asked(server))
    assert ("DELETE", "/api/v2/buckets/0b") in asked(server)
    assert session.load_spec()["write_path"].startswith("/api/v2/write?org=0a&")


def test_a_token_that_may_not_read_the_settings_is_no_error_on_a_server_of_theirs(server, says):
    says["/api/v2/config"] = (401, {"message": "access to /api/v2/config requires operator permissions"})
    said = session_with(server, is_ours=False).effective()
    assert (said[ACKNOWLEDGED], said["shard_duration"]) == (IN_LOG, "24h0m0s")
    with pytest.raises(TargetError, match="operator permissions"):
        session_with(server).effective()
    says["/api/v2/orgs"] = (401, {"message": "unauthorized access"})
    with pytest.raises(TargetError, match="HTTP status 401.*unauthorized access") as told:
        session_with(server).create_schema()
    assert SECRET not in told.value.message
