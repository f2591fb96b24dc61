"""IoTDB as two real processes: the contract of databases of series, and what it does with bad settings.

It takes about 20 CPU seconds for each start: one short trial runs everywhere, the others with SCALE_SLOW_TESTS=1.
"""

import json
import os
import shutil
from dataclasses import replace

import psutil
import pytest

from runner.model import VerdictKind
from tests.integration.by_hand import by_hand
from tests.integration.cli import run
from tests.integration.database_contract import *  # noqa: F403
from tests.integration.leftovers import ours_running
from tests.integration.real_server import real_server, required, with_rows
from tests.integration.short_trial import short_trial
from tests.integration.test_disk_sweep import traces
from tests.unit.trial_orders import artifact_of, here, result_of, trial_order

skipped = by_hand("20 CPU seconds for each start", but=("test_a_short_trial_counts_what_was_acknowledged",))


@pytest.fixture(scope="module")
def target():
    return required("iotdb")


@pytest.fixture
def small_disk():
    return 220, 2_000_000


@pytest.fixture
def rows():
    return 300_000, 100_000


@pytest.fixture
def write_late():
    def write(server, session):
        session._rows(session.insertion("root.scale.d0", server.trial.work.data.start_ms + 86_400_000))

    return write


def test_a_setting_that_it_cannot_use_ends_the_trial_in_its_words(target, folder):
    order = trial_order(folder, "iotdb")
    wrong = replace(order.trial, knobs={**order.trial.knobs, "wal_mode": "SOMETIMES"})
    result = result_of(here(replace(order, trial=wrong)))
    assert result.verdict.kind is VerdictKind.ABORTED
    assert "SOMETIMES" in result.verdict.reasons[0] + result.log_tail


def test_one_node_that_is_killed_takes_the_other_along(target, tmp_path):
    with real_server(target, tmp_path) as server:
        server.start()
        assert server.process is not None
        nodes = [node for node in psutil.Process(server.process.pid).children() if node.name() == "java"]
        assert len(nodes) == 2
        nodes[0].kill()
        server.process.wait(60)
    assert ours_running(tmp_path) == []


def test_its_write_ahead_log_can_be_on_disk_before_each_answer(target, folder):
    order = trial_order(folder, "iotdb", load__warmup="0s", load__method="tablets")
    knobs = {**order.trial.knobs, "wal_mode": "SYNC", "aligned": "false"}
    events = here(with_rows(replace(order, trial=replace(order.trial, knobs=knobs)), 20_000))
    result = result_of(events)
    assert result.measurement is not None, result.verdict
    assert result.measurement.rows_counted == result.measurement.rows_acked == 20_000, result.verdict
    assert json.loads(artifact_of(events, "facts.json"))["mismatches"] == []
    assert (result.effective["wal_mode"], result.effective["aligned"]) == ("SYNC", "false")
    assert result.effective["acknowledged"].startswith("on disk")


def test_a_short_trial_counts_what_was_acknowledged(target, folder):
    short_trial(target, folder, 5_000)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("fio"), reason="needs root and fio")
def test_two_disks_take_nearly_twice_as_much(target, folder, tmp_path):
    before = traces()
    work = ("--columns", "d:double,n:bigint,s:binary(400)", "--text", "random", "--rows-per-request", "500")
    disks = ("--disks", "1,2", "--loop", "1GiB", "--cap", "6MiB/s", "--data-dir", str(folder))
    quick = ("--tables", "24", "--replicates", "1", "--quick", "--connections-check", "off", "--drift-check", "off")
    server = ("--target", "iotdb", "--runtime", "process", "--results", "r")
    done = run("sweep", "disk", *server, *work, *disks, *quick, "-y", "--json", cwd=tmp_path, timeout_s=300)
    assert done.returncode == 0, done.stderr
    trials = sorted(json.loads(done.stdout)["trials"], key=lambda t: t["trial"]["resources"]["disks"])
    rates = [t["measurement"]["durable_rows_per_s"] for t in trials]
    assert rates[1] > 1.4 * rates[0], rates
    for count, trial in enumerate(trials, 1):
        m = trial["measurement"]
        assert m["rows_counted"] == m["rows_acked"] > 1000
        assert [disk["share_percent"] for disk in m["disks"].values()] == [pytest.approx(100 / count, abs=10)] * count
    assert traces() <= before
