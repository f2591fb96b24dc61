"""Trials of writes in which rows are changed in the server behind the load generator's back, and what they came to."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from scale_sweep.base.interrupts import current
from scale_sweep.measure.trial import stored_rows
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model.events import Event, IntervalSeen
from scale_sweep.model.measured import Verdict
from scale_sweep.server.targets import Session
from tests.integration.cli import waited_for
from tests.unit.trial_orders import artifact_of, result_of

STORED_S = 60.0
ALL_S = 3600.0  # for the comparison, so that a busy machine compares all tables too
Change = Callable[[Any], None]  # given a session with the trial's server


def changed_in_the_load(
    order: TrialOrder, session: type[Session], change: Change | None, monkeypatch: pytest.MonkeyPatch
) -> list[Event]:
    """The events of the trial; the change is made once, while the load runs on. None: no change."""
    monkeypatch.setattr(stored_rows, "LEAST_S", ALL_S)
    sessions = _sessions_of(session, monkeypatch)
    events: list[Event] = []
    changed = change is None
    for event in run_trial(order, current()):
        events.append(event)
        if change and isinstance(event, IntervalSeen) and not changed:
            change(sessions[-1])
            changed = True
    assert changed
    return events


def changed_before_the_count(
    order: TrialOrder, session: type[Session], change: Change | None, monkeypatch: pytest.MonkeyPatch
) -> list[Event]:
    """The same, for a database in which rows cannot be changed while others arrive."""
    monkeypatch.setattr(stored_rows, "LEAST_S", ALL_S)
    count = session.count
    if change:
        monkeypatch.setattr(session, "count", lambda self: (change(self), count(self))[1])
    return list(run_trial(order, current()))


def once_stored(asked: Callable[[], Any]) -> Any:
    """What it returns, as soon as that is something: the load goes on meanwhile."""
    return waited_for(asked, STORED_S)


def _sessions_of(session: type[Session], monkeypatch: pytest.MonkeyPatch) -> list[Session]:
    """A list to which each new session adds itself."""
    made: list[Session] = []
    init = session.__init__
    monkeypatch.setattr(session, "__init__", lambda self, *given: (made.append(self), init(self, *given))[1])
    return made


def differing(events: list[Event]) -> set[str]:
    """The devices with a figure that is further from the right one than it may be."""
    return differing_in(summed(events))


def differing_in(comparison: Mapping[str, Any]) -> set[str]:
    """The same, of a comparison as it is stored."""
    found = set()
    for one in comparison["tables"]:
        figures = zip(*(one[name].split() for name in ("right", "stored", "error")), strict=True)
        if any("-" in (r, s) or abs(float(r) - float(s)) > float(e) for r, s, e in figures):
            found.add(one["name"])
    return found


def summed(events: list[Event]) -> dict[str, Any]:
    """The comparison as it is stored."""
    found: dict[str, Any] = json.loads(artifact_of(events, "facts.json"))["summed"]
    return found


def verdict_of(events: list[Event]) -> Verdict:
    """Of a trial that measured something."""
    result = result_of(events)
    assert result.measurement is not None, f"{result.verdict}\n{result.log_tail}"
    return result.verdict
