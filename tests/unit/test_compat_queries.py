"""taosBenchmark's query files: the load generator's specs, and the lines told. Keys are those of test_compat_options."""

import functools
import json
import re

import pytest

from scale_sweep.loadgen.verbs import Answer
from scale_sweep.taosbenchmark import run_queries as run
from scale_sweep.taosbenchmark import spec
from tests.unit.null_load import load_file, null_key, skip_without_loadgen

SPECIFIED, STABLE = "specified_table_query", "super_table_query"

# Of taosBenchmark 3.3.0.0, as scripts read them.
COMPLETE = re.compile(
    r"complete query with (\d+) threads and (\d+) query delay avg: \t([\d.]+)s min: \t([\d.]+)s max: \t([\d.]+)s "
    r"p90: \t([\d.]+)s p95: \t([\d.]+)s p99: \t([\d.]+)s SQL command: (.*)"
)
MIXED = re.compile(
    r"spend ([\d.]+)s using (\d+) threads complete query (\d+) times,cd  min delay: ([\d.]+)s, avg delay: ([\d.]+)s, "
    r"p90: ([\d.]+)s, p95: ([\d.]+)s, p99: ([\d.]+)s, max: ([\d.]+)s"
)
SPEND = re.compile(r"Spend ([\d.]+) second completed total queries: (\d+), the QPS of all threads: +([\d.]+)")


def document():
    specified = {"concurrent": 3, "sqls": [{"sql": "select 1;"}, {"sql": "select\n2", "result": "./r"}]}
    over = {"stblname": "stb", "sqls": [{"sql": "select last_row(ts) from xxxx"}]}
    content = {"filetype": "query", "host": "h", "databases": "Db", "query_times": 2}
    return content | {SPECIFIED: specified, STABLE: over}


@pytest.fixture
def scale_load(monkeypatch, tmp_path):
    """Queries go to the null driver, and the tables of a stable are three."""
    skip_without_loadgen()

    def door_spec(job, own, method):
        spec = {"protocol": "1", "driver": "null", "null_latency_us": "300"}
        return spec | null_key("null_fail_every", "FAIL_EVERY")

    tables = Answer(ok=True, rows=(("t1",), ("t2",), ("t3",)), affected=None, code="", message="")
    for module in (run, spec):
        monkeypatch.setattr(module, "door_spec", door_spec)
    monkeypatch.setattr(run, "run_statements", lambda program, lines, asked, secret: [tables])
    return functools.partial(load_file, tmp_path)


def unkept():
    content = document()
    del content[SPECIFIED]["sqls"][1]["result"]
    return content


def test_the_lines_of_all_queries(scale_load, tmp_path):
    out, err = scale_load(unkept(), "--json", "-o", "lines")
    assert not COMPLETE.search(scale_load(unkept())[1])  # they go to standard output where no document does
    for text in (err, (tmp_path / "lines").read_text()):
        told = COMPLETE.findall(text)
        statements = [("3", "2", "select 1"), ("3", "2", "select 2"), ("1", "2", "select last_row(ts) from xxxx")]
        assert [(m[0], m[1], m[8]) for m in told] == statements
        for one in told:
            average, least, most, p90, p95, p99 = (float(x) for x in one[2:8])
            assert 0.0003 <= least <= average <= most
            assert least <= p90 <= p95 <= p99 <= most
        assert re.findall(r"Total (\w+) queries: (\d+)", text) == [("specified", "12"), ("super", "6")]
        seconds, queries, rate = SPEND.search(text).groups()
        assert int(queries) == 18
        assert float(rate) == pytest.approx(18 / float(seconds), rel=0.1)
    assert [(q["answered"], q["rows"]) for q in json.loads(out)["queries"]] == [(6, 6), (6, 6), (6, 6)]


def test_the_line_of_mixed_queries(scale_load):
    content = unkept()
    content[SPECIFIED]["mixed_query"] = "yes"
    del content[STABLE]
    out, err = scale_load(content)
    assert MIXED.search(out).groups()[1:3] == ("2", "4") and SPEND.search(out).group(2) == "4"


def test_a_failed_query_ends_it_or_is_counted(scale_load):
    out, err = scale_load(unkept(), code=5, FAIL_EVERY="2")
    assert len(COMPLETE.findall(out)) == 1 and "queries failed: " in err
    out, err = scale_load(unkept() | {"continue_if_fail": "yes"}, "--json", FAIL_EVERY="2")
    assert [(q["answered"], q["failed"]) for q in json.loads(out)["queries"]] == [(3, 3), (3, 3), (3, 3)]


@pytest.mark.parametrize("part", [SPECIFIED, STABLE])
def test_without_libtaos_nothing_is_asked_and_the_message_names_it(tmp_path, part):
    content = {k: v for k, v in unkept().items() if not k.endswith("_query") or k == part}
    out, err = load_file(tmp_path, content, "--library", "/no/libtaos", code=3)
    assert "/no/libtaos" in err and "--library" in err
    assert not SPEND.search(out + err) and not (tmp_path / "output.txt").exists()


def test_nothing_starts_after_a_mistake(scale_load, tmp_path):
    _, err = scale_load(unkept() | {"query_mode": "x"}, code=2)
    assert "query_mode: 'x'" in err and not (tmp_path / "output.txt").exists()
