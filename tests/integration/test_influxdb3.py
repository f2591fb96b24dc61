"""InfluxDB 3 Core as a real process: the contract of databases that take lines. No registry of packages has the server:
SCALE_INFLUXDB3_HOME names an installed one."""

import os

import pytest

from scale_sweep.server.targets import load_target
from tests.integration.database_contract import *  # noqa: F403


@pytest.fixture(scope="module")
def target():
    home = os.environ.get("SCALE_INFLUXDB3_HOME", "")
    if not home:
        pytest.skip("no influxdb3: SCALE_INFLUXDB3_HOME")
    os.environ["PATH"] = f"{home}/bin:{os.environ['PATH']}"
    found = load_target("influxdb3")
    assert found.find("") is not None, home
    return found


@pytest.fixture
def small_disk():
    return 64, 2_000_000
