"""ClickHouse as a real process: rows of every type, reads that are checked, a kill, copies of its files, bad settings.

The server is Debian's, of 2018. It lacks percentiles, INTERSECT, EXCEPT and async inserts;
test_clickhouse_engine.py asks a current engine for these.
"""

import json
import signal
from dataclasses import replace

import pytest

from scale_sweep.model import VerdictKind
from tests.integration.real_server import listeners, real_server, required
from tests.integration.short_trial import short_trial
from tests.integration.test_data_sets_on_databases import copies_answer_rightly
from tests.unit.trial_orders import artifact_of, here, result_of, trial_order

COLUMNS = "f:float,d:double,b:bool,s:smallint,i:int,u:uint,l:bigint,v:ubigint,t:binary(12),n:nchar(5),x:varbinary(6),w:timestamp"
SECRET = "made-for-this-test"


@pytest.fixture(scope="module")
def target():
    return required("clickhouse")


def test_rows_of_every_type_are_stored_as_they_were_sent(target, folder):
    settings = short_trial(target, folder, rows=200_000, workload__columns=COLUMNS, workload__rows_per_request="1000")
    assert settings["acknowledged"] == "in files, not yet on disk"
    assert (settings["max_threads"], settings["server_version"]) == ("1", "18.16.1")


def test_a_copy_of_its_files_answers_rightly(target, folder):
    copies_answer_rightly("clickhouse", folder, 30_000, {})


def test_rows_survive_a_kill(target, tmp_path):
    with real_server(target, tmp_path, SECRET) as server:
        session = server.start()
        assert {address.rpartition(":")[0] for address in listeners(server.process.pid)} == {"127.0.0.1"}
        session.create_schema()
        assert server.load(session, rows=300_000).returncode == 0
        assert (session.count().rows, session.count().gaps) == (300_000, ())
        session.flush()
        server.end(signal.SIGKILL)
        session = server.start()
        assert (session.count().rows, session.count().gaps) == (300_000, ())
        at = server.trial.work.data.start_ms + 86_400_000
        assert server.load(session, rows=1, tables=1, threads=1, start_ms=at).returncode == 0
        assert "are missing in" in session.count().gaps[0]
        server.end()
        assert target.suspicious(server.log()) == ()


def test_what_its_version_lacks_is_named_and_the_secret_is_in_no_result(target, folder, monkeypatch):
    monkeypatch.setattr("scale_sweep.measure.trial.provision._secret", lambda is_ours: SECRET)
    result = result_of(here(trial_order(folder, "clickhouse", load__method="async")))
    assert result.verdict.kind is VerdictKind.ABORTED and "no async inserts" in result.verdict.reasons[0]
    events = here(trial_order(folder, "clickhouse", load__warmup="0s"))
    assert result_of(events).measurement is not None and SECRET not in repr(events)
    assert json.loads(artifact_of(events, "facts.json"))["mismatches"] == []


def test_a_setting_that_it_does_not_know_ends_the_trial_in_its_words(target, folder):
    order = trial_order(folder, "clickhouse")
    unknown = replace(order, trial=replace(order.trial, knobs={**order.trial.knobs, "no_such_setting": "1"}))
    result = result_of(here(unknown))
    assert result.verdict.kind is VerdictKind.ABORTED and "no_such_setting" in result.log_tail
    (finding,) = target.check(replace(order.trial, knobs={**order.trial.knobs, "<evil>": "1"}), None)
    assert finding.blocking and finding.subject == "--knob <evil>"
