"""TDengine's defaults as the facts have them, beside those of a real server that was told none of them.

SCALE_TDENGINE_HOME=/path python -m pytest tests/contract/test_tdengine_defaults.py
"""

from scale_sweep.server.targets import load_facts
from tests.contract.tdengine_contract import HOME, NEEDS_SERVER, TdengineServer, ask, running

pytestmark = list(NEEDS_SERVER)
DERIVED = {"numOfCores", "numOfCommitThreads", "numOfRpcThreads", "supportVnodes"}


def test_the_facts_are_those_of_a_real_server():
    stated = {name: value for name, value in load_facts("tdengine").vendor_defaults.items() if name not in DERIVED}
    assert {"vgroups", "wal_level", "wal_fsync_period"} <= set(stated)
    with running(lambda folder: TdengineServer(folder, HOME), "scale-td-defaults-") as server:
        ask(server, "CREATE DATABASE plain")
        names = ", ".join(f"`{name}`" for name in stated)
        ((values,),) = ask(server, f"SELECT {names} FROM information_schema.ins_databases WHERE name = 'plain'")
    assert dict(zip(stated, map(str, values), strict=True)) == stated
