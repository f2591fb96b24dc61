"""A row lost in one table and made up for in another, on a real TDengine: the total agrees, the tables do not.

SCALE_TDENGINE_HOME=/path python -m pytest tests/contract/test_tdengine_count.py
"""

from scale_sweep.server.targets import Address
from scale_sweep.server.targets.tdengine.tdengine_session import TdengineSession
from tests.contract.tdengine_contract import HOME, NEEDS_SERVER
from tests.unit.factories import make_sweep, make_trial

pytestmark = list(NEEDS_SERVER)
START = 1_500_000_000_000


def test_lost_rows_show_although_the_total_agrees(server):
    knobs = {"vgroups": "2", "connections": "2", "commit_threads": "2"}
    trial = make_trial(make_sweep(workload__columns="v:int"), knobs=knobs)
    address = Address(host="localhost", port=server.port, secret="", home=str(HOME), is_ours=False)
    asked = TdengineSession(trial, address, f"{HOME}/lib/libtaos.so")
    asked.create_schema()
    for table in ("d0", "d1", "d2"):
        rows = " ".join(f"({START + n}, {n})" for n in range(100))
        server.shell(f"INSERT INTO scale.{table} USING scale.meters TAGS (1, 'a') VALUES {rows}")
    assert asked.count().rows == 300
    assert asked.count().gaps == ()
    server.shell(f"DELETE FROM scale.d1 WHERE ts = {START + 50}")
    server.shell(f"INSERT INTO scale.d2 VALUES ({START + 100}, 1)")
    counted = asked.count()
    assert counted.rows == 300
    assert counted.gaps == ("rows between the first and the last are missing in 1 table: d1 (99 rows)",)
    asked.drop_schema()
