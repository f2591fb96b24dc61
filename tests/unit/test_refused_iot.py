"""Configurations of IoT-benchmark that name no load: refused by key, before anything is connected."""

import socket

import pytest

from tests.unit.whole_commands import run

FILE = (
    "DB_SWITCH={database}\nHOST=127.0.0.1\nPORT={port}\nDEVICE_NUMBER=40\nSENSOR_NUMBER=12\nCLIENT_NUMBER=4\nLOOP=10\n"
)


@pytest.fixture
def silent(tmp_path):
    """A directory with a configuration of a server that accepts connections and never answers."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.setblocking(False)
        port = server.getsockname()[1]
        (tmp_path / "config.properties").write_text(FILE.format(database="PostgreSQL", port=port))
        yield tmp_path
        with pytest.raises(BlockingIOError):  # nobody has connected
            server.accept()


@pytest.mark.parametrize(
    "change",
    [
        "IS_OUT_OF_ORDER=maybe",
        "IS_DELETE_DATA=1",
        "QUERY_SENSOR_NUM=0",
        "QUERY_SENSOR_NUM=13",
        "QUERY_INTERVAL=x",
        "QUERY_DEVICE_NUM=100000",
        "QUERY_AGGREGATE_FUN=maximum",
        "GROUP_BY_TIME_UNIT=-1",
        "LOOP=",
        "LOOP=999999999999999999",
        "LOOP=1_0",
        "SENSOR_NUMBER=99999999",
        "DEVICE_NUMBER=9999999999999",
        "CLIENT_NUMBER=5000",
        "BATCH_SIZE_PER_WRITE=99999999",
        "POINT_STEP=99999999999",
        "START_TIME=" + "9" * 5000,
        "PORT=" + "9" * 5000,
        "TAG_NUMBER=1000000000000",
        "TAG_VALUE_CARDINALITY=" + "9" * 5000,
        "OPERATION_PROPORTION=1e308:1e308",
        "LINE_RATIO=nan",
        "STRING_LENGTH=99999999",
        "DATA_SEED=" + "9" * 30,
        "LAMBDA=1e300",
        "WORKLOAD_BUFFER_SIZE=99999999999",
        "SENSOR_NAME_PREFIX=" + "x" * 70,
        "DB_NAME=a\nhost=elsewhere",
    ],
    ids=lambda change: change[:40],
)
def test_a_value_that_a_key_cannot_have(silent, change):
    ended = run("load", "--iot", ".", change, cwd=silent)
    key = change.partition("=")[0]
    assert ended.code == 2, ended.stderr
    assert ended.stderr.startswith(f"scale: {key}: ")
    assert len(ended.stderr) < 1000
    assert ended.memory_mb < 500
