"""Rates over a window, from counters interpolated at its edges, and the speed of its CPUs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from scale_sweep.judge.figures.counts_per_second import RatedInterval
from scale_sweep.judge.verdict.evidence import ResourceUse
from scale_sweep.model.samples import Sample

EDGE_NS = 1_500_000_000  # outside of the samples, where the nearest one counts
Counter = Callable[[Sample], float | None]


def measure_window(samples: Sequence[Sample], start_ns: int, end_ns: int) -> ResourceUse:
    """From start_ns to end_ns (monotonic)."""
    seconds = (end_ns - start_ns) / 1e9

    def grown(counter: Counter) -> float | None:
        first, last = counter_at(samples, counter, start_ns), counter_at(samples, counter, end_ns)
        return last - first if first is not None and last is not None and seconds > 0 else None

    def rate(counter: Counter, scale: float = 1.0) -> float | None:
        growth = grown(counter)
        return scale * growth / seconds if growth is not None else None

    server, client = rate(lambda s: s.server.cpu_s_total), rate(lambda s: s.generator.cpu_s_total)
    host = rate(lambda s: s.host_cpu_busy_s_total)
    others = None
    if server is not None and client is not None and host is not None:
        others = max(0.0, host - server - client)
    inside = [s for s in samples if start_ns <= s.monotonic_ns <= end_ns]
    hot = _hottest([s.thread_peak_cores for s in inside])
    cpus, counters = _rates(samples, rate, "cpu_busy_s_total"), _rates(samples, rate, "cpu_counters_total")
    return ResourceUse(
        seconds=seconds,
        server_cpu_cores=server,
        generator_cpu_cores=client,
        other_cpu_cores=others,
        stolen_cpu_cores=rate(lambda s: s.host_cpu_stolen_s_total),
        server_queued_cores=rate(lambda s: s.thread_queued_s_total),
        throttled_s=grown(lambda s: s.server.throttled_s_total),
        generator_throttled_s=grown(lambda s: s.generator.throttled_s_total),
        disk_bytes=grown(lambda s: s.disk_written_bytes_total),
        disk_write_mb_per_s=rate(lambda s: s.disk_written_bytes_total, 1e-6),
        **_of_disks(samples, rate),
        memory_used_bytes_max=max((s.server.memory_bytes for s in inside if s.server.memory_bytes), default=None),
        memory_available_bytes_min=min(
            (s.memory_available_bytes for s in inside if s.memory_available_bytes), default=None
        ),
        cpu_waiting_percent=rate(lambda s: s.psi_some_s_total.get("cpu"), 100.0),
        io_waiting_percent=rate(lambda s: s.psi_some_s_total.get("io"), 100.0),
        threads=_rates(samples, rate, "thread_cpu_s_total", 0.0),
        hot_thread=hot,
        hot_thread_median=_median_of(hot[0], inside) if hot else None,
        hot_generator_thread=_hottest([s.generator_peak_cores for s in inside]),
        **_wanted(inside),
        waits=_waits([s.waits_total for s in inside]),
        generator_waits=_waits([s.generator_waits_total for s in inside]),
        network=_network(samples, rate),
        switches_per_s=_rates(samples, rate, "thread_switches_total"),
        counters_per_s=counters,
        instructions_per_cycle=per(counters, "instructions", "cycles"),
        server_cycles_per_miss=per(counters, "cycles", "llc_misses"),
        cpus={int(name): busy for name, busy in cpus.items()},
        cpus_stolen={int(name): stolen for name, stolen in _rates(samples, rate, "cpu_stolen_s_total").items()},
        memory_waiting_percent=rate(lambda s: s.psi_some_s_total.get("memory"), 100.0),
        server_system_cores=rate(lambda s: s.server.system_s_total),
        server_page_faults_per_s=rate(lambda s: s.server.page_faults_total),
        cpu_mhz=_clock_rates(inside),
        energy_j=grown(lambda s: s.energy_j_total),
    )


def _clock_rates(inside: Sequence[Sample]) -> Mapping[str, float]:
    seen: dict[str, list[float]] = {}
    for sample in inside:
        for cpu, mhz in sample.cpu_mhz.items():
            seen.setdefault(cpu, []).append(mhz)
    return {cpu: sum(values) / len(values) for cpu, values in seen.items()}


def _of_disks(samples: Sequence[Sample], rate: Callable[..., float | None]) -> dict[str, Any]:
    read = _disks(samples, rate, "read_bytes_total", 1e-6)
    return {
        "disk_read_mb_per_s": sum(read.values()) if read else None,
        "disk_mb_per_s": _disks(samples, rate, "written_bytes_total", 1e-6),
        "disk_busy_percent": _disks(samples, rate, "busy_s_total", 100.0),
        "disk_queue": _disks(samples, rate, "queue_s_total", 1.0),
    }


def _disks(samples: Sequence[Sample], rate: Callable[..., float | None], figure: str, scale: float) -> dict[str, float]:
    def of(name: str) -> Counter:
        return lambda s: getattr(s.disks.get(name), figure, None)

    names = samples[-1].disks if samples else ()
    return {name: value for name in names if (value := rate(of(name), scale)) is not None}


def per(rates: Mapping[str, float], of: str, for_each: str) -> float | None:
    """None if one was not read, or the divisor is 0."""
    counted = rates.get(for_each)
    return rates[of] / counted if of in rates and counted else None


def _hottest(peaks: Sequence[Mapping[str, float]]) -> tuple[str, float] | None:
    names = {name for peak in peaks for name in peak}
    means = {name: sum(peak.get(name, 0.0) for peak in peaks) / len(peaks) for name in names}
    return max(means.items(), key=lambda item: item[1], default=None)


def _median_of(name: str, inside: Sequence[Sample]) -> float | None:
    """The other threads of that name; None if only one worked, or an older version sampled."""
    if not any(name in s.thread_median_cores for s in inside):
        return None
    return sum(s.thread_median_cores.get(name, 0.0) for s in inside) / len(inside)


def _network(samples: Sequence[Sample], rate: Callable[[Counter], float | None]) -> Mapping[str, float]:
    moved = _rates(samples, rate, "network_bytes_total")
    speeds = {name: samples[-1].network_bytes_per_s.get(name.partition(" ")[0]) for name in moved}
    return {name: used / speed for name, used in moved.items() if (speed := speeds[name])}


def _rates(
    samples: Sequence[Sample], rate: Callable[[Counter], float | None], counters: str, absent: float | None = None
) -> Mapping[str, float]:
    """absent: a sample's counter that it lacks."""

    def of(name: str) -> Counter:
        return lambda sample: getattr(sample, counters).get(name, absent)

    names = getattr(samples[-1], counters) if samples else ()
    return {name: value for name in names if (value := rate(of(name))) is not None}


