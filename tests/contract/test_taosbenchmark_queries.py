"""The genuine taosBenchmark and `scale load` with the same query files: the same queries, answers and lines.

Needs what taosbenchmark_contract.py needs. taosBenchmark's own defects, which docs/taosbenchmark.md names, are not compared.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.contract.taosbenchmark_contract import genuine_with_output as genuine
from tests.contract.taosbenchmark_contract import ours_with_output as ours
from tests.contract.taosbenchmark_contract import pytestmark, server, told
from tests.unit.test_compat_queries import COMPLETE, MIXED, SPEND

__all__ = ["pytestmark", "server"]
TOTAL = re.compile(r"Total (specified|super) queries: (\d+)")
TOOK = re.compile(r"INFO: (.*) took (\d+\.\d{6}) second\(s\)")


@pytest.fixture(scope="module")
def filled(server, tmp_path_factory):
    """Six tables of 500 rows."""
    told(genuine, tmp_path_factory.mktemp("filled"), "-c", str(server.config), "-y", "-t 6 -n 500 -T 2")
    return server


def query_file(server, folder: Path, **more) -> Path:
    content = {"filetype": "query", "cfgdir": str(server.config), "host": "localhost", "port": server.port}
    content |= {"user": "root", "password": "taosdata", "confirm_parameter_prompt": "no", "databases": "test"}
    path = folder / "query.json"
    path.write_text(json.dumps(content | {"query_times": 4} | more))
    return path


def specified(**more):
    sqls = [
        {"sql": "select count(*), max(voltage) from meters", "result": "./count"},
        {"sql": "select ts, voltage, location from d1 limit 7", "result": "./rows"},
    ]
    return {"concurrent": 3, "sqls": sqls} | more


def asked(words: str) -> list[tuple[str, str, str]]:
    """Threads, times and statement of each line with delays."""
    return [(m[0], m[1], m[8].strip()) for m in COMPLETE.findall(words)]


def kept(folder: Path) -> dict[str, Counter[str]]:
    """The rows of each result file."""
    files = {p.name: p.read_text() for p in sorted(folder.iterdir()) if re.search(r"-\d+$", p.name)}
    return {
        name: Counter(" ".join(row.split()) for row in text.splitlines() if row.strip()) for name, text in files.items()
    }


def test_specified_queries_and_those_of_subtables(filled, tmp_path):
    super_table = {"stblname": "meters", "threads": 2}
    super_table |= {"sqls": [{"sql": "select count(*) from xxxx", "result": "./sub"}]}
    path = query_file(filled, tmp_path, specified_table_query=specified(), super_table_query=super_table)
    said = told(genuine, tmp_path, "-f", str(path))
    words = told(ours, tmp_path, "-f", str(path))
    subtables = ("2", "4", "select count(*) from xxxx")  # whose delays taosBenchmark does not print
    assert asked(words) == [*asked(said), subtables]
    assert len(asked(said)) == 2
    assert TOTAL.findall(words) == TOTAL.findall(said) == [("specified", "12"), ("super", "24")] or (
        # taosBenchmark counts one statement's queries, however many statements there are
        TOTAL.findall(words) == [("specified", "24"), ("super", "24")]
    )
    assert kept(tmp_path / ours.__name__) == kept(tmp_path / genuine.__name__)
    assert len(kept(tmp_path / ours.__name__)) == 3 + 3 + 2
    assert SPEND.search(said) and SPEND.search(words)


def test_mixed_queries(filled, tmp_path):
    path = query_file(filled, tmp_path, specified_table_query=specified(mixed_query="yes"))
    seen = []
    for tool in (genuine, ours):
        said = told(tool, tmp_path, "-f", str(path))
        seen.append(MIXED.search(said).groups()[1:3])
    assert seen == [("2", "8"), ("2", "8")]


@pytest.mark.parametrize("mode", ["rest", "restful"])
def test_queries_by_rest(filled, tmp_path, mode):
    sqls = [{"sql": "select count(*) from test.meters"}]
    path = query_file(filled, tmp_path, specified_table_query=specified(sqls=sqls), query_mode="rest")
    said = told(genuine, tmp_path, "-f", str(path))
    path = query_file(filled, tmp_path, specified_table_query=specified(sqls=sqls), query_mode=mode)
    words = told(ours, tmp_path, "-f", str(path))
    assert asked(words) == asked(said) == [("3", "4", "select count(*) from test.meters")]


def test_a_cache_that_is_reset_and_an_interval(filled, tmp_path):
    part = specified(concurrent=1, query_interval=1, query_times=3)
    path = query_file(filled, tmp_path, specified_table_query=part, reset_query_cache="yes")
    words = told(ours, tmp_path, "-f", str(path))
    assert 4 <= float(SPEND.search(words).group(1)) < 8  # two statements, each thrice, a second apart


@pytest.mark.parametrize("goes_on", ["no", "yes"])
def test_a_query_that_fails(filled, tmp_path, goes_on):
    sqls = [{"sql": "select * from nowhere"}, {"sql": "select count(*) from d0"}]
    path = query_file(filled, tmp_path, specified_table_query=specified(sqls=sqls), continue_if_fail=goes_on)
    code, said = genuine(tmp_path / genuine.__name__, "-f", str(path))
    assert (code == 0) == (goes_on == "yes"), said
    code, words = ours(tmp_path / ours.__name__, "-f", str(path))
    assert code == (0 if goes_on == "yes" else 5), words
    assert "0x2603" in words or "Table does not exist" in words
    assert [one[2] for one in asked(words)] == (["select count(*) from d0"] if goes_on == "yes" else [])


def test_the_query_file_of_version_2(server, tmp_path):
    """As published, apart from where the server is; its tables are made first."""
    for statement in (
        "drop database if exists db",
        "create database db vgroups 1",
        "create stable db.stb0 (ts timestamp, a int) tags (t int)",
        "create stable db.stb1 (ts timestamp, a int) tags (t int)",
        "insert into db.stb00_1 using db.stb0 tags (1) values (now, 1) (now+1s, 2)",
        "insert into db.s1 using db.stb1 tags (1) values (now, 1) db.s2 using db.stb1 tags (2) values (now, 7)",
    ):
        server.shell(statement)
    first = {"sql": "select last_row(*) from stb0 ", "result": "./query_res0.txt"}
    second = {"sql": "select count(*) from stb00_1", "result": "./query_res1.txt"}
    third = {"sql": "select last_row(ts) from xxxx", "result": "./query_res2.txt"}
    path = query_file(
        server,
        tmp_path,
        databases="db",
        query_times=2,
        query_mode="taosc",
        specified_table_query={"query_interval": 1, "concurrent": 3, "sqls": [first, second]},
        super_table_query={"stblname": "stb1", "query_interval": 1, "threads": 3, "sqls": [third]},
    )
    words = told(ours, tmp_path, "-f", str(path))
    assert asked(words) == [("3", "2", first["sql"].strip()), ("3", "2", second["sql"]), ("2", "2", third["sql"])]
    found = kept(tmp_path / ours.__name__)
    assert sorted(found) == [
        f"query_res{n}.txt-{t}" for n, t in ((0, 0), (0, 1), (0, 2), (1, 3), (1, 4), (1, 5), (2, 0), (2, 1))
    ]
    assert found["query_res1.txt-3"] == Counter({"2": 2})


def test_the_insert_file_of_version_2(server, tmp_path):
    """As published, apart from where the server is and a thousandth of its rows."""
    info = {"name": "db", "drop": "yes", "replica": 1, "days": 10, "cache": 16, "blocks": 8, "precision": "ms"}
    info |= {"keep": 3650, "minRows": 100, "maxRows": 4096, "comp": 2, "walLevel": 1, "cachelast": 0, "quorum": 1}
    info |= {"fsync": 3000, "update": 0}
    table = {"name": "stb", "child_table_exists": "no", "childtable_count": 100, "childtable_prefix": "stb_"}
    table |= {"auto_create_table": "no", "batch_create_tbl_num": 5, "data_source": "rand", "insert_mode": "taosc"}
    table |= {"insert_rows": 100, "childtable_limit": 10, "childtable_offset": 100, "interlace_rows": 0}
    table |= {"insert_interval": 0, "max_sql_len": 1024000, "disorder_ratio": 0, "disorder_range": 1000}
    table |= {"timestamp_step": 10, "start_timestamp": "2026-10-01 00:00:00.000", "sample_format": "csv"}
    table |= {"sample_file": "./sample.csv", "use_sample_ts": "no", "tags_file": ""}
    table["columns"] = [{"type": "INT"}, {"type": "DOUBLE", "count": 10}, {"type": "BINARY", "len": 16, "count": 3}]
    table["columns"] += [{"type": "BINARY", "len": 32, "count": 6}]
    table["tags"] = [{"type": "TINYINT", "count": 2}, {"type": "BINARY", "len": 16, "count": 5}]
    content = {"filetype": "insert", "cfgdir": str(server.config), "host": "localhost", "port": server.port}
    content |= {"user": "root", "password": "taosdata", "thread_count": 4, "thread_count_create_tbl": 4}
    content |= {"result_file": "./insert_res.txt", "confirm_parameter_prompt": "no", "insert_interval": 0}
    content |= {"interlace_rows": 100, "num_of_records_per_req": 100}
    path = tmp_path / "insert.json"
    path.write_text(json.dumps(content | {"databases": [{"dbinfo": info, "super_tables": [table]}]}))
    words = told(ours, tmp_path, "-f", str(path))
    assert "databases[0].dbinfo.days is of version 2: it is taken as duration 10" in words
    assert re.search(r"\b10000\b", server.shell("select count(*) from db.stb"))
    options = "`buffer`, `wal_level`, `wal_fsync_period`, `cachemodel`, `duration`"
    made = ""
    for _ in range(20):  # the information schema sometimes has no rows for a moment
        made = made or server.shell(f"select {options} from information_schema.ins_databases where name = 'db'")
        time.sleep(0 if made else 0.5)
    assert [cell.strip() for cell in made.splitlines()[-1].split("|")][:5] == ["128", "1", "3000", "none", "14400m"]


@pytest.mark.parametrize("options", ["-t 3 -n 50 -T 2", "-t 3 -n 50 -T 2 -b INT,INT -A INT", "-N -t 3 -n 50 -T 2"])
def test_aggregates_after_the_load(server, tmp_path, options):
    """In a database of their own, since other tests read the rows of `filled`."""
    seen = []
    for tool in (genuine, ours):
        said = told(tool, tmp_path, "-c", str(server.config), "-y", "-x -d aggregated", options)
        seen.append(TOOK.findall(said))
    assert len(seen[0]) == len(seen[1]) == (8 if "-N" in options else 24)
    if "-N" not in options:
        statements = [[" ".join(line[0].lower().split()) for line in one] for one in seen]
        assert statements[1] == statements[0]


CONSUMED = re.compile(r"Consumed total msgs: (\d+), total rows: (\d+)")


def subscribe_file(server, folder: Path, **info) -> Path:
    content = {"filetype": "subscribe", "cfgdir": str(server.config), "host": "localhost", "port": server.port}
    tmq = {"concurrent": 2, "poll_delay": 3000, "group_mode": "share", "create_mode": "parallel", "client.id": "c"}
    tmq |= {"auto.offset.reset": "earliest", "enable.manual.commit": "false", "enable.auto.commit": "false"}
    tmq |= {"auto.commit.interval.ms": 1000, "experimental.snapshot.enable": "false", "msg.with.table.name": "false"}
    tmq |= {"topic_list": [{"name": "meters_all", "sql": "select * from test.meters;"}]}
    path = folder / "subscribe.json"
    path.write_text(json.dumps(content | {"user": "root", "password": "taosdata", "tmq_info": tmq | info}))
    return path


@pytest.mark.parametrize("more", [{}, {"enable.manual.commit": "true"}, {"rows_file": "./rows"}], ids=str)
def test_subscriptions(filled, tmp_path, more):
    seen = []
    for tool in (genuine, ours):
        path = subscribe_file(
            filled, tmp_path, **{"group.id": f"g_{tool.__name__}_{len(seen)}_{len(str(more))}"}, **more
        )
        said = told(tool, tmp_path, "-f", str(path))
        seen.append(CONSUMED.findall(said)[-1])
    assert seen[0] == seen[1]
    assert seen[1][1] == "3000"
    if more.get("rows_file"):
        written = [p.read_text().splitlines() for p in (tmp_path / ours.__name__).glob("rows-*")]
        assert sum(len(lines) for lines in written) == 3000


def test_independent_consumers_read_all_rows_each(filled, tmp_path):
    path = subscribe_file(filled, tmp_path, group_mode="independent")
    said = told(ours, tmp_path, "-f", str(path))
    assert CONSUMED.findall(said)[-1][1] == "6000"


def test_a_group_that_has_read_all_reads_nothing_and_says_so(filled, tmp_path):
    path = subscribe_file(filled, tmp_path, **{"group.id": "twice", "enable.manual.commit": "true"})
    said = told(ours, tmp_path, "-f", str(path))
    assert re.findall(r"has poll total msgs: (\d+)", said)[-1] == CONSUMED.findall(said)[-1][0]
    code, said = ours(tmp_path / "again", "-f", str(path))
    assert code == 5, said
    assert CONSUMED.findall(said)[-1] == ("0", "0")
    assert "no row came from meters_all, although the server has rows of it, to group twice" in said


def test_the_subscribe_file_of_version_2(filled, tmp_path):
    """As published, apart from where the server is and what its tables are called."""
    first = {"sql": "select * from d0 ;", "result": "./subscribe_res0.txt"}
    second = {"sql": "select * from xxxx where ts > '2017-07-14 02:40:00.249' ;", "result": "./subscribe_res1.txt"}
    content = {"filetype": "subscribe", "cfgdir": str(filled.config), "host": "localhost", "port": filled.port}
    content |= {"user": "root", "password": "taosdata", "databases": "test", "confirm_parameter_prompt": "no"}
    part = {"mode": "sync", "restart": "yes", "keepProgress": "yes"}
    content["specified_table_query"] = part | {"concurrent": 1, "interval": 0, "sqls": [first]}
    content["super_table_query"] = part | {"stblname": "meters", "threads": 1, "interval": 10000, "sqls": [second]}
    path = tmp_path / "subscribe.json"
    path.write_text(json.dumps(content))
    said = told(ours, tmp_path, "-f", str(path))
    assert [rows for _, rows in CONSUMED.findall(said)] == ["500", "1500"]
    assert len((tmp_path / ours.__name__ / "subscribe_res0.txt-0").read_text().splitlines()) == 500


def test_a_topic_of_a_table_that_is_not_there(filled, tmp_path):
    path = subscribe_file(filled, tmp_path, topic_list=[{"name": "none", "sql": "select * from test.nowhere"}])
    code, said = ours(tmp_path / ours.__name__, "-f", str(path))
    assert code == 7
    assert "CREATE TOPIC" in said
