"""An observation: one value at a point. Fit, noise and compare take nothing else, whatever it was measured from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["point", "drift_check", "ablation", "check", "profile"]


@dataclass(frozen=True, kw_only=True)
class Observation:
    """One value at a level of the axis.

    subject: which of several at that level ("" for the only one). value: rows/s, requests/s, a capacity, ...; None: it
    has none. error: its standard error, where that is known. order: when it was made, among all of the run; block:
    those of one block were made one after the other.
    mark: "" where it counts, else why it does not (a verdict, in its name). note: what a reader is told of one that
    counts (SOFTWARE_BOTTLENECK), "" where there is nothing to say. role: only points make the curve; an ablation trial
    was made with the knobs that the plan gives to knobs_of_level.
    """

    level: float
    value: float | None
    subject: str = ""
    error: float | None = None
    order: int = 0
    block: int = 0
    mark: str = ""
    note: str = ""
    role: Role = "point"
    knobs_of_level: float | None = None

    @property
    def point(self) -> tuple[float, str]:
        """What it was made of."""
        return self.level, self.subject