def _wanted(inside: Sequence[Sample]) -> Mapping[str, Any]:
    """Fields about the threads of a foreign load, and of the server beside it, between each two samples; none for an
    own load."""
    parts = [(n, n.monotonic_ns - o.monotonic_ns) for o, n in pairwise(inside) if n.generator_threads is not None]
    if not parts:
        return {}
    whole = sum(ns for _, ns in parts) or 1
    wanted: defaultdict[str, float] = defaultdict(float)
    for sample, ns in parts:
        for name, cores in sample.generator_wanted_cores.items():
            wanted[name] += cores * ns / whole
    disk = [bool(s.thread_disk_waits) for s, _ in parts if s.thread_disk_waits is not None]
    name, cores = max(wanted.items(), key=lambda item: item[1], default=("", 0.0))
    return {
        "server_disk_waits": fmean(disk) if disk else None,
        "hot_generator_wanted": (name, cores),
        "hot_generator_queued": sum(s.generator_queued_cores.get(name, 0.0) * ns / whole for s, ns in parts),
        "generator_threads": sum((s.generator_threads or 0) * ns / whole for s, ns in parts),
    }


def _waits(totals: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    """Shares; empty if fewer than two samples have them, or no connection was seen at work."""
    waits = [one for one in totals if one]
    if len(waits) < 2:
        return {}
    grown = {name: waits[-1][name] - waits[0].get(name, 0.0) for name in waits[-1]}
    total = sum(grown.values())
    return {name: count / total for name, count in grown.items()} if total > 0 else {}


class Timed(Protocol):
    @property
    def monotonic_ns(self) -> int: ...


AnySample = TypeVar("AnySample", bound=Timed)


def counter_at(
    samples: Sequence[AnySample], counter: Callable[[AnySample], float | None], when_ns: int
) -> float | None:
    """Interpolated; just outside of the samples the nearest one's value."""
    known = [(s.monotonic_ns, v) for s in samples if (v := counter(s)) is not None]
    if not known or when_ns < known[0][0] - EDGE_NS or when_ns > known[-1][0] + EDGE_NS:
        return None
    for (t0, v0), (t1, v1) in zip(known, known[1:], strict=False):
        if t0 <= when_ns <= t1:
            return v0 + (v1 - v0) * (when_ns - t0) / (t1 - t0) if t1 > t0 else v1
    return known[0][1] if when_ns < known[0][0] else known[-1][1]


_PIECES_MIN = 2.0
_SECONDS_MIN = 4  # for a slope
_SECOND_NS = 1_000_000_000


class RateAndSpeed(NamedTuple):
    cv_percent: float  # of the speed from second to second
    slope: float  # percent of rate for each percent of speed, by least squares on logarithms


class WorkTotals:
    def __init__(self, samples: Sequence[Sample]) -> None:
        works = [work for sample in samples for work in sample.cpu_work]
        self._at_ns = np.array([work.monotonic_ns for work in works], dtype=float)
        self._speed = np.array([work.speed_total for work in works])
        self._pieces = np.array([work.pieces_total for work in works], dtype=float)

    def speed(self, start_ns: float, end_ns: float) -> float | None:
        """The mean between two times (monotonic), in pieces for each millisecond."""
        if len(self._at_ns) < 2 or start_ns < self._at_ns[0] - EDGE_NS or end_ns > self._at_ns[-1] + EDGE_NS:
            return None
        speed, pieces = (
            float(np.diff(np.interp([start_ns, end_ns], self._at_ns, totals))[0])
            for totals in (self._speed, self._pieces)
        )
        return speed / pieces if pieces >= _PIECES_MIN and speed > 0 else None

    def of_seconds(self, seconds: Sequence[RatedInterval]) -> tuple[float, ...]:
        """In each whole second; empty if one has none."""
        speeds = [self.speed(one.monotonic_ns - _SECOND_NS, one.monotonic_ns) for one in seconds]
        known = tuple(speed for speed in speeds if speed is not None)
        return known if len(known) == len(speeds) else ()


def at_equal_speed(rates: Sequence[float], speeds: Sequence[float]) -> list[float]:
    """For a server whose rate is proportional to the speed."""
    mean = sum(speeds) / len(speeds)
    return [rate * mean / speed for rate, speed in zip(rates, speeds, strict=True)]


def rate_and_speed(rates: Sequence[float], speeds: Sequence[float]) -> RateAndSpeed | None:
    """None for too few seconds, and for one without a rate."""
    if len(rates) < _SECONDS_MIN or len(speeds) != len(rates) or min(rates) <= 0:
        return None
    speed, rate = _around(np.log(speeds)), _around(np.log(rates))
    spread = float(speed @ speed)
    if spread <= 0:
        return None
    return RateAndSpeed(cv_percent=100 * (spread / len(rates)) ** 0.5, slope=float(speed @ rate) / spread)


def _around(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values - float(values.mean())
