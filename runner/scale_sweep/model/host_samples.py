"""The hosts of a sweep whose load is made elsewhere: their network before the first trial, and samples during a
trial."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class HostNetwork:
    """The network of a host towards the server's host, as streams used it before the first trial."""

    host: str
    # sent_bytes_per_s, received_bytes_per_s: of payload, one direction after the other; of the server's host, to and
    # from all load hosts together, and None if there is only one: which end of a path is slow cannot be seen
    sent_bytes_per_s: float | None
    received_bytes_per_s: float | None
    # the median of single bytes to the server's host and back; None for that host itself
    round_trip_ms: float | None = None


@dataclass(frozen=True, kw_only=True)
class HostSample:
    """One tick on a host. Names with _total are cumulative. A counter that was not read is None."""

    monotonic_ns: int  # on the clock of the server's host
    cpus: int  # the number of those that the load generator may use there, 0 on a host that makes no load
    load_cpu_s_total: float | None = None  # CPU seconds of the load generator there
    # busy_cpu_s_total, stolen_cpu_s_total: of these CPUs, by anything on that host, and by its hypervisor
    busy_cpu_s_total: float | None = None
    stolen_cpu_s_total: float | None = None
    # sent_bytes_total, received_bytes_total: of the interface towards the server
    sent_bytes_total: float | None = None
    received_bytes_total: float | None = None
    # segments_total, segments_again_total: TCP segments that the host sent, and that it sent again
    segments_total: float | None = None
    segments_again_total: float | None = None


@dataclass(frozen=True, kw_only=True)
class HostFigures:
    """One host over a trial's window. MB is 10^6 bytes."""

    cpus: int
    load_cpu_cores: float | None = None
    other_cpu_cores: float | None = None
    stolen_cpu_cores: float | None = None
    sent_mb_per_s: float | None = None
    received_mb_per_s: float | None = None
    network_percent: float | None = None  # of what a stream reached, in the direction that was fuller
    resent_percent: float | None = None  # of the TCP segments that the host sent
