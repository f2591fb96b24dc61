"""40 drawn insert files, whose keys act on each other: the genuine taosBenchmark and `scale load` write the same rows into
the same tables in requests of the same size.

Needs what taosbenchmark_contract.py needs. Starts a server of its own.
"""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.contract.taosbenchmark_contract import (
    Server,
    genuine_with_output,
    ours,
    ours_with_output,
    pytestmark,
    rows_told,
    server,
    told,
)
from tests.unit.taosbenchmark_cases import drawn, expected

__all__ = ["pytestmark", "server"]
SEEDS = range(40)
ONE_REQUEST = re.compile(r"insert execution time is ")  # a line of -G for each


def written(path: Path, content: dict[str, Any], server: Server) -> str:
    reached = {"host": "localhost", "port": server.port, "cfgdir": str(server.config)}
    path.write_text(json.dumps(content | reached))
    return str(path)


def existing(content: dict[str, Any]) -> dict[str, Any]:
    """What makes the database and the tables that a file with drop: no finds."""
    made = copy.deepcopy(content)
    (database,) = made["databases"]
    database["dbinfo"]["drop"] = "yes"
    tables = [{key.lower(): value for key, value in table.items()} for table in database["super_tables"]]
    changed = {"insert_rows": 0, "child_table_exists": "no", "auto_create_table": "no"}
    database["super_tables"] = [table | changed for table in tables if table.get("child_table_exists") == "yes"]
    return made


def stored(server: Server, content: dict[str, Any]) -> list[list[str]]:
    """The rows of each table, sorted, of each super table. The names are the server's to choose with childtable_limit,
    and the load generator's with schemaless rows."""
    names = [table["name"] for table in content["databases"][0]["super_tables"]]
    plain = "select count(*) from information_schema.ins_tables where db_name='pairs' and stable_name is null"
    answers = [server.shell(f"select count(*) from pairs.`{name}` group by tbname") for name in names]
    return [sorted(re.findall(r"(\d+) +\|", answer)) for answer in (*answers, server.shell(plain))]


def load(tool, server: Server, folder: Path, content: dict[str, Any], *words: str) -> tuple[str, list[list[str]]]:
    """What the tool says and leaves."""
    if content["databases"][0]["dbinfo"]["drop"] == "no":
        told(ours, folder, "-f", written(folder / "before.json", existing(content), server))
    code, said = tool(folder / tool.__name__, "-f", written(folder / "pairs.json", content, server), *words)
    assert code == 0, said
    return said, stored(server, content)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_file_loads_the_same(server, tmp_path, seed):
    content = drawn(seed)
    model, threads = expected(content), {k.lower(): v for k, v in content.items()}["thread_count"]
    requests = sum(table.requests(threads) for table in model)
    said, theirs = load(genuine_with_output, server, tmp_path, content, "-G")
    assert len(ONE_REQUEST.findall(said)) == requests
    words, left = load(ours_with_output, server, tmp_path, content, "--json")
    assert left == theirs
    assert rows_told(words) == rows_told(said)
    loads = json.JSONDecoder().raw_decode(words)[0]["loads"]
    if not any(table.interlace for table in model):  # else a request of ours goes on with the next round
        assert sum(load["requests"] for load in loads) == requests
