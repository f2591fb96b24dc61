"""The rules that name the bottleneck, in their order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from scale_sweep.judge.verdict.evidence import Explanation, ResourceUse, TrialResources
from scale_sweep.judge.verdict.rules import foreign, load, machine, server
from scale_sweep.model.measured import BottleneckKind


class Precedence(StrEnum):
    OVERRULES = "overrules"  # the number is not the level's
    USED_UP = "used up"  # of two that are full, the axis' own is the answer
    EXPLAINS = "explains"  # why nothing that was given was used up


@dataclass(frozen=True, kw_only=True)
class BottleneckRule:
    names: BottleneckKind  # the only kind of its answers
    precedence: Precedence
    explain: Callable[[ResourceUse, TrialResources], Explanation | None]  # for a window or a second
    only_on: BottleneckKind | None = None  # if the axis sweeps this kind


_OVERRULES = (
    # Near its own ceiling the load generator limits the rate, even if the server is as busy.
    (BottleneckKind.GENERATOR_CEILING, load.generator_ceiling),
    # A foreign load has no ceiling: its quota, or that its threads had no idle time while the server had some. Of two
    # causes of these, who took its CPUs comes first.
    (BottleneckKind.GENERATOR_CPU, foreign.full_quota),
    (BottleneckKind.OTHER_PROCESSES, foreign.crowded),
    (BottleneckKind.GENERATOR_CPU, foreign.full_thread),
    (BottleneckKind.GENERATOR_CPU, foreign.full_cpus),
    (BottleneckKind.GENERATOR_CPU, foreign.own_locks),
    # Whatever else is full: the number is that of both.
    (BottleneckKind.SHARED_CPU, foreign.on_common_cpus),
    # Without idle time it was never faster than the server.
    (BottleneckKind.GENERATOR_CPU, load.generator_spent),
    (BottleneckKind.GENERATOR_CPU, load.host_generator_spent),
    # The server has fewer cores than the level says.
    (BottleneckKind.THROTTLING, server.foreign_quota),
    # Response times must be the server's alone.
    (BottleneckKind.HYPERVISOR, machine.delayed_by_hypervisor),
    (BottleneckKind.OTHER_PROCESSES, machine.delayed_by_others),
    (BottleneckKind.GENERATOR_CPU, machine.busy_generator),
    # While it did not run, nobody asked the server: also below the offered rate, and in a closed loop.
    (BottleneckKind.GENERATOR_LATE, load.paused),
    (BottleneckKind.GENERATOR_LATE, machine.sent_late),
    # Nobody asked for more: no resource needs to be full.
    (BottleneckKind.OFFERED_RATE, load.offered_rate),
)
_USED_UP = (
    # More exact than its cores.
    (BottleneckKind.QUOTA, server.own_quota),
    # Cores that wait for memory are full, and more of them do not help.
    (BottleneckKind.MEMORY_BANDWIDTH, server.memory_bandwidth),
    (BottleneckKind.SERVER_CPU, server.server_cpu),
    # No later rule on a sweep of cores may answer then: each says that cores were idle.
    (BottleneckKind.UNREAD, server.cpu_unread),
    (BottleneckKind.DISK, server.disks_full),
    (BottleneckKind.UNREAD, server.disks_unread),
)
_EXPLAINS = (
    # A full network explains the rate, and pauses in it.
    (BottleneckKind.NETWORK, load.host_network),
    # A server that gets no CPU stalls too.
    (BottleneckKind.OTHER_PROCESSES, machine.crowded_out),
    # In a stall all connections wait, no thread is hot, and other programs find the CPUs idle.
    (BottleneckKind.STALL, machine.stall),
    # A full load generator makes the server's connections and threads look idle.
    (BottleneckKind.GENERATOR_CPU, load.generator_cpu),
    (BottleneckKind.GENERATOR_CPU, load.host_generator_cpu),
    (BottleneckKind.HYPERVISOR, load.host_hypervisor),
    (BottleneckKind.OTHER_PROCESSES, load.host_other_processes),
    (BottleneckKind.SHARED_CPU, server.shared_cpu),
    (BottleneckKind.HYPERVISOR, machine.hypervisor),
    (BottleneckKind.OTHER_PROCESSES, machine.other_processes),
    # Before waiting connections: both are inside of a send.
    (BottleneckKind.GENERATOR_CPU, load.busy_workers),
    (BottleneckKind.GENERATOR_CPU, load.hot_generator_thread),
    # A thread that flushes to a full disk is busy as well.
    (BottleneckKind.UNEVEN_DISKS, server.uneven_disks),
    (BottleneckKind.DISK_WAITS, server.disk_waits),
    (BottleneckKind.DISK, server.disk),
    (BottleneckKind.MEMORY, machine.memory),
    # Connections then wait for bytes.
    (BottleneckKind.NETWORK, machine.network),
    # The database's own report before conclusions from outside.
    (BottleneckKind.LOCKS, server.locks),
    # Before a hot thread: a server's process for each connection is hot by itself.
    (BottleneckKind.CONNECTIONS, machine.few_connections),
    (BottleneckKind.HOT_THREAD, server.hot_thread),
    # A symptom, so all causes come first.
    (BottleneckKind.CONNECTIONS, machine.connections),
    (BottleneckKind.UNKNOWN, machine.unknown),
)
_ONLY_ON = {server.cpu_unread: BottleneckKind.SERVER_CPU, server.disks_unread: BottleneckKind.DISK}
RULES = tuple(
    BottleneckRule(names=names, precedence=precedence, explain=explain, only_on=_ONLY_ON.get(explain))
    for precedence, rows in zip(Precedence, (_OVERRULES, _USED_UP, _EXPLAINS), strict=True)
    for names, explain in rows
)

# How far a resource was used, which begins a verdict's reason.
WORDS = {BottleneckKind.SERVER_CPU: server.cpu_words, BottleneckKind.DISK: server.disk_words}
