"""Servers that run already, a current engine of ClickHouse too, and current servers that `scale servers install` brings."""

import csv
import os
import shutil
from contextlib import contextmanager
from dataclasses import replace

import pytest

from scale_sweep.server.targets import load_target
from scale_sweep.server.targets.clickhouse.clickhouse_session import USER
from tests.integration.cli import assert_measured, run
from tests.integration.clickhouse_engine import engine
from tests.integration.real_server import real_server, required
from tests.integration.short_trial import short_trial
from tests.loadgen.postgres_server import running_postgres
from tests.unit import reading_trials as reading
from tests.unit.trial_orders import here

SWEEP = ("sweep", "cpu", "--cores", "1", "--rows", "60k", "--warmup", "0s", "--replicates", "1", "--results", "r")
MORE = ("--no-metrics", "-y", "--rows-per-request", "1000", "--step-ms", "1000", "--start-ms", "1760000000000")


def swept(cwd, target, address, *more):
    """Its rows that were acknowledged are counted."""
    done = run(*SWEEP, "--target", target, "--endpoint", address, *MORE, *more, cwd=cwd)
    assert_measured(done)
    rows = list(csv.DictReader(next(cwd.glob("r/*/points.csv")).open()))
    assert {(row["rows_acked"], row["rows_counted"]) for row in rows} == {("60000", "60000")}, rows
    shutil.rmtree(cwd / "r")


def refused(cwd, target, address, words, *more, user=""):
    """One line, and no run."""
    given = (*SWEEP, "--target", target, "--endpoint", address, *MORE, *more)
    done = run(*given, cwd=cwd, SCALE_TARGET_USER=user)
    assert done.returncode != 0 and words in done.stderr, done.stderr
    assert not list(cwd.glob("r/*/points.csv"))


@contextmanager
def started(name, folder, **flags):
    """The server, a session with it, and its address."""
    folder.mkdir()
    with real_server(required(name), folder, **flags) as server:
        session = server.start()
        yield server, session, f"127.0.0.1:{server.address.port}"


def test_influxdb_that_runs(tmp_path):
    with started("influxdb", tmp_path / "server") as (_, session, address):
        swept(tmp_path, "influxdb", address)
        assert session.in_the_way() == ""
        session.create_schema()
        refused(tmp_path, "influxdb", address, "InfluxDB has a database scale")
        session.drop_schema()


def test_victoriametrics_that_runs(tmp_path):
    with started("victoriametrics", tmp_path / "server") as (server, session, address):
        swept(tmp_path, "victoriametrics", address)
        assert session.in_the_way() == ""
        refused(tmp_path, "victoriametrics", address, "a separate port", "--method", "tcp")
        server.load(session, rows=100)
        session.flush()
        refused(tmp_path, "victoriametrics", address, "VictoriaMetrics has a series measurement_")


@pytest.mark.skipif(not os.environ.get("SCALE_SLOW_TESTS"), reason="it takes long to start: SCALE_SLOW_TESTS=1")
def test_questdb_that_runs(tmp_path):
    with started("questdb", tmp_path / "server") as (_, session, address):
        swept(tmp_path, "questdb", address)
        assert session.in_the_way() == ""
        session.create_schema()
        refused(tmp_path, "questdb", address, "QuestDB has a table measurement_p")


def test_postgres_that_runs(tmp_path):
    with running_postgres(listen="127.0.0.1") as server:
        address = f"127.0.0.1:{server.port}"
        swept(tmp_path, "postgres", address, "--partitions", "2")
        assert server.query("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [["0"]]
        server.query("CREATE TABLE measurement (a int)")
        refused(tmp_path, "postgres", address, "PostgreSQL has a table measurement")
        refused(tmp_path, "postgres", address, "no_such_user", user="no_such_user")


def test_clickhouse_that_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("SCALE_TARGET_USER", USER)
    monkeypatch.setenv("SCALE_TARGET_PASSWORD", "s3cret")
    with started("clickhouse", tmp_path / "server", secret="s3cret") as (_, session, address):
        swept(tmp_path, "clickhouse", address)
        assert session.in_the_way() == ""
        session.create_schema()
        refused(tmp_path, "clickhouse", address, "ClickHouse has a database scale", user=USER)


@pytest.mark.parametrize(
    ("name", "version", "methods", "changed"),
    [
        ("postgres", "18.6", ("insert",), "postgresql.conf.sample"),
        ("mariadb", "11.4.5", load_target("mariadb").facts.methods, "mariadb_system_tables.sql"),
    ],
)
def test_it_is_installed_swept_and_compared_with_its_digest(
    name, version, methods, changed, tmp_path, folder, monkeypatch
):
    servers = folder / "servers"
    monkeypatch.setenv("SCALE_SERVERS_DIR", str(servers))
    done = run("servers", "install", name, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    target, home = load_target(name), servers / f"{name}-{version}"
    found = target.find("")
    assert (found.version, found.source, found.home) == (version, "scale servers", str(home))
    for method in methods:
        settings = short_trial(target, folder, rows=100_000, load__method=method)
        assert settings["server_version"].startswith(version)
    with (home / "share" / changed).open("a") as file:
        file.write("# changed")
    done = run("servers", "list", cwd=tmp_path)
    shutil.rmtree(servers)
    assert "corrupt: share" in " ".join(done.stdout.split()), done.stdout


COLUMNS = "f:float,b:bool,s:smallint,l:bigint,v:ubigint,t:binary(12),x:varbinary(6)"


@pytest.fixture
def address(tmp_path):
    with engine(tmp_path) as its_address:
        yield its_address


def at(address, order):
    """The order on the server that runs there."""
    subject = replace(order.trial.subject, runtime="endpoint", endpoint=address)
    return replace(order, trial=replace(order.trial, subject=subject))


def test_a_sweep_of_a_running_server_counts_and_compares(address, tmp_path):
    rows = ("--rows", "60k", "--warmup", "0s", "--replicates", "1", "--columns", COLUMNS, "--rows-per-request", "500")
    where = ("--target", "clickhouse", "--endpoint", address, "--results", "r", "--no-metrics", "-y")
    done = run("sweep", "cpu", "--cores", "1", "--method", "async", *rows, *where, cwd=tmp_path)
    assert_measured(done)
    (row,) = csv.DictReader(next(tmp_path.glob("r/*/points.csv")).open())
    assert (row["method"], row["rows_acked"], row["rows_counted"]) == ("async", "60000", "60000")


def test_every_kind_of_query_is_answered_rightly(address, tmp_path):
    order = reading.reading_order(tmp_path, "clickhouse", ",".join((*reading.KINDS, *reading.MORE, "write")))
    result, answers = reading.checked(here(at(address, order)))
    assert set(answers) == {*reading.KINDS, *reading.MORE} and result.effective["server_version"].startswith("26.")
    _, answers = reading.checked(here(at(address, reading.grouped_order(tmp_path, "clickhouse"))))
    assert {"intersect", "except", "some"} <= set(answers)
    _, answers = reading.checked(here(at(address, reading.functions_order(tmp_path, "clickhouse"))))
    assert {"median", "p95_each", "rate", "several"} <= set(answers)
    reading.none_wrong(here(at(address, reading.shapes_order(tmp_path, "clickhouse"))), reading.SHAPES)
