"""The TDengine driver against a real server: where tables land, and what happens when something goes wrong.

Needs what test_tdengine_driver.py needs.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from running_load import ANSWERED, begun

from tests.contract.tdengine_contract import (
    ADAPTER,
    NATIVE,
    NEEDS_SERVER,
    PROGRAM,
    Outcome,
    ask,
    count,
    loaded,
    prepared,
    run,
    spec_of,
    tables_of_vgroups,
)

pytestmark = [*NEEDS_SERVER, pytest.mark.timeout(300)]
PACED = {"columns": "v:int,w:double", "tables": 8, "rows": 160000, "rows_per_request": 500, "rate": 40000}


@pytest.mark.parametrize(("vgroups", "least", "most"), [(4, 25, 25), (12, 8, 9), (16, 6, 7)])
def test_vgroups_are_filled_evenly(server, vgroups, least, most):
    prepared(server, "contract", options="BUFFER 3 PAGES 64", tables=100, partitions=vgroups, columns="v:int")
    tables = tables_of_vgroups(server, "contract")
    assert len(tables) == vgroups
    assert sum(tables) == 100
    assert (min(tables), max(tables)) == (least, most)


def test_stock_names_fall_as_published(server):
    spec = prepared(server, "test", tables=100, placement="stock", columns="v:int", rows=100)
    hello = loaded(spec).one("hello")
    assert hello["tables_per_partition"] == tables_of_vgroups(server, "test") == [22, 33, 26, 19]
    ask(server, "DROP DATABASE test")


@pytest.mark.parametrize("method", ["stmt", "rest"])
def test_another_number_of_vgroups_is_refused(server, method):
    spec = prepared(server, "contract", columns="v:int")
    outcome = run(spec | {"method": method, "partitions": 3})
    assert outcome.code == 4
    assert "(partitions= in the spec) is 4 on the server, and 3" in outcome.one("error")["message"]


@pytest.mark.parametrize("method", ["stmt", "rest"])
def test_a_table_prefix_that_is_not_hashed_is_refused(server, method):
    spec = spec_of(server, "contract", columns="v:int", tables=50, method=method)
    ask(server, "DROP DATABASE IF EXISTS contract", "CREATE DATABASE contract VGROUPS 4 TABLE_PREFIX 1")
    outcome = run(spec)
    assert outcome.code == 4
    assert outcome.one("error")["code"] == "PLACE"


@pytest.mark.parametrize("method", (*NATIVE, *ADAPTER))
def test_tables_that_do_not_exist_stop_the_load(server, method):
    spec = prepared(server, "contract", columns="v:int", method=method)
    ask(server, "DROP TABLE contract.meters")
    outcome = run(spec)
    assert outcome.code == 5
    assert outcome.summary["rows_acked"] == 0
    assert outcome.of("error")[0]["code"] in ("0x2603", "0x2662", "0x0618")


@pytest.mark.parametrize("method", ["stmt", "rest", "ws"])
def test_a_wrong_password_is_refused(server, method):
    outcome = run(spec_of(server, "contract", method=method), password="wrong")
    assert outcome.code == 4
    assert outcome.one("error")["code"] == "0x0357"
    assert "wrong" not in outcome.stderr + json.dumps(outcome.events)


def test_no_server_and_no_adapter(server):
    for method, code in (("stmt", "0x000B"), ("rest", "ADAPTER"), ("ws", "ADAPTER")):
        outcome = run(spec_of(server, "contract", method=method) | {"port": 1, "adapter_port": 1})
        assert outcome.code == 4
        assert outcome.one("error")["code"] == code


def test_statements_are_answered_alike_by_library_and_adapter(server):
    name = "SELECT name FROM information_schema.ins_databases LIMIT 1"
    statements = ["SELECT 1, 2.5, 'a\"b\\\\c', NULL, 1 = 1", name]
    assert ask(server, *statements) == ask(server, *statements, method="rest") == ask(server, *statements, method="ws")
    assert ask(server, statements[0])[0] == [[1, 2.5, 'a"b\\c', None, True]]


def while_loading(spec: dict[str, Any], meanwhile: Callable[[], None]) -> Outcome:
    with begun(Path(PROGRAM), spec, said=ANSWERED) as running:
        meanwhile()
        return running.end()


@pytest.mark.parametrize("method", ["stmt", "sql", "ws"])
def test_a_server_that_is_killed_and_comes_back_gets_every_row(server, method):
    spec = prepared(server, "contract", method=method, **PACED)

    def restart() -> None:
        server.kill_taosd()
        server.start_taosd()

    outcome = while_loading(spec, restart)
    assert outcome.code == 0, outcome.stderr + str(outcome.summary["error_kinds"])
    assert outcome.summary["rows_acked"] == 160000
    assert count(server, "contract") == 160000


@pytest.mark.parametrize("method", ADAPTER)
def test_an_adapter_that_comes_back_gets_every_row(server, method):
    spec = prepared(server, "contract", method=method, **PACED)

    def restart() -> None:
        server.stop_adapter()
        time.sleep(0.5)
        server.start_adapter()

    outcome = while_loading(spec, restart)
    assert outcome.code == 0, outcome.stderr + str(outcome.summary["error_kinds"])
    assert outcome.summary["retries"] > 0
    assert outcome.summary["rows_acked"] == count(server, "contract") == 160000


@pytest.mark.parametrize("method", ADAPTER)
def test_a_stopped_adapter_ends_the_load_at_the_deadline(server, method):
    spec = prepared(server, "contract", method=method, **PACED | {"rows": 4000000, "request_timeout_s": 1})
    start = time.monotonic()
    try:
        outcome = while_loading(spec, lambda: server.signal_adapter(signal.SIGSTOP))
    finally:
        server.signal_adapter(signal.SIGCONT)
    assert time.monotonic() - start < 10
    assert outcome.code == 5
    assert {error["code"] for error in outcome.of("error")} == {"deadline"}
    acked, unanswered = outcome.summary["rows_acked"], outcome.summary["rows_unanswered"]
    assert acked > 0 and unanswered > 0 and outcome.summary["rows_failed"] == 0
    assert acked <= count(server, "contract") <= acked + unanswered


def test_an_interrupted_load_counts_what_was_acknowledged(server):
    spec = prepared(server, "contract", **PACED | {"rows": 4000000, "rate": 20000})
    with begun(Path(PROGRAM), spec, said=ANSWERED) as running:
        running.heed(signal.SIGINT)
        outcome = running.end()
    assert outcome.code == 130
    assert outcome.summary["rows_acked"] == count(server, "contract") > 0
