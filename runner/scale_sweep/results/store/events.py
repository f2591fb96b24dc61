"""Events ⇄ JSON values: of the journal of a trial, and of trials on another host."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, TextIO, get_type_hints

from scale_sweep.base.errors import StoreError
from scale_sweep.model.events import (
    ArtifactMade,
    CeilingsMeasured,
    Event,
    IntervalSeen,
    IntervalsPlaced,
    Noted,
    PhaseEntered,
    PlanGrew,
    SampleTaken,
    StepBegan,
    StepEnded,
    TrialFinished,
    TrialStarted,
)
from scale_sweep.model.planned import Trial
from scale_sweep.results.store.codec import fields_of, from_plain, plain, strict_loads

JOURNAL = "journal.jsonl"
_IN_JOURNAL: dict[str, Any] = {
    "started": TrialStarted,
    "phase": PhaseEntered,
    "step": StepBegan,
    "step_ended": StepEnded,
    "note": Noted,
    "interval": IntervalSeen,
    "sample": SampleTaken,
}
_KINDS: dict[str, Any] = _IN_JOURNAL | {
    "artifact": ArtifactMade,
    "placed": IntervalsPlaced,
    "finished": TrialFinished,
    "ceilings": CeilingsMeasured,
    "plan": PlanGrew,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_TRIAL = ("trial", "trial_id")  # known to a reader
_types_of = cache(get_type_hints)


def plain_event(event: Event) -> dict[str, Any]:
    """Without its trial, which a reader knows."""
    return _with_parts(event, plain)


def event_text(event: Event) -> str:
    return json.dumps(_with_parts(event, lambda part: part), ensure_ascii=False, default=fields_of)


def _with_parts(event: Event, made: Callable[[Any], Any]) -> dict[str, Any]:
    values = {field.name: getattr(event, field.name) for field in fields(event) if field.name not in _TRIAL}
    if isinstance(event, ArtifactMade) and event.content is not None:
        values["content"] = base64.b64encode(event.content).decode("ascii")
    return {"event": _NAMES[type(event)], **{name: made(value) for name, value in values.items()}}


def event_of(raw: Mapping[str, Any], trial: Trial, path: Path) -> Event:
    """path: for the message. Raises StoreError."""
    try:
        return _event(raw, trial, path)
    except (ValueError, KeyError, TypeError, OverflowError, binascii.Error) as error:
        raise StoreError(f"{path} cannot be read back: {error}") from None


def _event(raw: Mapping[str, Any], trial: Trial, path: Path) -> Event:
    kind = _KINDS.get(raw["event"])
    if kind is None:
        raise ValueError(f"event {raw['event']!r}")
    if kind is ArtifactMade and raw["content"] is not None:
        raw = {**raw, "content": base64.b64decode(raw["content"], validate=True)}
    values: dict[str, Any] = {"trial": trial, "trial_id": trial.trial_id}
    for name, its_type in _types_of(kind).items():
        values[name] = values[name] if name in _TRIAL else from_plain(raw[name], its_type, path)
    event: Event = kind(**{name: values[name] for name in _types_of(kind)})
    if isinstance(event, ArtifactMade) and ("/" in event.name or event.name.startswith(".")):
        raise ValueError(f"{event.name!r} is no name of a file of a trial")
    if isinstance(event, TrialFinished) and event.result.trial != trial:
        raise ValueError("the result belongs to another trial")
    return event


class Journal:
    """Lines are written at once, without fsync: a journal may be lost, a result may not. Raises OSError."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._kept: list[str] = []

    def take(self, event: Event) -> None:
        if _NAMES[type(event)] not in _IN_JOURNAL:
            return
        line = event_text(event) + "\n"
        self._file.write(line)
        self._file.flush()
        if not isinstance(event, (IntervalSeen, SampleTaken)):
            self._kept.append(line)

    def close(self) -> str:
        """Returns the text that stays."""
        self._file.close()
        return "".join(self._kept)


def read_line(text: str, trial: Trial, path: Path) -> Event:
    """Raises StoreError that names the file."""
    try:
        raw = strict_loads(text)
        if not isinstance(raw, dict) or raw.get("event") not in tuple(_IN_JOURNAL):
            raise ValueError(f"event {raw.get('event') if isinstance(raw, dict) else raw!r}")
    except ValueError as error:
        raise StoreError(f"{path} cannot be read back: {error}") from None
    return event_of(raw, trial, path)
