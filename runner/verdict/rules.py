"""The rules of attribution, one small function each: does this limit explain the figures? In the order of RULES.

The thresholds are the method's (docs/method.md) and stand here once. A rule answers with a sentence and a remedy, or
None.
"""

from __future__ import annotations

from collections.abc import Callable

from runner.model import Limit, LimitKind
from runner.units import format_number, format_rate
from runner.verdict.use import Given, Use

FULL = 0.90  # of the cores
HOT = 0.80  # of one core, as the mean of its busiest second after second: a commit thread pauses between commits
CLIENT_BUSY = 0.85  # of the generator's CPUs: it also waits for each answer
CEILING_SHARE = 0.80  # of what the generator makes by itself
THROTTLED_SHARE = 0.05
SHARED_TAKE = 0.15
OTHERS_EXPLAIN = 0.66  # of the cores that the server lacks
OTHERS_CORES = 0.1
DISK_BUSY_PERCENT = 90.0
DISK_CEILING_SHARE = 0.80
IO_WAITING_PERCENT = 50.0
MEMORY_WAITING_PERCENT = 10.0
IN_FLIGHT = 0.80

Rule = Callable[[Use, Given], Limit | None]


def limit_of(use: Use, given: Given) -> Limit:
    """The first rule that explains the figures; UNKNOWN when none does."""
    for rule in RULES:
        if limit := rule(use, given):
            return limit
    return Limit(kind=LimitKind.UNKNOWN, sentence="nothing that was measured explains it")


def _used(use: Use, given: Given) -> float | None:
    return use.server_cores / given.cores if use.server_cores is not None else None


def offered_rate(use: Use, given: Given) -> Limit | None:
    """Open loop: no more was asked for."""
    if not given.offered_rows_per_s or use.rows_per_s is None or use.rows_per_s < 0.98 * given.offered_rows_per_s:
        return None
    told = f"{format_rate(given.offered_rows_per_s)} rows/s were offered, and no more"
    return Limit(kind=LimitKind.OFFERED_RATE, sentence=told, remedy="raise --rate, or leave it out")


def generator_ceiling(use: Use, given: Given) -> Limit | None:
    """The rate is near what the generator makes when nothing takes the rows."""
    ceiling = given.ceiling_rows_per_s
    if not ceiling or use.rows_per_s is None or use.rows_per_s <= CEILING_SHARE * ceiling:
        return None
    told = f"the generator alone reaches {format_rate(ceiling)} rows/s with these rows"
    return Limit(
        kind=LimitKind.GENERATOR_CEILING,
        sentence=told,
        remedy="give the generator more CPUs (--client-cpus) and threads (--write-threads)",
    )


def throttling(use: Use, given: Given) -> Limit | None:
    """The server was held back by a quota: its own, that was asked for, or one that was not."""
    if use.throttled is None or use.throttled < THROTTLED_SHARE:
        return None
    held = f"held back {100 * use.throttled:.0f} % of the time"
    if given.quota:
        share = _used(use, given)
        if share is None or share < FULL:
            return None
        told = f"the server used its quota of {format_number(given.cores)} cores and was {held}"
        return Limit(kind=LimitKind.QUOTA, sentence=told, remedy="a larger level of --cores")
    told = f"a CPU quota that the sweep did not set {held[:4]} the server{held[4:]}"
    return Limit(kind=LimitKind.THROTTLING, sentence=told, remedy="lift the quota of the cgroup that this runs in")


def server_cpu(use: Use, given: Given) -> Limit | None:
    """The server used the cores that it was given."""
    share = _used(use, given)
    if share is None or share < FULL:
        return None
    told = f"the server used {use.server_cores:.2f} of {format_number(given.cores)} cores ({100 * share:.0f} %)"
    return Limit(kind=LimitKind.SERVER_CPU, sentence=told, remedy="more cores")


def generator_cpu(use: Use, given: Given) -> Limit | None:
    """The generator used up its own CPUs while the server had some left."""
    if use.client_cores is None or given.shared_cpus or use.client_cores < CLIENT_BUSY * given.client_cpus:
        return None
    told = f"the generator's CPUs were {100 * use.client_cores / given.client_cpus:.0f} % busy"
    remedy = "add a client core (--client-cpus), or write in a cheaper way (TDengine: --method stmt instead of sql)"
    return Limit(kind=LimitKind.GENERATOR_CPU, sentence=told, remedy=remedy)


def shared_cpu(use: Use, given: Given) -> Limit | None:
    """Both sides together filled the server's CPUs, and the generator took a good part."""
    if not given.shared_cpus or use.client_cores is None or use.server_cores is None:
        return None
    taken = use.client_cores * min(1.0, given.shared_cpus / given.client_cpus)
    if taken < SHARED_TAKE * given.cores or taken + use.server_cores < FULL * given.cores - use.taken_cores:
        return None
    told = f"the generator took {taken:.2f} of the server's cores, on CPUs that both use"
    return Limit(kind=LimitKind.SHARED_CPU, sentence=told, remedy="leave a CPU to the generator: fewer --cores")


