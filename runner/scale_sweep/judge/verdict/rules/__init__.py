"""The rules that name the bottleneck, in their order."""

from __future__ import annotations

from scale_sweep.judge.verdict.rules.disks import disk, disk_waits, disk_words, disks_full, disks_unread, uneven_disks
from scale_sweep.judge.verdict.rules.hosts import (
    host_generator_cpu,
    host_generator_spent,
    host_hypervisor,
    host_network,
    host_other_processes,
)
from scale_sweep.judge.verdict.rules.load import (
    busy_workers,
    generator_ceiling,
    generator_cpu,
    generator_spent,
    grows,
    hot_generator_thread,
    is_met,
    offered_rate,
    unmet,
)
from scale_sweep.judge.verdict.rules.machine import (
    connections,
    crowded_out,
    few_connections,
    hypervisor,
    memory,
    network,
    other_processes,
    stall,
    unknown,
)
from scale_sweep.judge.verdict.rules.response_times import (
    busy_generator,
    delayed_by_hypervisor,
    delayed_by_others,
    sent_late,
)
from scale_sweep.judge.verdict.rules.rule import BottleneckRule, Explanation, Precedence
from scale_sweep.judge.verdict.rules.server import (
    cpu_unread,
    cpu_words,
    foreign_quota,
    hot_thread,
    locks,
    memory_bandwidth,
    own_quota,
    server_cpu,
    shared_cpu,
)
from scale_sweep.model import BottleneckKind

__all__ = ["RULES", "WORDS", "Explanation", "Precedence", "BottleneckRule", "grows", "is_met", "unmet"]

