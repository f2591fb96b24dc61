"""From observations to points: which ones count, the mean and spread of each level, speed-up, noise floor.

Refuses to count one that is marked; what is left out is counted by its mark.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from runner.fit.models import Floats
from runner.model import Observation, PointSummary


@dataclass(frozen=True, kw_only=True)
class Usable:
    """What is fitted: one level and one rate per trial; and the rest, counted by why it is not."""

    levels: Floats
    rates: Floats
    left_out: Mapping[str, int]
    levels_lost: tuple[float, ...]

    @property
    def distinct(self) -> tuple[float, ...]:
        """The levels that have at least one trial, ascending."""
        return tuple(float(v) for v in np.unique(self.levels))


@dataclass(frozen=True, kw_only=True)
class Noise:
    """Pooled spread of ln(rate) within the levels, which is relative, with its degrees of freedom."""

    std: float
    degrees: int


def usable(observed: Sequence[Observation]) -> Usable:
    """The points that count and have a value, by level; anchors and bridges are not on the curve."""
    points = [o for o in observed if o.role == "point"]
    kept = sorted((o.level, o.value) for o in points if not o.mark and o.value is not None)
    lost = {o.level for o in points} - {level for level, _ in kept}
    table = np.array(kept, dtype=float).reshape(-1, 2)
    return Usable(
        levels=table[:, 0],
        rates=table[:, 1],
        left_out=dict(Counter(o.mark for o in points if o.mark)),
        levels_lost=tuple(sorted(lost)),
    )


def noise_floor(data: Usable) -> Noise | None:
    """Spread of the replicates about their level's mean; None when no level has two."""
    squares, degrees = 0.0, 0
    for level in data.distinct:
        logs = np.log(data.rates[data.levels == level])
        squares += float(np.sum((logs - logs.mean()) ** 2))
        degrees += len(logs) - 1
    return Noise(std=math.sqrt(squares / degrees), degrees=degrees) if degrees else None


def summaries(data: Usable, noise: Noise | None) -> tuple[PointSummary, ...]:
    """One summary per level, ascending; the first is what speed-up and efficiency refer to."""
    found: list[PointSummary] = []
    for level in data.distinct:
        rates = data.rates[data.levels == level]
        first = found[0] if found else None
        mean = float(rates.mean())
        speedup = mean / first.rows_per_s_mean if first else 1.0
        error = speedup * noise.std * math.sqrt(1 / len(rates) + 1 / first.n) if noise and first else None
        found.append(
            PointSummary(
                level=level,
                n=len(rates),
                rows_per_s_mean=mean,
                rows_per_s_std=float(rates.std(ddof=1)) if len(rates) > 1 else None,
                speedup=speedup,
                efficiency=speedup / (level / first.level) if first else 1.0,
                speedup_std_err=error,
            )
        )
    return tuple(found)
