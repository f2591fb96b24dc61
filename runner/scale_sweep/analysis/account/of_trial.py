"""One trial's factors of its rate for each level, and what each factor is the sum of."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from typing import NamedTuple

from scale_sweep.model.derived import load_take
from scale_sweep.model.measured import TrialResult

Series = Sequence[tuple[float, Mapping[str, float | None]]]
WAIT = "wait: "  # begins the name of a part of the waiting that the database reports
_BY_KERNEL = "mutex: "  # begins the name of a wait that the kernel reports; the name of those that run is empty
CPU = "cpu"


class Split(NamedTuple):
    """Divides a quantity: the CPU time that is not used, or the cost of a row."""

    of: str  # its part of the account; "": these are the main parts
    scale: float  # the share in use, or the whole cost
    amounts: Mapping[str, float]


Logs = dict[tuple[str, str], float]  # (of, name): ln of a factor of the rate
Parts = tuple[Logs, Sequence[Split]]


class CountedTrial(NamedTuple):
    """A trial that counts, with what every such trial of the run measured."""

    result: TrialResult
    rate: float
    system: float | None  # share of the server's CPU time in the kernel
    has: Set[str]


def cpu_parts(one: CountedTrial) -> Parts | None:
    """Rate for each core = share of the cores' time in use × units for each CPU-second."""
    m, cores = one.result.measurement, one.result.trial.cores
    if m.server_cpu_cores is None or not are_usable(m.server_cpu_cores, cores, one.rate):
        return None
    used, cost = m.server_cpu_cores / cores, m.server_cpu_cores / one.rate
    unused = _unused(one, used)
    logs: Logs = {("", "not_used"): math.log(used), ("", "more_work"): -math.log(cost)}
    splits = [Split("not_used", used, unused)]
    if one.system is not None and "system" in one.has:
        if "speed" in one.has and m.cpu_speed:
            logs["more_work", "speed"] = math.log(m.cpu_speed)
            cost *= m.cpu_speed  # on CPUs of one speed
        splits.append(Split("more_work", cost, {"user": cost * (1 - one.system), "system": cost * one.system}))
    if "counters" in one.has:
        cycles, instructions = m.server_cycles_per_s or 1.0, m.server_instructions_per_s or 1.0
        factors = {"clock": cycles / m.server_cpu_cores, "per_cycle": instructions / cycles}
        for name, factor in (factors | {"instructions": one.rate / instructions}).items():
            logs["more_work by counters", name] = math.log(factor)
    if {"waits", "others"} <= one.has:
        splits.append(Split("waiting", used, _waits(one.result, unused["waiting"])))
    return logs, splits


def are_usable(*values: float | None) -> bool:
    """Ratios of them are finite and above 0: a stored file may hold any number."""
    return all(value is not None and 1e-100 < value < 1e100 for value in values)


def _unused(one: CountedTrial, used: float) -> dict[str, float]:
    """Shares of the cores' time, by cause. They add up to what is not used."""
    m, trial, has = one.result.measurement, one.result.trial, one.has
    left, cores, parts = max(0.0, 1 - used), trial.cores, dict[str, float]()
    queued = (m.server_queued_cores or 0.0) / cores if "runnable" in has else left
    if "throttled" in has and trial.placement.quota_cores is None:  # a quota of the level is no loss: it is the level
        parts["throttled"] = min(left, (m.throttled_s or 0.0) / (m.window_s or 1.0) / cores)
        left -= parts["throttled"]
    taken = {"load": load_take(one.result) / cores}
    if "others" in has:
        taken["others"] = (m.server_taken_cores or 0.0) / cores
    # Others run for nothing while the server's threads sleep.
    part = min(1.0, min(left, queued) / sum(taken.values())) if sum(taken.values()) else 0.0
    parts |= {name: part * share for name, share in taken.items()}
    left -= part * sum(taken.values())
    if "requests" in has:
        chances = _requests_at_once(one.result)  # each request keeps one core busy: an estimate
        parts["requests"] = min(left, sum((cores - n) * chance for n, chance in chances.items() if n < cores) / cores)
        left -= parts["requests"]
        if "runnable" in has:  # with more requests than cores, threads queue behind each other, and nothing is lost
            beyond = max(0.0, queued - sum(parts.get(name, 0.0) for name in ("throttled", "load", "others")))
            parts["runnable"] = min(left, beyond * sum(chance for n, chance in chances.items() if n <= cores))
    return parts | {"waiting" if "others" in has else "rest": 1 - used - sum(parts.values())}


