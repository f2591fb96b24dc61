"""An observation: one value at a point. It is the only input of fit, noise and compare, whatever was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["point", "drift_check", "ablation", "check", "profile"]


@dataclass(frozen=True, kw_only=True)
class Observation:
    """One value at a level of the axis.

    subject: which of several at that level ("" for the only one). value: rows/s, requests/s, a capacity, ...; None:
    there is none. error: its standard error, if known. order: its place in the run. block: observations of one block
    were made one after the other. mark: "" if it counts, else why it does not (a verdict, in its name). note: what a
    reader must know of one that counts (SOFTWARE_BOTTLENECK); "" if there is nothing. role: only points make the curve.
    An ablation trial has the knobs that the plan gives to knobs_of_level.
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
        """Its level and subject."""
        return self.level, self.subject
