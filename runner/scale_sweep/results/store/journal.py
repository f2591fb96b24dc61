"""journal.jsonl of a trial: its start on both clocks, its phases and notes; while it runs, all events.

The running trial's journal grows by a line for every event, so that `scale watch` can follow from another process. When
the trial has ended, intervals and samples are removed from it, because loadgen.jsonl and samples.jsonl have them.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from scale_sweep.base.errors import StoreError
from scale_sweep.model import (
    Event,
    Interval,
    IntervalSeen,
    Noted,
    PhaseEntered,
    Sample,
    SampleTaken,
    Trial,
    TrialStarted,
)
from scale_sweep.results.store import strict
from scale_sweep.results.store.codec import from_plain

NAME = "journal.jsonl"


class Journal:
    """The journal of one trial. Lines are written to the file system at once, without fsync: a journal may be lost, a
    result may not. Raises OSError."""

    def __init__(self, path: Path) -> None:
        self._file: TextIO = path.open("w", encoding="utf-8")
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
    if isinstance(event, TrialStarted):
        at = {"unix_s": event.unix_s, "monotonic_ns": event.monotonic_ns}
        body: dict[str, Any] = {"event": "started", **at, "position": event.position, "total": event.total}
    elif isinstance(event, PhaseEntered):
        body = {"event": "phase", "phase": event.phase, "monotonic_ns": event.monotonic_ns}
    elif isinstance(event, Noted):
        body = {"event": "note", "sentence": event.sentence}
    elif isinstance(event, IntervalSeen):
        body = {"event": "interval", "interval": asdict(event.interval)}
    elif isinstance(event, SampleTaken):
        body = {"event": "sample", "sample": asdict(event.sample)}
    else:
        return None
    return json.dumps(body, ensure_ascii=False) + "\n"


def read_line(text: str, trial: Trial, path: Path) -> Event:
    """The event of a line. Raises StoreError that names the file."""
    try:
        raw = strict.loads(text)
        kind = raw["event"]
        if kind == "started":
            return TrialStarted(
                trial=trial,
                position=int(raw["position"]),
                total=int(raw["total"]),
                unix_s=float(raw["unix_s"]),
                monotonic_ns=int(raw["monotonic_ns"]),
            )
        if kind == "phase":
            return PhaseEntered(trial_id=trial.trial_id, phase=str(raw["phase"]), monotonic_ns=int(raw["monotonic_ns"]))
        if kind == "note":
            return Noted(trial_id=trial.trial_id, sentence=str(raw["sentence"]))
        if kind == "interval":
            return IntervalSeen(trial_id=trial.trial_id, interval=from_plain(raw["interval"], Interval, path))
        if kind == "sample":
            return SampleTaken(trial_id=trial.trial_id, sample=from_plain(raw["sample"], Sample, path))
        raise ValueError(f"event {kind!r}")
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise StoreError(f"{path} cannot be read back: {error}") from None
