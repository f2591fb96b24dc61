"""GreptimeDB, as its documentation has it: its start, and the requests that load, count and read settings back."""

from dataclasses import replace
from urllib.parse import parse_qs

import pytest

from scale_sweep.base.errors import TargetError
from scale_sweep.model import Site
from scale_sweep.server.targets import Address, load_target
from tests.unit.factories import make_sweep, make_trial
from tests.unit.web_server import Answer, web_server

TRIAL = replace(
    make_trial(make_sweep(workload__start_ms="60000", workload__step_ms="10"), cores=3.0),
    knobs={"connections": "2", "wal.sync_write": "true"},
)


def counted_as(unit, rows):
    columns = [{"name": name, "data_type": unit} for name in ("device", "count", "min", "max")]
    return {"output": [{"records": {"schema": {"column_schemas": columns}, "rows": rows}}]}


def session_with(answer, act):
    with web_server(answer) as web:
        address = Address(host="127.0.0.1", port=web.port, secret="")
        done = act(load_target("greptimedb").session(TRIAL, address))
    return done, web.requests


def test_it_listens_on_loopback_and_reports_nothing():
    site = Site(data_dir="/d", port=7001, bind_address="127.0.0.1", home="/h")
    spec = load_target("greptimedb").server(TRIAL, site, "a secret")
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


def test_lines_go_to_its_interface_of_influxdb():
    path, _ = session_with(lambda request: Answer(), lambda session: session.load_spec()["write_path"])
    assert path == "/v1/influxdb/write?db=public&precision=ms"


@pytest.mark.parametrize(("unit", "per_ms"), [("TimestampMillisecond", 1), ("TimestampNanosecond", 1_000_000)])
def test_rows_are_counted_device_by_device(unit, per_ms):
    answer = counted_as(unit, [["d0", 3, 60000 * per_ms, 60020 * per_ms], ["d1", 2, 60000 * per_ms, 60020 * per_ms]])
    counted, requests = session_with(lambda request: Answer(body=answer), lambda session: session.count())
    assert counted.rows == 5 and counted.is_distinct and "1 device; d1" in counted.gaps[0]
    assert (
        requests[0].path == "/v1/sql?db=public" and 'GROUP BY "device"' in parse_qs(requests[0].body.decode())["sql"][0]
    )


def test_times_of_an_unknown_type_are_no_count():
    with pytest.raises(TargetError, match="unknown type Int64"):
        session_with(lambda request: Answer(body=counted_as("Int64", [])), lambda session: session.count())


def test_a_refused_statement_has_the_servers_words():
    refused = Answer(body={"code": 4001, "error": "Table not found"})
    with pytest.raises(TargetError, match="Table not found"):
        session_with(lambda request: refused, lambda session: session.flush())


def test_its_configuration_is_read_back():
    text = "enable_telemetry = false\n[wal]\nsync_write = true\n[runtime]\nglobal_rt_size = 3\n[[region_engine]]\n"
    read, _ = session_with(lambda request: Answer(body=text), lambda session: session.effective())
    assert (read["wal.sync_write"], read["runtime.global_rt_size"]) == ("true", "3")
    assert read["acknowledged"] == "on disk (log fsynced)"
