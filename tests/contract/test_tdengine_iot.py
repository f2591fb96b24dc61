"""`scale load --iot` on a real TDengine: writes, queries, and times that repeat, of which it keeps one row each.

SCALE_TDENGINE_HOME=/path python -m pytest tests/contract/test_tdengine_iot.py
"""

from __future__ import annotations

import json

import pytest

from tests.contract.tdengine_contract import HOME, NEEDS_SERVER, TdengineServer
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
def file(tmp_path_factory):
    server = TdengineServer(tmp_path_factory.mktemp("td"), HOME)
    server.start()
    try:
        path = tmp_path_factory.mktemp("iot") / "config.properties"
        path.write_text(f"{FILE}PORT={server.port}\n")
        yield path
    finally:
        server.stop()


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
