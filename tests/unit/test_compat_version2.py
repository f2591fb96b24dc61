"""Files for taosBenchmark 2: each old key becomes today's with a sentence, is told to have none, or is refused."""

import json

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.taosbenchmark.job import ScaleOptions
from scale_sweep.taosbenchmark.run import read_given, read_job
from tests.unit.test_compat_options import NOW

TABLE = {"name": "stb", "childtable_count": 4, "childtable_prefix": "s", "insert_rows": 10}
TABLE |= {"columns": [{"type": "INT"}], "tags": [{"type": "INT"}]}


def job_of(tmp_path, info, **top):
    path = tmp_path / "insert.json"
    databases = [{"dbinfo": {"name": "db", **info}, "super_tables": [TABLE]}]
    path.write_text(json.dumps({"filetype": "insert", "host": "h", "databases": databases, **top}))
    return read_job(*read_given(["-f", str(path)]), ScaleOptions(), {}, NOW)


@pytest.mark.parametrize(
    ("old", "options", "said"),
    [
        ({"days": 10}, {"duration": "10"}, "dbinfo.days is of version 2: it is taken as duration 10"),
        ({"fsync": 0}, {"wal_fsync_period": "0"}, "taken as wal_fsync_period 0"),
        ({"walLevel": 2}, {"wal_level": "2"}, "dbinfo.walLevel is of version 2"),
        ({"WALLEVEL": 1}, {"wal_level": "1"}, "taken as wal_level 1"),
        ({"walLevel": 0}, {}, "0 is of version 2 and has no successor; wal_level keeps its default"),
        ({"cachelast": 0}, {"cachemodel": "'none'"}, "taken as cachemodel 'none'"),
        ({"cachelast": 3}, {"cachemodel": "'both'"}, "taken as cachemodel 'both'"),
        ({"cache": 16, "blocks": 8}, {"buffer": "128"}, "dbinfo.blocks are of version 2: they are taken as buffer 128"),
        ({"cache": 4}, {"buffer": "24"}, "dbinfo.cache is of version 2: it is taken as buffer 24"),
        ({"blocks": 3}, {"buffer": "48"}, "taken as buffer 48"),
        ({"cache": 1, "blocks": 1}, {"buffer": "3"}, "taken as buffer 3"),
        ({"quorum": 1}, {}, "dbinfo.quorum has no effect: TDengine 3 has no such option"),
        ({"update": 2}, {}, "dbinfo.update has no effect"),
    ],
    ids=str,
)
def test_an_old_key_is_mapped_or_named(tmp_path, old, options, said):
    job = job_of(tmp_path, old)
    assert dict(job.databases[0].options) == options
    assert any(said in note for note in job.notes), job.notes


def test_the_old_number_of_threads_that_create_tables(tmp_path):
    job = job_of(tmp_path, {}, thread_count_create_tbl=3)
    assert job.create_threads == 3
    assert "thread_count_create_tbl is of version 2: it is taken as create_table_thread_count" in job.notes


@pytest.mark.parametrize(
    ("info", "top", "name", "why"),
    [
        ({"days": 10, "duration": 3}, {}, "databases[0].dbinfo.days", "duration is in the file too"),
        ({"cache": 4, "buffer": 96}, {}, "databases[0].dbinfo.cache", "buffer is in the file too"),
        ({"cachelast": 4}, {}, "databases[0].dbinfo.cachelast", "not a whole number of 0..3"),
        ({"walLevel": "1"}, {}, "databases[0].dbinfo.walLevel", "not a whole number"),
        ({"cache": 0}, {}, "databases[0].dbinfo.cache", "not a whole number of 1.."),
        (
            {},
            {"thread_count_create_tbl": 2, "create_table_thread_count": 2},
            "thread_count_create_tbl",
            "create_table_thread_count is in the file too",
        ),
    ],
    ids=str,
)
def test_both_keys_or_a_bad_value_are_refused(tmp_path, info, top, name, why):
    with pytest.raises(UsageError) as caught:
        job_of(tmp_path, info, **top)
    assert caught.value.exit_code == 2
    (line,) = caught.value.message.splitlines()[1:]
    assert line.startswith(f"  {name}: ") and why in line
