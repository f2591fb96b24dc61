"""VictoriaMetrics as a real process: the contract of databases that take lines, and what it does with bad settings."""

import urllib.request
from dataclasses import replace

import pytest

from scale_sweep.model import VerdictKind
from scale_sweep.server.targets.victoriametrics import queries
from tests.integration.database_contract import *  # noqa: F403
from tests.integration.real_server import real_server, required
from tests.unit.reading_trials import KINDS, MORE, SHAPES, WRONG, answers_of, checked, reading_order, shapes_order
from tests.unit.trial_orders import here, result_of, trial_order


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


BY_TIME = "group_by_time.step=10m"  # ranges begin with a stretch of time
OTHERS = ("set", "range_desc", "range_value_desc", "group_by_time_desc")  # what MetricsQL has no words for


def test_reads_are_answered_rightly_beside_writes(target, folder):
    asked = {*KINDS, *MORE, "some", "least", "mean"} - {*OTHERS}
    more = [BY_TIME, "aggregate_range_value.devices=2", "some.kind=aggregate_range_value", "some.bound=9..11"]
    more += ["some.function=count", "least.kind=aggregate_range_value", "least.bound=9..11", "least.function=max"]
    more += ["mean.kind=group_by_time", "mean.step=10m", "mean.span=2h"]
    mix = ",".join((*sorted(asked), "write=2"))
    flags = {"workload__columns": "current:float,voltage:int,phase:double,on:bool,small:smallint"}
    result, answers = checked(here(reading_order(folder, "victoriametrics", mix, also=more, **flags)))
    assert set(answers) == asked
    assert result.measurement.rows_counted == result.measurement.rows_acked + 20_000 > 20_000
    assert result.measurement.operations["range"].read_rows_per_s == pytest.approx(
        360 * result.measurement.operations["range"].requests_per_s, rel=0.01
    )


@pytest.mark.parametrize("method", ["remote-write", "import"])
def test_samples_hold_the_numbers_that_lines_hold(target, folder, method):
    columns = "current:float,voltage:int,phase:double,on:bool,small:smallint"
    order = reading_order(
        folder, "victoriametrics", "range,latest,write=2", workload__columns=columns, load__method=method
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


def test_groups_are_answered_rightly(target, folder):
    asked = {"group_by_tag", "one", "aggregate_tag", "every", "scan_tag"}
    operation = ["one.kind=group_by_tag", "one.fraction=0.1", "aggregate_tag.function=count"]
    operation += ["every.kind=aggregate_tag", "every.fraction=1", "every.function=spread"]
    _, answers = checked(here(reading_order(folder, "victoriametrics", ",".join(sorted(asked)), operation=operation)))
    assert set(answers) == asked


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        (" offset 1ms", "", "range"),  # the border at the end, not at the start
        ("offset -599999ms", "", "group_by_time"),  # the stretch before
        (" if (time() < {to}e-3)", "", "range_value"),  # a row after the end
    ],
)
def test_a_wrong_border_is_caught(target, folder, monkeypatch, right, wrong, words):
    rendered = queries.rendered
    monkeypatch.setattr(queries, "rendered", lambda *given: rendered(*given).replace(right, wrong))
    verdict = result_of(here(reading_order(folder, "victoriametrics", words, also=[BY_TIME]))).verdict
    assert verdict.kind is VerdictKind.WRONG_ANSWER
    assert verdict.reasons[0].startswith(f"{words} of device"), verdict.reasons


def test_bounds_and_groups_are_answered_rightly(target, folder):
    without = {"newest", "largest", "smallest", "top_devices", "top_tags"}
    events = here(shapes_order(folder, "victoriametrics", without=without))
    result, answers = result_of(events), answers_of(events)
    assert result.verdict.kind not in WRONG, result.verdict.reasons
    assert set(answers) == set(SHAPES) - without
    assert all(one["whole"] and not one["wrong"] for one in answers.values()), answers
