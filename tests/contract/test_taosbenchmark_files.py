"""Rows and tags from files, shared tables, tables that insertions make, Chinese texts: the genuine taosBenchmark and
`scale load` leave the same rows.

Needs what taosbenchmark_contract.py needs. Starts a server of its own.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.contract.taosbenchmark_contract import Server, genuine, left, ours, pytestmark, rows_told, server, told

__all__ = ["pytestmark", "server"]
ROWS = "1,1.5,'one',true\n2,-2.25,'t,wo',false\nNULL,3,'three',true\n4,4e2,'4',false\n\n5,5,'five',true\n"
PLAIN = ROWS.replace("t,wo", "two").replace("true", "1").replace("false", "0")  # taosBenchmark's stmt reads no more
TIMES = "".join(f"{1700000000000 + 250 * i},{line}\n" for i, line in enumerate(ROWS.split("\n")) if line)
TAGS = "".join(f"{i},'site {i}'\n" for i in range(10))


def insert_file(server: Server, folder: Path, drop: str = "yes", port: int = 0, **more: object) -> Path:
    """An insert file of ten tables, and the CSV files that it may name."""
    columns = [{"type": "INT", "name": "i"}, {"type": "DOUBLE", "name": "d"}]
    columns += [{"type": "BINARY", "name": "b", "len": 12}, {"type": "BOOL", "name": "t"}]
    tags = [{"type": "INT", "name": "g"}, {"type": "BINARY", "name": "site", "len": 16}]
    table = {"name": "stb", "childtable_count": 10, "childtable_prefix": "s_", "insert_mode": "taosc"}
    table |= {"insert_rows": 12, "timestamp_step": 10, "start_timestamp": 1600000000000}
    info = {"name": "files", "drop": drop, "vgroups": 2, "precision": "ms"}
    content = {"filetype": "insert", "host": "localhost", "port": port or server.port, "cfgdir": str(server.config)}
    content |= {"thread_count": 2, "create_table_thread_count": 1, "confirm_parameter_prompt": "no"}
    content |= {"prepared_rand": more.pop("prepared_rand", 10000)}
    content["databases"] = [{"dbinfo": info, "super_tables": [table | {"columns": columns, "tags": tags} | more]}]
    for name, text in {"rows.csv": ROWS, "plain.csv": PLAIN, "times.csv": TIMES, "tags.csv": TAGS}.items():
        (folder / name).write_text(text)
    path = folder / "insert.json"
    path.write_text(json.dumps(content))
    return path


def rows(server: Server, order: str = "tbname, ts") -> str:
    return server.shell(f"select tbname, ts, i, d, b, t from files.stb order by {order}")


def both(server: Server, tmp_path: Path, ask, **keys: object) -> tuple[str, list]:
    """What both tools leave and what both say, if the same is said and left."""
    seen, lines = [], []
    for tool in (genuine, ours):
        said = told(tool, tmp_path, "-f", str(insert_file(server, tmp_path, **keys)))
        seen.append(ask())
        lines.append(rows_told(said))
    assert seen[0] == seen[1] and lines[0] == lines[1]
    return seen[0], lines[0]


@pytest.mark.parametrize(("mode", "prepared"), [("taosc", 10000), ("taosc", 7), ("stmt", 10000)])
def test_the_rows_of_a_file_are_stored(server, tmp_path, mode, prepared):
    file = tmp_path / ("plain.csv" if mode == "stmt" else "rows.csv")
    keys = {"data_source": "sample", "sample_file": str(file), "insert_mode": mode}
    seen, lines = both(server, tmp_path, lambda: rows(server), prepared_rand=prepared, **keys)
    assert (seen.count("s_3 "), lines) == (12, [("120", "2", "files")])


@pytest.mark.parametrize("mode", ["taosc", "stmt"])
def test_rows_have_the_times_of_the_file(server, tmp_path, mode):
    keys = {"data_source": "sample", "sample_file": str(tmp_path / "times.csv"), "use_sample_ts": "yes"}
    keys |= {"insert_mode": mode}
    if mode == "stmt":  # taosBenchmark leaves the times of the file out
        told(ours, tmp_path, "-f", str(insert_file(server, tmp_path, **keys)))
        assert server.shell("select first(ts), last(ts), count(*) from files.stb").count("22:13:2") == 2
        return
    seen, lines = both(server, tmp_path, lambda: rows(server), **keys)
    assert (seen.count("s_3 "), lines) == (5, [("50", "2", "files")])


def test_tags_come_from_a_file(server, tmp_path):
    tags = "select distinct tbname, g, site from files.stb order by tbname"
    assert "site 7" in both(server, tmp_path, lambda: server.shell(tags), tags_file=str(tmp_path / "tags.csv"))[0]


@pytest.mark.parametrize("mode", ["taosc", "stmt"])
def test_insertions_make_the_tables(server, tmp_path, mode):
    keys = {"auto_create_table": "yes", "insert_mode": mode}
    seen, _ = both(server, tmp_path, lambda: left(server, "files", "stb"), **keys)
    if mode == "stmt":
        return
    # by the adapter; taosBenchmark makes the database by the server's port, which the file has once
    keys = {"auto_create_table": "yes", "insert_mode": "rest", "port": server.adapter_port}
    told(ours, tmp_path, "-f", str(insert_file(server, tmp_path, **keys)))
    assert left(server, "files", "stb") == seen


def test_made_tables_have_the_tags_of_the_file(server, tmp_path):
    keys = {"auto_create_table": "yes", "tags_file": str(tmp_path / "tags.csv"), "interlace_rows": 4}
    said = told(ours, tmp_path, "-f", str(insert_file(server, tmp_path, **keys)))
    assert "0 table(s) pre created, 10 table(s) will be auto created" in said
    found = server.shell("select distinct tbname, g, site from files.stb order by tbname").splitlines()
    numbers = [re.findall(r"s_(\d)\s*\|\s*(\d)\s*\|\s*site (\d)", line)[0] for line in found[1:]]
    assert numbers == [(str(i),) * 3 for i in range(10)]


def counts(server: Server) -> str:
    return server.shell("select tbname, count(*) from files.stb group by tbname order by tbname")


@pytest.mark.parametrize("parts", [((0, 4), (4, 3), (7, 9)), ((0, 9), (9, 1))])
def test_processes_share_the_tables_that_exist(server, tmp_path, parts):
    told(ours, tmp_path, "-f", str(insert_file(server, tmp_path, insert_rows=1)))
    for offset, limit in parts:
        keys = {"child_table_exists": "yes", "childtable_limit": limit, "childtable_offset": offset}
        path = insert_file(server, tmp_path, drop="no", start_timestamp=1650000000000, **keys)
        said = told(ours, tmp_path, "-f", str(path))
        assert rows_told(said)[0][0] == str(12 * min(limit, 10 - offset))
    assert len(re.findall(r"\| +13 \|", counts(server))) == 10


def test_a_range_of_the_tables(server, tmp_path):
    seen, _ = both(server, tmp_path, lambda: counts(server), childtable_from=3, childtable_to=8)
    assert "s_3 " in seen and "s_8 " not in seen


def test_chinese_texts(server, tmp_path):
    arguments = ["-c", str(server.config), "-y", "-C -t 3 -n 20 -T 2 -b NCHAR(9),BINARY(9) -A NCHAR(9)"]
    ask = "select tbname, count(*), min(char_length(c0)), max(char_length(c1)), min(length(c1)) from test.meters"
    seen = []
    for tool in (genuine, ours):
        told(tool, tmp_path, *arguments)
        seen.append(server.shell(f"{ask} group by tbname order by tbname"))
        texts = server.shell("select c0, c1, t0 from test.meters").splitlines()[1:]
        chinese = re.compile(r" *[\u4e00-\u9fa5]{3} *\| *[\u4e00-\u9fa5]{3} *\|")
        assert len(texts) == 60 and all(map(chinese.match, texts))
    assert seen[0] == seen[1]


def test_a_folder_without_a_configuration(server, tmp_path):
    (tmp_path / "empty").mkdir()
    for tool in (genuine, ours):
        arguments = ["-c", str(tmp_path / "empty"), "-h", "localhost", "-P", str(server.port), "-y", "-t 3 -n 20 -T 2"]
        assert rows_told(told(tool, tmp_path, *arguments)) == [("60", "2", "test")]
