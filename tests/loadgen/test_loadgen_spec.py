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
    assert run("# a comment\n\n  driver = null \nrows= 10\n").code == 0, "comments, blank lines and spaces"


@pytest.mark.parametrize(
    ("spec", "verb", "code", "words"),
    [
        ("rows=1\n", "load", 2, "spec: driver: is needed"),
        ("driver=null\nrows=10\noperations=x\nask.x.text=x", "load", 2, "spec: duration_s: is needed"),
        (
            "driver=null\noperations=q\nask.q.text={item}\nrounds=1\nitems=/no/items",
            "load",
            2,
            "spec: items: the file cannot be read",
        ),
        ("driver=null\n", "sql", 2, "driver null has no sql"),
        ("driver=null\ndump=/nowhere/rows\nrows=1", "load", 2, "dump: cannot write '/nowhere/rows.0': No such file"),
        ("driver=lines\n", "tables", 2, "driver lines has no create_tables"),
        ("driver=postgras\nrows=1\n", "load", 3, "did you mean 'postgres'?"),
        ("driver=postgres\nlibrary=/nowhere/libpq.so.5\nrows=1\n", "load", 3, "/nowhere/libpq.so.5"),
        ("driver=postgres\nlibrary=libm.so.6\nrows=1\n", "load", 3, "PQconnectdbParams"),
    ],
)
def test_what_is_missing_is_named(run, spec, verb, code, words):
    outcome = run(spec, verb)
    assert outcome.code == code
    assert words in outcome.stderr
    assert code < 3 or not outcome.of("error") or words in outcome.one("error")["message"]


def test_tables_go_through_all_combinations_of_the_values_of_tags(run):
    spec = {"driver": "null", "tables": 13, "tags": "groupid:int,tag_0:binary(20),tag_1:nchar(20)"}
    told = run(spec | {"tag_groups": "tag_0:2,tag_1:3", "tag_prefix": "value_"}, "names").one("names")["tags"]
    pairs = list(zip(told["tag_0"], told["tag_1"], strict=True))
    assert pairs[:7] == [*((f"value_{a}", f"value_{b}") for a in range(2) for b in range(3)), ("value_0", "value_0")]
    assert len(set(pairs)) == 6
    assert told["groupid"] == run(spec, "names").one("names")["tags"]["groupid"]


def test_tags_of_a_table_are_literals(run, tmp_path):
    tags = "groupid:int,location:binary(24),f:float,on:bool,j:json"
    spec = {"driver": "null", "tables": 40, "threads": 2, "tags": tags, "dump": tmp_path / "tags"}
    assert run(spec, "tables").one("tables")["created"] == 40
    files = (tmp_path / f"tags.{worker}" for worker in range(2))
    rows = [line.split(",", 5) for file in files for line in file.read_text().splitlines()]
    assert [int(r[0]) for r in rows] == list(range(40))
    assert {int(r[1]) for r in rows} <= set(range(1, 11))
    assert all(r[2].startswith("'") and len(r[2]) <= 26 for r in rows)
    assert {r[4] for r in rows} == {"true", "false"}
    assert rows[0][5].startswith("'{")


def test_version_help_and_drivers(program: Path):
    def out(*arguments: str) -> str:
        return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout

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
    probe = build("door_probe.c", "drivers/registry.c", "drivers/fault.c")
    done = subprocess.run([probe], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_a_method_without_its_form_does_not_compile(tmp_path: Path):
    """The flags of CMakeLists.txt that a missing member of a row fails by; the whole row compiles."""
    source = tmp_path / "methods.c"
    command = [need("cc"), "-std=c11", "-Wall", "-Wextra", "-Werror", "-c", source, "-o", tmp_path / "methods.o"]
    head = f'#include "{LOADGEN / "drivers" / "driver.h"}"\nextern const struct driver_method methods[];\n'
    for row, compiles in (('{"x", 0, NULL}', True), ('{"x", 0}', False)):
        source.write_text(f"{head}const struct driver_method methods[] = {{{row}, {{NULL, 0, NULL}}}};\n")
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
