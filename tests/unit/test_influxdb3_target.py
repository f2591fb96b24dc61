"""InfluxDB 3 Core, as its documentation has it: its start, and the requests that make and count."""

import json
from dataclasses import replace

from scale_sweep.model import Site
from scale_sweep.server.targets import Address, load_target
from tests.unit.factories import make_sweep, make_trial
from tests.unit.web_server import Answer, web_server

TRIAL = replace(make_trial(make_sweep(workload__start_ms="60000", workload__step_ms="10"), cores=3.0), knobs={})


def test_it_listens_on_loopback_and_reports_nothing():
    site = Site(data_dir="/d", port=7001, bind_address="127.0.0.1", home="/h")
    spec = load_target("influxdb3").server(replace(TRIAL, knobs={"wal_flush_interval": "100ms"}), site, "a secret")
    assert spec.argv[:3] == ("/h/bin/influxdb3", "--num-io-threads=3", "serve")
    assert {"--http-bind=127.0.0.1:7001", "--disable-telemetry-upload", "--wal-flush-interval=100ms"} <= set(spec.argv)
    assert "a secret" not in repr(spec)


def test_its_database_is_made_loaded_and_removed():
    with web_server(lambda request: Answer(body={"version": "3.5.0"})) as web:
        address = Address(host="127.0.0.1", port=web.port, secret="")
        session = load_target("influxdb3").session(replace(TRIAL, knobs={"connections": "2"}), address)
        assert session.not_ready() == "" and session.version() == "3.5.0"
        session.create_schema()
        session.drop_schema()
        path = session.load_spec()["write_path"]
    assert path == "/api/v3/write_lp?db=scale&precision=millisecond&accept_partial=false"
    made, removed = web.requests[-2:]
    assert (made.method, made.path) == ("POST", "/api/v3/configure/database")
    assert json.loads(made.body) == {"db": "scale"}
    assert (removed.method, removed.path) == ("DELETE", "/api/v3/configure/database?db=scale")
