"""The one evidence of a verdict: what was used, what was given, what was measured, what went wrong. Data only.

Refuses to hold an opinion, and to know what is varied: the axis comes to `diagnose` beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from runner.model import DiskFigures, Measurement


@dataclass(frozen=True, kw_only=True)
class TrialResources:
    """What both sides had. quota: the server's cores are CPU time, not whole CPUs. threads: of the generator, each with
    one request in flight at most. shared_cpus: those that both sides may use. prepared_disks: how many disks were made
    ready for the server's data; 0 where they lie wherever they always do. unit: of rates, rows/s or requests/s, here
    and in Use, whatever their names say. Rates None: none was measured, or none was offered (closed loop)."""

    cores: float
    quota: bool
    generator_cpus: int
    shared_cpus: tuple[int, ...]
    threads: int
    ceiling_rows_per_s: float | None = None
    offered_rows_per_s: float | None = None
    disk_ceilings_mb_per_s: Mapping[str, float] = field(default_factory=dict)
    prepared_disks: int = 0
    unit: str = "rows/s"


@dataclass(frozen=True, kw_only=True)
class ResourceUse:
    """Over a window, or one second of it; None where it was not read.

    seconds: how long it is. throttled: share of that time in which the server was throttled by its quota. hot_thread:
    the server's busiest single thread by pool name, with the cores that it used; hot_thread_median: of the other
    threads of that name that worked. hot_generator_thread: the load generator's busiest thread. other_cores: of neither
    side, on the server's CPUs where each CPU's time is known, else on the machine. stalled_s: the longest time without
    an acknowledgement; stalled_cores: what the server used meanwhile. in_flight: share of the generator's threads' time
    that they waited for an answer; workers_busy: that they ran on a CPU themselves. stolen_cores: what the hypervisor
    took (steal time), on the same CPUs.
    backlog_rows_per_s: open loop: how fast the rows that were due and not sent became more; None where that was no
    steady rise, in a closed loop, and of a second.
    waits: share of the time of the connections at work by what they waited for, "lock: NAME" for a lock; where the
    server does not tell, of its threads that ran or waited for a lock, "mutex: POOL". Empty where neither was read.
    switches_per_s: context switches of the server's threads, "voluntary" and "nonvoluntary".
    instructions_per_cycle, cycles_per_miss: of the server's CPUs, whoever ran there; None where the kernel gives no
    hardware counters. A miss is one of the last-level cache.
    network: share of what a network interface can take, by interface and direction; none of virtual ones.
    load_disks: the disks from the first request to the end of flush and sync, in the order of the axis; None for a
    second of the window, whose own figures count instead.
    """

    seconds: float = 1.0
    rows_per_s: float | None = None
    server_cores: float | None = None
    generator_cores: float | None = None
    other_cores: float | None = None
    stolen_cores: float | None = None
    throttled: float | None = None
    hot_thread: tuple[str, float] | None = None
    hot_thread_median: float | None = None
    hot_generator_thread: tuple[str, float] | None = None
    waits: Mapping[str, float] = field(default_factory=dict)
    switches_per_s: Mapping[str, float] = field(default_factory=dict)
    instructions_per_cycle: float | None = None
    cycles_per_miss: float | None = None
    network: Mapping[str, float] = field(default_factory=dict)
    stalled_s: float | None = None
    stalled_cores: float | None = None
    disk_busy_percent: Mapping[str, float] = field(default_factory=dict)
    disk_mb_per_s: Mapping[str, float] = field(default_factory=dict)
    io_waiting_percent: float | None = None
    memory_waiting_percent: float | None = None
    in_flight: float | None = None
    workers_busy: float | None = None
    backlog_rows_per_s: float | None = None
    load_disks: Mapping[str, DiskFigures] | None = None

    @property
    def taken_cores(self) -> float:
        """By other processes and the hypervisor together."""
        return (self.other_cores or 0.0) + (self.stolen_cores or 0.0)


@dataclass(frozen=True, kw_only=True)
class Integrity:
    """What makes a number wrong, as sentences. aborted: why the trial ended early.
    miscounted: what the database's own count denies. mismatches: settings that are not
    as planned. suspicious: lines of the server's log. gaps: tables that lack rows in between. unfinished: what the
    load itself says against its having come to its end. wrong_answers: to questions whose right answer is known."""

    aborted: str = ""
    miscounted: str = ""
    mismatches: tuple[str, ...] = ()
    suspicious: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    unfinished: str = ""
    wrong_answers: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that a verdict is made of, besides the axis. window: None where there was none. seconds: its parts.
    commits_in_window: None where the server does not say. overdue: requests of an open loop that were due and had no
    answer when the window ended; None where the load generator does not say. transient: why the window did not begin
    with the end of the warm-up, "" where it did. claims: the window is long enough to carry the claim that its rate is
    the long-run one; else it is judged by the rules of a short one."""

    given: TrialResources
    measurement: Measurement
    window: ResourceUse | None
    seconds: tuple[ResourceUse, ...] = ()
    integrity: Integrity = Integrity()
    commits_in_window: int | None = None
    overdue: int | None = None
    transient: str = ""
    claims: bool = False
