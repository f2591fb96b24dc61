"""Prometheus as a real process that takes remote writes: the contract of databases of series, reads that are checked,
rows of any order, and what it does with bad settings."""

from dataclasses import replace

import pytest

from tests.integration.database_contract import *  # noqa: F403
from tests.integration.real_server import real_server, required
from tests.integration.short_trial import short_trial
from tests.unit.trial_orders import trial_order


@pytest.fixture(scope="module")
def target():
    return required("prometheus")


@pytest.fixture
def rows():
    return 300_000, 60_000


@pytest.fixture
def small_disk():
    return 24, 600_000


@pytest.fixture
def write_late():
    """Its protocol is the driver's own."""

    def late(server, session):
        at = server.trial.work.data.start_ms + 86_400_000
        assert server.load(session, rows=1, tables=1, threads=1, start_ms=at).returncode == 0

    return late


def test_a_flag_or_a_value_that_it_does_not_know_is_refused_before_anything_starts(target, tmp_path):
    order = trial_order(tmp_path, "prometheus")
    for name, value in (("no.such-flag", "1"), ("query.timeout", "soon")):
        unknown = replace(order.trial, knobs={**order.trial.knobs, name: value})
        (finding,) = target.check_installed(order.home, unknown)
        assert finding.blocking and (name in finding.sentence or value in finding.sentence)
    assert target.check_installed(order.home, order.trial) == ()


@pytest.mark.parametrize("name", ["prometheus", "victoriametrics"])
def test_text_is_refused_because_samples_are_numbers(name, tmp_path):
    (finding,) = required(name).check(trial_order(tmp_path, name, workload__columns="t:binary(8)").trial, None)
    assert finding.blocking and "t:binary" in finding.sentence


def test_rows_far_apart_and_out_of_order_are_all_stored(target, folder):
    """Devices one after the other, each over two weeks: all but the first begin far before the newest sample."""
    step = {"workload__step_ms": "60000", "workload__tables": "4", "workload__rows_per_request": "500"}
    settings = short_trial(target, folder, rows=80_000, **step)
    assert settings["out_of_order_time_window"] == "100y"


def test_a_row_whose_time_is_changed_is_named(target, tmp_path):
    with real_server(target, tmp_path) as server:
        session = server.start()
        assert server.load(session, rows=1000).returncode == 0
        assert session.count().gaps == ()
        at = server.trial.work.data.start_ms + 3_600_000
        assert server.load(session, rows=1, tables=1, threads=1, start_ms=at).returncode == 0
        found = session.count()
        assert found.rows == 1001 and "are missing in" in found.gaps[0]
        server.end()