def taken_by_others(use: Use, given: Given) -> Limit | None:
    """What the server lacks of its cores was taken: by other processes, or by the machine below this one."""
    other, stolen = use.other_cores or 0.0, use.stolen_cores or 0.0
    if use.server_cores is None or max(other, stolen) < OTHERS_CORES:
        return None
    lacks = given.cores - use.server_cores - (use.client_cores or 0.0 if given.shared_cpus else 0.0)
    if use.taken_cores < OTHERS_EXPLAIN * lacks:
        return None
    if stolen > other:
        told = f"the hypervisor took {stolen:.2f} cores from this machine (steal time)"
        return Limit(kind=LimitKind.HYPERVISOR, sentence=told, remedy="another time, or a machine with CPUs of its own")
    told = f"other processes on this machine used {other:.2f} cores"
    return Limit(kind=LimitKind.OTHER_PROCESSES, sentence=told, remedy="stop them, or measure on a machine of its own")


def few_connections(use: Use, given: Given) -> Limit | None:
    """Fewer requests in flight than the server has cores, and all of them waited for answers."""
    if use.in_flight is None or use.in_flight < IN_FLIGHT or given.threads >= given.cores:
        return None
    return _connections(use, given)


def hot_thread(use: Use, given: Given) -> Limit | None:
    """One thread of the server was full while cores were idle: more cores cannot help it."""
    if use.hot_thread is None or use.hot_thread[1] < HOT:
        return None
    pool, cores = use.hot_thread
    told = f"one thread of the server ({pool}) was {100 * cores:.0f} % busy while cores were idle"
    remedy = "spread the tables over more vgroups or partitions (--vgroups, --partitions), with as many --write-threads"
    return Limit(kind=LimitKind.HOT_THREAD, sentence=told, remedy=remedy)


def disk(use: Use, given: Given) -> Limit | None:
    """A disk was busy all the time, wrote nearly what it can by itself, or had the server waiting for it."""
    for name, busy in use.disk_busy_percent.items():
        written, own = use.disk_mb_per_s.get(name), given.disk_ceilings_mb_per_s.get(name)
        if own and written is not None and written >= DISK_CEILING_SHARE * own:
            return _disk(f"disk {name} wrote {written:.0f} MB/s of the {own:.0f} MB/s that it can by itself", given)
        if busy >= DISK_BUSY_PERCENT:
            return _disk(f"disk {name} was {busy:.0f} % busy", given)
    if use.io_waiting_percent is not None and use.io_waiting_percent >= IO_WAITING_PERCENT:
        return _disk(f"something waited for I/O {use.io_waiting_percent:.0f} % of the time", given)
    return None


def _disk(told: str, given: Given) -> Limit:
    remedy = "a faster disk (--data-dir), fewer flushes (see the target's page), or sweep disks: scale sweep disk"
    if given.disk_ceilings_mb_per_s:  # a sweep of disks: either they are full, or not all of them have work
        remedy = "more disks; where they are not full: vgroups or partitions that every number of disks divides, "
        remedy += "more commit threads, a longer load"
    return Limit(kind=LimitKind.DISK, sentence=told, remedy=remedy)


def memory(use: Use, given: Given) -> Limit | None:
    """Tasks waited for memory: reclaim or swap."""
    if use.memory_waiting_percent is None or use.memory_waiting_percent < MEMORY_WAITING_PERCENT:
        return None
    told = f"something waited for memory {use.memory_waiting_percent:.0f} % of the time"
    return Limit(kind=LimitKind.MEMORY, sentence=told, remedy="raise --memory, or smaller buffers (--knob)")


def connections(use: Use, given: Given) -> Limit | None:
    """All requests in flight waited for answers, and neither side was busy: latency, not resources."""
    if use.in_flight is None or use.in_flight < IN_FLIGHT:
        return None
    return _connections(use, given)


def _connections(use: Use, given: Given) -> Limit:
    many = f"all {given.threads} connections" if given.threads > 1 else "the one connection"
    told = f"{many} waited for an answer {100 * (use.in_flight or 0.0):.0f} % of the time"
    remedy = "more --write-threads, or larger requests (--rows-per-request)"
    return Limit(kind=LimitKind.CONNECTIONS, sentence=told, remedy=remedy)


RULES: tuple[Rule, ...] = (
    offered_rate,
    generator_ceiling,
    throttling,
    server_cpu,
    generator_cpu,
    shared_cpu,
    taken_by_others,
    few_connections,
    hot_thread,
    disk,
    memory,
    connections,
)
