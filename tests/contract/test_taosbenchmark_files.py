"""Rows and tags from files, shared tables, tables that insertions make, Chinese texts: the genuine taosBenchmark and
`scale load` leave the same rows.

Needs a real TDengine 3.3 with taosBenchmark: SCALE_TDENGINE_HOME=DIR holding bin/ and lib/. Starts a server of its own.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.contract import test_taosbenchmark
from tests.contract.tdengine_contract import running
from tests.contract.test_taosbenchmark import ADAPTER_OFFSET, Server, genuine, left, ours, rows_told

pytestmark = test_taosbenchmark.pytestmark
ROWS = "1,1.5,'one',true\n2,-2.25,'t,wo',false\nNULL,3,'three',true\n4,4e2,'4',false\n\n5,5,'five',true\n"
PLAIN = ROWS.replace("t,wo", "two").replace("true", "1").replace("false", "0")  # taosBenchmark's stmt reads no more
TIMES = "".join(f"{1700000000000 + 250 * i},{line}\n" for i, line in enumerate(ROWS.split("\n")) if line)
TAGS = "".join(f"{i},'site {i}'\n" for i in range(10))


@pytest.fixture(scope="module")
def server():
    with running(Server, "scale-files-") as one:
        yield one


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


def both(server: Server, tmp_path: Path, ask, **keys: object) -> tuple[list, list]:
    seen, told = [], []
    for tool in (genuine, ours):
        code, said = tool(tmp_path / tool.__name__, "-f", str(insert_file(server, tmp_path, **keys)))
        assert code == 0, said
        seen.append(ask())
        told.append(rows_told(said))
    return seen, told


@pytest.mark.parametrize(("mode", "prepared"), [("taosc", 10000), ("taosc", 7), ("stmt", 10000)])
def test_the_rows_of_a_file_are_stored(server, tmp_path, mode, prepared):
    file = tmp_path / ("plain.csv" if mode == "stmt" else "rows.csv")
    keys = {"data_source": "sample", "sample_file": str(file), "insert_mode": mode}
    (theirs, ours_), told = both(server, tmp_path, lambda: rows(server), prepared_rand=prepared, **keys)
    assert theirs == ours_ and theirs.count("s_3 ") == 12
    assert told[0] == told[1] == [("120", "2", "files")]


@pytest.mark.parametrize("mode", ["taosc", "stmt"])
def test_rows_have_the_times_of_the_file(server, tmp_path, mode):
    keys = {"data_source": "sample", "sample_file": str(tmp_path / "times.csv"), "use_sample_ts": "yes"}
    keys |= {"insert_mode": mode}
    if mode == "stmt":  # taosBenchmark leaves the times of the file out
        code, said = ours(tmp_path / "ours", "-f", str(insert_file(server, tmp_path, **keys)))
        assert code == 0, said
        assert server.shell("select first(ts), last(ts), count(*) from files.stb").count("22:13:2") == 2
        return
    (theirs, ours_), told = both(server, tmp_path, lambda: rows(server), **keys)
    assert theirs == ours_ and theirs.count("s_3 ") == 5
    assert told[0] == told[1] == [("50", "2", "files")]


def test_tags_come_from_a_file(server, tmp_path):
    tags = "select distinct tbname, g, site from files.stb order by tbname"
    seen, _ = both(server, tmp_path, lambda: server.shell(tags), tags_file=str(tmp_path / "tags.csv"))
    assert seen[0] == seen[1] and "site 7" in seen[0]


@pytest.mark.parametrize("mode", ["taosc", "stmt"])
def test_insertions_make_the_tables(server, tmp_path, mode):
    keys = {"auto_create_table": "yes", "insert_mode": mode}
    seen, told = both(server, tmp_path, lambda: left(server, "files", "stb"), **keys)
    assert seen[0] == seen[1]
    assert told[0] == told[1]
    if (
        mode == "taosc"
    ):  # by the adapter; taosBenchmark makes the database by the server's port, which the file has once
        keys = {"auto_create_table": "yes", "insert_mode": "rest", "port": server.port + ADAPTER_OFFSET}
        code, said = ours(tmp_path / "rest", "-f", str(insert_file(server, tmp_path, **keys)))
        assert code == 0, said
        assert left(server, "files", "stb") == seen[0]


def test_made_tables_have_the_tags_of_the_file(server, tmp_path):
    keys = {"auto_create_table": "yes", "tags_file": str(tmp_path / "tags.csv"), "interlace_rows": 4}
    code, said = ours(tmp_path / "ours", "-f", str(insert_file(server, tmp_path, **keys)))
    assert code == 0, said
    assert "0 table(s) pre created, 10 table(s) will be auto created" in said
    found = server.shell("select distinct tbname, g, site from files.stb order by tbname").splitlines()
    assert [re.findall(r"s_(\d)\s*\|\s*(\d)\s*\|\s*site (\d)", line)[0] for line in found[1:]] == [
        (str(i),) * 3 for i in range(10)
    ]


def counts(server: Server) -> str:
    return server.shell("select tbname, count(*) from files.stb group by tbname order by tbname")


@pytest.mark.parametrize("parts", [((0, 4), (4, 3), (7, 9)), ((0, 9), (9, 1))])
def test_processes_share_the_tables_that_exist(server, tmp_path, parts):
    code, said = ours(tmp_path / "all", "-f", str(insert_file(server, tmp_path, insert_rows=1)))
    assert code == 0, said
    for number, (offset, limit) in enumerate(parts):
        keys = {"child_table_exists": "yes", "childtable_limit": limit, "childtable_offset": offset}
        path = insert_file(server, tmp_path, drop="no", start_timestamp=1650000000000, **keys)
        code, said = ours(tmp_path / str(number), "-f", str(path))
        assert code == 0, said
        assert rows_told(said)[0][0] == str(12 * min(limit, 10 - offset))
    assert len(re.findall(r"\| +13 \|", counts(server))) == 10


def test_a_range_of_the_tables(server, tmp_path):
    seen, told = both(server, tmp_path, lambda: counts(server), childtable_from=3, childtable_to=8)
    assert seen[0] == seen[1] and "s_3 " in seen[0] and "s_8 " not in seen[0]
    assert told[0] == told[1]


def test_chinese_texts(server, tmp_path):
    arguments = ["-c", str(server.config), "-y", "-C -t 3 -n 20 -T 2 -b NCHAR(9),BINARY(9) -A NCHAR(9)"]
    ask = "select tbname, count(*), min(char_length(c0)), max(char_length(c1)), min(length(c1)) from test.meters"
    seen = []
    for tool in (genuine, ours):
        code, said = tool(tmp_path / tool.__name__, *arguments)
        assert code == 0, said
        seen.append(server.shell(f"{ask} group by tbname order by tbname"))
        texts = server.shell("select c0, c1, t0 from test.meters").splitlines()[1:]
        assert len(texts) == 60 and all(
            re.match(r" *[\u4e00-\u9fa5]{3} *\| *[\u4e00-\u9fa5]{3} *\|", text) for text in texts
        )
    assert seen[0] == seen[1]


def test_a_folder_without_a_configuration(server, tmp_path):
    (tmp_path / "empty").mkdir()
    for tool in (genuine, ours):
        arguments = ["-c", str(tmp_path / "empty"), "-h", "localhost", "-P", str(server.port), "-y", "-t 3 -n 20 -T 2"]
        code, said = tool(tmp_path / tool.__name__, *arguments)
        assert code == 0, said
        assert rows_told(said) == [("60", "2", "test")]
