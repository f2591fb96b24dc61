"""`scale load`: files of rows and tags, shared tables and made tables, as the insert file says them; what is refused."""

import json
import os
from datetime import datetime

import pytest

from scale_sweep.taosbenchmark.command import read_given, read_job
from scale_sweep.taosbenchmark.job import ScaleOptions
from scale_sweep.taosbenchmark.run_inserts import settings_lines
from tests.unit.null_load import refused_line

NOW = datetime(2026, 1, 1)


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
        job = read_job(*read_given(["-f", "insert.json"]), ScaleOptions(), {}, NOW)
        return job.databases[0].tables[0], job

    return read


def refusal(read, **keys: object) -> str:
    return refused_line(read, **keys).removeprefix("databases[0].super_tables[0].")


def test_a_row_that_does_not_fit_is_one_line_with_its_number(read, tmp_path, wording):
    for row in ("128,a", "1,a\n1.5,a", "1,abc", "1", "1,a,b", "1,'a", "1,a\x07", "\n", "1,\udcff"):
        (tmp_path / "rows.csv").write_bytes(f"{row}\n".encode(errors="surrogateescape"))
        wording(refusal(read, data_source="sample", sample_file="rows.csv"))


def test_a_row_has_a_time_if_the_file_has_the_times(read, tmp_path):
    (tmp_path / "rows.csv").write_text("2026-01-01 00:00:00.25,1,a\nNULL,1,a\n")
    keys = {"data_source": "sample", "sample_file": "rows.csv", "use_sample_ts": "yes"}
    assert "line 2" in refusal(read, **keys)
    (tmp_path / "rows.csv").write_text("'2026-01-01 00:00:00.25',1,a\n7,NULL,NULL\n")
    table, job = read(precision="us", **keys)
    first = int.from_bytes(table.sample.content[:8], "little")
    assert first == round(datetime(2026, 1, 1).timestamp() * 1e6) + 250_000
    assert table.rows_each == 2
    assert any("insert_rows" in note for note in job.notes)


@pytest.mark.parametrize("key", ["sample_file", "tags_file"])
def test_only_regular_files_of_a_size_that_can_be_held(read, tmp_path, key, wording):
    keys = {"data_source": "sample"} if key == "sample_file" else {}
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", 2**40)
    wording(*(refusal(read, **keys, **{key: name}) for name in ("pipe", "large", ".", "/dev/zero", "none")))


def test_start_fillback_time_is_refused_only_where_taosbenchmark_reads_it(read):
    keys = {"start_timestamp": "now", "interlace_rows": 2, "start_fillback_time": "2026-01-01 00:00:00"}
    assert "start_fillback_time" in refusal(read, **keys)
    assert "start_fillback_time" in refusal(read, **keys | {"start_fillback_time": "auto", "child_table_exists": "yes"})
    for change in ({"interlace_rows": 0}, {"start_timestamp": 1000}, {"start_fillback_time": "auto"}):
        assert any("start_fillback_time has no effect" in note for note in read(**keys | change)[1].notes)


def test_a_thread_has_vgroups_of_its_own_by_placement(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = {"filetype": "insert", "thread_bind_vgroup": "yes", "databases": [{"dbinfo": {"name": "db"}}]}
    (tmp_path / "insert.json").write_text(json.dumps(content))
    given = read_given(["-f", "insert.json"])
    (note, _) = read_job(*given, ScaleOptions(placement="owned"), {}, NOW).notes[::-1]
    assert note.startswith("thread_bind_vgroup has no effect: with --placement owned")
    assert "--placement owned" in refused_line(read_job, *read_given(["-f", "insert.json"]), ScaleOptions(), {}, NOW)


def test_the_settings_name_the_tables_that_are_loaded(read):
    _, job = read(child_table_exists="yes", childtable_limit=5, childtable_offset=5)
    assert "s: 5 tables x5 to x9, 5 rows each" in settings_lines(job)[2]


def test_rows_beyond_the_prepared_ones_are_named(read, tmp_path, wording):
    (tmp_path / "rows.csv").write_text("1,a\n" * 9)
    table, job = read(prepared=4, data_source="sample", sample_file="rows.csv")
    assert (table.sample.rows, table.sample.period, table.sample.lines) == (4, 4, 9)
    wording(*(note for note in job.notes if "rows repeat" in note))
