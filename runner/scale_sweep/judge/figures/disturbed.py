"""The verdict of a trial that was disturbed on purpose, and its raw file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict

from scale_sweep.model.measured import Verdict, VerdictKind
from scale_sweep.model.proof import Disturbance

DISTURBANCES = "disturbances.jsonl"
_NOTE = "disturbed on purpose, for the proof: its rate is no point of the curve"
_WRONG = set(map(VerdictKind, ("ABORTED", "LOST_ROWS", "WRONG_ROWS", "WRONG_ANSWER", "ERRORS")))


def disturbances_text(rows: Iterable[Disturbance]) -> str:
    """Lines of the raw file."""
    return "".join(f"{json.dumps(asdict(row))}\n" for row in rows)


def verdict_of_disturbed(verdict: Verdict) -> Verdict:
    """Neighbours, stalls and an unsteady rate were made on purpose; wrong rows and errors were not."""
    return verdict if verdict.kind in _WRONG else Verdict(kind=VerdictKind.VALID, reasons=(_NOTE,))
