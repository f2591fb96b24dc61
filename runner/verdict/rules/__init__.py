"""The rules that name the bottleneck, in their order. Each is a small function: does it explain the figures?

A new reason is a function in a file of its own here, and its line in RULES. Refuses to know an axis: where the order
depends on what is varied, the rule's place says so (rule.py), and runner/verdict/bottleneck.py sorts by it.
"""

from __future__ import annotations

from runner.model import BottleneckKind
from runner.verdict.rules.cpu import cpu_unread, cpu_words, server_cpu, shared_cpu
from runner.verdict.rules.disks import disk, disk_waits, disk_words, disks_full, disks_unread, uneven_disks
from runner.verdict.rules.generator import (
    busy_workers,
    generator_ceiling,
    generator_cpu,
    generator_spent,
    hot_generator_thread,
)
from runner.verdict.rules.locks import locks
from runner.verdict.rules.memory_bandwidth import memory_bandwidth
from runner.verdict.rules.network import network
from runner.verdict.rules.offered import grows, is_met, offered_rate
from runner.verdict.rules.others import hypervisor, other_processes
from runner.verdict.rules.quota import foreign_quota, own_quota
from runner.verdict.rules.rule import Found, Place, Rule
from runner.verdict.rules.threads import hot_thread
from runner.verdict.rules.waiting import connections, few_connections, memory, stall, unknown

__all__ = ["RULES", "WORDS", "Found", "Place", "Rule", "grows", "is_met"]

RULES: tuple[Rule, ...] = (
    # Near its own ceiling the load generator shapes the rate, even where the server is as busy.
    Rule(names=BottleneckKind.GENERATOR_CEILING, place=Place.OVERRULES, find=generator_ceiling),
    # A generator without time left was never ahead of the server, even where the server is as busy.
    Rule(names=BottleneckKind.GENERATOR_CPU, place=Place.OVERRULES, find=generator_spent),
    # A foreign quota makes the given cores another number than the level says, even where they look full.
    Rule(names=BottleneckKind.THROTTLING, place=Place.OVERRULES, find=foreign_quota),
    # An open loop that got what it asked for was asked for no more: no resource needs to be full.
    Rule(names=BottleneckKind.OFFERED_RATE, place=Place.OVERRULES, find=offered_rate),
    # The quota of the level before its cores: it is the more exact word for the same bottleneck.
    Rule(names=BottleneckKind.QUOTA, place=Place.USED_UP, find=own_quota),
    # Cores that wait for memory are full cores, and more of them do not help: the more exact word again.
    Rule(names=BottleneckKind.MEMORY_BANDWIDTH, place=Place.USED_UP, find=memory_bandwidth),
    Rule(names=BottleneckKind.SERVER_CPU, place=Place.USED_UP, find=server_cpu),
    # Without the server's CPU no later rule on a sweep of cores may speak: each of them says that cores were idle.
    Rule(names=BottleneckKind.UNREAD, place=Place.USED_UP, find=cpu_unread, only_on=BottleneckKind.SERVER_CPU),
    Rule(names=BottleneckKind.DISK, place=Place.USED_UP, find=disks_full),
    Rule(names=BottleneckKind.UNREAD, place=Place.USED_UP, find=disks_unread, only_on=BottleneckKind.DISK),
    # While nothing is acknowledged all connections wait, no thread is hot, and others find the CPUs free.
    Rule(names=BottleneckKind.STALL, place=Place.EXPLAINS, find=stall),
    # Who was busy, outside the server first: a full generator makes its connections and threads look idle.
    Rule(names=BottleneckKind.GENERATOR_CPU, place=Place.EXPLAINS, find=generator_cpu),
    Rule(names=BottleneckKind.SHARED_CPU, place=Place.EXPLAINS, find=shared_cpu),
    Rule(names=BottleneckKind.HYPERVISOR, place=Place.EXPLAINS, find=hypervisor),
    Rule(names=BottleneckKind.OTHER_PROCESSES, place=Place.EXPLAINS, find=other_processes),
    # Threads that work are no connections that wait, though the time passes inside of a send for both.
    Rule(names=BottleneckKind.GENERATOR_CPU, place=Place.EXPLAINS, find=busy_workers),
    Rule(names=BottleneckKind.GENERATOR_CPU, place=Place.EXPLAINS, find=hot_generator_thread),
    # Disks and memory before the server's threads: a thread that flushes to a full disk is busy as well.
    Rule(names=BottleneckKind.UNEVEN_DISKS, place=Place.EXPLAINS, find=uneven_disks),
    Rule(names=BottleneckKind.DISK_WAITS, place=Place.EXPLAINS, find=disk_waits),
    Rule(names=BottleneckKind.DISK, place=Place.EXPLAINS, find=disk),
    Rule(names=BottleneckKind.MEMORY, place=Place.EXPLAINS, find=memory),
    # A full network makes connections wait for bytes, whatever the server could do with them.
    Rule(names=BottleneckKind.NETWORK, place=Place.EXPLAINS, find=network),
    # What the database itself tells of its connections goes before what their waiting looks like from outside.
    Rule(names=BottleneckKind.LOCKS, place=Place.EXPLAINS, find=locks),
    # Fewer connections than cores before a hot thread: a server's process for each connection is hot by itself.
    Rule(names=BottleneckKind.CONNECTIONS, place=Place.EXPLAINS, find=few_connections),
    Rule(names=BottleneckKind.HOT_THREAD, place=Place.EXPLAINS, find=hot_thread),
    # Connections that wait are a sign and not a cause, so all causes come first.
    Rule(names=BottleneckKind.CONNECTIONS, place=Place.EXPLAINS, find=connections),
    Rule(names=BottleneckKind.UNKNOWN, place=Place.EXPLAINS, find=unknown),
)

# How far a resource was used, by the kind that says that it was used up: opens the reason of a verdict.
WORDS = {BottleneckKind.SERVER_CPU: cpu_words, BottleneckKind.DISK: disk_words}
