"""Rules about the server: its cores, its quota, memory bandwidth, one full thread, locks, shared CPUs."""

from __future__ import annotations

from scale_sweep.base.units import counted, format_cpus, format_rate
from scale_sweep.judge.verdict.evidence import ResourceUse, TrialResources
from scale_sweep.judge.verdict.rules.rule import Explanation
from scale_sweep.judge.verdict.thresholds import (
    CORES_FULL,
    HOT_ABOVE_MEDIAN,
    HOT_CORES,
    LOCK_WAITING,
    MEMORY_CYCLES_PER_MISS,
    MEMORY_INSTRUCTIONS_PER_CYCLE,
    SHARED_TAKE,
    THROTTLED,
)
from scale_sweep.model import BottleneckKind


def used_share(use: ResourceUse, resources: TrialResources) -> float | None:
    return use.server_cores / resources.cores if use.server_cores is not None and resources.cores else None


def cpu_words(use: ResourceUse, resources: TrialResources) -> str:
    """The server's use of its cores, in words; "" if it was not read."""
    share = used_share(use, resources)
    if share is None:
        return ""
    return f"the server used {use.server_cores:.2f} of {counted(resources.cores, 'core')} ({100 * share:.0f} %)"


def cpu_unread(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """The server's CPU use was not read, so nothing proves that the level's cores were used up."""
    if used_share(use, resources) is not None:
        return None
    sentence = "the server's CPU could not be read, so nothing proves that its cores were busy"
    return Explanation(
        kind=BottleneckKind.UNREAD,
        sentence=sentence,
        remedy="use a runtime whose cgroup or processes can be read",
    )


def server_cpu(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """The server used its cores, except for the little that the load generator took of shared ones."""
    share = used_share(use, resources)
    if share is None:
        return None
    sentence, taken = cpu_words(use, resources), generator_take(use, resources)
    if share >= CORES_FULL:
        return Explanation(kind=BottleneckKind.SERVER_CPU, sentence=sentence, remedy="more cores")
    if taken > SHARED_TAKE * resources.cores or taken + (use.server_cores or 0.0) < CORES_FULL * resources.cores:
        return None
    sentence += f"; the load generator took {taken:.2f} of them, on shared CPU {format_cpus(resources.shared_cpus)}"
    return Explanation(kind=BottleneckKind.SERVER_CPU, sentence=sentence, remedy="more cores", noted=True)


def shared_cpu(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Server and load generator together filled the server's CPUs, and the load generator took a large part."""
    taken = generator_take(use, resources)
    if use.server_cores is None or taken <= SHARED_TAKE * resources.cores:
        return None
    if taken + use.server_cores < CORES_FULL * resources.cores - use.taken_cores:
        return None
    return Explanation(
        kind=BottleneckKind.SHARED_CPU,
        sentence=f"the load generator took {taken:.2f} of the server's cores, on shared CPU "
        f"{format_cpus(resources.shared_cpus)}",
        remedy="leave a CPU to the load generator: fewer --cores",
    )


def generator_take(use: ResourceUse, resources: TrialResources) -> float:
    """Cores that the load generator took of the server's: its use, in proportion to the shared CPUs."""
    if not resources.shared_cpus or not resources.generator_cpus:
        return 0.0
    return (use.generator_cores or 0.0) * min(1.0, len(resources.shared_cpus) / resources.generator_cpus)


def foreign_quota(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    if resources.quota or not _is_throttled(use):
        return None
    return Explanation(
        kind=BottleneckKind.THROTTLING,
        sentence=f"a CPU quota that the sweep did not set limited the server {_throttled_percent(use)} of the time",
        remedy="lift the quota of the cgroup that this runs in",
        reason=f"the server was throttled for {use.seconds * (use.throttled or 0.0):.1f} s of {use.seconds:.1f} s",
    )


def own_quota(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """The server was throttled by the level's own quota, which was used up."""
    share = used_share(use, resources)
    if not resources.quota or not _is_throttled(use) or share is None or share < CORES_FULL:
        return None
    cores, held = counted(resources.cores, "core"), _throttled_percent(use)
    return Explanation(
        kind=BottleneckKind.QUOTA,
        sentence=f"the server used its quota of {cores} and was throttled {held} of the time",
        remedy="a larger level of --cores",
    )


def _is_throttled(use: ResourceUse) -> bool:
    return use.throttled is not None and use.throttled > THROTTLED


def _throttled_percent(use: ResourceUse) -> str:
    return f"{100 * (use.throttled or 0.0):.0f} %"


def memory_bandwidth(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """The cores were full, did little in each cycle, and always had several misses of the last cache in progress."""
    share, each, between = used_share(use, resources), use.instructions_per_cycle, use.cycles_per_miss
    if share is None or share < CORES_FULL or resources.shared_cpus or each is None or between is None:
        return None
    if each > MEMORY_INSTRUCTIONS_PER_CYCLE or between > MEMORY_CYCLES_PER_MISS:
        return None
    return Explanation(
        kind=BottleneckKind.MEMORY_BANDWIDTH,
        sentence=f"{cpu_words(use, resources)}, which waited for memory: {each:.2f} instructions a cycle, and every "
        f"{between:.0f} cycles a miss of the last-level cache",
        remedy="a machine with more memory channels or a larger last-level cache; more cores, if they bring these",
        noted=True,
    )


def hot_thread(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """One thread of the server was full while cores were idle: more cores cannot help it."""
    if use.hot_thread is None or use.hot_thread[1] < HOT_CORES:
        return None
    pool, cores = use.hot_thread
    if cores < HOT_ABOVE_MEDIAN * (use.hot_thread_median or 0.0):
        return None  # the others of its name are about as busy: the work is already distributed
    return Explanation(
        kind=BottleneckKind.HOT_THREAD,
        sentence=f"one thread of the server ({pool}) was {100 * cores:.0f} % busy while cores were idle",
        remedy="spread the tables over more vgroups or partitions (--vgroups, --partitions), with as many "
        "--connections",
    )


_LOCK, _MUTEX = "lock: ", "mutex: "  # the start of the names of waits: reported by the database, and by the kernel
_ROWS = (
    "see what holds the lock: rows, indexes or sequences that every connection writes; partitions, shorter transactions"
)
_PARTS = "see what these threads share: more vgroups or partitions (--vgroups, --partitions), as many --connections"


def locks(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Working connections (or threads) spent most of their time waiting for locks that others held."""
    total, most = _waited(use, _LOCK)
    if total >= LOCK_WAITING:
        waits, remedy = f"connections waited for locks {100 * total:.0f} % of the time, mostly {most}", _ROWS
    else:
        total, most = _waited(use, _MUTEX)
        waits, remedy = f"threads waited for locks {100 * total:.0f} % of the time, mostly those named {most}", _PARTS
    if total < LOCK_WAITING:
        return None
    slept = use.switches_per_s.get("voluntary")
    switches = f"; its threads went to sleep {format_rate(slept)} times a second" if slept else ""
    return Explanation(kind=BottleneckKind.LOCKS, sentence=f"the server's {waits}{switches}", remedy=remedy)


def _waited(use: ResourceUse, opening: str) -> tuple[float, str]:
    shares = {name.removeprefix(opening): share for name, share in use.waits.items() if name.startswith(opening)}
    return sum(shares.values()), max(shares, key=lambda name: shares[name], default="")
