"""`--check`: all that a load would refuse is refused in milliseconds, without a server and without a client library."""

from __future__ import annotations

import re
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from loadgen_program import Outcome

# Nobody listens there, and nobody has the library.
NOWHERE = "host=203.0.113.1\nport=9\nlibrary=/nowhere/lib.so\nduration_s=1\ntables=8\n"
DRIVERS = (
    "cassandra",
    "clickhouse",
    "iotdb",
    "lines",
    "mariadb",
    "pgwire",
    "points",
    "postgres",
    "samples",
    "tdengine",
)
MANY = "columns=" + ",".join(f"c{i}:int" for i in range(5000))
WIDE = "columns=" + ",".join(f"c{i}:binary(60000)" for i in range(300))
ASKS = "operations=q\nask.q.text="


@pytest.fixture
def check(run: Callable[..., Outcome]) -> Callable[[str], Outcome]:
    return lambda text: run(text, "--check")


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_right_spec_needs_no_server_and_no_library(check, driver):
    outcome = check(f"driver={driver}\n{NOWHERE}")
    assert (outcome.code, outcome.events, outcome.stderr) == (0, [], "")


def test_it_takes_milliseconds_of_cpu_time(program: Path, tmp_path: Path):
    spec = tmp_path / "spec"
    spec.write_text(f"driver=postgres\n{NOWHERE}")

    def used_s() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def least_s(*words: object) -> float:
        took = []
        for _ in range(10):
            before = used_s()
            subprocess.run([program, *words], check=True, capture_output=True, timeout=60)
            took.append(used_s() - before)
        return min(took)

    assert least_s("--check", spec) < least_s("--version") + 0.05


@pytest.mark.parametrize(
    ("driver", "line", "key", "words"),
    [
        ("null", "threads=9", "threads", "9 workers cannot share 8 tables"),
        ("null", "threads=100000", "threads", "outside 1..4096"),
        ("null", MANY, "columns", "more than 4096"),
        ("postgres", WIDE, "columns", "is more than this driver sends"),
        ("postgres", "method=insert\nrows_per_request=1000000\ncolumns=a:binary(2000)", "rows_per_request", ""),
        ("iotdb", "rows_per_request=1000000\ncolumns=a:binary(900)", "rows_per_request", "too long"),
        ("cassandra", "columns=a:ubigint", "columns", "CQL has no type"),
        ("cassandra", "precision=us", "precision", "milliseconds only"),
        ("mariadb", "precision=us", "precision", "whole milliseconds"),
        ("samples", "columns=a:bigint", "columns", "a sample is a double"),
        ("clickhouse", "columns=a:geometry(24)", "columns", "ClickHouse has no type for a:geometry"),
        ("clickhouse", "precision=us", "precision", "whole milliseconds"),
        ("tdengine", "method=copy", "method", "no method 'copy'"),
        ("tdengine", "method=sml-telnet", "columns", "carries one value"),
        ("tdengine", f"database={'x' * 300}", "database", "too long"),
        ("tdengine", "method=tmq\npoll_ms=x\noperations=q\nask.q.text=t\nrounds=1", "poll_ms", "not a whole number"),
        ("null", "threads=8\nrows_per_request=1000000\n" + WIDE, "rows_per_request", "GiB of memory for 8 workers"),
        ("lines", ASKS + "x", "ask.q.text", "query_path is needed"),
        ("lines", "method=tcp\n" + ASKS + "x", "ask.q.text", "cannot ask"),
        ("pgwire", ASKS + "x", "operations", "can only write"),
        ("postgres", ASKS + "{part} {device}", "ask.q.text", "driver postgres has no {part}"),
        ("cassandra", "rounds=1\nitems=/dev/null\n" + ASKS + "{item}", "items", "has no line"),
        ("tdengine", "database=x\n" + ASKS + "{device}" * 250, "ask.q.text", "more {device} than the 8 tables"),
    ],
)
def test_what_a_load_refuses_is_refused_before(run, check, driver, line, key, words):
    given = {part.partition("=")[0] for part in line.splitlines()}
    rest = "".join(f"{kept}\n" for kept in NOWHERE.splitlines() if kept.partition("=")[0] not in given)
    text = f"driver={driver}\n{rest}{line}\n"
    outcome = check(text)
    assert outcome.code == 2
    (told,) = outcome.stderr.splitlines()
    assert told.startswith(f"scale-loadgen: spec: {key}: ")
    assert words in told
    assert run(text).code == 2


def test_an_unknown_driver_is_missing(check):
    assert check(f"driver=oracle\n{NOWHERE}").code == 3


def test_the_program_knows_its_version(program: Path, run):
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.fullmatch(r"scale-loadgen (\d+\.\d+\S*)\n", told)
    assert found, told
    assert run({"driver": "null", "rows": 10}).one("hello")["version"] == found[1]
