"""Laws of simulated servers: how fast each of them is at a level, and what changes with time. Pure.

Under a full load every server is busy all the time, like a core that spins or waits for memory. Only a lock, a quota
and a pause leave it idle.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from scale_sweep.model.planned import Trial

US_MAX = 3_600_000_000
SERVERS_MAX = 1024  # of the load generator


class Parameter(NamedTuple):
    default: str
    least: float
    most: float


PARAMETERS: Mapping[str, Parameter] = {
    "service_us": Parameter("5000", 1, US_MAX),  # of a request, by one server at full speed
    "noise": Parameter("0.5", 0, 20),  # percent, standard deviation of a trial's speed
    "alpha": Parameter("0.02", 0, 1),  # contention of usl
    "beta": Parameter("0.0001", 0, 1),  # coherency of usl
    "smt": Parameter("0.25", 0, 1),  # of a core, added by its second thread
    "numa": Parameter("0.15", 0, 0.95),  # of the speed, lost on more than one node
    "lock": Parameter("0.05", 0.001, 1),  # of the service, under the lock
    "most": Parameter("16", 0.1, SERVERS_MAX),  # servers of bandwidth, plateau and quota
    "fall": Parameter("0.01", 0, 1),  # of the plateau, lost by each server after 1.5 x most
    "per_partition": Parameter("1", 0.01, SERVERS_MAX),  # servers that one partition needs
    "cold": Parameter("0.5", 0.01, 1),  # of full speed, at the begin of warmup
    "cold_s": Parameter("4", 0.001, 3600),  # until full speed
    "drift": Parameter("0.05", 0, 0.5),  # of full speed, above and below it
    "drift_s": Parameter("600", 0.001, 3600),  # of a whole wave
    "pause_s": Parameter("0.5", 0.001, 9),  # of each pause, every 10 s
    "slow": Parameter("0.7", 0.01, 1),  # of full speed, in the slow state
    "state_s": Parameter("20", 0.001, 3600),  # of a state at least
}
PAUSE_EVERY_MS = 10_000


@dataclass(frozen=True, kw_only=True)
class Level:
    """Facts on which a law may depend."""

    servers: int
    siblings: int  # of them, second threads of their cores
    nodes: int
    partitions: int
    values: Mapping[str, float]  # of the parameters
    speeds: Mapping[float, float] = field(default_factory=dict)  # by level, for `table`
    level: float = 1.0


Factor = Callable[[Level], float]  # of each server's speed
Options = Callable[[Level], Mapping[str, float]]  # of the load generator, besides


def _usl(at: Level) -> float:
    n, v = at.servers, at.values
    return 1 / (1 + v["alpha"] * (n - 1) + v["beta"] * n * (n - 1))


def _smt(at: Level) -> float:
    return (at.servers - (1 - at.values["smt"]) * at.siblings) / at.servers


def _numa(at: Level) -> float:
    return 1 - at.values["numa"] if at.nodes > 1 else 1.0


def _bandwidth(at: Level) -> float:
    return min(1.0, at.values["most"] / at.servers)


def _plateau(at: Level) -> float:
    most = at.values["most"]
    lost = at.values["fall"] * max(0.0, at.servers - 1.5 * most)
    return min(1.0, most * max(0.1, 1 - lost) / at.servers)


def _partitions(at: Level) -> float:
    return min(1.0, at.partitions * at.values["per_partition"] / at.servers)


def _table(at: Level) -> float:
    return at.speeds.get(at.level, 1.0)


def _quota(at: Level) -> Mapping[str, float]:
    return {"null_quota_milli": 1000 * at.values["most"]} if at.servers > at.values["most"] else {}


# How much slower each server is.
FACTORS: Mapping[str, Factor] = {
    "linear": lambda at: 1.0,
    "usl": _usl,
    "smt": _smt,
    "numa": _numa,
    "bandwidth": _bandwidth,
    "plateau": _plateau,
    "partitions": _partitions,
    "table": _table,
}
# What the load generator does at the time of each request.
CHANGES: Mapping[str, Options] = {
    "exponential": lambda at: {},
    "lock": lambda at: {"null_lock_us": at.values["lock"] * at.values["service_us"]},
    "quota": _quota,
    "warmup": lambda at: {
        "null_warm_ms": 1000 * at.values["cold_s"],
        "null_warm_percent": 100 * at.values["cold"],
    },
    "drift": lambda at: {
        "null_drift_ms": 1000 * at.values["drift_s"],
        "null_drift_percent": 100 * at.values["drift"],
    },
    "pause": lambda at: {"null_stall_us": 1e6 * at.values["pause_s"], "null_stall_every_ms": PAUSE_EVERY_MS},
    "states": lambda at: {
        "null_states_ms": 1000 * at.values["state_s"],
        "null_states_percent": 100 * at.values["slow"],
    },
}
NAMES = (*FACTORS, *CHANGES)


def mistake_of(knobs: Mapping[str, str]) -> tuple[str, str]:
    """The first knob that is wrong, and why; ("", "") if none is."""
    for name in laws_of(knobs):
        if name not in NAMES:
            return "law", f"{name!r} is none of {', '.join(NAMES)}; several are joined by +"
    for name, parameter in PARAMETERS.items():
        try:
            within = parameter.least <= float(knobs.get(name, parameter.default)) <= parameter.most
        except ValueError:
            within = False
        if not within:
            return name, f"{knobs[name]!r} is no number from {parameter.least:g} to {parameter.most:g}"
    try:
        wrong = any(not 0.01 <= speed <= 100 for speed in speeds_of(knobs).values())
    except ValueError:
        wrong = True
    return (
        ("speeds", f"{knobs['speeds']!r} is not like 1:0.8/2:0.9 with speeds from 0.01 to 100") if wrong else ("", "")
    )


def laws_of(knobs: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(knobs.get("law", "linear").split("+"))


def speeds_of(knobs: Mapping[str, str]) -> Mapping[float, float]:
    """Raises ValueError."""
    pairs = (pair.split(":") for pair in knobs.get("speeds", "").split("/") if pair)
    return {float(level): float(speed) for level, speed in pairs}


def options_of(trial: Trial) -> dict[str, str]:
    """Those of the load generator's null driver. A mistake of the knobs was refused before."""
    knobs, placement = trial.knobs, trial.placement
    values = {name: float(knobs.get(name, parameter.default)) for name, parameter in PARAMETERS.items()}
    at = Level(
        servers=max(1, math.ceil(trial.cores)),
        siblings=len(placement.smt_cpus),
        nodes=len(placement.nodes),
        partitions=trial.load.partitions,
        values=values,
        speeds=speeds_of(knobs),
        level=trial.level,
    )
    laws = laws_of(knobs)
    speed = math.prod(FACTORS[name](at) for name in laws if name in FACTORS)
    speed *= math.exp(random.Random(f"{trial.seed} {trial.trial_id}").gauss(0, values["noise"] / 100))
    whole = {"null_servers": at.servers, "null_service_us": values["service_us"] / speed}
    if placement.quota_cores is not None:
        whole["null_quota_milli"] = 1000 * placement.quota_cores
    for name in filter(CHANGES.__contains__, laws):
        whole |= CHANGES[name](at)
    numbers = {name: str(max(1, round(value))) for name, value in whole.items()}
    return {**numbers, "null_law": "exponential" if "exponential" in laws else "constant"}
