"""What every database that is loaded with lines must do, on its real server. A module of each database takes these in.

A module has the fixtures `target` and `small_disk`: megabytes that its server starts in, and rows that fill them; and
`rows` where its server is slow, `knobs` where it needs any, `write_late` where it takes no HTTP, `secret` where it needs one. It says what
its server does with a setting that it does not know.
"""

from __future__ import annotations

import json
import signal
import urllib.request

import pytest

from scale_sweep.model import PhaseEntered, VerdictKind
from tests.integration.leftovers import ours_running
from tests.integration.real_server import listeners, on_small_disk, real_server, with_rows
from tests.integration.unprivileged import watched
from tests.needs import needs
from tests.unit.reading_trials import WRONG
from tests.unit.trial_orders import artifact_of, here, result_of, trial_order

COLUMNS = "f:float,d:double,b:bool,s:smallint,i:int,u:uint"


@pytest.fixture
def rows():
    """Rows that are loaded, counted and kept through a kill; and rows of a trial."""
    return 1_000_000, 200_000


@pytest.fixture
def knobs():
    """NAME=VALUE of each."""
    return []


def test_a_trial_counts_what_was_acknowledged_by_each_method(target, folder, rows, knobs):
    for method in target.facts.methods:
        flags = {"workload__columns": COLUMNS, "workload__rows_per_request": "1000", "load__method": method}
        flags |= {"knobs__other": knobs, "workload__step_ms": "1000"}  # lines of `put` have times in seconds
        order = trial_order(folder, target.facts.name, load__warmup="0s", **flags)  # so few rows end within a warm-up
        events = watched(with_rows(order, rows[1]))
        result = result_of(events)
        facts = json.loads(artifact_of(events, "facts.json"))
        assert result.measurement is not None, result.verdict
        m, is_answered = result.measurement, method not in target.facts.unanswered
        assert (m.rows_acked, m.rows_sent) == ((rows[1], None) if is_answered else (None, rows[1])), result.verdict
        assert m.rows_counted == rows[1], result.verdict
        assert (m.response_ms_max is not None) is is_answered
        assert result.verdict.kind not in WRONG, result
        assert (facts["mismatches"], facts["suspicious"], facts["counted"]["gaps"]) == ([], [], [])
        assert result.measurement.durable_rows_per_s
        assert result.effective["server_version"]


@pytest.fixture
def write_late():
    """write_late(server, session): a row of the first device, long after its others."""
    return lambda server, session: write(server, session, late_row(server.trial, session))


@pytest.fixture
def secret():
    """The trial's own, for a database that refuses a load without one."""
    return ""


def test_rows_are_counted_and_survive_a_kill(target, tmp_path, rows, write_late, secret, knobs):
    with real_server(target, tmp_path, secret, knobs__other=knobs) as server:
        session = server.start()
        assert server.process is not None
        assert {address.rpartition(":")[0] for address in listeners(server.process.pid)} == {"127.0.0.1"}
        session.create_schema()
        assert_none_missing(session.count(), 0)
        loaded = server.load(session, rows=rows[0])
        assert loaded.returncode == 0, loaded.stderr
        assert_none_missing(session.count(), rows[0])
        before = session.commit_cycles()
        session.flush()
        assert session.commit_cycles() >= before >= 0
        server.end(signal.SIGKILL)
        session = server.start()
        assert_none_missing(session.count(), rows[0])
        write_late(server, session)
        session.flush()
        found = session.count()
        assert found.rows == rows[0] + 1
        assert found.gaps and "are missing in" in found.gaps[0]
        server.end()
        assert target.suspicious(server.log()) == ()
    assert ours_running(tmp_path) == []


@needs("root")
def test_a_disk_that_fills_is_no_valid_number(target, folder, small_disk, knobs):
    columns = ",".join(f"d{i}:double" for i in range(10))
    for disk in on_small_disk(folder / "disk", small_disk[0]):
        more = {"workload__values": "random", "workload__columns": columns, "knobs__other": knobs}
        order = trial_order(disk, target.facts.name, **more)
        events = here(with_rows(order, rows=small_disk[1]))
        assert "schema" in [event.phase for event in events if isinstance(event, PhaseEntered)], result_of(events)
        result = result_of(events)
        assert result.verdict.kind in (VerdictKind.ABORTED, VerdictKind.ERRORS, VerdictKind.LOST_ROWS), result
        assert ours_running(disk) == []


def assert_none_missing(counted, rows):
    """Whether the database keeps one row for each time is its own affair."""
    assert (counted.rows, counted.gaps) == (rows, ())


def late_row(trial, session):
    """A row of the first device, long after its others, in the words of the load generator's driver."""
    spec = session.load_spec()
    at = trial.work.data.start_ms + 86_400_000
    columns = [column.partition(":") for column in trial.work.data.columns]
    if spec["driver"] == "points":
        return json.dumps(
            [
                {"name": f"{spec['table']}_{name}", "tags": {"device": "d0"}, "datapoints": [[at, 1]]}
                for name, _, _ in columns
            ]
        )
    table = spec["table"] + ("_p0" if spec.get("parted") else "")
    fields = ",".join(f"{name}=1" + ("i" if "int" in kind else "") for name, _, kind in columns)
    return f"{table},device=d0 {fields} {at}\n"


def write(server, session, text):
    """By the way that the load generator takes."""
    spec = session.load_spec()
    url = f"http://127.0.0.1:{server.address.port}{spec['write_path']}"
    headers = {"Authorization": f"{spec['auth_scheme']} {server.address.secret}"} if "auth_scheme" in spec else {}
    request = urllib.request.Request(url, data=text.encode(), headers=headers, method="POST")
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status in (200, 204)
