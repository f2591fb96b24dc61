"""Files for taosBenchmark 2: each old key becomes today's with a sentence, is told to have none, or is refused."""

import json

import pytest

from scale_sweep.taosbenchmark.job import ScaleOptions
from scale_sweep.taosbenchmark.run import read_given, read_job
from tests.unit.null_load import refused_line
from tests.unit.test_compat_options import NOW

TABLE = {"name": "stb", "childtable_count": 4, "childtable_prefix": "s", "insert_rows": 10}
TABLE |= {"columns": [{"type": "INT"}], "tags": [{"type": "INT"}]}


def job_of(tmp_path, info, **top):
    path = tmp_path / "insert.json"
    databases = [{"dbinfo": {"name": "db", **info}, "super_tables": [TABLE]}]
    path.write_text(json.dumps({"filetype": "insert", "host": "h", "databases": databases, **top}))
    return read_job(*read_given(["-f", str(path)]), ScaleOptions(), {}, NOW)


@pytest.mark.parametrize(
    ("old", "options"),
    [
        ({"days": 10}, {"duration": "10"}),
        ({"fsync": 0}, {"wal_fsync_period": "0"}),
        ({"walLevel": 2}, {"wal_level": "2"}),
        ({"WALLEVEL": 1}, {"wal_level": "1"}),
        ({"walLevel": 0}, {}),
        ({"cachelast": 0}, {"cachemodel": "'none'"}),
        ({"cachelast": 3}, {"cachemodel": "'both'"}),
        ({"cache": 16, "blocks": 8}, {"buffer": "128"}),
        ({"cache": 4}, {"buffer": "24"}),
        ({"blocks": 3}, {"buffer": "48"}),
        ({"cache": 1, "blocks": 1}, {"buffer": "3"}),
        ({"quorum": 1}, {}),
        ({"update": 2}, {}),
    ],
    ids=str,
)
def test_an_old_key_is_mapped_or_named(tmp_path, old, options):
    job = job_of(tmp_path, old)
    assert dict(job.databases[0].options) == options
    (note,) = job.notes
    wanted = [f"dbinfo.{key}" for key in old] + [f"taken as {key} {value}" for key, value in options.items()]
    assert all(words in note for words in wanted), note


def test_the_words_about_old_keys(tmp_path, wording):
    for old in ({"days": 10}, {"walLevel": 0}, {"cache": 16, "blocks": 8}, {"quorum": 1}):
        wording(*job_of(tmp_path, old).notes)
    job = job_of(tmp_path, {}, thread_count_create_tbl=3)
    assert job.create_threads == 3
    wording(*job.notes)


def test_both_keys_or_a_bad_value_are_refused(tmp_path, wording):
    for info in (
        {"days": 10, "duration": 3},
        {"cache": 4, "buffer": 96},
        {"cachelast": 4},
        {"walLevel": "1"},
        {"cache": 0},
    ):
        wording(refused_line(job_of, tmp_path, info))
    wording(refused_line(job_of, tmp_path, {}, thread_count_create_tbl=2, create_table_thread_count=2))
