"""Prometheus as a real process that takes remote writes: the contract of databases of series, reads that are checked,
rows of any order, and what it does with bad settings."""

from dataclasses import replace

import pytest

from scale_sweep.model import VerdictKind
from scale_sweep.server.targets.prometheus import queries
from tests.integration.database_contract import *  # noqa: F403
from tests.integration.real_server import real_server, required
from tests.integration.short_trial import short_trial
from tests.unit.reading_trials import KINDS, MORE, SHAPES, WRONG, answers_of, checked, reading_order, shapes_order
from tests.unit.trial_orders import here, result_of, trial_order

BY_TIME = "group_by_time.step=10m"  # ranges begin with a stretch of time
# What PromQL has no words for.
OTHERS = ("set", "range_desc", "range_value_desc", "group_by_time_desc", "latest", "aggregate_value", "first")


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


def test_text_is_refused(target, tmp_path):
    order = trial_order(tmp_path, "prometheus", workload__columns="t:binary(8)")
    (finding,) = target.check(order.trial, None)
    assert finding.blocking and "t:binary" in finding.sentence


def test_rows_far_apart_and_out_of_order_are_all_stored(target, folder):
    """Devices one after the other, each over two weeks: all but the first begin far before the newest sample."""
    step = {"workload__step_ms": "60000", "workload__tables": "4", "workload__rows_per_request": "500"}
    settings = short_trial(target, folder, rows=80_000, **step)
    assert settings["out_of_order_time_window"] == "100y"


def test_reads_are_answered_rightly_beside_writes(target, folder):
    asked = {*KINDS, *MORE, "some", "least", "mean"} - {*OTHERS}
    more = [BY_TIME, "aggregate_range_value.devices=2", "some.kind=aggregate_range_value", "some.bound=9..11"]
    more += ["some.function=count", "least.kind=aggregate_range_value", "least.bound=9..11", "least.function=max"]
    more += ["mean.kind=group_by_time", "mean.step=10m", "mean.span=2h"]
    mix = ",".join((*sorted(asked), "write=2"))
    flags = {"workload__columns": "current:float,voltage:int,phase:double,on:bool,small:smallint"}
    result, answers = checked(here(reading_order(folder, "prometheus", mix, also=more, **flags)))
    assert set(answers) == asked
    assert result.measurement.rows_counted == result.measurement.rows_acked + 20_000 > 20_000


def test_groups_are_answered_rightly(target, folder):
    asked = {"group_by_tag", "one", "aggregate_tag", "every", "scan_tag"}
    operation = ["one.kind=group_by_tag", "one.fraction=0.1", "aggregate_tag.function=count"]
    operation += ["every.kind=aggregate_tag", "every.fraction=1", "every.function=spread"]
    _, answers = checked(here(reading_order(folder, "prometheus", ",".join(sorted(asked)), operation=operation)))
    assert set(answers) == asked


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        (" offset 1ms", "", "range"),  # the border at the end, not at the start
        ("offset -599999ms", "", "group_by_time"),  # the stretch before
        ("end={until}e-3", "end={to}e-3", "range_value"),  # a row after the end
    ],
)
def test_a_wrong_border_is_caught(target, folder, monkeypatch, right, wrong, words):
    rendered = queries.rendered
    monkeypatch.setattr(queries, "rendered", lambda *given: rendered(*given).replace(right, wrong))
    verdict = result_of(here(reading_order(folder, "prometheus", words, also=[BY_TIME]))).verdict
    assert verdict.kind is VerdictKind.WRONG_ANSWER
    assert verdict.reasons[0].startswith(f"{words} of device"), verdict.reasons


def test_bounds_and_groups_are_answered_rightly(target, folder):
    without = {"newest", "largest", "smallest", "top_devices", "top_tags", "tagged_latest"}
    events = here(shapes_order(folder, "prometheus", without=without))
    result, answers = result_of(events), answers_of(events)
    assert result.verdict.kind not in WRONG, result.verdict.reasons
    assert set(answers) == set(SHAPES) - without
    assert all(one["whole"] and not one["wrong"] for one in answers.values()), answers


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
