"""What goes wrong with TDengine: every code that passes is tried again, every other stops; bad specs; the library."""

from __future__ import annotations

import re
import signal
import time

import pytest
from running_load import begun
from stub_taos.stub_library import Stub, library
from third_request import assert_acked

TRANSIENT = (
    "0x000B 0x0018 0x0019 0x0020 0x0021 0x0023 0x0024 0x0102 0x0125 0x0126 0x0130 0x0131 0x0334 0x0386 0x0388"
    " 0x0396 0x03D3"
    " 0x0503 0x0520 0x0528 0x0529 0x090C 0x0911 0x0914 0x0916 0x0917 0x0918"
).split()
PERMANENT = "0x0015 0x012B 0x012E 0x0357 0x03B1 0x03BA 0x0118 0x2603 0x2619 0x060B".split()
SPEC = {"tables": 8, "threads": 1, "rows": 80, "rows_per_request": 5}
SENDS = {"stmt": "taos_stmt_execute", "sql": "taos_query", "sml-line": "taos_schemaless_insert_raw"}


@pytest.mark.parametrize("codes", [TRANSIENT[:14], TRANSIENT[14:]], ids=["first", "others"])
@pytest.mark.parametrize("method", SENDS)
def test_what_passes_is_tried_again_and_counted(stub, method, codes):
    """Each in a request of its own."""
    fail = ",".join(f"{SENDS[method]}:{3 + 2 * n}:{code}" for n, code in enumerate(codes))
    outcome = stub(method=method, fail=fail, **SPEC)
    assert_acked(outcome, 80)
    assert outcome.summary["retries"] == outcome.summary["errors"] == len(codes)
    told = [{"code": code, "message": "words of the stub", "count": 1} for code in codes]
    assert outcome.summary["error_kinds"] == told


@pytest.mark.parametrize("code", PERMANENT)
@pytest.mark.parametrize("method", SENDS)
def test_what_does_not_pass_stops_the_load(stub, method, code):
    outcome = stub(method=method, fail=f"{SENDS[method]}:3:{code}", **SPEC)
    assert (outcome.code, outcome.summary["outcome"]) == (5, "fatal")
    assert (outcome.summary["rows_acked"], outcome.summary["retries"]) == (10, 0)
    assert outcome.one("error")["code"] == code


@pytest.mark.parametrize(
    "call", ["taos_stmt_set_tbname", "taos_stmt_bind_param_batch", "taos_stmt_add_batch", "taos_stmt_execute"]
)
def test_a_failed_statement_is_prepared_again_and_the_request_sent_whole(stub, call):
    """The stub's errors stick, as the library's do: without preparing again every later call would fail."""
    outcome = stub(fail=f"{call}:3:0x0125", **SPEC)
    assert_acked(outcome, 80)
    assert outcome.summary["retries"] == 1
    assert stub.words().count("prepare") == 2
    assert stub.words().count("init") == 1


def test_preparing_may_fail_and_pass(stub):
    outcome = stub(fail="taos_stmt_prepare:1:0x0130,taos_stmt_init:1:0x0102", **SPEC)
    assert outcome.code == 0, outcome.stderr
    assert outcome.summary["retries"] == 2


def test_several_faults_in_a_row(stub):
    fail = ",".join(f"taos_stmt_execute:{n}:{code}" for n, code in enumerate(("0x0126", "0x0914", "0x0125"), 4))
    outcome = stub(fail=fail, **SPEC)
    assert outcome.code == 0
    assert outcome.summary["retries"] == 3
    assert [kind["code"] for kind in outcome.summary["error_kinds"]] == ["0x0126", "0x0914", "0x0125"]


def test_trying_again_ends_when_the_load_is_told_to(program):
    spec = {"driver": "tdengine", "library": library(), "database": "test", "partitions": 4, **SPEC}
    with begun(program, spec, said='"retries":[1-9]', STUB_FAIL="taos_stmt_execute:1+:0x000B") as running:
        while sum(map(int, re.findall(r'"retries":(\d+)', running.seen))) <= 3:
            running.until('"retries":[1-9]')
        running.heed(signal.SIGINT)
        outcome = running.end()
    assert outcome.code == 130
    assert outcome.summary["retries"] > 3
    assert outcome.summary["rows_acked"] == 0


def test_patience_has_an_end(stub):
    """20 s, then the load stops: a server that stays away is not waited for request by request."""
    began = time.monotonic()
    outcome = stub(fail="taos_stmt_execute:2+:0x000B", **SPEC)
    assert outcome.code == 5
    assert time.monotonic() - began > 19
    assert outcome.summary["rows_acked"] == 5
    assert outcome.summary["rows_failed"] == 5


def test_rows_that_the_server_does_not_acknowledge_are_missed(stub):
    outcome = stub(short=1, **SPEC)
    assert outcome.code == 6
    assert outcome.summary["rows_acked"] == 80 - 16
    assert outcome.summary["error_kinds"][0]["code"] == "SHORT_ACK"


@pytest.mark.parametrize(
    ("more", "code", "kind", "words"),
    [
        ({"fail": "taos_connect:1:0x0357"}, 4, "0x0357", "words of the stub"),
        ({"library": "/nowhere/libtaos.so"}, 3, "LIBRARY", "/nowhere/libtaos.so"),
        ({"without": "taos_options"}, 3, "SYMBOL", "taos_options"),
        ({"without": "taos_stmt_execute"}, 3, "SYMBOL", "taos_stmt_execute"),
        ({"without": "taos_schemaless_insert_raw"}, 3, "SYMBOL", "taos_schemaless_insert_raw"),
        ({"database": None}, 2, None, "database: missing"),
        ({"database": "x" * 193}, 2, None, "database: too long"),
    ],
    ids=lambda value: None,
)
def test_a_load_that_cannot_begin_says_why(stub, more, code, kind, words):
    outcome = stub(**SPEC | more)
    error = outcome.one("error")
    assert outcome.code == code
    assert kind in (None, error["code"]) and words in error["message"]


def test_the_clients_configuration_and_the_password_are_passed_on(run, tmp_path):
    stub = Stub(run=lambda spec, verb, env: run(spec, verb, env=env | {"SCALE_PASSWORD": "pw"}), log=tmp_path / "calls")
    assert stub(client_config="/etc/none", user="me", host="there", port=7030, **SPEC).code == 0
    assert stub.starting("options") == ["3 /etc/none"]
    assert set(stub.starting("connect")) == {"there me pw test 7030"}


def test_the_verb_library_finds_it_and_connects_to_nothing(stub, run):
    outcome = stub("library")
    assert outcome.code == 0
    said = outcome.one("library")
    assert said["library"] == str(library())
    assert said["library_version"].startswith("3.3")
    assert "taos_connect" not in stub.words()
    outcome = stub("library", without="taos_stmt_execute")
    assert (outcome.code, "lacks taos_stmt_execute" in outcome.stderr) == (3, True)
    assert run({"driver": "null"}, "library").one("library")["library"] is None
