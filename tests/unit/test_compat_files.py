"""`scale load`: files of rows and tags, shared tables and made tables, as the insert file says them; what is refused."""

from __future__ import annotations

import json
import os
from datetime import datetime

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.taosbenchmark.job import ScaleOptions
from scale_sweep.taosbenchmark.run import read_given, read_job
from scale_sweep.taosbenchmark.spec import load_spec

OWN = ScaleOptions()


@pytest.fixture
def read(tmp_path, monkeypatch):
    """The first super table of a file with these keys, and the whole job."""
    monkeypatch.chdir(tmp_path)

    def read(precision: str = "ms", prepared: int = 10_000, **keys: object):
        table = {"name": "s", "childtable_count": 10, "childtable_prefix": "x", "insert_rows": 5}
        table |= {"columns": [{"type": "TINYINT"}, {"type": "NCHAR", "len": 2}], "tags": [{"type": "INT"}]}
        info = {"name": "db", "drop": "no", "precision": precision}
        content = {"filetype": "insert", "databases": [{"dbinfo": info, "super_tables": [table | keys]}]}
        (tmp_path / "insert.json").write_text(json.dumps(content | {"prepared_rand": prepared}))
        job = read_job(*read_given(["-f", "insert.json"]), OWN, {}, datetime(2026, 1, 1))
        return job.databases[0].tables[0], job

    return read


def refusal(read, **keys: object) -> str:
    with pytest.raises(UsageError) as refused:
        read(**keys)
    (line,) = refused.value.message.splitlines()[1:]
    return line.strip().removeprefix("databases[0].super_tables[0].")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("128,a\n", "rows.csv: line 1: c0: '128' is not TINYINT"),
        ("1,a\n1.5,a\n", "rows.csv: line 2: c0: '1.5' is not TINYINT"),
        ("1,abc\n", "rows.csv: line 1: c1: 'abc' is not NCHAR(2)"),
        ("1\n", "rows.csv: line 1 has 1 values for 2 columns"),
        ("1,a,b\n", "rows.csv: line 1 has 3 values for 2 columns"),
        ("1,'a\n", 'rows.csv: line 1: "\'a" has a quote that does not end a value'),
        ("1,a\x07\n", "rows.csv: line 1 has a control character"),
        ("\n\n", "rows.csv: has no row"),
        ("1,\udcff\n", "rows.csv: is no UTF-8 text: line 1"),
    ],
)
def test_a_row_that_does_not_fit_is_one_line_with_its_number(read, tmp_path, text, words):
    (tmp_path / "rows.csv").write_bytes(text.encode(errors="surrogateescape"))
    assert refusal(read, data_source="sample", sample_file="rows.csv") == f"sample_file: {words}"


def test_a_row_has_a_time_if_the_file_has_the_times(read, tmp_path):
    (tmp_path / "rows.csv").write_text("2026-01-01 00:00:00.25,1,a\nNULL,1,a\n")
    keys = {"data_source": "sample", "sample_file": "rows.csv", "use_sample_ts": "yes"}
    assert refusal(read, **keys) == "sample_file: rows.csv: line 2: a row has a time"
    (tmp_path / "rows.csv").write_text("'2026-01-01 00:00:00.25',1,a\n7,NULL,NULL\n")
    table, job = read(precision="us", **keys)
    first = int.from_bytes(table.sample.content[:8], "little")
    assert first == round(datetime(2026, 1, 1).timestamp() * 1e6) + 250_000
    assert table.rows_each == 2
    assert any("insert_rows has no effect" in note for note in job.notes)


@pytest.mark.parametrize("key", ["sample_file", "tags_file"])
def test_only_regular_files_of_a_size_that_can_be_held(read, tmp_path, key):
    keys = {"data_source": "sample"} if key == "sample_file" else {}
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", 2**40)
    for name, words in {
        "pipe": "pipe: is not a regular file",
        "large": "large: has more than 268,435,456 bytes",
        ".": ".: is a directory, not a file",
        "/dev/zero": "/dev/zero: is a device, not a file",
        "none": "none: No such file or directory",
    }.items():
        assert refusal(read, **keys, **{key: name}) == f"{key}: {words}"


def test_a_source_without_its_file_is_refused_and_a_file_without_its_source_is_named(read, tmp_path):
    assert refusal(read, data_source="sample") == "sample_file: is needed: data_source is sample"
    _, job = read(sample_file="none", use_sample_ts="yes", child_table_exists="yes", tags_file="none")
    for key in ("sample_file", "use_sample_ts", "tags_file"):
        assert any(key in note and "no effect" in note for note in job.notes), key


def test_rows_beyond_the_prepared_ones_are_named(read, tmp_path):
    (tmp_path / "rows.csv").write_text("1,a\n" * 9)
    table, job = read(prepared=4, data_source="sample", sample_file="rows.csv")
    assert (table.sample.rows, table.sample.period, table.sample.lines) == (4, 4, 9)
    assert any("the first 4 of 9 rows repeat" in note for note in job.notes)


@pytest.mark.parametrize(
    ("keys", "tables"),
    [
        ({"childtable_limit": 4, "childtable_offset": 3}, (3, 4)),
        ({"childtable_limit": 4, "childtable_offset": 8}, (8, 2)),
        ({"childtable_limit": -1, "childtable_offset": 3}, (0, 10)),
        ({"childtable_from": 2, "childtable_to": 5}, (2, 3)),
    ],
)
def test_a_process_has_its_share_of_the_tables(read, keys, tables):
    table, job = read(child_table_exists="yes", **keys)
    assert (table.first, table.tables) == tables
    spec = load_spec(job, OWN, job.databases[0], table, 4)
    assert (spec.get("first_table", "0"), spec["tables"]) == tuple(map(str, tables))


def test_a_share_that_is_none_is_refused(read):
    keys = {"child_table_exists": "yes"}
    assert refusal(read, **keys, childtable_limit=1, childtable_offset=10).startswith(
        "childtable_offset: 10: there are 10"
    )
    assert refusal(read, **keys, childtable_limit="x").startswith("childtable_limit: should be -1")
    assert refusal(read, childtable_from=4).startswith("childtable_to: 0: more than childtable_from")
    assert refusal(read, childtable_to=11).startswith("childtable_to: 11: ")


def test_insertions_make_the_tables_of_one_statement(read):
    table, job = read(auto_create_table="yes", insert_mode="stmt")
    assert load_spec(job, OWN, job.databases[0], table, 1)["auto_create"] == "1"
    words = refusal(read, auto_create_table="yes", insert_mode="stmt", interlace_rows=2)
    assert words.startswith("auto_create_table: with insert_mode stmt")
