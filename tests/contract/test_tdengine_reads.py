"""Queries of the TDengine driver against a real server: what is asked is answered with the rows that were sent.

Needs TDengine 3.3, as test_tdengine_driver.py does.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.tdengine_contract import COLUMNS, NEEDS_SERVER, ask, count, loaded, prepared, run
from tests.loadgen.answer_digest import digest, float32

pytestmark = [*NEEDS_SERVER, pytest.mark.timeout(300)]

START, TABLES, ROWS = 1_500_000_000_000, 6, 200
NAMES = [column.split(":")[0] for column in COLUMNS.split(",")]
KINDS = dict(column.split(":") for column in COLUMNS.split(","))
WHOLE = {"ask.x.value_low": 30, "ask.x.value_high": 70, "ask.x.value_step": 1}  # 3.3.0.0 compares with parts wrongly
READ = {"check_every": 1, "duration_s": 0.5, "rows_present": ROWS}
RANGE = "SELECT ts, {columns} FROM {{device}} WHERE ts >= {{from}} AND ts < {{to}} ORDER BY ts"


@pytest.fixture(scope="module")
def data(server) -> dict[str, Any]:
    """A database of six tables with 200 rows of all types each, NULLs among them; the spec that loaded it."""
    spec = prepared(server, "reads", method="stmt", null_ratio=0.2)
    loaded(spec)
    return spec


@pytest.fixture(scope="module")
def rows(data) -> dict[int, list[dict[str, Any]]]:
    """By table: each row's values by column, as a digest counts them; `ts` is its time in ns."""
    plain = {k: data[k] for k in ("tables", "columns", "tags", "seed", "null_ratio")}
    told = run(plain | {"driver": "null", "rows_of": ",".join(f"{t}:0:{ROWS}" for t in range(TABLES))}, "rows")
    return {
        t["table"]: [
            {"ts": t["time_ms"][i] * 1_000_000} | {n: counted(KINDS[n], t["columns"][n][i]) for n in NAMES}
            for i in range(ROWS)
        ]
        for t in told.of("rows")
    }


def counted(kind: str, value: Any) -> Any:
    if value is None:
        return None
    if kind == "timestamp":
        return value * 1_000_000
    if kind.startswith(("varbinary", "geometry")):
        return bytes.fromhex(value)
    return float32(value) if kind == "float" else float(value) if kind == "double" else value


def answered(data: dict[str, Any], text: str, code: int = 0, **more: Any):
    spec = {k: v for k, v in data.items() if k != "rows"}
    outcome = run(spec | READ | {"operations": "x", "ask.x.text": text} | more)
    assert outcome.code == code, outcome.stderr + str(outcome.of("error"))
    return outcome


def columns_of(method: str) -> list[str]:
    """JSON has no bytes that are no text."""
    return NAMES if method in ("stmt", "sql") else [n for n in NAMES if n not in ("v", "g")]


@pytest.mark.parametrize("method", ["stmt", "rest", "ws"])
def test_a_range_is_answered_with_the_rows_that_were_sent(data, rows, method):
    names = columns_of(method)
    text = RANGE.format(columns=", ".join(f"`{n}`" for n in names))
    outcome = answered(data, text, method=method, **{"ask.x.span_ms": 7})
    told = outcome.of("asked")
    assert {e["worker"] for e in told} == {0, 1}
    for e in told:
        first = e["from_ms"] - START
        right = [[row[n] for n in ("ts", *names)] for row in rows[e["devices"][0]][first : first + 7]]
        assert (e["rows"], e["values"], e["digest"]) == (7, 7 * (len(names) + 1), digest(right))
    (operation,) = outcome.summary["operations"]
    assert operation["rows_window"] == 7 * operation["requests_window"] > 0
    assert operation["bytes_window"] > operation["rows_window"] * 50
    assert outcome.summary["rows_acked"] == 0


@pytest.mark.parametrize("method", ["stmt", "rest"])
def test_names_bounds_text_and_empty_answers(data, rows, method):
    text = (
        "SELECT `l`, 'gr\u00fc\u00df\u20ac\U0001f600' FROM meters"
        " WHERE tbname IN ('{device}', '{device}') AND ts = {at} AND `f` > {value}"
    )
    outcome = answered(data, text, method=method, **WHOLE)
    for e in outcome.of("asked"):
        found = [rows[d][e["from_ms"] - START] for d in e["devices"]]
        right = [[row["l"], "gr\u00fc\u00df\u20ac\U0001f600"] for row in found if row["f"] is not None and row["f"] > e["value"]]
        assert e["rows"] == len(right)
        assert e["digest"] in (digest(right), digest(reversed(right)))
    assert outcome.summary["operations"][0]["empty_window"] > 0


def test_large_answers_come_in_many_blocks(data, rows):
    text = "SELECT a.ts, b.`l` FROM {device} a, {device} b WHERE a.ts = b.ts ORDER BY a.ts"
    for e in answered(data, text).of("asked"):
        one, other = e["devices"]
        right = [[row["ts"], rows[other][i]["l"]] for i, row in enumerate(rows[one])]
        assert (e["rows"], e["digest"]) == (ROWS, digest(right))


@pytest.mark.parametrize("method", ["stmt", "rest"])
def test_a_query_that_the_server_refuses_fails_and_the_next_one_is_asked(data, method):
    mix = {"operations": "x,bad", "ask.bad.text": "SELECT nothing FROM {device}", "max_errors": 1_000_000}
    outcome = answered(data, "SELECT LAST_ROW(ts) FROM {device}", code=6, method=method, **mix)
    good, bad = outcome.summary["operations"]
    assert good["failed"] == bad["units_acked"] == 0
    assert good["units_acked"] > 0
    assert bad["failed"] == bad["requests"] > 0
    assert outcome.summary["error_kinds"][0]["code"] == "0x2602"


def test_writes_of_a_mix_go_on_behind_the_rows(server, data):
    mix = {"operations": "write,x", "rows_per_request": 10}
    outcome = answered(data, "SELECT COUNT(*) FROM meters", **mix)
    assert outcome.summary["rows_acked"] > 0
    assert count(server, "reads") == TABLES * ROWS + outcome.summary["rows_acked"]
    told = outcome.of("asked")
    assert told[-1]["rows_acked_when_asked"] > 0
    assert all(e["rows_acked_when_asked"] <= e["rows_sent_when_answered"] for e in told)
    ask(server, f"DELETE FROM reads.meters WHERE ts >= {START + ROWS}")
    assert count(server, "reads") == TABLES * ROWS


def test_names_are_those_that_queries_ask_for(server, data, rows):
    names = run(data, "names").one("names")["names"]
    for table, name in enumerate(names):
        assert ask(server, f"SELECT FIRST(ts), `l` FROM reads.{name}")[0][0][1] == rows[table][0]["l"]
