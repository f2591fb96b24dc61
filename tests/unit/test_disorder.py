"""Rows out of order in a sweep: what the load generator is told, and which count the database's own is compared with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.judge.figures.outcome import evidence
from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.loadgen.merge import merge_summaries
from scale_sweep.loadgen.protocol import parse_line
from scale_sweep.loadgen.spec import ceiling_spec, trial_spec
from scale_sweep.model import Counted, LoadSummary, Measurement
from tests.unit.factories import make_sweep, make_trial
from tests.unit.test_together import summary as summary_text

POISSON = {"workload__disorder": "poisson", "workload__disorder_ratio": "50%"}


def summary(**fields) -> LoadSummary:
    found = parse_line(summary_text(1000, 10.0))
    assert isinstance(found, LoadSummary)
    return replace(found, rows_acked=1000, **fields)


def denied(counted: Counted, *, distinct: int | None = 700, **flags: str) -> tuple[str, tuple[str, ...]]:
    """What is said of a count, after 1,000 acknowledged rows of which so many are distinct."""
    trial = make_trial(make_sweep(**flags))
    facts = TrialFacts(summary=summary(rows_distinct=distinct), counted=counted)
    integrity = evidence(trial, facts, Measurement(rows_acked=1000, rows_counted=counted.rows)).integrity
    return integrity.miscounted, integrity.gaps


def test_a_database_that_keeps_one_row_for_each_time_is_compared_with_the_distinct_ones():
    assert denied(Counted(rows=700, is_distinct=True, gaps=("holes",)), **POISSON) == ("", ())
    assert denied(Counted(rows=699, is_distinct=True), **POISSON)[0].startswith("1 rows are missing")
    assert denied(Counted(rows=1000, is_distinct=True), **POISSON)[0].startswith("300 rows too many")


def test_a_database_that_keeps_all_rows_is_compared_with_all():
    assert denied(Counted(rows=1000), **POISSON) == ("", ())
    assert denied(Counted(rows=700), **POISSON)[0].startswith("300 rows are missing")


def test_where_rows_failed_nobody_knows_how_many_are_kept():
    assert denied(Counted(rows=650, is_distinct=True), distinct=None, **POISSON) == ("", ())


def test_without_disorder_every_row_has_its_own_time():
    assert denied(Counted(rows=700, is_distinct=True, gaps=("holes",)))[0].startswith("300 rows are missing")
    assert denied(Counted(rows=1000, is_distinct=True, gaps=("holes",)), distinct=None) == ("", ("holes",))


def test_distinct_rows_of_several_processes_are_a_sum():
    parts = [summary(rows_distinct=3), summary(rows_distinct=4)]
    assert merge_summaries(parts).rows_distinct == 7
    assert merge_summaries([parts[0], replace(parts[1], rows_distinct=None)]).rows_distinct is None


def test_the_load_generator_is_told_laws_and_order_and_its_ceiling_has_the_same_rows():
    sweep = make_sweep(**POISSON, workload__values="line=2, sine", workload__period_rows="7", workload__decimals="0")
    told = trial_spec(make_trial(sweep), {"driver": "x"})
    assert (told["values"], told["period_rows"], told["decimals"]) == ("line:2,sine:1", "7", "0")
    assert (told["disorder"], told["disorder_ratio"], told["disorder_max_k"]) == ("poisson", "50", "170000")
    same = ("values", "period_rows", "decimals", "disorder", "disorder_ratio", "disorder_lambda", "disorder_rows")
    assert {name: ceiling_spec(told, 1)[name] for name in same} == {name: told[name] for name in same}


def test_rows_in_order_are_told_as_before():
    told = trial_spec(make_trial(), {"driver": "x"})
    assert not {"disorder", "disorder_ratio", "period_rows", "decimals"} & set(told)


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        ("values", "wave", "'wave' is not one of walk, random, constant, line, sine, square"),
        ("values", "line=1,line=2", "'line' is named twice"),
        ("values", "line=0,sine=0", "all shares are 0"),
        ("values", "line=0.5", "a share is a whole number"),
        ("period_rows", "1", "below 2"),
        ("decimals", "6", "not between 0 and 5"),
        ("disorder", "chaos", "not one of poisson, batch"),
        ("disorder_ratio", "150%", "not between 0 and 100"),
        ("disorder_rows", "1", "below 2"),
    ],
)
def test_bad_input_is_one_message_that_names_the_flag(key, text, words):
    with pytest.raises(UsageError, match=words):
        make_sweep(**{f"workload__{key}": text})


def test_another_load_generator_has_an_order_of_its_own():
    with pytest.raises(UsageError, match="--disorder: taosbenchmark has a fixed order"):
        make_sweep(**POISSON, load__generator="taosbenchmark", target__name="tdengine")