RULES: tuple[BottleneckRule, ...] = (
    # Near its own ceiling the load generator limits the rate, even if the server is as busy.
    BottleneckRule(names=BottleneckKind.GENERATOR_CEILING, precedence=Precedence.OVERRULES, explain=generator_ceiling),
    # A load generator without idle time was never faster than the server, even if the server is as busy.
    BottleneckRule(names=BottleneckKind.GENERATOR_CPU, precedence=Precedence.OVERRULES, explain=generator_spent),
    BottleneckRule(names=BottleneckKind.GENERATOR_CPU, precedence=Precedence.OVERRULES, explain=host_generator_spent),
    # With a foreign quota the server has fewer cores than the level says, even if they look full.
    BottleneckRule(names=BottleneckKind.THROTTLING, precedence=Precedence.OVERRULES, explain=foreign_quota),
    # The response times of an open loop are the server's only if nobody else took part in them.
    BottleneckRule(names=BottleneckKind.HYPERVISOR, precedence=Precedence.OVERRULES, explain=delayed_by_hypervisor),
    BottleneckRule(names=BottleneckKind.OTHER_PROCESSES, precedence=Precedence.OVERRULES, explain=delayed_by_others),
    BottleneckRule(names=BottleneckKind.GENERATOR_CPU, precedence=Precedence.OVERRULES, explain=busy_generator),
    BottleneckRule(names=BottleneckKind.GENERATOR_LATE, precedence=Precedence.OVERRULES, explain=sent_late),
    # An open loop whose rate was met asked for no more: no resource needs to be full.
    BottleneckRule(names=BottleneckKind.OFFERED_RATE, precedence=Precedence.OVERRULES, explain=offered_rate),
    # The quota of the level before its cores: it names the same bottleneck more exactly.
    BottleneckRule(names=BottleneckKind.QUOTA, precedence=Precedence.USED_UP, explain=own_quota),
    # Cores that wait for memory are full, and more of them do not help: again more exact.
    BottleneckRule(names=BottleneckKind.MEMORY_BANDWIDTH, precedence=Precedence.USED_UP, explain=memory_bandwidth),
    BottleneckRule(names=BottleneckKind.SERVER_CPU, precedence=Precedence.USED_UP, explain=server_cpu),
    # Without the server's CPU use, no later rule on a sweep of cores may answer: each says that cores were idle.
    BottleneckRule(
        names=BottleneckKind.UNREAD,
        precedence=Precedence.USED_UP,
        explain=cpu_unread,
        only_on=BottleneckKind.SERVER_CPU,
    ),
    BottleneckRule(names=BottleneckKind.DISK, precedence=Precedence.USED_UP, explain=disks_full),
    BottleneckRule(
        names=BottleneckKind.UNREAD, precedence=Precedence.USED_UP, explain=disks_unread, only_on=BottleneckKind.DISK
    ),
    # A measured network that is full explains the rate, and pauses in it; other programs may only have been there too.
    BottleneckRule(names=BottleneckKind.NETWORK, precedence=Precedence.EXPLAINS, explain=host_network),
    # A server that gets no CPU stalls too: where others took it and programs waited for it, that is the cause.
    BottleneckRule(names=BottleneckKind.OTHER_PROCESSES, precedence=Precedence.EXPLAINS, explain=crowded_out),
    # In a stall all connections wait, no thread is hot, and other programs find the CPUs idle.
    BottleneckRule(names=BottleneckKind.STALL, precedence=Precedence.EXPLAINS, explain=stall),
    # Busy components, outside the server first: a full load generator makes its connections and threads look idle.
    BottleneckRule(names=BottleneckKind.GENERATOR_CPU, precedence=Precedence.EXPLAINS, explain=generator_cpu),
    BottleneckRule(names=BottleneckKind.GENERATOR_CPU, precedence=Precedence.EXPLAINS, explain=host_generator_cpu),
    BottleneckRule(names=BottleneckKind.HYPERVISOR, precedence=Precedence.EXPLAINS, explain=host_hypervisor),
    BottleneckRule(names=BottleneckKind.OTHER_PROCESSES, precedence=Precedence.EXPLAINS, explain=host_other_processes),
    BottleneckRule(names=BottleneckKind.SHARED_CPU, precedence=Precedence.EXPLAINS, explain=shared_cpu),
    BottleneckRule(names=BottleneckKind.HYPERVISOR, precedence=Precedence.EXPLAINS, explain=hypervisor),
    BottleneckRule(names=BottleneckKind.OTHER_PROCESSES, precedence=Precedence.EXPLAINS, explain=other_processes),
    # Threads that work are not waiting connections, although both spend the time inside of a send.
    BottleneckRule(names=BottleneckKind.GENERATOR_CPU, precedence=Precedence.EXPLAINS, explain=busy_workers),
    BottleneckRule(names=BottleneckKind.GENERATOR_CPU, precedence=Precedence.EXPLAINS, explain=hot_generator_thread),
    # Disks and memory before the server's threads: a thread that flushes to a full disk is busy as well.
    BottleneckRule(names=BottleneckKind.UNEVEN_DISKS, precedence=Precedence.EXPLAINS, explain=uneven_disks),
    BottleneckRule(names=BottleneckKind.DISK_WAITS, precedence=Precedence.EXPLAINS, explain=disk_waits),
    BottleneckRule(names=BottleneckKind.DISK, precedence=Precedence.EXPLAINS, explain=disk),
    BottleneckRule(names=BottleneckKind.MEMORY, precedence=Precedence.EXPLAINS, explain=memory),
    # A full network makes connections wait for bytes, whatever the server could do.
    BottleneckRule(names=BottleneckKind.NETWORK, precedence=Precedence.EXPLAINS, explain=network),
    # The database's own report of its connections before conclusions from outside.
    BottleneckRule(names=BottleneckKind.LOCKS, precedence=Precedence.EXPLAINS, explain=locks),
    # Fewer connections than cores before a hot thread: a server's process for each connection is hot by itself.
    BottleneckRule(names=BottleneckKind.CONNECTIONS, precedence=Precedence.EXPLAINS, explain=few_connections),
    BottleneckRule(names=BottleneckKind.HOT_THREAD, precedence=Precedence.EXPLAINS, explain=hot_thread),
    # Waiting connections are a symptom, so all causes come first.
    BottleneckRule(names=BottleneckKind.CONNECTIONS, precedence=Precedence.EXPLAINS, explain=connections),
    BottleneckRule(names=BottleneckKind.UNKNOWN, precedence=Precedence.EXPLAINS, explain=unknown),
)

# How far a resource was used, by the kind that means that it was used up. It begins a verdict's reason.
WORDS = {BottleneckKind.SERVER_CPU: cpu_words, BottleneckKind.DISK: disk_words}
