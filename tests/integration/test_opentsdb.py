"""OpenTSDB on a standalone HBase as two real processes: the contract of databases of series, and bad settings.

It takes about 20 CPU seconds for each start: one short trial runs everywhere, the others with SCALE_SLOW_TESTS=1.
"""

import json
from dataclasses import replace

import psutil
import pytest

from scale_sweep.model import VerdictKind
from scale_sweep.server.targets import series
from scale_sweep.server.targets.opentsdb import queries
from tests.integration.by_hand import by_hand
from tests.integration.database_contract import *  # noqa: F403
from tests.integration.leftovers import ours_running
from tests.integration.real_server import real_server, required
from tests.integration.short_trial import short_trial
from tests.unit.reading_trials import GROUPED, KINDS, WRONG, answers_of, reading_order
from tests.unit.trial_orders import here, result_of, trial_order

skipped = by_hand("20 CPU seconds for each start", but=("test_a_short_trial_counts_what_was_acknowledged",))


@pytest.fixture(scope="module")
def target():
    return required("opentsdb")


@pytest.fixture
def small_disk():
    return 90, 300_000


@pytest.fixture
def rows():
    return 20_000, 3_000


@pytest.fixture
def write_late():
    def write(server, session):
        data = server.trial.work.data
        points = [
            {
                "metric": f"{series.MEASUREMENT}_{name}",
                "tags": {series.DEVICE: "d0"},
                "timestamp": data.start_ms + 86_400_000,
                "value": 1,
            }
            for name in series.columns_of(data)
        ]
        session._web.post_text("/api/put?sync", 30, json.dumps(points))

    return write


def test_a_short_trial_counts_what_was_acknowledged(target, folder):
    effective = short_trial(target, folder, 2_000, workload__step_ms="1000")
    assert (effective["server_version"], effective["hbase_version"]) == ("2.4.1", "2.4.18")


def test_a_setting_that_it_cannot_use_ends_the_trial(target, folder):
    order = trial_order(folder, "opentsdb")
    wrong = replace(order.trial, knobs={**order.trial.knobs, "tsd.network.worker_threads": "many"})
    result = result_of(here(replace(order, trial=wrong)))
    assert result.verdict.kind is VerdictKind.ABORTED
    assert "ended while starting" in result.verdict.reasons[0]


BY_TIME = "group_by_time.step=10m"
# What it has no words for.
OTHERS = (
    *("set", "latest", "range_value", "range_desc", "range_value_desc"),
    *("aggregate_value", "aggregate_range_value", "group_by_time_desc"),
)


def test_reads_are_answered_rightly_beside_writes(target, folder):
    asked = {*KINDS, *GROUPED, "first", "last", "each", "least", "mean", "some"} - {*OTHERS}
    more = [BY_TIME, "each.kind=range", "each.devices=3", "each.columns=voltage", "group_by_tag.function=count"]
    more += ["least.kind=aggregate", "least.function=min", "least.devices=2", "mean.kind=group_by_time"]
    more += ["mean.span=2h", "mean.step=10m", "mean.column=voltage", "aggregate_tag.function=sum"]
    more += ["some.kind=aggregate_tag", "some.fraction=1", "some.function=max", "some.bucket=10m"]
    mix = ",".join((*sorted(asked), "write=2"))
    flags = {"workload__columns": "current:float,voltage:int,phase:double,on:bool,small:smallint"}
    events = here(reading_order(folder, "opentsdb", mix, also=more, load__duration="4s", **flags))
    result, answers = result_of(events), answers_of(events)
    assert result.verdict.kind not in WRONG, result.verdict.reasons
    assert set(answers) == asked
    assert all(one["whole"] == 20 and not one["wrong"] for one in answers.values()), answers
    assert sum(one["counted"] for one in answers.values()) > 0
    of_range = result.measurement.operations["range"]
    assert of_range.read_rows_per_s == pytest.approx(360 * of_range.requests_per_s, rel=0.01)


@pytest.mark.parametrize(
    ("right", "wrong", "operation"),
    [
        ("{until}", "{to}", "range"),  # the row at the end is one too many
        ('"end":{to}', '"end":4000000000000', "aggregate"),  # the rows after the end
        ("{until}", "{to}", "group_by_time"),  # the stretch that begins at the end
        ("mimmax", "zimsum", "group_by_time"),
    ],
)
def test_a_wrong_query_is_caught(target, folder, monkeypatch, right, wrong, operation):
    rendered = queries.rendered
    monkeypatch.setattr(queries, "rendered", lambda *given: rendered(*given).replace(right, wrong))
    verdict = result_of(here(reading_order(folder, "opentsdb", operation, also=[BY_TIME]))).verdict
    assert verdict.kind is VerdictKind.WRONG_ANSWER
    assert verdict.reasons[0].startswith(f"{operation} of device"), verdict.reasons


def test_one_program_that_is_killed_takes_the_other_along(target, tmp_path):
    with real_server(target, tmp_path) as server:
        server.start()
        assert server.process is not None
        both = [one for one in psutil.Process(server.process.pid).children() if one.name() == "java"]
        assert len(both) == 2
        both[0].kill()
        server.process.wait(60)
    assert ours_running(tmp_path) == []
