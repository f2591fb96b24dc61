"""MariaDB as a real process: rows by each method, reads that are checked, a kill, bad settings."""

import json
import os
import signal
import subprocess
import threading
from dataclasses import replace

import pytest

from tests.integration.real_server import real_server, required
from tests.integration.short_trial import one_row_of_each_time_is_kept, short_trial
from tests.integration.test_data_sets_on_databases import copies_answer_rightly
from tests.unit.trial_orders import artifact_of, here, result_of, trial_order

COLUMNS = "f:float,d:double,b:bool,s:smallint,i:int,u:uint,l:bigint,v:ubigint,t:binary(12),n:nchar(5),x:varbinary(6)"


@pytest.fixture(scope="module")
def target():
    return required("mariadb")


@pytest.mark.parametrize("method", ["load-data", "insert"])
def test_rows_of_every_type_are_stored_as_they_were_sent(target, folder, method):
    more = {"workload__columns": COLUMNS, "workload__null_ratio": "20%", "load__method": method}
    settings = short_trial(
        target, folder, rows=60_000, workload__rows_per_request="1000", target__settings="loading", **more
    )
    assert settings["acknowledged"] == "in the log, not yet on disk"
    assert settings["innodb_flush_log_at_trx_commit"] == "2" and settings["partitions"] == "4"


def test_one_row_of_each_time_is_kept(target, folder):
    one_row_of_each_time_is_kept("mariadb", folder, 20_000)


def test_a_copy_of_its_files_answers_rightly(target, folder):
    copies_answer_rightly("mariadb", folder, 30_000, {})


def test_rows_survive_a_kill_and_a_server_that_stands_still_is_waited_for_a_while(target, tmp_path):
    """With the vendor's setting, by which a request is on disk when it is acknowledged."""
    with real_server(target, tmp_path, "made-for-this-test", target__settings="defaults") as server:
        root = ("--user=root",) if os.geteuid() == 0 else ()
        (setup,) = server.spec.setup
        subprocess.run([*setup[:-1], setup[-1] + " " + " ".join(root)], check=True, capture_output=True, timeout=120)
        server.spec = replace(server.spec, argv=(*server.spec.argv, *root))
        session = server.start()
        session.create_schema()
        assert server.load(session, rows=100_000).returncode == 0
        assert (session.count().rows, session.count().gaps) == (100_000, ())
        server.end(signal.SIGKILL)
        session = server.start()
        assert (session.count().rows, session.count().gaps) == (100_000, ())
        at = server.trial.work.data.start_ms + 86_400_000
        assert server.load(session, rows=1, tables=1, threads=1, start_ms=at).returncode == 0
        session.flush()
        assert "are missing in" in session.count().gaps[0]
        assert target.suspicious(server.log()) == ()
        threading.Timer(1.0, server.process.send_signal, (signal.SIGSTOP,)).start()
        late = server.load(session, rows=100_000_000, request_timeout_s=1)
        summary = json.loads(late.stdout.splitlines()[-1])
        assert summary["rows_unanswered"] > 0 and '"code":"deadline"' in late.stdout.replace(" ", ""), late.stdout[
            -600:
        ]
        server.end(signal.SIGKILL)


def test_the_secret_is_in_no_result(target, folder, monkeypatch):
    monkeypatch.setattr("scale_sweep.measure.trial.provision._secret", lambda is_ours: "made-for-this-test")
    order = trial_order(folder, "mariadb", load__warmup="0s")
    events = here(order)
    assert result_of(events).measurement is not None
    assert "made-for-this-test" not in repr(events)
    assert json.loads(artifact_of(events, "facts.json"))["mismatches"] == []


def test_a_variable_that_it_does_not_know_is_refused_before_anything_starts(target, tmp_path):
    order = trial_order(tmp_path, "mariadb")
    unknown = replace(order.trial, knobs={**order.trial.knobs, "no_such_variable": "1"})
    (finding,) = target.check_installed(order.home, unknown)
    assert finding.blocking and "no-such-variable" in finding.sentence.replace("_", "-")
    assert target.check_installed(order.home, order.trial) == ()
