"""GreptimeDB and InfluxDB 3 Core, as their documentation has it: their start, and what is asked of them."""

import json
from dataclasses import replace
from urllib.parse import parse_qs

import pytest

from scale_sweep.base.errors import TargetError
from scale_sweep.model import Site
from scale_sweep.server.targets import Address, load_target
from scale_sweep.server.targets.nouns import ACKNOWLEDGED, ON_DISK
from tests.unit.factories import make_sweep, make_trial
from tests.unit.web_server import Answer, web_server

SITE = Site(data_dir="/d", port=7001, bind_address="127.0.0.1", home="/h")
TRIAL = make_trial(make_sweep(workload__start_ms="60000", workload__step_ms="10"), cores=3.0)
KNOBS = {
    "greptimedb": {"connections": "2", "wal.sync_write": "true"},
    "influxdb3": {"connections": "2", "wal_flush_interval": "100ms"},
}


def counted_as(unit, rows):
    columns = [{"name": name, "data_type": unit} for name in ("device", "count", "min", "max")]
    return {"output": [{"records": {"schema": {"column_schemas": columns}, "rows": rows}}]}


def spec_of(name):
    return load_target(name).server(replace(TRIAL, knobs=KNOBS[name]), SITE, "a secret")


def session_with(body, act, name="greptimedb"):
    with web_server(lambda request: Answer(body=body)) as web:
        address = Address(host="127.0.0.1", port=web.port, secret="")
        done = act(load_target(name).session(replace(TRIAL, knobs=KNOBS[name]), address))
    return done, web.requests


def test_it_listens_on_loopback_and_reports_nothing():
    spec = spec_of("greptimedb")
    assert spec.argv == ("/h/bin/greptime", "standalone", "start") and spec.ports == (7001,)
    assert {name.removeprefix("GREPTIMEDB_STANDALONE__"): value for name, value in spec.env.items()} == {
        "ENABLE_TELEMETRY": "false",
        "HTTP__ADDR": "127.0.0.1:7001",
        "GRPC__BIND_ADDR": "127.0.0.1:0",
        "MYSQL__ENABLE": "false",
        "POSTGRES__ENABLE": "false",
        "OPENTSDB__ENABLE": "false",
        "STORAGE__DATA_HOME": "/d/greptimedb",
        "LOGGING__DIR": "/d/greptimedb/logs",
        "RUNTIME__GLOBAL_RT_SIZE": "3",
        "RUNTIME__COMPACT_RT_SIZE": "1",
        "WAL__SYNC_WRITE": "true",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
    }
    assert "a secret" not in repr(spec)


def test_lines_go_to_its_interface_of_influxdb_and_its_answers_are_read():
    path, _ = session_with("", lambda session: session.load_spec()["write_path"])
    assert path == "/v1/influxdb/write?db=public&precision=ms"
    for unit, per_ms in (("TimestampMillisecond", 1), ("TimestampNanosecond", 1_000_000)):
        rows = [["d0", 3, 60000 * per_ms, 60020 * per_ms], ["d1", 2, 60000 * per_ms, 60020 * per_ms]]
        counted, (request, *_) = session_with(counted_as(unit, rows), lambda session: session.count())
        assert counted.rows == 5 and counted.is_distinct and "1 device; d1" in counted.gaps[0]
        assert request.path == "/v1/sql?db=public"
        assert 'GROUP BY "device"' in parse_qs(request.body.decode())["sql"][0]
    with pytest.raises(TargetError, match="unknown type Int64"):
        session_with(counted_as("Int64", []), lambda session: session.count())
    with pytest.raises(TargetError, match="Table not found"):
        session_with({"code": 4001, "error": "Table not found"}, lambda session: session.flush())
    text = "enable_telemetry = false\n[wal]\nsync_write = true\n[runtime]\nglobal_rt_size = 3\n[[region_engine]]\n"
    read, _ = session_with(text, lambda session: session.effective())
    assert (read["wal.sync_write"], read["runtime.global_rt_size"], read[ACKNOWLEDGED]) == ("true", "3", ON_DISK)


def test_influxdb_3_listens_on_loopback_and_its_database_is_made_loaded_and_removed():
    spec = spec_of("influxdb3")
    assert spec.argv[:3] == ("/h/bin/influxdb3", "--num-io-threads=3", "serve")
    assert {"--http-bind=127.0.0.1:7001", "--disable-telemetry-upload", "--wal-flush-interval=100ms"} <= set(spec.argv)
    assert "a secret" not in repr(spec)

    def loaded(session):
        assert session.not_ready() == "" and session.version() == "3.5.0"
        session.create_schema()
        session.drop_schema()
        return session.load_spec()["write_path"]

    path, (*_, made, removed) = session_with({"version": "3.5.0"}, loaded, "influxdb3")
    assert path == "/api/v3/write_lp?db=scale&precision=millisecond&accept_partial=false"
    assert (made.method, made.path) == ("POST", "/api/v3/configure/database")
    assert json.loads(made.body) == {"db": "scale"}
    assert (removed.method, removed.path) == ("DELETE", "/api/v3/configure/database?db=scale")
