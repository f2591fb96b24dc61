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
from scale_sweep.taosbenchmark.job import ScaleOptions
from scale_sweep.taosbenchmark.run import read_given, read_job

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


def transcript(command: str) -> str:
    words = shlex.split(command)[2:]
    ours = ScaleOptions(own_values="--own-values" in words)
    try:
        job = read_job(*read_given([w for w in words if w != "--own-values"]), ours, {}, NOW)
    except UsageError as error:
        return f"exit {error.exit_code}\n{error.message}\n"
    lines = [f"note: {note}" for note in job.notes]
    lines.append(f"to {job.host}:{job.port} as {job.user}, lines to {job.result_file}, ask {job.ask}")
    for database in job.databases:
        lines += [spec.drop_database(database)] if database.drop else []
        lines += [spec.create_database(database)] if database.create else []
        for table in database.tables:
            if table.normal:
                lines += list(spec.create_normal_tables(database, table))[:2]
            elif not table.schemaless and database.create:
                lines.append(spec.create_supertable(database, table))
            lines += [f"  {key}={value}" for key, value in spec.load_spec(job, ours, database, table, VGROUPS).items()]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda p: p.stem)
def test_transcript(path):
    command = path.read_text(encoding="utf-8").partition("\n")[0]
    assert command.startswith("$ scale load")
    found = transcript(command.removeprefix("$ "))
    if os.environ.get("SCALE_RECORD"):
        path.write_text(f"{command}\n{found}", encoding="utf-8")
    assert found == path.read_text(encoding="utf-8").partition("\n")[2]


def test_the_password_is_in_no_words_about_the_job():
    job = read_job(*read_given(["-p", "hunter2", "-y"]), ScaleOptions(), {}, NOW)
    assert job.password == "hunter2"
    database = job.databases[0]
    assert "hunter2" not in f"{job!r} {spec.load_spec(job, ScaleOptions(), database, database.tables[0], 1)}"


@pytest.mark.parametrize(
    ("arguments", "environment", "password"),
    [
        (["-phunter2"], {}, "hunter2"),
        (["-p", "hunter2"], {"SCALE_PASSWORD": "other"}, "hunter2"),
        (["--password=hunter2"], {}, "hunter2"),
        ([], {"SCALE_PASSWORD": "other"}, "other"),
        ([], {}, "taosdata"),
    ],
)
def test_where_the_password_comes_from(arguments, environment, password):
    assert read_job(*read_given(arguments), ScaleOptions(), environment, NOW).password == password
