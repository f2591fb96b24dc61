"""Tables of the TDengine driver: in which vgroup they fall, what they are called, and that the server must agree."""

from __future__ import annotations

import pytest
from stub_taos.stub_library import Stub

LITTLE = {"rows_per_request": 1, "threads": 1}


def spread(stub: Stub, tables: int, vgroups: int, placement: str) -> list[int]:
    outcome = stub(tables=tables, partitions=vgroups, vgroups=vgroups, placement=placement, rows=tables, **LITTLE)
    assert outcome.code == 0, outcome.stderr
    return outcome.one("hello")["tables_per_partition"]


def test_stock_names_fall_as_published(stub):
    """Database `test`, d0..d99, 4 vgroups; more vgroups are overfilled."""
    assert spread(stub, 100, 4, "stock") == [22, 33, 26, 19]
    assert set(stub.starting("table")) == {f"d{i}" for i in range(100)}
    assert [max(spread(stub, 100, vgroups, "stock")) for vgroups in (12, 16)] == [17, 13]


@pytest.mark.parametrize(("tables", "vgroups"), [(100, 4), (100, 12), (100, 16), (3, 3), (1, 1), (7, 5)])
def test_chosen_names_fill_vgroups_evenly(stub, tables, vgroups):
    """They are the first that fit."""
    counts = spread(stub, tables, vgroups, "owned")
    assert sum(counts) == tables
    assert max(counts) - min(counts) <= 1
    numbers = sorted({int(name.removeprefix("d")) for name in stub.starting("table")})
    assert len(numbers) == tables
    if (tables, vgroups) == (100, 4):
        assert numbers[:60] == list(range(60))  # no vgroup is full so early
        assert numbers[-1] < 200


def test_a_prefix_of_ones_own(stub):
    assert stub(tables=5, rows=5, table_prefix="Dev_", placement="stock", **LITTLE).code == 0
    assert set(stub.starting("table")) == {f"Dev_{i}" for i in range(5)}


def test_every_table_is_confirmed(stub):
    assert stub(tables=5000, rows=5000, rows_per_request=5000).code == 0
    assert stub.starting("vgroups of") == ["2048 tables", "2048 tables", "904 tables"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"vgroups": 6}, "the number of vgroups (partitions= in the spec) is 6 on the server, and 4 by our"),
        ({"begin": 7}, "the first hash of vgroup 3 is 1073741830 on the server, and 1073741823 by our"),
        ({"prefix": 2}, "the part of names that is hashed (TABLE_PREFIX, TABLE_SUFFIX) is 2 on the server, and 0"),
        ({"shift": 1}, "the vgroup of table d0 is 3 on the server, and 2 by our placement"),
        ({"fail": "taos_get_db_route_info:1:0x0388"}, "words of the stub"),
    ],
)
def test_a_server_that_places_otherwise_is_refused(stub, settings, said):
    outcome = stub(tables=8, rows=8, **LITTLE, **settings)
    assert outcome.code == 4
    assert outcome.one("error")["code"] == ("0x0388" if "fail" in settings else "PLACE")
    assert said in outcome.one("error")["message"]
    assert "init" not in stub.words(), "nothing is loaded"


def test_fewer_tables_than_vgroups_need_no_balance(stub):
    assert stub(tables=2, partitions=2, vgroups=4, rows=2, **LITTLE).code == 0


def test_tables_are_created_with_tags_of_their_own(stub):
    spec = {"tables": 700, "threads": 2, "tags": "gid:int,loc:binary(24),ok:bool,j:float"}

    def clauses(**more):
        assert stub("tables", **spec | more).code == 0
        assert all(len(statement) < 65536 + 1024 for statement in stub.starting("query"))
        return sorted(one for statement in stub.starting("query") for one in statement.split(" IF NOT EXISTS ")[1:])

    first = clauses()
    assert len({clause.split(" ")[0] for clause in first}) == len(first) == 700
    assert first[0].startswith("`test`.`d0` USING `test`.`meters` TAGS (")
    assert clauses(threads=1) == first, "tags depend on seed and table alone"
    assert clauses(seed=2) != first


def test_creating_waits_for_what_passes_and_stops_at_what_does_not(stub):
    assert stub("tables", tables=3, fail="taos_query:1:0x03D3,taos_query:2:0x0396").code == 0
    assert len(stub.starting("query")) == 3
    outcome = stub("tables", tables=3, fail="taos_query:1:0x0362")
    assert (outcome.code, outcome.one("error")["code"]) == (4, "0x0362")
