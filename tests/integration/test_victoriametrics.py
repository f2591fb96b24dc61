"""VictoriaMetrics as a real process: the contract of databases that take lines, and what it does with bad settings."""

import urllib.request
from dataclasses import replace

import pytest

from tests.integration.database_contract import *  # noqa: F403
from tests.integration.real_server import real_server, required
from tests.integration.test_reads_on_databases import NUMBERS
from tests.unit.reading_trials import checked, reading_order
from tests.unit.trial_orders import here, trial_order


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


@pytest.mark.parametrize("method", ["remote-write", "import"])
def test_samples_hold_the_numbers_that_lines_hold(target, folder, method):
    order = reading_order(
        folder, "victoriametrics", "range,latest,write=2", load__method=method, workload__columns=NUMBERS
    )
    result, answers = checked(here(order))
    assert set(answers) == {"range", "latest"}
    assert result.measurement.rows_counted == result.measurement.rows_acked + 20_000 > 20_000


def test_a_line_that_it_cannot_read_is_told_though_it_was_acknowledged(target, tmp_path):
    with real_server(target, tmp_path) as server:
        session = server.start()
        session.create_schema()
        url = f"http://127.0.0.1:{server.address.port}/api/v1/import"
        with urllib.request.urlopen(
            url, data=b'{"metric":{"__name__":"x"},"values":[1],"timestamps":[]}\n', timeout=30
        ) as answer:
            assert answer.status == 204
        found = session.count()
        assert found.rows == 0
        assert "VictoriaMetrics acknowledged samples" in found.gaps[0]
        server.end()
