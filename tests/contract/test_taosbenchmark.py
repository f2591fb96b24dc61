"""The genuine taosBenchmark and `scale load` with the same options leave the same database and print the same lines.

Needs what taosbenchmark_contract.py needs. Starts a server of its own.
"""

from __future__ import annotations

import json
import re

import pytest

from tests.contract.taosbenchmark_contract import Server, genuine, left, ours, pytestmark, rows_told, server, told
from tests.unit.test_compat_output import CREATED, DELAY, SPENT

__all__ = ["pytestmark", "server"]
TOOLS = (genuine, ours)

CASES = {
    "demo": ("test", "meters", "-t 10 -n 1000 -T 2"),
    "stmt": ("test", "meters", "-I stmt -t 10 -n 25000 -T 3 -v 4"),
    "types": ("test", "meters", "-t 7 -n 30 -T 3 -b INT,BINARY(10),NCHAR,bool -A INT,NCHAR(5),binary -w 20"),
    "numbers": (
        "test",
        "meters",
        "-t 3 -n 30 -T 2 -b TINYINT,SMALLINT,BIGINT,UTINYINT,USMALLINT,UINT,UBIGINT,FLOAT,DOUBLE,TIMESTAMP -A BIGINT",
    ),
    "all of it by stmt": (
        "test",
        "meters",
        "-I stmt -t 3 -n 30 -T 2 -b TINYINT,SMALLINT,BIGINT,UTINYINT,UINT,DOUBLE,TIMESTAMP,BOOL,BINARY(9),NCHAR(9)",
    ),
    "more columns": ("test", "meters", "-t 5 -n 10 -T 3 -l 5 -b float"),
    "partial": ("test", "meters", "-t 5 -n 10 -T 2 -L 2"),
    "upper case": ("test", "meters", "-I stmt -E -m Dev -t 5 -n 10 -T 2"),
    "lower case": ("mydb", "meters", "-m Dev -d MYDB -t 5 -n 10 -T 2"),
    "interlaced": ("test", "meters", "-B 10 -r 50 -t 10 -n 100 -T 2"),
    "interlaced, uneven": ("test", "meters", "-I stmt -B 7 -r 20 -t 5 -n 33 -T 2"),
    "more threads than tables": ("test", "meters", "-t 3 -n 10 -T 20"),
    "time": ("test", "meters", "-t 3 -n 10 -T 2 -S 1000 -s 1600000000000"),
    "long": ("test", "meters", "--tables=3 --records 10 --threads=2 --answer-yes --vgroups 1"),
    "automatic": ("test", "meters", "-t 30 -n 10"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_same_options_leave_the_same(server, tmp_path, name):
    database, table, options = CASES[name]
    arguments = ["-c", str(server.config), "-y", options]
    said = told(genuine, tmp_path, *arguments)
    theirs = left(server, database, table)
    words = told(ours, tmp_path, *arguments)
    assert left(server, database, table) == theirs
    assert rows_told(words) == rows_told(said) != []
    assert len(DELAY.findall(words)) == len(DELAY.findall(said)) == 1
    assert CREATED.search(words).groups()[1:] == CREATED.search(said).groups()[1:]
    for tool in TOOLS:
        written = (tmp_path / tool.__name__ / "output.txt").read_text()
        assert SPENT.search(written) and DELAY.search(written)


def test_normal_tables(server, tmp_path):
    seen = []
    for tool in TOOLS:
        said = told(tool, tmp_path, "-c", str(server.config), "-y", "-N -t 5 -n 10 -T 2")
        rows = "union all ".join(f"select count(*) from test.d{i} " for i in range(5))
        seen.append((left(server, "test", "d0")["tables"], server.shell("describe test.d3"), server.shell(rows)))
        seen[-1] += (rows_told(said),)
    assert seen[0] == seen[1]


def test_rest(server, tmp_path):
    seen = []
    for tool in TOOLS:
        arguments = ["-h", "localhost", "-P", str(server.adapter_port), "-y", "-I rest -t 5 -n 100 -r 20 -T 2"]
        said = told(tool, tmp_path, *arguments)
        seen.append((left(server, "test", "meters"), rows_told(said)))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("interface", ["sml", "sml-line", "sml-telnet", "sml-json", "sml-taosjson"])
def test_schemaless_loads_every_row(server, tmp_path, interface):
    arguments = ["-c", str(server.config), "-y", f"-I {interface} -t 6 -n 50 -r 20 -T 2"]
    said = genuine(tmp_path / "theirs", *arguments)[1]
    words = told(ours, tmp_path, *arguments)
    assert rows_told(words) == rows_told(said) == [("300", "2", "test")]
    assert re.search(r"\b300\b", server.shell("select count(*) from test.meters"))


def test_supplement_and_nodrop_add_to_what_is_there(server, tmp_path):
    config = ["-c", str(server.config), "-y"]
    told(genuine, tmp_path, *config, "-t 4 -n 10 -T 2")
    for extra in ("-U -s 1600000000000", "-Q -s 1700000000000"):
        told(ours, tmp_path, *config, f"-t 4 -n 10 -T 2 {extra}")
    assert re.search(r"\b120\b", server.shell("select count(*) from test.meters"))


@pytest.mark.parametrize("options", ["-r 10 -t 2 -n 100", "-B 5 -r 5 -t 6 -n 50"])
def test_insert_interval_takes_as_long(server, tmp_path, options):
    """With interlacing, it is that of a round over the thread's tables, here of three requests."""
    spent = []
    for tool in TOOLS:
        arguments = ["-c", str(server.config), "-y", f"-i 100 -T 2 {options}"]
        said = told(tool, tmp_path, *arguments)
        spent.append(float(SPENT.search(said).group(2)))
    assert spent[1] == pytest.approx(spent[0], rel=0.2)


def insert_file(server: Server) -> dict:
    columns = [
        {"type": "INT"},
        {"type": "DOUBLE", "count": 3},
        {"type": "BINARY", "len": 16, "count": 2},
        {"type": "NCHAR", "name": "nn"},
        {"type": "NCHAR", "name": "mm", "count": 2, "len": 4},
    ]
    tags = [{"type": "TINYINT", "count": 2}, {"type": "BINARY", "len": 16, "count": 2}, {"type": "INT", "name": "g"}]
    stb = {"name": "stb", "childtable_count": 10, "childtable_prefix": "stb_", "insert_mode": "taosc"}
    stb |= {"insert_rows": 250, "timestamp_step": 10, "start_timestamp": "2020-10-01 00:00:00.000"}
    stc = {"name": "stc", "childtable_count": 4, "childtable_prefix": "c_", "insert_mode": "stmt", "insert_rows": 50}
    stc |= {"start_timestamp": 1600000000000000, "interlace_rows": 5, "columns": [{"type": "FLOAT", "name": "current"}]}
    info = {"name": "db1", "drop": "yes", "vgroups": 3, "buffer": 16, "precision": "us", "cachemodel": "'both'"}
    content = {"filetype": "insert", "host": "localhost", "port": server.port, "cfgdir": str(server.config)}
    content |= {"user": "root", "password": "taosdata", "thread_count": 3, "create_table_thread_count": 2}
    content |= {"result_file": "./lines.txt", "confirm_parameter_prompt": "no", "num_of_records_per_req": 100}
    tables = [stb | {"columns": columns, "tags": tags}, stc | {"tags": [{"type": "int"}]}]
    return content | {"databases": [{"dbinfo": info, "super_tables": tables}]}


def test_the_same_insert_file_leaves_the_same(server, tmp_path):
    path = tmp_path / "insert.json"
    path.write_text(json.dumps(insert_file(server)))
    seen = []
    for tool in TOOLS:
        said = told(tool, tmp_path, "-f", str(path))
        created = re.sub(r"`db1`.*?VGROUPS", "", server.shell("show create database db1"))
        seen.append((left(server, "db1", "stb"), left(server, "db1", "stc"), created, rows_told(said)))
        assert len(DELAY.findall((tmp_path / tool.__name__ / "lines.txt").read_text())) == 2
    assert seen[0] == seen[1]


def test_a_wrong_password_is_refused_and_not_told(server, tmp_path):
    code, words = ours(tmp_path / "ours", "-c", str(server.config), "-y", "-p", "hunter2", "-t", "2", "-n", "5")
    assert code == 7
    assert "hunter2" not in words + (tmp_path / "ours" / "output.txt").read_text()
