"""Queries as fixed work: whose turn it is, how often, about which item, and what their answers leave in files."""

from __future__ import annotations

from pathlib import Path

import pytest

ITEMS = ("alpha", "beta b", "gamma's", "d", "epsilon")


@pytest.fixture
def items(tmp_path: Path) -> Path:
    path = tmp_path / "items"
    path.write_text("".join(f"{item}\n" for item in ITEMS))
    return path


def turns(outcome_dump: Path, worker: int) -> list[str]:
    """The operation and item of each request of a worker, in its order."""
    lines = Path(f"{outcome_dump}.{worker}").read_text().splitlines()
    return [line.removeprefix("ask,") for line in lines if line.startswith("ask,")]


def asking(listed: Path, **more: object) -> dict[str, object]:
    spec = {"operations": "a,b", "ask.a.text": "one {item}", "ask.b.text": "two {item} {item}", "items": listed}
    if more.get("operations") == "a":
        del spec["ask.b.text"]
    return {**spec, "rounds": 2, "threads": 2, "tables": 2, "rows_per_request": 1, **more}


def test_each_worker_asks_every_operation_of_its_items_round_after_round(load, items, tmp_path):
    outcome = load(**asking(items, dump=tmp_path / "d"))
    for worker, own in enumerate((ITEMS[:3], ITEMS[3:])):
        asked = [text for item in own for text in (f"0,{item}", f"1,{item},{item}")]
        assert turns(tmp_path / "d", worker) == asked * 2
    counts = [(o["name"], o["requests"], o["service"]["count"]) for o in outcome.summary["operations"]]
    assert counts == [("a", 10, 10), ("b", 10, 10)]


def test_progressive_asks_an_item_as_often_as_it_is_asked_before_the_next(load, items, tmp_path):
    load(**asking(items, operations="a", order="progressive", dump=tmp_path / "d", threads=5, tables=5))
    assert [turns(tmp_path / "d", worker) for worker in range(5)] == [[f"0,{item}"] * 2 for item in ITEMS]


def test_without_items_each_worker_asks_all_as_often_as_there_are_rounds(load):
    outcome = load(operations="x", **{"ask.x.text": "select 1"}, rounds=7, threads=3, tables=3)
    assert outcome.summary["requests"] == outcome.summary["operations"][0]["service"]["count"] == 21
    assert outcome.summary["rows_acked"] == 0


def test_rounds_begin_an_interval_apart(load, items):
    outcome = load(**asking(items, rounds=4, round_interval_s=0.1, threads=1, tables=1))
    assert outcome.summary["window_s"] >= 0.3
    assert outcome.summary["service"]["p50_us"] < 50_000, "without the wait"


def test_statements_of_tdengine_with_an_item_one_before_and_answers_in_files(stub, items, tmp_path):
    kept = {"ask.a.text": "SELECT 42 -- {item}", "ask.a.result": tmp_path / "kept", "ask.a.before": "RESET"}
    one = {"operations": "a", "threads": 1, "tables": 1}
    outcome = stub(**asking(items, **one, **kept))
    (operation,) = outcome.summary["operations"]
    assert stub.starting("query") == [s for item in ITEMS * 2 for s in ("RESET", f"SELECT 42 -- {item}")]
    assert (tmp_path / "kept-0").read_text() == '-5 0.10000000000000001 a"b\n-5 NULL a"b\n' * 10
    assert (operation["requests"], operation["rows_window"], operation["values_window"]) == (10, 20, 60)
    outcome = stub(**asking(items, **one, **{"ask.a.text": "SELECT 42 {{{item}}}"}))
    assert stub.starting("query") == [f"SELECT 42 {{{item}}}" for item in ITEMS * 2]
    assert outcome.summary["operations"][0]["rows_window"] == 10
    outcome = stub(**asking(items, **one, **{"ask.a.result": "/nonexistent/x"}))
    assert (outcome.code, "ask.a.result: cannot open /nonexistent/x-0" in outcome.stderr) == (2, True)
