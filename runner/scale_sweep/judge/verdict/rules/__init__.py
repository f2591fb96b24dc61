"""The rules that name the bottleneck, in their order. Each is a small function: does it explain the figures?

A new reason is a function of the file with its subject, and a line in RULES. Refuses to know an axis: if the order
depends on what is varied, the rule's place says so (rule.py), and scale_sweep/judge/verdict/bottleneck.py sorts by it.
"""

from __future__ import annotations

from scale_sweep.judge.verdict.rules.disks import disk, disk_waits, disk_words, disks_full, disks_unread, uneven_disks
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
from scale_sweep.judge.verdict.rules.rule import Found, Place, Rule
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

__all__ = ["RULES", "WORDS", "Found", "Place", "Rule", "grows", "is_met", "unmet"]

RULES: tuple[Rule, ...] = (
    # Near its own ceiling the load generator limits the rate, even if the server is as busy.
    Rule(names=BottleneckKind.GENERATOR_CEILING, place=Place.OVERRULES, find=generator_ceiling),
    # A load generator without idle time was never faster than the server, even if the server is as busy.
    Rule(names=BottleneckKind.GENERATOR_CPU, place=Place.OVERRULES, find=generator_spent),
    # With a foreign quota the server has fewer cores than the level says, even if they look full.
    Rule(names=BottleneckKind.THROTTLING, place=Place.OVERRULES, find=foreign_quota),
    # An open loop whose rate was met asked for no more: no resource needs to be full.
    Rule(names=BottleneckKind.OFFERED_RATE, place=Place.OVERRULES, find=offered_rate),
    # The quota of the level before its cores: it names the same bottleneck more exactly.
    Rule(names=BottleneckKind.QUOTA, place=Place.USED_UP, find=own_quota),
    # Cores that wait for memory are full, and more of them do not help: again more exact.
    Rule(names=BottleneckKind.MEMORY_BANDWIDTH, place=Place.USED_UP, find=memory_bandwidth),
    Rule(names=BottleneckKind.SERVER_CPU, place=Place.USED_UP, find=server_cpu),
    # Without the server's CPU use, no later rule on a sweep of cores may answer: each says that cores were idle.
    Rule(names=BottleneckKind.UNREAD, place=Place.USED_UP, find=cpu_unread, only_on=BottleneckKind.SERVER_CPU),
    Rule(names=BottleneckKind.DISK, place=Place.USED_UP, find=disks_full),
    Rule(names=BottleneckKind.UNREAD, place=Place.USED_UP, find=disks_unread, only_on=BottleneckKind.DISK),
    # A server that gets no CPU stalls too: where others took it and programs waited for it, that is the cause.
    Rule(names=BottleneckKind.OTHER_PROCESSES, place=Place.EXPLAINS, find=crowded_out),
    # In a stall all connections wait, no thread is hot, and other programs find the CPUs idle.
    Rule(names=BottleneckKind.STALL, place=Place.EXPLAINS, find=stall),
    # Busy components, outside the server first: a full load generator makes its connections and threads look idle.
    Rule(names=BottleneckKind.GENERATOR_CPU, place=Place.EXPLAINS, find=generator_cpu),
    Rule(names=BottleneckKind.SHARED_CPU, place=Place.EXPLAINS, find=shared_cpu),
    Rule(names=BottleneckKind.HYPERVISOR, place=Place.EXPLAINS, find=hypervisor),
    Rule(names=BottleneckKind.OTHER_PROCESSES, place=Place.EXPLAINS, find=other_processes),
    # Threads that work are not waiting connections, although both spend the time inside of a send.
    Rule(names=BottleneckKind.GENERATOR_CPU, place=Place.EXPLAINS, find=busy_workers),
    Rule(names=BottleneckKind.GENERATOR_CPU, place=Place.EXPLAINS, find=hot_generator_thread),
    # Disks and memory before the server's threads: a thread that flushes to a full disk is busy as well.
    Rule(names=BottleneckKind.UNEVEN_DISKS, place=Place.EXPLAINS, find=uneven_disks),
    Rule(names=BottleneckKind.DISK_WAITS, place=Place.EXPLAINS, find=disk_waits),
    Rule(names=BottleneckKind.DISK, place=Place.EXPLAINS, find=disk),
    Rule(names=BottleneckKind.MEMORY, place=Place.EXPLAINS, find=memory),
    # A full network makes connections wait for bytes, whatever the server could do.
    Rule(names=BottleneckKind.NETWORK, place=Place.EXPLAINS, find=network),
    # The database's own report of its connections before conclusions from outside.
    Rule(names=BottleneckKind.LOCKS, place=Place.EXPLAINS, find=locks),
    # Fewer connections than cores before a hot thread: a server's process for each connection is hot by itself.
    Rule(names=BottleneckKind.CONNECTIONS, place=Place.EXPLAINS, find=few_connections),
    Rule(names=BottleneckKind.HOT_THREAD, place=Place.EXPLAINS, find=hot_thread),
    # Waiting connections are a symptom, so all causes come first.
    Rule(names=BottleneckKind.CONNECTIONS, place=Place.EXPLAINS, find=connections),
    Rule(names=BottleneckKind.UNKNOWN, place=Place.EXPLAINS, find=unknown),
)

# How far a resource was used, by the kind that means that it was used up. It begins a verdict's reason.
WORDS = {BottleneckKind.SERVER_CPU: cpu_words, BottleneckKind.DISK: disk_words}
