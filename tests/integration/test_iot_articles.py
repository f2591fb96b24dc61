"""Tables 2-3 and 2-4 of the article about IoT-benchmark, scaled to seconds, on a real IoTDB and a real PostgreSQL.

The keys are the article's; 100 clients and devices became 10, 3000 sensors 60, 10000 loops of writes 600, and 30 of
queries 12.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration import cli
from tests.integration.real_server import real_server, required
from tests.loadgen.lying_postgres import LyingPostgres
from tests.loadgen.postgres_server import PostgresServer, running_postgres

TABLE_2_3 = """
BENCHMARK_WORK_MODE=testWithDefaultPath
OPERATION_PROPORTION=1:0:0:0:0:0:0:0:0:0:0
CLIENT_NUMBER=10
GROUP_NUMBER=10
DEVICE_NUMBER=10
SENSOR_NUMBER=60
INSERT_DATATYPE_PROPORTION=0:0:0:0:1:0
POINT_STEP=500
OP_MIN_INTERVAL=0
IS_OUT_OF_ORDER=false
BATCH_SIZE_PER_WRITE=1
LOOP=600
"""
TABLE_2_4 = {
    "CLIENT_NUMBER": "10",
    "QUERY_DEVICE_NUM": "2",
    "QUERY_SENSOR_NUM": "2",
    "QUERY_AGGREGATE_FUN": "count",
    "STEP_SIZE": "1",
    "QUERY_INTERVAL": "250000",
    "QUERY_LOWER_VALUE": "-5",
    "GROUP_BY_TIME_UNIT": "20000",
    "LOOP": "12",
    "OPERATION_PROPORTION": "0:1:1:1:1:1:1:1:1:1:1",
}
DEVICES, ROWS = 2, 501  # of a closed range of 250 s with a row each 500 ms


@pytest.fixture
def iotdb(tmp_path: Path) -> Iterator[tuple[str, ...]]:
    with real_server(required("iotdb"), tmp_path) as server:
        server.start()
        yield ("DB_SWITCH=IoTDB-013-SESSION_BY_TABLET", f"PORT={server.address.port}")


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    with running_postgres(listen="127.0.0.1") as one:
        yield one


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
