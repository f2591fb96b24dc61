"""A step of a capacity search: one offered rate, and what was seen at it. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scale_sweep.model.verdict_kinds import VerdictKind


@dataclass(frozen=True, kw_only=True)
class Step:
    """rate, achieved_per_s: units per second. values: by the name of the objective's condition, in the unit of its
    limit; None if there were too few requests. excess: ln(value / limit) of the condition furthest from holding, None
    if the rate was over capacity. usable: False if the step says nothing about the server, for the reason in `why`.
    response_ms, service_ms, late_ms: by percentile."""

    rate: float
    achieved_per_s: float | None
    seconds: float
    requests: int
    verdict: VerdictKind
    values: Mapping[str, float | None] = field(default_factory=dict)
    excess: float | None = None
    usable: bool = True
    why: str = ""
    response_ms: Mapping[str, float | None] = field(default_factory=dict)
    service_ms: Mapping[str, float | None] = field(default_factory=dict)
    late_ms: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether every condition held."""
        return self.usable and self.excess is not None and self.excess < 0
