"""The engine of a current ClickHouse reads the load generator's blocks and answers every query rightly, as a server that
runs already. What this cannot show is the current server itself: its logins, its async inserts, its start and its end."""

import csv
from dataclasses import replace

import pytest

from tests.integration.cli import assert_measured, run
from tests.integration.clickhouse_engine import engine
from tests.unit import reading_trials as reading
from tests.unit.trial_orders import here

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
