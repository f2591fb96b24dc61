"""journal.jsonl of a trial: its start on both clocks, its phases and notes; while it runs, all events."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from scale_sweep.base.errors import StoreError
from scale_sweep.model import (
    Event,
    IntervalSeen,
    Noted,
    PhaseEntered,
    SampleTaken,
    StepBegan,
    StepEnded,
    Trial,
    TrialStarted,
)
from scale_sweep.results.store import strict
from scale_sweep.results.store.events import event_of, event_text

NAME = "journal.jsonl"
_KEPT = (TrialStarted, PhaseEntered, StepBegan, StepEnded, Noted, IntervalSeen, SampleTaken)
_NAMES = ("started", "phase", "step", "step_ended", "note", "interval", "sample")


class Journal:
    """The journal of one trial, in a new file. Lines are written to the file system at once, without fsync: a journal
    may be lost, a result may not. Raises OSError."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._kept: list[str] = []

    def take(self, event: Event) -> None:
        """Adds the event, if its kind belongs here."""
        line = _line(event)
        if line is None:
            return
        self._file.write(line)
        self._file.flush()
        if not isinstance(event, (IntervalSeen, SampleTaken)):
            self._kept.append(line)

    def close(self) -> str:
        """Closes the journal. Returns the text that stays."""
        self._file.close()
        return "".join(self._kept)


def _line(event: Event) -> str | None:
    if not isinstance(event, _KEPT):
        return None
    return event_text(event) + "\n"


def read_line(text: str, trial: Trial, path: Path) -> Event:
    """The event of a line. Raises StoreError that names the file."""
    try:
        raw = strict.loads(text)
        if not isinstance(raw, dict) or raw.get("event") not in _NAMES:
            raise ValueError(f"event {raw.get('event') if isinstance(raw, dict) else raw!r}")
    except ValueError as error:
        raise StoreError(f"{path} cannot be read back: {error}") from None
    return event_of(raw, trial, path)
