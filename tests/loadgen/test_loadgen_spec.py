"""The spec, the verbs and the exit codes: every mistake is told at once, by its key."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.needs import need

LOADGEN = Path(__file__).resolve().parents[2] / "loadgen"


def test_all_mistakes_are_told_at_once(run):
    outcome = run("driver=null\nthreads=x\nrate=-1\ncolumns=a:flaot\nduraton_s=1\nplacement=here\n")
    assert outcome.code == 2
    assert outcome.events == []
    for key in ("threads", "rate", "columns", "duraton_s", "placement", "rows"):
        assert f"spec: {key}: " in outcome.stderr
    assert "did you mean 'duration_s'?" in outcome.stderr


@pytest.mark.parametrize(
    ("line", "key", "words"),
    [
        ("rows_per_request=0", "rows_per_request", "outside"),
        ("rows_per_request=1e3", "rows_per_request", "not a whole number"),
        ("seed=-1", "seed", "not a whole number"),
        ("rate=fast", "rate", "not a number"),
        ("arrival=poisson", "arrival", "needs a rate"),
        ("order=random", "order", "rotate, progressive"),
        ("protocol=2", "protocol", "outside"),
        ("threads=3", "threads", "cannot share"),
        ("partitions=0", "partitions", "outside"),
        ("interlace_rows=20000", "interlace_rows", "more than rows_per_request"),
        ("requests_per_table=2\ninterlace_rows=5", "requests_per_table", "of one table each"),
        ("requests_per_table=0", "requests_per_table", "outside"),
        ("step_ms=0.5", "step_ms", "whole number of units"),
        ("columns=a:float,a:int", "columns", "twice"),
        ("columns=a:binary", "columns", "needs a length"),
        ("columns=a:int(4)", "columns", "takes no length"),
        ("columns=a:json", "columns", "tags only"),
        ("columns=1a:int", "columns", "not a plain name"),
        ("columns=", "columns", "at least one"),
        ("partial_columns=4", "partial_columns", "only 3"),
        ("first_worker=2\nworkers_total=2\ntables=9", "workers_total", "less than"),
        ("method=copy", "method", "no method"),
        ("rows=1\nrows=2", "rows", "twice"),
        ("null_latncy_us=5", "null_latncy_us", "unknown key"),
        ("request_timeout_s=-1", "request_timeout_s", "outside"),
        ("operations=read", "operations", "not an operation of this program"),
        ("operations=", "operations", "not an operation of this program"),
        ("operations=write:0", "operations", "not a whole number of 1..1000000"),
        ("operations=write:1x", "operations", "not a whole number of 1..1000000"),
        ("operations=write:", "operations", "not a whole number of 1..1000000"),
        ("operations=write,write:2", "operations", "twice"),
        ("just words", "just words", "key=value"),
        ("disorder_ratio=1\ndisorder_range_ms=1\nstep_ms=5", "disorder_range_ms", "no row"),
    ],
)
def test_a_mistake_names_its_key(run, line, key, words):
    outcome = run(
        f"driver=null\n{line}\nduration_s=1\ntables=2\n".replace(
            "tables=2\n", "" if "tables=" in line else "tables=2\n"
        )
    )
    assert outcome.code == 2
    (told,) = [x for x in outcome.stderr.splitlines() if x.startswith(f"scale-loadgen: spec: {key}:")]
    assert words in told


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "driver=tdengine\nmethod=rest\ndatabase=test\nadapter_port=abc",
            "adapter_port: 'abc' is not a whole number of 1",
        ),
        (
            "driver=tdengine\nmethod=rest\ndatabase=test\nadapter_port=65536",
            "adapter_port: '65536' is not a whole number",
        ),
        ("driver=null\nnull_latency_us=1e3", "null_latency_us: '1e3' is not a whole number"),
        ("driver=null\nnull_fail_every=-1", "null_fail_every: '-1' is not a whole number"),
        ("driver=null\nnull_fatal_after=", "null_fatal_after: '' is not a whole number"),
        ("driver=null\ndump=/nowhere/rows", "dump: cannot write '/nowhere/rows.0': No such file"),
    ],
)
def test_an_option_of_a_driver_is_checked(run, line, words):
    outcome = run(f"{line}\nrows=1\n")
    assert outcome.code == 2
    assert words in outcome.stderr


def test_order_progressive_needs_rows(run):
    outcome = run("driver=null\norder=progressive\nduration_s=1\n")
    assert outcome.code == 2
    assert "spec: order: " in outcome.stderr


def test_comments_blank_lines_and_spaces_are_allowed(run):
    assert run("# a comment\n\n  driver = null \nrows= 10\n").code == 0


def test_the_driver_is_needed(run):
    outcome = run("rows=1\n")
    assert outcome.code == 2
    assert "spec: driver: is needed" in outcome.stderr


def test_an_unknown_driver_is_missing(run):
    outcome = run("driver=postgras\nrows=1\n")
    assert outcome.code == 3
    assert "did you mean 'postgres'?" in outcome.stderr


def test_a_missing_library_is_named(run):
    outcome = run("driver=postgres\nlibrary=/nowhere/libpq.so.5\nrows=1\n")
    assert outcome.code == 3
    assert "/nowhere/libpq.so.5" in outcome.one("error")["message"]
    assert "/nowhere/libpq.so.5" in outcome.stderr


def test_a_library_without_our_functions_is_refused_by_the_symbol(run):
    outcome = run("driver=postgres\nlibrary=libm.so.6\nrows=1\n")
    assert outcome.code == 3
    assert "PQconnectdbParams" in outcome.stderr


def test_a_driver_without_create_tables_refuses_by_name(run, postgres):
    outcome = run(postgres.spec(), "tables")
    assert outcome.code == 2
    assert "driver postgres has no create_tables" in outcome.stderr


def test_tables_of_the_null_driver(run):
    assert run("driver=null\ntables=7\nthreads=2\n", "tables").one("tables")["created"] == 7


def test_tables_go_through_all_combinations_of_the_values_of_tags(run):
    spec = {"driver": "null", "tables": 13, "tags": "groupid:int,tag_0:binary(20),tag_1:nchar(20)"}
    told = run(spec | {"tag_groups": "tag_0:2,tag_1:3", "tag_prefix": "value_"}, "names").one("names")["tags"]
    pairs = list(zip(told["tag_0"], told["tag_1"], strict=True))
    assert pairs[:7] == [*((f"value_{a}", f"value_{b}") for a in range(2) for b in range(3)), ("value_0", "value_0")]
    assert len(set(pairs)) == 6
    assert told["groupid"] == run(spec, "names").one("names")["tags"]["groupid"]


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ("tag_0", "'tag_0' needs a number of 1..1000000000, as tag_0:50"),
        ("tag_0:0", "'tag_0' needs a number"),
        ("tag_0:9x", "'tag_0' needs a number"),
        ("other:3", "'other' is not a tag of type binary or nchar"),
        ("groupid:3", "'groupid' is not a tag of type binary or nchar"),
        ("tag_0:3,tag_0:3", "'tag_0' is named twice"),
        ("tag_0:11", "tag_0: 'v10' is longer than 2 characters"),
    ],
)
def test_a_mistake_in_the_values_of_tags_is_named(run, groups, words):
    spec = {"driver": "null", "tags": "groupid:int,tag_0:binary(2)", "tag_groups": groups, "tag_prefix": "v"}
    outcome = run(spec, "names")
    assert outcome.code == 2
    assert f"tag_groups: {words}" in outcome.stderr


def test_a_prefix_that_would_end_a_literal_is_refused(run):
    outcome = run({"driver": "null", "tag_groups": "location:2", "tag_prefix": "it's"}, "names")
    assert (outcome.code, "tag_prefix: 'it's' has a quote" in outcome.stderr) == (2, True)


def test_tags_of_a_table_are_literals(run, tmp_path):
    tags = "groupid:int,location:binary(24),f:float,on:bool,j:json"
    spec = {"driver": "null", "tables": 40, "threads": 2, "tags": tags, "dump": tmp_path / "tags"}
    assert run(spec, "tables").code == 0
    files = (tmp_path / f"tags.{worker}" for worker in range(2))
    rows = [line.split(",", 5) for file in files for line in file.read_text().splitlines()]
    assert [int(r[0]) for r in rows] == list(range(40))
    assert {int(r[1]) for r in rows} <= set(range(1, 11))
    assert all(r[2].startswith("'") and len(r[2]) <= 26 for r in rows)
    assert {r[4] for r in rows} == {"true", "false"}
    assert rows[0][5].startswith("'{")


def test_a_driver_without_sql_refuses_by_name(run):
    outcome = run("driver=null\n", "sql")
    assert outcome.code == 2
    assert "driver null has no sql" in outcome.stderr


def test_version_help_and_drivers(program: Path):
    def out(*arguments: str) -> str:
        return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout

    assert out("--version").startswith("scale-loadgen ")
    assert "130  interrupted" in out("--help")
    drivers = {d["driver"]: d for d in json.loads(out("drivers"))}
    assert drivers["null"]["methods"] == ["discard"]
    assert drivers["postgres"]["methods"] == ["copy", "insert", "upsert", "copy-upsert", "jsonb"]
    assert drivers["postgres"]["sql"] is True
    assert drivers["postgres"]["features"] == {m: ["deadline", "separable"] for m in drivers["postgres"]["methods"]}
    assert drivers["tdengine"]["features"]["stmt"] == []
    assert drivers["tdengine"]["features"]["ws"] == ["deadline", "separable"]


@pytest.mark.parametrize("arguments", [[], ["load"], ["lode", "-"], ["load", "/nowhere/spec"]])
def test_bad_usage_is_code_2(program: Path, arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert done.stderr


def test_the_door_refuses_an_incomplete_driver_by_name(build):
    done = subprocess.run(
        [build("door_probe.c", "drivers/registry.c", "drivers/fault.c")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_a_method_without_its_form_does_not_compile(tmp_path: Path):
    """The flags of CMakeLists.txt that a missing member of a row fails by; the whole row compiles."""
    compiler = need("cc")
    source = tmp_path / "methods.c"
    command = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-c", source, "-o", tmp_path / "methods.o"]
    for row, compiles in (('{"x", 0, NULL}', True), ('{"x", 0}', False)):
        lines = (
            f'#include "{LOADGEN / "drivers" / "driver.h"}"',
            "extern const struct driver_method methods[];",
            f"const struct driver_method methods[] = {{{row}, {{NULL, 0, NULL}}}};",
        )
        source.write_text("\n".join(lines) + "\n")
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode == 0) == compiles, done.stderr
    assert "missing-field-initializers" in done.stderr


def test_the_documents_name_the_version_of_the_door_and_the_drivers_that_ask(program: Path):
    (version,) = re.findall(r"#define DRIVER_ABI (\d+)u", (LOADGEN / "drivers" / "driver.h").read_text())
    docs = LOADGEN.parent / "docs"
    page = (docs / "loadgen.md").read_text()
    assert f"defines the interface, version {version}:" in page
    assert f"(ABI {version})" in (docs / "architecture.md").read_text()
    listed = subprocess.run([program, "drivers"], capture_output=True, text=True, check=True).stdout
    silent = [f"`{driver['driver']}`" for driver in json.loads(listed) if not driver["ask"]]
    assert f"All drivers have them except {' and '.join(silent)} |" in page
