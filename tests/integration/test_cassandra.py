"""Cassandra as a real process: the contract of databases of series, and what it does with bad settings.

It takes about ten CPU seconds for each start: one short trial runs everywhere, the others with SCALE_SLOW_TESTS=1.
"""

from dataclasses import replace

import pytest

from scale_sweep.model import VerdictKind
from scale_sweep.server.targets.cassandra import queries
from scale_sweep.server.targets.cassandra_node.cql import Cql
from tests.integration.by_hand import by_hand
from tests.integration.database_contract import *  # noqa: F403
from tests.integration.real_server import required
from tests.integration.short_trial import short_trial
from tests.unit.reading_trials import KINDS, MORE, WRONG, answers_of, reading_order
from tests.unit.trial_orders import here, result_of, trial_order

skipped = by_hand("ten CPU seconds for each start", but=("test_a_short_trial_counts_what_was_acknowledged",))


@pytest.fixture(scope="module")
def target():
    return required("cassandra")


@pytest.fixture
def small_disk():
    return 160, 2_000_000


@pytest.fixture
def rows():
    return 100_000, 10_000


@pytest.fixture
def write_late():
    def write(server, session):
        late = server.trial.work.data.start_ms + 86_400_000
        Cql(host="127.0.0.1", port=server.address.port).ask(
            f"INSERT INTO {session.load_spec()['table']} (device, ts) VALUES ('d0', {late})", 30
        )

    return write


def test_a_setting_that_it_does_not_know_ends_the_trial_in_its_words(target, folder):
    order = trial_order(folder, "cassandra")
    unknown = replace(order.trial, knobs={**order.trial.knobs, "no_such_item": "1"})
    verdict = result_of(here(replace(order, trial=unknown))).verdict
    assert verdict.kind is VerdictKind.ABORTED
    assert "no_such_item" in verdict.reasons[0]


def test_reads_are_answered_rightly_beside_writes(target, folder):
    asked = {*KINDS, *MORE, "whole"} - {"set"}
    whole = ("whole.kind=range_value", "whole.bound=140..240", "whole.bound_column=voltage")
    flags = {"workload__columns": "current:float,voltage:int,phase:double,on:bool,small:smallint,name:binary(12)"}
    mix = ",".join((*sorted(asked), "write=2"))
    order = reading_order(folder, "cassandra", mix, alone=("group_by_time",), also=whole, **flags)
    events = here(order)
    result, answers = result_of(events), answers_of(events)
    assert result.verdict.kind not in WRONG, result.verdict.reasons
    assert set(answers) == asked
    assert all(one["whole"] == 20 and not one["wrong"] for one in answers.values()), answers
    assert sum(one["counted"] for one in answers.values()) > 0
    assert result.measurement.rows_counted == result.measurement.rows_acked + 20_000 > 20_000


def test_groups_of_devices_are_chosen_by_their_tags_beside_writes(target, folder):
    """Groups of one device, of several, and, by a tag with a hundred values, of none."""
    kinds = {"some": "groupid", "every": "groupid", "few": "zone", "one": "zone"}
    also = [f"{name}.kind={'scan_tag' if name == 'one' else 'aggregate_tag'}" for name in kinds]
    also += [f"{name}.tag={tag}" for name, tag in kinds.items()]
    also += ["aggregate_tag.function=count", "some.fraction=0.4", "every.fraction=1", "every.function=max"]
    mix = ",".join(("scan_tag", "aggregate_tag", *kinds, "write=2"))
    flags = {"workload__tag_columns": "groupid:int,zone:tinyint,name:binary(12)"}
    events = here(reading_order(folder, "cassandra", mix, also=also, **flags))
    result, answers = result_of(events), answers_of(events)
    assert result.verdict.kind not in WRONG, result.verdict.reasons
    assert set(answers) == {"scan_tag", "aggregate_tag", *kinds}
    assert all(one["whole"] == 20 and not one["wrong"] for one in answers.values()), answers
    assert result.measurement.rows_counted == result.measurement.rows_acked + 20_000 > 20_000


def test_a_wrong_text_is_caught(target, folder, monkeypatch):
    right = queries.rendered
    monkeypatch.setattr(queries, "rendered", lambda *given: right(*given).replace("ts < {to}", "ts <= {to}"))
    verdict = result_of(here(reading_order(folder, "cassandra", "range,latest"))).verdict
    assert verdict.kind is VerdictKind.WRONG_ANSWER
    assert "361 rows came, 360 are right" in verdict.reasons[0]


def test_a_short_trial_counts_what_was_acknowledged(target, folder):
    short_trial(target, folder, 5_000)
