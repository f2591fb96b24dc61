"""`scale load --iot` on a real TDengine: writes, queries, and times that repeat, of which it keeps one row each.

SCALE_TDENGINE_HOME=/path python -m pytest tests/contract/test_tdengine_iot.py
"""

from __future__ import annotations

import json

import pytest

from scale_sweep.server.targets.tdengine.tdengine_queries import DATABASE, TABLE
from tests.contract.tdengine_contract import HOME, NEEDS_SERVER, ask
from tests.integration import cli

pytestmark = list(NEEDS_SERVER)
FILE = """
DB_SWITCH=TDengine-3
HOST=localhost
USERNAME=root
PASSWORD=taosdata
LOOP=40
DEVICE_NUMBER=20
SENSOR_NUMBER=12
CLIENT_NUMBER=4
BATCH_SIZE_PER_WRITE=50
QUERY_LOWER_VALUE=10
"""


@pytest.fixture(scope="module")
def file(server, tmp_path_factory):
    path = tmp_path_factory.mktemp("iot") / "config.properties"
    path.write_text(f"{FILE}PORT={server.port}\n")
    return path


def told(file, *overrides: str) -> dict:
    done = cli.run("load", "--iot", str(file), *overrides, "--json", cwd=file.parent, SCALE_TDENGINE_HOME=str(HOME))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_of_rows_with_the_same_time_one_is_kept_and_counted(file):
    found = told(file, "IS_OUT_OF_ORDER=true", "LAMBDA=30", "MAX_K=60")
    assert found["rows_acked"] == 40 * 20 * 50
    assert found["rows_counted"] == found["rows_distinct"] == pytest.approx(0.7 * found["rows_acked"], rel=0.05)


def test_writes_and_queries_of_a_file(file):
    found = told(file, "OPERATION_PROPORTION=6:1:1:1:1:1:1:1:1:1:1:1")
    assert found["rows_counted"] == found["rows_acked"] > 0
    assert len(found["operations"]) == 12
    assert all(one["okOperation"] > 0 and one["failOperation"] == 0 for one in found["operations"])


def test_each_combination_of_tags_has_as_many_devices(server, file):
    found = told(file, "TAG_NUMBER=2", "TAG_VALUE_CARDINALITY=2,5", "TAG_VALUE_PREFIX=site")
    assert found["rows_counted"] == found["rows_acked"] == 40 * 20 * 50
    (counted,) = ask(server, f"SELECT tag_0, tag_1, COUNT(*) FROM {DATABASE}.{TABLE} GROUP BY tag_0, tag_1")
    assert {(first, second): rows for first, second, rows in counted} == {
        (f"site{first}", f"site{second}"): 2 * 40 * 50 for first in range(2) for second in range(5)
    }


def test_queries_of_two_sensors_of_what_is_there(file):
    words = ("INSERT_DATATYPE_PROPORTION=0:0:0:0:1:0", "POINT_STEP=500")
    told(file, *words)
    found = told(file, *words, "OPERATION_PROPORTION=0:1:1:1:1:1:1:1:1:1:1", "QUERY_SENSOR_NUM=2", "QUERY_DEVICE_NUM=2")
    points = {one["name"]: one["okPoint"] / one["okOperation"] for one in found["operations"]}
    assert sum(one["okOperation"] for one in found["operations"]) == 40 * 4
    assert (points["TIME_RANGE"], points["AGG_VALUE"], points["LATEST_POINT"]) == (2 * 2 * 501, 2, 2 * 2)
