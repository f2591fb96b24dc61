"""Conditions that moved along the axis and that the plan did not set: what the machine gave.

Knobs are part of the plan (its confounds). This module covers what only the results show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from scale_sweep.base.units import format_number
from scale_sweep.experiment.axes import AxisFacts
from scale_sweep.model import TrialResult

SHARED_CORES_MIN = 0.05  # cores of the server that the load generator used, as a share of the server's
OTHERS_SHARE = 0.10
MEMORY_FACTOR = 2.0
COMMITS_FACTOR = 2.0
CLOCK_FACTOR = 1.03
DATA_FACTOR = 1.5
Read = Callable[[TrialResult], float | None]


def conditions(results: Sequence[TrialResult], axis: AxisFacts) -> tuple[str, ...]:
    """A sentence for each condition that is not the same at all levels."""
    points = [r for r in results if r.trial.role == "point"]
    found = (rule(points, axis.name) for rule in (_shared, _others, _stolen, _clock, _data, _memory, _commits))
    return tuple(sentence for sentence in found if sentence)


def _means(results: Sequence[TrialResult], read: Read) -> dict[float, float]:
    """The mean of a figure at each level where it is known."""
    values: dict[float, list[float]] = {}
    for result in results:
        value = read(result)
        if value is not None:
            values.setdefault(result.trial.level, []).append(value)
    return {level: sum(v) / len(v) for level, v in sorted(values.items())}


def _shared(results: Sequence[TrialResult], unit: str) -> str:
    shares = _means(results, lambda r: _taken(r) / r.trial.cores)
    on = {level: share for level, share in shares.items() if share > SHARED_CORES_MIN}
    if not on or len(on) == len(shares) and max(on.values()) - min(on.values()) < SHARED_CORES_MIN:
        return ""
    told = ", ".join(f"{100 * share:.0f} % at {format_number(level)}" for level, share in shares.items())
    return f"the load generator took a share of the server's own CPUs that moves with the {unit}: {told}"


def _taken(result: TrialResult) -> float:
    """Cores that the load generator used on CPUs that it shares with the server."""
    placement = result.trial.placement
    used = result.measurement.generator_cpu_cores
    if not placement.shared or used is None:
        return 0.0
    return used * len(placement.shared) / len(placement.generator_cpus)


def _others(results: Sequence[TrialResult], unit: str) -> str:
    return _moving("other processes used", _means(results, lambda r: r.measurement.other_cpu_cores), unit)


def _stolen(results: Sequence[TrialResult], unit: str) -> str:
    return _moving("the hypervisor took", _means(results, lambda r: r.measurement.stolen_cpu_cores), unit)


def _moving(who: str, cores: Mapping[float, float], unit: str) -> str:
    if not cores or max(cores.values()) - min(cores.values()) < OTHERS_SHARE:
        return ""
    told = ", ".join(f"{used:.2f} at {format_number(level)}" for level, used in cores.items())
    return f"{who} CPU that moves with the {unit}: {told} cores"


def _clock(results: Sequence[TrialResult], unit: str) -> str:
    rates = _means(results, lambda r: r.measurement.server_cpu_mhz)
    if not rates or max(rates.values()) < CLOCK_FACTOR * min(rates.values()):
        return ""
    told = ", ".join(f"{mhz:.0f} at {format_number(level)}" for level, mhz in rates.items())
    return f"the clock rate of the server's CPUs moves with the {unit}: {told} MHz"


def _data(results: Sequence[TrialResult], unit: str) -> str:
    sizes = _means(results, lambda r: r.measurement.data_gb)
    if not sizes or not max(sizes.values()) or max(sizes.values()) < DATA_FACTOR * min(sizes.values()):
        return ""
    told = ", ".join(f"{gb:.2g} at {format_number(level)}" for level, gb in sizes.items())
    return (
        f"the data at the end of a trial grow with the {unit}: {told} GB, so caches and trees differ from level to "
        "level (--rows gives every level the same rows)"
    )


def _memory(results: Sequence[TrialResult], unit: str) -> str:
    used = _means(results, lambda r: r.measurement.memory_used_gb)
    if not used or max(used.values()) < MEMORY_FACTOR * min(used.values()):
        return ""
    told = ", ".join(f"{gb:.2g} at {format_number(level)}" for level, gb in used.items())
    return f"the server's memory in use moves with the {unit}: {told} GB"


def _commits(results: Sequence[TrialResult], unit: str) -> str:
    seen = _means(results, lambda r: r.measurement.commits)
    if not seen or max(seen.values()) < 1 or max(seen.values()) < COMMITS_FACTOR * min(seen.values()):
        return ""
    told = ", ".join(f"{count:.1f} at {format_number(level)}" for level, count in seen.items())
    return f"commit cycles under load move with the {unit}: {told}"
