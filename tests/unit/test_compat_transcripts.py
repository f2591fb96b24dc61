"""Options and JSON files as users write them → the SQL and the spec that the load generator gets, or the refusal.

Each transcript is a file: `$ scale load ...`, then what comes of it. SCALE_RECORD=1 writes them anew; read the diff.
"""

import os
import shlex
import time
from datetime import datetime
from pathlib import Path

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.taosbenchmark import spec
from scale_sweep.taosbenchmark.command import read_given, read_job
from scale_sweep.taosbenchmark.job import Job, QueryJob, ScaleOptions, SubscribeJob
from scale_sweep.taosbenchmark.spec import create_statements, follow_spec, specified_loads, subtable_load

FOLDER = Path(__file__).parent / "transcripts"
NOW = datetime(2026, 1, 2, 3, 4, 5)
VGROUPS = 2


@pytest.fixture(autouse=True)
def utc_and_folder(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.chdir(FOLDER)
    yield
    monkeypatch.undo()
    time.tzset()


def transcript(words, environment):
    ours = ScaleOptions(own_values="--own-values" in words, row_times="--row-times" in words)
    given = read_given([w for w in words if w not in ("--own-values", "--row-times")])
    try:
        job = read_job(*given, ours, environment, NOW)
    except UsageError as error:
        return f"exit {error.exit_code}\n{error.message}\n", None
    lines = {QueryJob: queries, SubscribeJob: subscriptions, Job: insertions}[type(job)](job, ours)
    return "\n".join([*(f"note: {note}" for note in job.notes), *lines]) + "\n", job


def written(load):
    return [f"  {key}={value}" for key, value in load.items()]


def insertions(job, ours):
    yield f"to {job.host}:{job.port} as {job.user}, lines to {job.result_file}, ask {job.ask}"
    for database in job.databases:
        yield from [spec.drop_database(database)] if database.drop else []
        yield from [spec.create_database(database)] if database.create else []
        for table in database.tables:
            if table.normal:
                yield from list(spec.create_normal_tables(database, table))[:2]
            elif not table.schemaless and database.create:
                yield spec.create_supertable(database, table)
            yield from (
                written(spec.load_spec(job, ours, database, table, VGROUPS)) if table.is_loaded else ["  no rows"]
            )


def queries(job, ours):
    loads = specified_loads(job, ours, job.specified) if job.specified else []
    loads = [*loads, *([subtable_load(job, ours, job.of_subtables, ["s1", "S2"])] if job.of_subtables else [])]
    for load in loads:
        yield f"items {', '.join(load.items)}"
        yield from written(load.spec)


def subscriptions(job, ours):
    for following in job.followings:
        yield from create_statements(following)
        yield from written(follow_spec(job, ours, following))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda p: p.stem)
def test_transcript(path):
    command = path.read_text(encoding="utf-8").partition("\n")[0]
    words = shlex.split(command)
    assert words[:3] == ["$", "scale", "load"]
    found, _ = transcript(words[3:], {})
    if os.environ.get("SCALE_RECORD"):
        path.write_text(f"{command}\n{found}", encoding="utf-8")
    assert found == path.read_text(encoding="utf-8").partition("\n")[2]


@pytest.mark.parametrize(
    ("words", "environment", "password"),
    [
        ("-phunter2", {}, "hunter2"),
        ("-p hunter2", {"SCALE_PASSWORD": "other"}, "hunter2"),
        ("--password=hunter2", {}, "hunter2"),
        ("", {"SCALE_PASSWORD": "other"}, "other"),
        ("", {}, "taosdata"),
        ("-f query.json", {"SCALE_PASSWORD": "hunter2"}, "hunter2"),
        ("-f subscribe.json", {"SCALE_PASSWORD": "hunter2"}, "hunter2"),
    ],
)
def test_where_the_password_comes_from_and_that_no_words_have_it(words, environment, password):
    found, job = transcript(words.split(), environment)
    assert job.password == password and password not in found + repr(job)
