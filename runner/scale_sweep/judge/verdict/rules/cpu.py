"""The server's cores: used up by it alone, or together with a load generator that shares them? Could they be read?"""

from __future__ import annotations

from scale_sweep.base.units import format_cpus, format_number
from scale_sweep.judge.verdict.evidence import ResourceUse, TrialResources
from scale_sweep.judge.verdict.rules.rule import Found
from scale_sweep.judge.verdict.thresholds import CORES_FULL, SHARED_TAKE
from scale_sweep.model import BottleneckKind


def used_share(use: ResourceUse, given: TrialResources) -> float | None:
    """The used share of the cores that the server was given."""
    return use.server_cores / given.cores if use.server_cores is not None and given.cores else None


def cpu_words(use: ResourceUse, given: TrialResources) -> str:
    """How much of its cores the server used; "" if it was not read."""
    share = used_share(use, given)
    if share is None:
        return ""
    return f"the server used {use.server_cores:.2f} of {format_number(given.cores)} cores ({100 * share:.0f} %)"


def cpu_unread(use: ResourceUse, given: TrialResources) -> Found | None:
    """The server's CPU use was not read, so nothing proves that the level's cores were used up."""
    if used_share(use, given) is not None:
        return None
    told = "the server's CPU could not be read, so nothing proves that its cores were busy"
    return Found(
        kind=BottleneckKind.UNREAD,
        sentence=told,
        remedy="measure where the server's cgroup or processes can be read",
    )


def server_cpu(use: ResourceUse, given: TrialResources) -> Found | None:
    """The server used its cores, except for the little that the load generator took of shared ones."""
    share = used_share(use, given)
    if share is None:
        return None
    told, taken = cpu_words(use, given), generator_take(use, given)
    if share >= CORES_FULL:
        return Found(kind=BottleneckKind.SERVER_CPU, sentence=told, remedy="more cores")
    if taken > SHARED_TAKE * given.cores or taken + (use.server_cores or 0.0) < CORES_FULL * given.cores:
        return None
    told += f"; the load generator took {taken:.2f} of them, on shared CPU {format_cpus(given.shared_cpus)}"
    return Found(kind=BottleneckKind.SERVER_CPU, sentence=told, remedy="more cores", noted=True)


def shared_cpu(use: ResourceUse, given: TrialResources) -> Found | None:
    """Server and load generator together filled the server's CPUs, and the load generator took a large part."""
    taken = generator_take(use, given)
    if use.server_cores is None or taken <= SHARED_TAKE * given.cores:
        return None
    if taken + use.server_cores < CORES_FULL * given.cores - use.taken_cores:
        return None
    return Found(
        kind=BottleneckKind.SHARED_CPU,
        sentence=f"the load generator took {taken:.2f} of the server's cores, on shared CPU "
        f"{format_cpus(given.shared_cpus)}",
        remedy="leave a CPU to the load generator: fewer --cores",
    )


def generator_take(use: ResourceUse, given: TrialResources) -> float:
    """Cores that the load generator took of the server's: its use, in proportion to the shared CPUs."""
    if not given.shared_cpus or not given.generator_cpus:
        return 0.0
    return (use.generator_cores or 0.0) * min(1.0, len(given.shared_cpus) / given.generator_cpus)
