"""Which answers of a load are handed over to be checked: so many in a second, drawn from all of an operation, and all of
one that has fewer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

READS = {"driver": "null", "tables": 100, "columns": "current:float", "check_every": 0}
READS |= {"operations": "range", "ask.range.text": "{device}"}
SLOW = {"threads": 4, "null_servers": 4, "null_service_us": 50_000, "check_per_s": 1000}


def handed(outcome: Any, name: str = "range") -> Sequence[Mapping[str, Any]]:
    """The answers of the window that are checked."""
    assert outcome.code == 0, outcome.stderr
    return [event for event in outcome.of("asked") if event["in_window"] and event["operation"] == name]


def answers(outcome: Any, name: str = "range") -> int:
    (operation,) = (one for one in outcome.summary["operations"] if one["name"] == name)
    return int(operation["requests_window"])


@pytest.mark.parametrize("warmup_s", [0, 0.5])
def test_about_as_many_are_checked_as_are_wanted(run, warmup_s):
    served = {"threads": 4, "null_servers": 4, "null_service_us": 500, "warmup_s": warmup_s, "duration_s": 2}
    outcome = run({**READS, **served, "check_per_s": 50})
    checked = handed(outcome)
    assert 60 <= len(checked) <= 160 < answers(outcome), "a hundred are wanted"
    assert {event["worker"] for event in checked} == set(range(4))
    assert len({event["request"] // 100 for event in checked}) > 3, "they are spread over the requests"
    assert len({event["sent_ns"] // 200_000_000 for event in checked}) >= 8, "and over the time"
    assert outcome.summary["operations"][0]["check_cpu_s"] > 0


@pytest.mark.parametrize("pace", [{}, {"rate": 30}], ids=["closed", "open"])
def test_all_are_checked_where_there_are_fewer(run, pace):
    outcome = run({**READS, **SLOW, **pace, "duration_s": 1})
    assert len(handed(outcome)) == answers(outcome) > 10
    assert run({**READS, **pace, "threads": 2, "duration_s": 0.2}).of("asked") == [], "without the key"


def test_the_first_answers_of_a_slow_load_are_drawn_by_their_time(run):
    """Before any answer nothing tells how many will come."""
    outcome = run({**READS, **SLOW, "threads": 40, "null_servers": 40, "check_per_s": 200, "requests": 40})
    assert 3 <= len(outcome.of("asked")) <= 25, "ten are wanted of the forty answers of 50 ms"


def test_a_rare_operation_is_checked_as_often_as_another(run):
    mix = {"operations": "range:95,rare:5", "ask.rare.text": "{device}", "duration_s": 2, "check_per_s": 20}
    outcome = run({**READS, **mix, "threads": 4, "null_servers": 4, "null_service_us": 2000})
    assert answers(outcome, "range") > 5 * answers(outcome, "rare")
    assert all(len(handed(outcome, name)) >= 20 for name in ("range", "rare"))


def test_the_processes_of_a_load_share_what_is_wanted(run):
    part = {"threads": 2, "workers_total": 8, "null_servers": 2, "null_service_us": 500, "duration_s": 2}
    assert 10 <= len(handed(run({**READS, **part, "check_per_s": 50}))) <= 50, "a quarter of a hundred"
