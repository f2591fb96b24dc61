"""CrateDB as a real process: the contract that databases share, rows of every type, disks, and
what it does with bad settings. No registry of packages has the server, so this runs where SCALE_CRATEDB_HOME names
one."""

import shutil
import tempfile
from pathlib import Path

import pytest

from scale_sweep.model import VerdictKind
from tests.integration.database_contract import *  # noqa: F403
from tests.integration.real_server import from_elsewhere, real_server
from tests.integration.short_trial import short_trial
from tests.integration.test_data_sets_on_databases import copies_answer_rightly
from tests.unit.trial_orders import here, result_of, trial_order

TYPES = "b:bool,t:tinyint,s:smallint,l:bigint,ut:utinyint,us:usmallint,u:uint,x:binary(12),n:nchar(5),w:timestamp,f:float,d:double"


@pytest.fixture
def target(monkeypatch):
    return from_elsewhere("cratedb", "SCALE_CRATEDB_HOME", monkeypatch)


@pytest.fixture
def rows():
    return 200_000, 100_000


@pytest.fixture
def small_disk():
    return 64, 3_000_000


@pytest.fixture
def tmp_path():
    """Open to the user that the server runs as, because it does not run as root."""
    path = Path(tempfile.mkdtemp(prefix="scale-test-cratedb-", dir="/var/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def write_late():
    def late(server, session):
        at = server.trial.work.data.start_ms + 86_400_000
        assert server.load(session, rows=1, tables=1, threads=1, start_ms=at).returncode == 0

    return late


def test_rows_of_every_type_are_stored_as_they_were_sent(target, folder):
    more = {"workload__columns": TYPES, "workload__rows_per_request": "1000", "workload__values": "random"}
    said = short_trial(target, folder, rows=50_000, workload__null_ratio="0.2", **more)
    assert said["acknowledged"] == "on disk (log fsynced)"
    assert (said["jvm_processors"], said["table.translog.durability"]) == ("1", "REQUEST")


def test_a_copy_of_its_files_answers_rightly(target, folder):
    copies_answer_rightly("cratedb", folder, 30_000, {}, duration="20s")


def test_its_settings_are_read_back(target, folder):
    named = ["table.translog.durability=ASYNC", "table.refresh_interval=5s", "table.codec=best_compression"]
    flags = {"knobs__other": [*named, "stats.enabled=false"]}
    said = short_trial(target, folder, rows=1000, **flags)
    assert said["acknowledged"] == "in the log, not yet on disk"
    assert (said["table.refresh_interval"], said["stats.enabled"]) == ("5s", "false")


def test_a_setting_that_it_does_not_know_ends_the_trial_in_its_words(target, folder):
    for name in ("no_such.setting", "table.no_such"):
        order = trial_order(folder, "cratedb", knobs__other=[f"{name}=1"])
        result = result_of(here(order))
        assert result.verdict.kind is VerdictKind.ABORTED
        assert "no_such" in result.log_tail + " ".join(result.verdict.reasons)


def test_shards_are_spread_over_the_disks(target, tmp_path):
    disks = tuple(str(tmp_path / f"d{i}") for i in range(2))
    for disk in disks:
        Path(disk).mkdir()
    with real_server(target, tmp_path, disks=disks, knobs__partitions="6") as server:
        session = server.start()
        session.create_schema()
        assert session.schema_pending() == ""
        parts = session.parts()
        assert [sum(part.path.startswith(disk) for part in parts) for disk in disks] == [3, 3]
        assert server.load(session, rows=10_000).returncode == 0
        assert (session.count().rows, session.count().gaps) == (10_000, ())


def test_a_request_that_fails_is_an_error_and_its_stored_part_no_wrong_count(target, tmp_path):
    """A statement is no transaction: CrateDB stores the rows of the request that it can."""
    with real_server(target, tmp_path) as server:
        session = server.start()
        session.create_schema()
        columns = "current REAL, voltage INTEGER, phase REAL"
        session._rows("DROP TABLE measurement")
        session._rows(
            f"CREATE TABLE measurement (device_id INTEGER, time TIMESTAMP WITH TIME ZONE, {columns},"
            " CONSTRAINT few CHECK (device_id < 5)) CLUSTERED INTO 2 SHARDS WITH (number_of_replicas = 0)"
        )
        for method, words in (("unnest", "inserted"), ("bulk", "Failed CONSTRAINT few")):
            loaded = server.load(session, rows=1000, tables=10, rows_per_request=1000, method=method)
            assert loaded.returncode == 6 and words in loaded.stdout
        counted = session.count()
        assert 0 < counted.rows < 2000 and counted.has_parts
