"""Tables of the TDengine driver: in which vgroup they fall, what they are called, and that the server must agree."""

from __future__ import annotations

from collections import Counter

import pytest
from stub_taos.stub_library import Stub

LITTLE = {"rows_per_request": 1, "threads": 1}


def spread(stub: Stub, tables: int, vgroups: int, placement: str) -> list[int]:
    outcome = stub(tables=tables, partitions=vgroups, vgroups=vgroups, placement=placement, rows=tables, **LITTLE)
    assert outcome.code == 0, outcome.stderr
    return outcome.one("hello")["tables_per_partition"]


def test_stock_names_fall_as_published(stub):
    """Database `test`, d0..d99, 4 vgroups."""
    assert spread(stub, 100, 4, "stock") == [22, 33, 26, 19]


@pytest.mark.parametrize(("vgroups", "most"), [(12, 17), (16, 13)])
def test_stock_names_overfill_a_vgroup(stub, vgroups, most):
    assert max(spread(stub, 100, vgroups, "stock")) == most


@pytest.mark.parametrize(("tables", "vgroups"), [(100, 4), (100, 12), (100, 16), (3, 3), (1, 1), (7, 5)])
def test_chosen_names_fill_vgroups_evenly(stub, tables, vgroups):
    counts = spread(stub, tables, vgroups, "owned")
    assert sum(counts) == tables
    assert max(counts) - min(counts) <= 1
    names = set(stub.starting("table"))
    assert len(names) == tables


def test_names_are_the_first_that_fit(stub):
    spread(stub, 100, 4, "owned")
    numbers = sorted(int(name.removeprefix("d")) for name in set(stub.starting("table")))
    assert numbers[:60] == list(range(60))  # no vgroup is full so early
    assert numbers[-1] < 200


def test_stock_names_are_counted_through(stub):
    spread(stub, 10, 4, "stock")
    assert set(stub.starting("table")) == {f"d{i}" for i in range(10)}


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
    ],
)
def test_a_server_that_places_otherwise_is_refused(stub, settings, said):
    outcome = stub(tables=8, rows=8, **LITTLE, **settings)
    assert outcome.code == 4
    assert outcome.one("error")["code"] == "PLACE"
    assert said in outcome.one("error")["message"]
    assert "init" not in stub.words(), "nothing is loaded"


def test_fewer_tables_than_vgroups_need_no_balance(stub):
    assert stub(tables=2, partitions=2, vgroups=4, rows=2, **LITTLE).code == 0


def test_a_database_that_is_not_there_is_told_in_the_servers_words(stub):
    outcome = stub(tables=2, rows=2, fail="taos_get_db_route_info:1:0x0388", **LITTLE)
    assert outcome.code == 4
    assert outcome.one("error")["code"] == "0x0388"
    assert outcome.one("error")["message"] == "words of the stub"


def test_tables_are_created_with_tags_of_their_own(stub):
    spec = {"tables": 700, "threads": 2, "tags": "gid:int,loc:binary(24),ok:bool,j:float"}
    assert stub("tables", **spec).code == 0
    first = sorted(stub.starting("query"))
    clauses = [clause for statement in first for clause in statement.split(" IF NOT EXISTS ")[1:]]
    assert len(clauses) == 700
    assert clauses[0].startswith("`test`.`d0` USING `test`.`meters` TAGS (")
    assert all(len(statement) < 65536 + 1024 for statement in first)
    assert max(Counter(clause.split(" ")[0] for clause in clauses).values()) == 1
    assert stub("tables", **{**spec, "threads": 1}).code == 0
    again = [clause for statement in stub.starting("query") for clause in statement.split(" IF NOT EXISTS ")[1:]]
    assert sorted(again) == sorted(clauses), "tags depend on seed and table alone"
    assert stub("tables", **spec, seed=2).code == 0
    assert sorted(stub.starting("query")) != first


def test_creating_waits_for_what_passes(stub):
    assert stub("tables", tables=3, fail="taos_query:1:0x03D3,taos_query:2:0x0396").code == 0
    assert len(stub.starting("query")) == 3


def test_creating_stops_at_what_does_not(stub):
    outcome = stub("tables", tables=3, fail="taos_query:1:0x0362")
    assert outcome.code == 4
    assert outcome.one("error")["code"] == "0x0362"
