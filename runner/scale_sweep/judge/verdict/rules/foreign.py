"""Rules about a load that another program makes, from the states of its threads: it has no measured ceiling, and does
not say how long it waited."""

from __future__ import annotations

from scale_sweep.base.units import counted, format_cpus
from scale_sweep.judge.verdict import thresholds as limit
from scale_sweep.judge.verdict.evidence import OF_LOAD, Explanation, ResourceUse, TrialResources
from scale_sweep.judge.verdict.rules.load import more_cpus, more_threads
from scale_sweep.judge.verdict.rules.server import (
    LOCKED,
    cpu_words,
    full_disk,
    is_throttled,
    locks,
    used_share,
    waited,
)
from scale_sweep.model.measured import BottleneckKind


def full_thread(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Its busiest thread ran, or could run, nearly all the time, and no others took its CPUs."""
    if not has_room(use, resources) or _wanted(use, resources) < limit.WANTED or crowded(use, resources):
        return None
    ran, queued = _ran(use), use.hot_generator_queued
    did = f"ran {100 * ran:.0f} % and waited for a CPU {100 * queued:.0f} % of the time"
    if is_spent := ran >= limit.WANTED:
        did = f"used {100 * ran:.0f} % of its CPU"
    if _all_cpus(use, resources) >= limit.WANTED:
        remedy = f"{more_cpus(resources)}, and {more_threads(resources)}"
    else:
        remedy = more_threads(resources) if is_spent else f"{more_cpus(resources)}, or lift the quota of its cgroup"
    many = round(use.generator_threads or 1)
    who = f"the busiest of {many} load threads" if many > 1 else "the one busy load thread"
    return _limited(f"{who} ({_thread(use, resources)}) {did}", remedy, use, resources)


def full_quota(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Its threads may wait for the server in the time that the quota leaves, and look idle then."""
    share = min(1.0, (use.generator_throttled_s or 0.0) / use.seconds) if use.seconds > 0 else 0.0
    if share < limit.LOAD_THROTTLED or not has_room(use, resources):
        return None
    did = f"a CPU quota held up {resources.program} {100 * share:.0f} % of the time"
    return _limited(did, "lift the quota of its cgroup", use, resources)


def full_cpus(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    share = _all_cpus(use, resources)
    if share < limit.WANTED or not has_room(use, resources):
        return None
    cpus = counted(resources.generator_cpus, "CPU")
    return _limited(f"{resources.program} used {100 * share:.0f} % of its {cpus}", more_cpus(resources), use, resources)


def own_locks(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    share, most = waited(use.generator_waits, LOCKED)
    if share < limit.LOCK_WAITING or not has_room(use, resources):
        return None
    return _limited(
        f"the load's threads waited for locks inside their program {100 * share:.0f} % of the time, mostly those named "
        f"{most}",
        "several processes of the tool at once: more threads wait for the same locks",
        use,
        resources,
    )


def crowded(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Others ran on the CPUs that its busiest thread waited for."""
    others = next((one.others for one in use.taken if one.whose == OF_LOAD), 0.0)
    is_crowded = others >= max(limit.OTHERS_CORES, limit.OTHERS_EXPLAIN * use.hot_generator_queued)
    if not is_crowded or not has_room(use, resources) or not _ran(use) < limit.WANTED <= _wanted(use, resources):
        return None
    return Explanation(
        kind=BottleneckKind.OTHER_PROCESSES,
        sentence=f"other processes used {others:.2f} cores of the load's CPUs, and its busiest thread waited for a CPU "
        f"{100 * use.hot_generator_queued:.0f} % of the time",
        remedy="stop them, or use a dedicated machine",
    )


def on_common_cpus(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """The number is then that of both."""
    if not resources.is_foreign or not resources.shared_cpus:
        return None
    words = cpu_words(use, resources)
    sentence = f"server and load may run on the same CPUs ({format_cpus(resources.shared_cpus)})"
    sentence += f": the load used {use.generator_cpu_cores or 0.0:.2f} cores" + (f", {words}" if words else "")
    return Explanation(
        kind=BottleneckKind.SHARED_CPU,
        sentence=sentence,
        remedy=resources.pin or "keep them apart: taskset -c CPUS before the load, and another one for the server",
        reason=sentence,
    )


def few_clients(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Both wait, and nothing else explains it."""
    share = used_share(use, resources)
    if not resources.is_foreign or use.in_flight is None or use.in_flight < 1.0 - limit.GENERATOR_ROOM:
        return None
    if share is None or share + (use.server_queued_cores or 0.0) / resources.cores >= limit.CORES_FULL:
        return None  # the server had work for all of its time
    who = counted(resources.threads, "client") if resources.threads else "the clients"
    return Explanation(
        kind=BottleneckKind.CONNECTIONS,
        sentence=f"{who} waited for an answer {100 * use.in_flight:.0f} % of the time (by the states of the tool's "
        "threads)",
        remedy=resources.more_clients or "more clients of the tool",
    )


def has_room(use: ResourceUse, resources: TrialResources) -> bool:
    """Whether the server of a foreign load had CPU time left, and waited for nothing else."""
    share, hottest = used_share(use, resources), use.hot_thread[1] if use.hot_thread else 0.0
    if not resources.is_foreign or share is None or max(share, hottest) >= limit.CORES_FULL:
        return False
    return not is_throttled(use) and not full_disk(use, resources) and locks(use, resources) is None


def _wanted(use: ResourceUse, resources: TrialResources) -> float:
    """On the server's CPUs without its wait for one, which may be the server's doing."""
    if resources.shared_cpus or use.hot_generator_wanted is None:
        return _ran(use)
    return use.hot_generator_wanted[1]


def _ran(use: ResourceUse) -> float:
    return use.hot_generator_wanted[1] - use.hot_generator_queued if use.hot_generator_wanted else 0.0


def _thread(use: ResourceUse, resources: TrialResources) -> str:
    """The tool's name, and the thread's if it has another."""
    name = use.hot_generator_wanted[0] if use.hot_generator_wanted else ""
    return f"{resources.program}, {name}" if name not in resources.program else resources.program


def _all_cpus(use: ResourceUse, resources: TrialResources) -> float:
    if use.generator_cpu_cores is None or not resources.generator_cpus or resources.shared_cpus:
        return 0.0
    return use.generator_cpu_cores / resources.generator_cpus


def _limited(sentence: str, remedy: str, use: ResourceUse, resources: TrialResources) -> Explanation:
    whole = f"{sentence}; {cpu_words(use, resources)}"
    return Explanation(kind=BottleneckKind.GENERATOR_CPU, sentence=whole, remedy=remedy, reason=whole)
