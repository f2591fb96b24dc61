"""Events ⇄ JSON values: of the journal of a trial, and of trials on another host."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

from scale_sweep.base.errors import StoreError
from scale_sweep.model import (
    ArtifactMade,
    CeilingsMeasured,
    Event,
    Interval,
    IntervalSeen,
    Noted,
    PhaseEntered,
    Plan,
    PlanGrew,
    Sample,
    SampleTaken,
    Step,
    StepBegan,
    StepEnded,
    Trial,
    TrialFinished,
    TrialResult,
    TrialStarted,
)
from scale_sweep.results.store.codec import fields_of, from_plain, plain, strict_loads


def plain_event(event: Event) -> dict[str, Any]:
    """Without its trial, which a reader knows."""
    return _with_parts(event, plain)


def event_text(event: Event) -> str:
    return json.dumps(_with_parts(event, _unchanged), ensure_ascii=False, default=fields_of)


def _unchanged(part: Any) -> Any:
    return part


def _with_parts(event: Event, made: Callable[[Any], Any]) -> dict[str, Any]:
    match event:
        case TrialStarted():
            at = {"unix_s": event.unix_s, "monotonic_ns": event.monotonic_ns}
            return {"event": "started", **at, "position": event.position, "total": event.total}
        case PhaseEntered():
            return {"event": "phase", "phase": event.phase, "monotonic_ns": event.monotonic_ns}
        case StepBegan():
            return {"event": "step", "rate": event.rate}
        case StepEnded():
            return {"event": "step_ended", "step": made(event.step)}
        case Noted():
            return {"event": "note", "sentence": event.sentence}
        case IntervalSeen():
            return {"event": "interval", "interval": made(event.interval)}
        case SampleTaken():
            return {"event": "sample", "sample": made(event.sample)}
        case ArtifactMade():
            content = None if event.content is None else base64.b64encode(event.content).decode("ascii")
            return {"event": "artifact", "name": event.name, "text": event.text, "content": content}
        case TrialFinished():
            return {"event": "finished", "result": made(event.result)}
        case CeilingsMeasured():
            return {"event": "ceilings", **plain(event)}
        case PlanGrew():
            return {"event": "plan", "plan": made(event.plan)}


def event_of(raw: Mapping[str, Any], trial: Trial, path: Path) -> Event:
    """path: for the message. Raises StoreError."""
    try:
        return _event(raw, trial, path)
    except (ValueError, KeyError, TypeError, OverflowError, binascii.Error) as error:
        raise StoreError(f"{path} cannot be read back: {error}") from None


def _event(raw: Mapping[str, Any], trial: Trial, path: Path) -> Event:
    match raw["event"]:
        case "started":
            return TrialStarted(
                trial=trial,
                position=int(raw["position"]),
                total=int(raw["total"]),
                unix_s=float(raw["unix_s"]),
                monotonic_ns=int(raw["monotonic_ns"]),
            )
        case "phase":
            at_ns = int(raw["monotonic_ns"])
            return PhaseEntered(trial_id=trial.trial_id, phase=str(raw["phase"]), monotonic_ns=at_ns)
        case "step":
            return StepBegan(trial_id=trial.trial_id, rate=float(raw["rate"]))
        case "step_ended":
            return StepEnded(trial_id=trial.trial_id, step=from_plain(raw["step"], Step, path))
        case "note":
            return Noted(trial_id=trial.trial_id, sentence=str(raw["sentence"]))
        case "interval":
            return IntervalSeen(trial_id=trial.trial_id, interval=from_plain(raw["interval"], Interval, path))
        case "sample":
            return SampleTaken(trial_id=trial.trial_id, sample=from_plain(raw["sample"], Sample, path))
        case "artifact":
            return _artifact(raw, trial)
        case "finished":
            result = from_plain(raw["result"], TrialResult, path)
            if result.trial != trial:
                raise ValueError("the result belongs to another trial")
            return TrialFinished(result=result)
        case "ceilings":
            return from_plain({key: value for key, value in raw.items() if key != "event"}, CeilingsMeasured, path)
        case "plan":
            return PlanGrew(plan=from_plain(raw["plan"], Plan, path))
        case kind:
            raise ValueError(f"event {kind!r}")


def _artifact(raw: Mapping[str, Any], trial: Trial) -> ArtifactMade:
    name, content = str(raw["name"]), raw["content"]
    if "/" in name or name.startswith("."):
        raise ValueError(f"{name!r} is no name of a file of a trial")
    decoded = None if content is None else base64.b64decode(content, validate=True)
    return ArtifactMade(trial_id=trial.trial_id, name=name, text=str(raw["text"]), content=decoded)


JOURNAL = "journal.jsonl"
_KEPT = (TrialStarted, PhaseEntered, StepBegan, StepEnded, Noted, IntervalSeen, SampleTaken)
_NAMES = ("started", "phase", "step", "step_ended", "note", "interval", "sample")


class Journal:
    """Lines are written at once, without fsync: a journal may be lost, a result may not. Raises OSError."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._kept: list[str] = []

    def take(self, event: Event) -> None:
        line = _line(event)
        if line is None:
            return
        self._file.write(line)
        self._file.flush()
        if not isinstance(event, (IntervalSeen, SampleTaken)):
            self._kept.append(line)

    def close(self) -> str:
        """Returns the text that stays."""
        self._file.close()
        return "".join(self._kept)


def _line(event: Event) -> str | None:
    if not isinstance(event, _KEPT):
        return None
    return event_text(event) + "\n"


def read_line(text: str, trial: Trial, path: Path) -> Event:
    """Raises StoreError that names the file."""
    try:
        raw = strict_loads(text)
        if not isinstance(raw, dict) or raw.get("event") not in _NAMES:
            raise ValueError(f"event {raw.get('event') if isinstance(raw, dict) else raw!r}")
    except ValueError as error:
        raise StoreError(f"{path} cannot be read back: {error}") from None
    return event_of(raw, trial, path)
