"""VictoriaMetrics as a real process: the contract of databases that take lines, and what it does with bad settings."""

from dataclasses import replace

import pytest

from tests.integration.database_contract import *  # noqa: F403
from tests.integration.real_server import required
from tests.unit.trial_orders import trial_order


@pytest.fixture(scope="module")
def target():
    return required("victoriametrics")


@pytest.fixture
def small_disk():
    return 24, 600_000


def test_a_flag_that_it_does_not_know_is_refused_before_anything_starts(target, tmp_path):
    order = trial_order(tmp_path, "victoriametrics")
    unknown = replace(order.trial, knobs={**order.trial.knobs, "noSuchFlag": "1"})
    (finding,) = target.check_installed(order.home, unknown)
    assert finding.blocking and "noSuchFlag" in finding.sentence
    assert target.check_installed(order.home, order.trial) == ()


def test_text_is_refused_because_it_would_become_0(target, tmp_path):
    order = trial_order(tmp_path, "victoriametrics", workload__columns="t:binary(8)")
    (finding,) = target.check(order.trial, None)
    assert finding.blocking and "t:binary" in finding.sentence
