"""`scale load --iot` on a real PostgreSQL: writes and queries of one file, then queries alone; its matrix and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration import cli
from tests.loadgen.postgres_server import PostgresServer, running_postgres

FILE = """
DB_SWITCH=PostgreSQL
HOST=127.0.0.1
USERNAME=postgres
DB_NAME=postgres
LOOP=60
DEVICE_NUMBER=20
SENSOR_NUMBER=12
CLIENT_NUMBER=4
BATCH_SIZE_PER_WRITE=50
POINT_STEP=5000
OPERATION_PROPORTION=6:1:1:1:1:1:1:1:1:1:1:1
QUERY_LOWER_VALUE=10
IS_OUT_OF_ORDER=true
LAMBDA=30
MAX_K=60
"""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running_postgres(listen="127.0.0.1") as one:
        yield one


@pytest.fixture
def file(tmp_path: Path, server: PostgresServer) -> Path:
    (tmp_path / "config.properties").write_text(f"{FILE}PORT={server.port}\n")
    return tmp_path / "config.properties"


def test_writes_and_all_queries_of_a_file(file, server):
    done = cli.run("load", "--iot", str(file), "--json", cwd=file.parent)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    found = {one["name"]: one for one in told["operations"]}
    written = found["INGESTION"]
    assert told["outcome"] == "ok"
    assert len(found) == 12
    assert all(one["okOperation"] > 0 and one["failOperation"] == 0 for one in found.values())
    assert written["okPoint"] == told["rows_acked"] * 12 == written["okOperation"] * 50 * 12
    loops = 60 * 4  # 6 of 17 write all five devices of a client; the others ask one query
    assert sum(one["okOperation"] for one in found.values()) == pytest.approx(loops * (6 * 5 + 11) / 17, abs=1)
    assert written["latency_ms"]["MIN"] <= written["latency_ms"]["P999"] <= written["latency_ms"]["MAX"]
    assert written["latency_ms"]["SLOWEST_THREAD"] >= written["latency_ms"]["MAX"]
    assert told["rows_counted"] == told["rows_acked"] > told["rows_distinct"]  # no key makes PostgreSQL keep one of two
    sql = "SELECT count(*), count(DISTINCT device_id), count(DISTINCT (device_id, time)) FROM measurement"
    assert [int(n) for n in server.query(sql)[0]] == [told["rows_acked"], 20, told["rows_distinct"]]


def test_queries_of_what_is_there(file, server):
    written = cli.run("load", "--iot", str(file), "OPERATION_PROPORTION=1", "LOOP=4", cwd=file.parent)
    assert written.returncode == 0, written.stderr
    again = cli.run(
        "load", "--iot", str(file), "OPERATION_PROPORTION=1", "LOOP=1", "IS_DELETE_DATA=false", cwd=file.parent
    )
    assert again.returncode == 0, again.stderr
    overrides = ("OPERATION_PROPORTION=0:0:1:0:0:0:0:1:0:0:0", "LOOP=30", "STEP_SIZE=0")
    done = cli.run("load", "--iot", str(file), *overrides, cwd=file.parent)
    assert done.returncode == 0, done.stderr
    lines = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line.strip()}
    matrix = done.stdout.split("Latency (ms) Matrix")[0]
    ranges = next(line.split() for line in matrix.splitlines() if line.startswith("TIME_RANGE"))
    assert 20 < int(ranges[1]) < 100
    assert lines["INGESTION"][1:] == ["0.00"] * 12
    assert server.query("SELECT count(*) FROM measurement") == [[str(20 * 5 * 50)]]


def test_what_another_database_wants_is_refused_and_nothing_is_started(file):
    done = cli.run("load", "--iot", str(file), "DB_SWITCH=IoTDB-200-JDBC", "IS_DOUBLE_WRITE=true", cwd=file.parent)
    assert done.returncode == 2
    assert "DB_SWITCH: there is no target for IoTDB-200-JDBC" in done.stderr
    assert "IS_DOUBLE_WRITE: 'true': one database is loaded" in done.stderr
    assert done.stdout == ""
