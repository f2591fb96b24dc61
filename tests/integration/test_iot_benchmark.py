"""`scale load --iot` on real databases, with the keys of the article about IoT-benchmark scaled to seconds: what it writes,
asks and stores."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy

from tests.integration import cli
from tests.integration.real_server import real_server, required
from tests.integration.test_sql_databases import mariadb, rows
from tests.loadgen.lying_postgres import LyingPostgres
from tests.loadgen.postgres_server import PostgresServer, running_postgres

FILE = (
    "DB_SWITCH=PostgreSQL HOST=127.0.0.1 USERNAME=postgres DB_NAME=postgres LOOP=60 DEVICE_NUMBER=20 "
    "SENSOR_NUMBER=12 CLIENT_NUMBER=4 BATCH_SIZE_PER_WRITE=50 POINT_STEP=5000 "
    "OPERATION_PROPORTION=6:1:1:1:1:1:1:1:1:1:1:1 QUERY_LOWER_VALUE=10 IS_OUT_OF_ORDER=true LAMBDA=30 "
    "MAX_K=60\n"
).replace(" ", "\n")


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


TABLE_2_3 = (
    "BENCHMARK_WORK_MODE=testWithDefaultPath OPERATION_PROPORTION=1:0:0:0:0:0:0:0:0:0:0 CLIENT_NUMBER=10 "
    "GROUP_NUMBER=10 DEVICE_NUMBER=10 SENSOR_NUMBER=60 INSERT_DATATYPE_PROPORTION=0:0:0:0:1:0 "
    "POINT_STEP=500 OP_MIN_INTERVAL=0 IS_OUT_OF_ORDER=false BATCH_SIZE_PER_WRITE=1 LOOP=600\n"
).replace(" ", "\n")
TABLE_2_4 = dict(
    one.split("=")
    for one in (
        "CLIENT_NUMBER=10 QUERY_DEVICE_NUM=2 QUERY_SENSOR_NUM=2 QUERY_AGGREGATE_FUN=count STEP_SIZE=1 "
        "QUERY_INTERVAL=250000 QUERY_LOWER_VALUE=-5 GROUP_BY_TIME_UNIT=20000 LOOP=12 OPERATION_PROPORTION=0:1:1:1:1:1:1:1:1:1:1"
    ).split()
)
DEVICES, ROWS = 2, 501  # of a closed range of 250 s with a row each 500 ms


@pytest.fixture
def iotdb(tmp_path: Path) -> Iterator[tuple[str, ...]]:
    with real_server(required("iotdb"), tmp_path) as one:
        one.start()
        yield ("DB_SWITCH=IoTDB-013-SESSION_BY_TABLET", f"PORT={one.address.port}")


@pytest.fixture
def postgres(server) -> tuple[str, ...]:
    return ("DB_SWITCH=PostgreSQL", f"PORT={server.port}", "USERNAME=postgres", "DB_NAME=postgres")


def told(folder: Path, words: tuple[str, ...], **overrides: str) -> dict:
    keys = [f"{key}={value}" for key, value in overrides.items()]
    done = cli.run("load", "--iot", "config.properties", "HOST=127.0.0.1", *words, *keys, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


BY_HAND = pytest.mark.skipif(not os.environ.get("SCALE_SLOW_TESTS"), reason="takes long: SCALE_SLOW_TESTS=1")


@pytest.mark.parametrize("database", [pytest.param("iotdb", marks=BY_HAND), "postgres"])
def test_the_tables_of_the_article(database, tmp_path, request):
    words = request.getfixturevalue(database)
    (tmp_path / "config.properties").write_text(TABLE_2_3)
    written = told(tmp_path, words)
    assert written["rows_counted"] == written["rows_acked"] == 600 * 10
    assert written["operations"][0]["okPoint"] == 600 * 10 * 60
    asked = told(tmp_path, words, **TABLE_2_4)
    found = {one["name"]: one for one in asked["operations"]}
    assert len(found) == 10 and sum(one["okOperation"] for one in found.values()) == 12 * 10
    assert all(one["okOperation"] and not one["failOperation"] for one in found.values())
    rows = {name: one["okPoint"] / one["okOperation"] / 2 for name, one in found.items()}  # of two sensors
    whole = [rows[name] for name in ("TIME_RANGE", "VALUE_RANGE", "RANGE_QUERY_DESC", "VALUE_RANGE_QUERY_DESC")]
    assert whole == [DEVICES * ROWS] * 4  # all values are above the bound
    assert rows["PRECISE_POINT"] == rows["LATEST_POINT"] == DEVICES
    apart = DEVICES if database == "iotdb" else 1
    assert rows["AGG_RANGE"] == rows["AGG_VALUE"] == rows["AGG_RANGE_VALUE"] == apart
    assert 13 * apart <= rows["GROUP_BY"] <= 14 * apart  # of 250 s in stretches of 20 s
    times = told(
        tmp_path, words, **TABLE_2_4 | {"QUERY_AGGREGATE_FUN": "max_time", "OPERATION_PROPORTION": "0:0:0:0:1"}
    )
    assert times["operations"][0]["okPoint"] == 12 * 10 * apart * 2


def test_a_load_that_ends_before_its_first_answer_is_a_failure(postgres, server, tmp_path):
    (tmp_path / "config.properties").write_text(TABLE_2_3)
    told(tmp_path, postgres, LOOP="2")
    with LyingPostgres(lambda answer: answer.rows) as proxy:  # each answer is later than a window of a millisecond
        words = (*postgres, f"PORT={proxy.listen(('127.0.0.1', server.port))}", "OPERATION_PROPORTION=0:1")
        bounds = ("LOOP=1", "TEST_MAX_TIME=1")
        done = cli.run("load", "--iot", "config.properties", "HOST=127.0.0.1", *words, *bounds, cwd=tmp_path)
    assert done.returncode == 5, done.stderr
    assert "nothing was answered before the load ended" in done.stderr


__all__ = ["mariadb"]
STORED = (
    "DB_SWITCH=FakeDB LOOP=20 DEVICE_NUMBER=10 SENSOR_NUMBER=5 CLIENT_NUMBER=2 TEST_DATA_PERSISTENCE=MySQL "
    "TEST_DATA_STORE_IP=127.0.0.1 TEST_DATA_STORE_DB=runs TEST_DATA_STORE_PW=not-used REMARK=demo\n"
).replace(" ", "\n")


def load(folder: Path, port: int, *overrides: str):
    (folder / "config.properties").write_text(f"{STORED}TEST_DATA_STORE_PORT={port}\n")
    return cli.run(
        "load", "--iot", "config.properties", *overrides, "--json", cwd=folder, SCALE_SQL_PASSWORD="also-not"
    )


def test_configuration_and_results_are_in_the_tables(mariadb, tmp_path):
    port = sqlalchemy.make_url(mariadb).port
    rows_made = "CREATE TABLE CONFIG (id INT UNSIGNED NOT NULL PRIMARY KEY AUTO_INCREMENT, PROJECT_ID VARCHAR(150),"
    rows_made += " configuration_item VARCHAR(150), configuration_value VARCHAR(150))"  # as IoT-benchmark makes it
    engine = sqlalchemy.create_engine(f"mariadb+pymysql://root@127.0.0.1:{port}/runs")
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text(rows_made))
    engine.dispose()
    found = []
    for loop in ("20", "30"):
        done = load(tmp_path, port, f"LOOP={loop}")
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout)["operations"][0])
    projects = [project for (project,) in rows(mariadb, "SELECT DISTINCT PROJECT_ID FROM FINAL_RESULT ORDER BY 1")]
    assert len(projects) == 2 and all(project.startswith("testW_FakeD_demo_2") for project in projects)
    for project, loop, told in zip(projects, ("20", "30"), found, strict=True):
        where = f"WHERE PROJECT_ID = '{project}'"
        items = dict(rows(mariadb, f"SELECT configuration_item, configuration_value FROM CONFIG {where}"))
        assert (items["LOOP"], items["SENSOR_NUMBER"], items["REMARK"]) == (loop, "5", "demo")
        assert "not-used" not in items.values() and "also-not" not in items.values()
        results = rows(mariadb, f"SELECT operation, result_key, result_value FROM FINAL_RESULT {where}")
        figures = {(operation, key): float(value) for operation, key, value in results}
        assert figures["INGESTION", "okPointNum"] == told["okPoint"] == int(loop) * 100 * 10 * 5
        assert figures["INGESTION", "P99"] == round(told["latency_ms"]["P99"], 6)
        assert {operation for operation, _ in figures} == {"INGESTION", "total"}


def test_a_database_that_does_not_answer_ends_it_before_the_load(tmp_path):
    done = load(tmp_path, 1)
    assert done.returncode == 6
    assert "127.0.0.1:1" in done.stderr and "SCALE_SQL_PASSWORD" in done.stderr
    assert done.stdout == ""
