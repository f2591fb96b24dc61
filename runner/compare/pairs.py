"""What two runs have at each point: ln(rate) of their VALID trials, and the seconds of a single one's window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from runner.compare.seconds import WindowSpread, window_spread
from runner.model import StoredRun, TrialResult
from runner.observations import observations
from runner.sweep.vary import label

EDGE_S = 0.3  # a second that ends so little after the window's start began before it


@dataclass(frozen=True, kw_only=True)
class PointLogs:
    """ln(rows/s) of the VALID trials of one point in both runs; seconds: of the first trial of each, if single."""

    level: float
    variant: str
    a: tuple[float, ...]
    b: tuple[float, ...]
    seconds_a: WindowSpread | None = None
    seconds_b: WindowSpread | None = None


@dataclass(frozen=True, kw_only=True)
class Unpaired:
    """A point that cannot be compared; lost: A has VALID trials, B was to have some, and has none."""

    level: float
    variant: str
    trials_a: int
    trials_b: int
    why: str
    lost: bool


Key = tuple[float, str]


def pair_points(a: StoredRun, b: StoredRun) -> tuple[list[PointLogs], list[Unpaired]]:
    """Points of both runs, by level and variant, in the order of the axis; and those of which one side has nothing."""
    valid_a, valid_b = _valid(a), _valid(b)
    planned_a, planned_b = _planned(a), _planned(b)
    paired, unpaired = [], []
    for key in sorted({*planned_a, *planned_b}):
        here_a, here_b = valid_a.get(key, []), valid_b.get(key, [])
        if here_a and here_b:
            paired.append(
                PointLogs(
                    level=key[0],
                    variant=key[1],
                    a=_logs(here_a),
                    b=_logs(here_b),
                    seconds_a=window_spread(window_rates(a, here_a[0])),
                    seconds_b=window_spread(window_rates(b, here_b[0])),
                )
            )
            continue
        lost = bool(here_a) and key in planned_b
        sides = [n for n, here in (("A", here_a), ("B", here_b)) if not here]
        planned = [n for n, keys in (("A", planned_a), ("B", planned_b)) if key in keys]
        why = "; ".join(f"no VALID trial in {n}" if n in planned else f"not in the plan of {n}" for n in sides)
        unpaired.append(
            Unpaired(level=key[0], variant=key[1], trials_a=len(here_a), trials_b=len(here_b), why=why, lost=lost)
        )
    return paired, unpaired


def window_rates(run: StoredRun, result: TrialResult) -> list[float]:
    """rows/s of each whole second inside the window, in order."""
    start = result.measurement.passed_over_s or 0.0
    end = start + (result.measurement.window_s or 0.0)
    return [
        rate
        for t_s, values in run.timeseries.get(result.trial.trial_id, ())
        if start + EDGE_S < t_s <= end + EDGE_S and (rate := values.get("rows_per_s")) is not None
    ]


def _valid(run: StoredRun) -> dict[Key, list[TrialResult]]:
    """The trials that count, by point."""
    observed = observations(run.results, "rows_per_s")
    found: dict[Key, list[TrialResult]] = {}
    for result, one in zip(run.results, observed, strict=True):
        if one.role == "point" and not one.mark:
            found.setdefault((one.level, label(result.trial.variant)), []).append(result)
    return found


def _planned(run: StoredRun) -> set[Key]:
    return {(t.level, label(t.variant)) for t in run.plan.trials if t.role == "point"}


def _logs(results: Sequence[TrialResult]) -> tuple[float, ...]:
    return tuple(math.log(one.value or 1.0) for one in observations(results, "rows_per_s"))
