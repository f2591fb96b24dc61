"""Rules about the server: cores, quota, memory bandwidth, a full thread, locks, disks."""

from __future__ import annotations

from collections.abc import Mapping

from scale_sweep.base.units import counted, format_cpus, format_rate
from scale_sweep.judge.verdict import thresholds as limit
from scale_sweep.judge.verdict.evidence import Explanation, ResourceUse, TrialResources
from scale_sweep.model.measured import BottleneckKind
from scale_sweep.model.samples import DiskFigures


def used_share(use: ResourceUse, resources: TrialResources) -> float | None:
    return use.server_cpu_cores / resources.cores if use.server_cpu_cores is not None and resources.cores else None


def cpu_words(use: ResourceUse, resources: TrialResources) -> str:
    """ "" if it was not read."""
    share = used_share(use, resources)
    if share is None:
        return ""
    return f"the server used {use.server_cpu_cores:.2f} of {counted(resources.cores, 'core')} ({100 * share:.0f} %)"


def cpu_unread(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    if used_share(use, resources) is not None:
        return None
    sentence = "the server's CPU could not be read, so nothing proves that its cores were busy"
    remedy = "use a runtime whose cgroup or processes can be read"
    return Explanation(kind=BottleneckKind.UNREAD, sentence=sentence, remedy=remedy)


def server_cpu(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Except for the little that the load generator took of shared ones."""
    share = used_share(use, resources)
    if share is None:
        return None
    sentence, taken = cpu_words(use, resources), generator_take(use, resources)
    if share >= limit.CORES_FULL:
        return Explanation(kind=BottleneckKind.SERVER_CPU, sentence=sentence, remedy="more cores")
    both = taken + (use.server_cpu_cores or 0.0)
    if taken > limit.SHARED_TAKE * resources.cores or both < limit.CORES_FULL * resources.cores:
        return None
    sentence += f"; the load generator took {taken:.2f} of them, on shared CPU {format_cpus(resources.shared_cpus)}"
    return Explanation(kind=BottleneckKind.SERVER_CPU, sentence=sentence, remedy="more cores", noted=True)


def shared_cpu(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Both together filled the CPUs, and the load generator took a large part."""
    taken = generator_take(use, resources)
    if use.server_cpu_cores is None or taken <= limit.SHARED_TAKE * resources.cores:
        return None
    if taken + use.server_cpu_cores < limit.CORES_FULL * resources.cores - use.taken_cores:
        return None
    return Explanation(
        kind=BottleneckKind.SHARED_CPU,
        sentence=f"the load generator took {taken:.2f} of the server's cores, on shared CPU "
        f"{format_cpus(resources.shared_cpus)}",
        remedy="leave a CPU to the load generator: fewer --cores",
    )


def generator_take(use: ResourceUse, resources: TrialResources) -> float:
    """Its use, in proportion to the shared CPUs."""
    if not resources.shared_cpus or not resources.generator_cpus:
        return 0.0
    return (use.generator_cpu_cores or 0.0) * min(1.0, len(resources.shared_cpus) / resources.generator_cpus)


def foreign_quota(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    if resources.quota or not is_throttled(use):
        return None
    return Explanation(
        kind=BottleneckKind.THROTTLING,
        sentence=f"a CPU quota that the sweep did not set limited the server {_throttled_percent(use)} of the time",
        remedy="lift the quota of the cgroup that this runs in",
        reason=f"the server was throttled for {use.seconds * (use.throttled or 0.0):.1f} s of {use.seconds:.1f} s",
    )


def own_quota(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    share = used_share(use, resources)
    if not resources.quota or not is_throttled(use) or share is None or share < limit.CORES_FULL:
        return None
    cores, held = counted(resources.cores, "core"), _throttled_percent(use)
    return Explanation(
        kind=BottleneckKind.QUOTA,
        sentence=f"the server used its quota of {cores} and was throttled {held} of the time",
        remedy="a larger level of --cores",
    )


def is_throttled(use: ResourceUse) -> bool:
    return use.throttled is not None and use.throttled > limit.THROTTLED


def _throttled_percent(use: ResourceUse) -> str:
    return f"{100 * (use.throttled or 0.0):.0f} %"


def memory_bandwidth(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Full cores did little in each cycle, with several misses of the last cache always in progress."""
    share, each, between = used_share(use, resources), use.instructions_per_cycle, use.server_cycles_per_miss
    if share is None or share < limit.CORES_FULL or resources.shared_cpus or each is None or between is None:
        return None
    if each > limit.MEMORY_INSTRUCTIONS_PER_CYCLE or between > limit.MEMORY_CYCLES_PER_MISS:
        return None
    return Explanation(
        kind=BottleneckKind.MEMORY_BANDWIDTH,
        sentence=f"{cpu_words(use, resources)}, which waited for memory: {each:.2f} instructions a cycle, and every "
        f"{between:.0f} cycles a miss of the last-level cache",
        remedy="a machine with more memory channels or a larger last-level cache; more cores, if they bring these",
        noted=True,
    )


def hot_thread(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """While cores were idle: more cores cannot help it."""
    if use.hot_thread is None or use.hot_thread[1] < limit.HOT_CORES:
        return None
    pool, cores = use.hot_thread
    if cores < limit.HOT_ABOVE_MEDIAN * (use.hot_thread_median or 0.0):
        return None  # the work is already distributed
    return Explanation(
        kind=BottleneckKind.HOT_THREAD,
        sentence=f"one thread of the server ({pool}) was {100 * cores:.0f} % busy while cores were idle",
        remedy="spread the tables over more vgroups or partitions (--vgroups, --partitions), with as many "
        "--connections",
    )


_LOCK, LOCKED = "lock: ", "mutex: "  # of waits by the database, and by the kernel
_ROWS = (
    "see what holds the lock: rows, indexes or sequences that every connection writes; partitions, shorter transactions"
)
_PARTS = "see what these threads share: more vgroups or partitions (--vgroups, --partitions), as many --connections"


def locks(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Working connections or threads waited most of their time."""
    total, most = waited(use.waits, _LOCK)
    if total >= limit.LOCK_WAITING:
        waits, remedy = f"connections waited for locks {100 * total:.0f} % of the time, mostly {most}", _ROWS
    else:
        total, most = waited(use.waits, LOCKED)
        waits, remedy = f"threads waited for locks {100 * total:.0f} % of the time, mostly those named {most}", _PARTS
    if total < limit.LOCK_WAITING:
        return None
    slept = use.switches_per_s.get("voluntary")
    switches = f"; its threads went to sleep {format_rate(slept)} times a second" if slept else ""
    return Explanation(kind=BottleneckKind.LOCKS, sentence=f"the server's {waits}{switches}", remedy=remedy)


def waited(waits: Mapping[str, float], opening: str) -> tuple[float, str]:
    """The share of all that begin so, and the largest of them."""
    shares = {name.removeprefix(opening): share for name, share in waits.items() if name.startswith(opening)}
    return sum(shares.values()), max(shares, key=lambda name: shares[name], default="")


SPREAD = "vgroups or partitions that every number of disks divides, more commit threads, a longer load"


def disks_of(use: ResourceUse, resources: TrialResources) -> Mapping[str, DiskFigures]:
    """Over the whole load; for a second, over that second."""
    if use.load_disks is not None:
        return use.load_disks
    own = resources.disk_ceilings_mb_per_s
    return {
        name: DiskFigures(
            write_mb_per_s=written,
            used_percent=100 * written / own[name] if written is not None and own.get(name) else None,
            busy_percent=use.disk_busy_percent.get(name),
        )
        for name in {**use.disk_busy_percent, **use.disk_mb_per_s}
        for written in (use.disk_mb_per_s.get(name),)
    }


def disk_words(use: ResourceUse, resources: TrialResources) -> str:
    """Also whether the disk that the level adds was used fully; "" if they were not read."""
    disks = disks_of(use, resources)
    if not _known(disks):
        return ""
    last = list(disks)[-1]
    what = "the disk" if len(disks) == 1 else f"the new disk {last}"
    idle = [name for name, disk in disks.items() if not _full(disk)]
    if not idle:
        words = f"{what} was used fully" if len(disks) == 1 else f"{what} was used fully, and so were the others"
    elif last in idle:
        words = f"{what} was not used fully"
    else:
        words = f"{what} was used fully, {', '.join(idle)} not"
    return f"{words} ({uses(disks)})"


def uses(disks: Mapping[str, DiskFigures]) -> str:
    of = "of its ceiling" if all(d.used_percent is not None for d in disks.values()) else "busy"
    return ", ".join(f"{name} {_use(disk) or 0.0:.0f} %" for name, disk in disks.items()) + f" {of}"


def disks_unread(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    if _known(disks_of(use, resources)):
        return None
    sentence = "the disks could not be read, so nothing proves that they were full"
    return Explanation(kind=BottleneckKind.UNREAD, sentence=sentence, remedy="use disks that /proc/diskstats lists")


def disks_full(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    disks = disks_of(use, resources)
    if not resources.prepared_disks or not _known(disks) or not all(map(_full, disks.values())):
        return None
    sentence = disk_words(use, resources)
    return Explanation(kind=BottleneckKind.DISK, sentence=sentence, remedy="more disks", noted=True)


def uneven_disks(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    disks = disks_of(use, resources)
    if not resources.prepared_disks or not _known(disks) or not any(map(_full, disks.values())):
        return None
    sentence = disk_words(use, resources)
    return Explanation(kind=BottleneckKind.UNEVEN_DISKS, sentence=sentence, remedy=SPREAD)


def disk_waits(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    delay = held_up(use, resources)
    if not resources.prepared_disks or not delay:
        return None
    return Explanation(
        kind=BottleneckKind.DISK_WAITS,
        sentence=f"in the window {delay}, but over the whole load the disks had capacity left",
        remedy=f"fewer flushes (see the target's page), {SPREAD}",
    )


def disk(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    delay = held_up(use, resources)
    if resources.prepared_disks or not delay:
        return None
    return Explanation(
        kind=BottleneckKind.DISK,
        sentence=delay,
        remedy="a faster disk (--data-dir), fewer flushes (see the target's page), or sweep disks: scale sweep disk",
    )


def held_up(use: ResourceUse, resources: TrialResources) -> str:
    """How a disk made the server wait, in words; "" if none did."""
    if full := full_disk(use, resources):
        return full
    if resources.is_foreign and use.server_disk_waits is not None:  # the kernel's figure has the waits of all programs
        often = f"some thread of the server waited for a disk {100 * use.server_disk_waits:.0f} % of the time"
        return often if use.server_disk_waits >= limit.SERVER_DISK_WAITS else ""
    if use.io_waiting_percent is not None and use.io_waiting_percent >= limit.IO_WAITING_PERCENT:
        return f"something waited for I/O {use.io_waiting_percent:.0f} % of the time"
    return ""


def full_disk(use: ResourceUse, resources: TrialResources) -> str:
    for name, busy in use.disk_busy_percent.items():
        written, own = use.disk_mb_per_s.get(name), resources.disk_ceilings_mb_per_s.get(name)
        if own and written is not None and 100 * written >= limit.DISK_FULL_PERCENT * own:
            return f"disk {name} wrote {written:.0f} MB/s of the {own:.0f} MB/s that it can by itself"
        if busy >= limit.DISK_BUSY_PERCENT:
            return f"disk {name} was {busy:.0f} % busy"
    return ""


def _use(figures: DiskFigures) -> float | None:
    return figures.used_percent if figures.used_percent is not None else figures.busy_percent


def _known(disks: Mapping[str, DiskFigures]) -> bool:
    return bool(disks) and all(_use(disk) is not None for disk in disks.values())


def _full(figures: DiskFigures) -> bool:
    if figures.used_percent is not None:
        return figures.used_percent >= limit.DISK_FULL_PERCENT
    return (figures.busy_percent or 0.0) >= limit.DISK_BUSY_PERCENT