def _requests_at_once(result: TrialResult) -> dict[int, float]:
    """How often so many connections have a request with the server, if they are independent."""
    many, share = result.trial.work.connections(result.trial.load.connections), _in_flight(result)
    here, away = math.log(max(share, 1e-12)), math.log(max(1 - share, 1e-12))

    def log(n: int) -> float:
        ways = math.lgamma(many + 1) - math.lgamma(n + 1) - math.lgamma(many - n + 1)
        return ways + n * here + (many - n) * away

    return {n: math.exp(log(n)) for n in range(min(many, math.ceil(result.trial.cores)) + 1)}


def _in_flight(result: TrialResult) -> float:
    return min(1.0, max(0.0, (result.measurement.in_flight_percent or 0.0) / 100))


def _waits(result: TrialResult, waiting: float) -> dict[str, float]:
    """Divided by the waits that the database reports; empty if only the kernel does."""
    seen = result.measurement.server_waits
    known = {name: share for name, share in seen.items() if name and share and not name.startswith(_BY_KERNEL)}
    total = sum(known.values())
    return {f"{WAIT}{name}": waiting * share / total for name, share in known.items()} if total > 0 else {}


def busy_parts(one: CountedTrial) -> Parts | None:
    """Durable rows for each disk = busy share × ceiling for each disk / bytes of a row."""
    m, disks = one.result.measurement, one.result.trial.disks
    used, ceiling, size = m.disk_used_percent, m.disk_ceiling_mb_per_s, m.disk_bytes_per_row
    if used is None or ceiling is None or size is None or not are_usable(used, ceiling, size, disks):
        return None
    logs = {"not_busy": math.log(used / 100), "together": math.log(1e6 * ceiling / disks), "bytes": -math.log(size)}
    return {("", name): log for name, log in logs.items()}, ()


def time_parts(one: CountedTrial) -> Parts | None:
    """Time of a connection for each unit = until the answer + until the next request."""
    each, flying = one.result.trial.level / one.rate, _in_flight(one.result)
    if "requests" not in one.has or not are_usable(each):
        return None
    return {}, [Split("", each, {"answers": each * flying, "own": each * (1 - flying)})]


# By the kind that the facts of an axis name: the parts, and why there are none.
KINDS: Mapping[str, tuple[Callable[[CountedTrial], Parts | None], str]] = {
    CPU: (cpu_parts, "the server's CPU time was not measured"),
    "busy": (busy_parts, "the disks' ceilings or the bytes that they wrote were not measured"),
    "time": (time_parts, "the load reports no times of its threads"),
}


def per_unit(result: TrialResult) -> dict[str, float]:
    """For each row or request of the window, those that were measured."""
    m, rate = result.measurement, result.achieved_per_s
    if not rate:
        return {}
    moved = [(host.sent_mb_per_s, host.received_mb_per_s) for host in m.hosts.values() if not host.cpus]
    network = [sent + received for sent, received in moved if sent is not None and received is not None]
    figures = {
        "cpu_us": (m.server_cpu_cores, 1e6),
        "switches": (m.server_switches_per_s, 1.0),
        "written_bytes": (m.disk_write_mb_per_s, 1e6),
        "read_bytes": (m.disk_read_mb_per_s, 1e6),
        "network_bytes": (sum(network) if network else None, 1e6),
        "joules": (m.joules_per_million_rows, rate / 1e6),
    }
    return {name: scale * value / rate for name, (value, scale) in figures.items() if value is not None}


def system_share(result: TrialResult, series: Series) -> float | None:
    """The kernel's part of the server's CPU time, from the seconds of the window."""
    m = result.measurement
    start, seconds = m.transient_s or 0.0, m.window_s or 0.0
    # The first second may have begun before the window: it is left out.
    inside = [values for t, values in series if start + 1 < t <= start + seconds + 0.5]
    both = [(v.get("server_system_cores"), v.get("server_cpu_cores")) for v in inside]
    known = [(system, cores) for system, cores in both if system is not None and cores is not None]
    whole = sum(cores for _, cores in known)
    return min(1.0, sum(system for system, _ in known) / whole) if whole > 0 else None
