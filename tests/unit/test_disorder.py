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
from scale_sweep.model.loads import Counted, LoadSummary
from scale_sweep.model.measured import Measurement
from tests.unit.factories import make_sweep, make_trial
from tests.unit.test_together import summary as summary_text

POISSON = {"workload__disorder": "poisson", "workload__disorder_ratio": "50%"}


def summary(**fields) -> LoadSummary:
    found = parse_line(summary_text(1000, 10.0))
    assert isinstance(found, LoadSummary)
    return replace(found, rows_acked=1000, **fields)


ALL = Counted(rows=1000)
DISTINCT = Counted(rows=700, is_distinct=True, gaps=("holes",))


@pytest.mark.parametrize(
    ("counted", "distinct", "flags", "missing"),
    [
        (DISTINCT, 700, POISSON, 0),  # a database that keeps one row for each time
        (replace(DISTINCT, rows=699), 700, POISSON, 1),
        (replace(DISTINCT, rows=1000), 700, POISSON, -300),
        (ALL, 700, POISSON, 0),  # one that keeps all
        (replace(ALL, rows=700), 700, POISSON, 300),
        (replace(DISTINCT, rows=650), None, POISSON, 0),  # rows failed: nobody knows how many are kept
        (DISTINCT, 700, {}, 300),  # without disorder every row has its own time
        (replace(DISTINCT, rows=1000), None, {}, 0),
    ],
)
def test_a_count_is_compared_with_the_rows_that_the_database_keeps(counted, distinct, flags, missing):
    """After 1,000 acknowledged rows of which so many are distinct."""
    facts = TrialFacts(summary=summary(rows_distinct=distinct), counted=counted)
    measured = Measurement(rows_acked=1000, rows_counted=counted.rows)
    integrity = evidence(make_trial(make_sweep(**flags)), facts, measured).integrity
    said, gaps = integrity.miscounted, integrity.gaps
    number = said.partition(" ")[0]
    assert (number, "too many" in said) == (str(abs(missing)) if missing else "", missing < 0)
    assert said or gaps == (() if flags else counted.gaps)


def test_distinct_rows_of_several_processes_are_a_sum():
    for counts, whole in (((3, 4), 7), ((3, None), None)):
        assert merge_summaries([summary(rows_distinct=one) for one in counts]).rows_distinct == whole


def test_the_load_generator_is_told_laws_and_order_and_its_ceiling_has_the_same_rows():
    sweep = make_sweep(**POISSON, workload__values="line=2, sine", workload__period_rows="7", workload__decimals="0")
    told = trial_spec(make_trial(sweep), {"driver": "x"})
    assert (told["values"], told["period_rows"], told["decimals"]) == ("line:2,sine:1", "7", "0")
    assert (told["disorder"], told["disorder_ratio"], told["disorder_max_k"]) == ("poisson", "50", "170000")
    assert not {"disorder", "disorder_ratio", "period_rows", "decimals"} & set(
        trial_spec(make_trial(), {"driver": "x"})
    )
    same = ("values", "period_rows", "decimals", "disorder", "disorder_ratio", "disorder_lambda", "disorder_rows")
    assert {name: ceiling_spec(told, 1)[name] for name in same} == {name: told[name] for name in same}


@pytest.mark.parametrize(
    ("flag", "text", "words"),
    [
        ("values", "wave", "'wave' is not one of walk"),
        ("values", "line=1,line=2", "'line' is named twice"),
        ("values", "line=0,sine=0", "all shares are 0"),
        ("values", "line=0.5", "a whole number"),
        ("period_rows", "1", "at least 2"),
        ("decimals", "6", "not between 0 and 5"),
        ("disorder", "chaos", "not one of poisson, batch"),
        ("disorder_ratio", "150%", "not between 0 and 100"),
        ("disorder_rows", "1", "at least 2"),
    ],
)
def test_bad_input_is_one_message_that_names_the_flag(flag, text, words):
    with pytest.raises(UsageError, match=words):
        make_sweep(**{f"workload__{flag}": text})
    with pytest.raises(UsageError, match="--disorder: taosbenchmark"):
        make_sweep(**POISSON, load__generator="taosbenchmark", target__name="tdengine")
