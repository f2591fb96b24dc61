"""Rules about the response times of an open loop whose rate was met: others on the CPUs of server or load generator,
and a load generator that sent late."""

from __future__ import annotations

from scale_sweep.base.units import counted
from scale_sweep.judge.verdict.evidence import Lateness, ResourceUse, TakenCpus, TrialResources
from scale_sweep.judge.verdict.rules.hosts import host_generator_cpu
from scale_sweep.judge.verdict.rules.load import generator_cpu, is_met, more_cpus
from scale_sweep.judge.verdict.rules.machine import STOP_THEM
from scale_sweep.judge.verdict.rules.rule import Explanation
from scale_sweep.judge.verdict.thresholds import LATE_LEAST_MS, LATE_SHARE, TAKEN_SHARE
from scale_sweep.model import BottleneckKind


def delayed_by_hypervisor(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """The hypervisor took more than other programs, and both together too much."""
    taken = _most_taken(use, resources)
    if taken is None or taken.stolen <= taken.others:
        return None
    return _delayed(
        BottleneckKind.HYPERVISOR,
        _took(("the hypervisor", taken.stolen), ("other processes", taken.others), taken),
        "another time, or a machine with dedicated CPUs",
    )


def delayed_by_others(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Other programs took too much of the CPUs of server or load generator."""
    taken = _most_taken(use, resources)
    if taken is None or taken.stolen > taken.others:
        return None
    sentence = _took(("other processes", taken.others), ("the hypervisor", taken.stolen), taken)
    return _delayed(BottleneckKind.OTHER_PROCESSES, sentence, STOP_THEM)


def _most_taken(use: ResourceUse, resources: TrialResources) -> TakenCpus | None:
    """The CPUs of which others had the largest share; None if it was little."""
    if not is_met(use, resources):
        return None
    most = max(use.taken, key=lambda taken: taken.share, default=None)
    return most if most is not None and most.share > TAKEN_SHARE else None


def _took(most: tuple[str, float], least: tuple[str, float], taken: TakenCpus) -> str:
    """Who took how much of these CPUs. Each is a name with its cores; the second is named if the first alone took an
    acceptable share."""
    (who, cores), (also, rest) = most, least
    beside = f" and {also} {100 * rest / taken.cpus:.0f} %" if cores <= TAKEN_SHARE * taken.cpus else ""
    return f"{who} took {100 * cores / taken.cpus:.0f} %{beside} of {taken.whose} {counted(taken.cpus, 'CPU')}"


def _delayed(kind: BottleneckKind, sentence: str, remedy: str) -> Explanation:
    reason = f"the response times are not the server's alone: {sentence}"
    return Explanation(kind=kind, sentence=sentence, remedy=remedy, reason=reason)


def busy_generator(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """The load generator's CPUs had so little idle time that requests waited for one."""
    busy = (generator_cpu(use, resources) or host_generator_cpu(use, resources)) if is_met(use, resources) else None
    return _delayed(busy.kind, busy.sentence, busy.remedy) if busy is not None else None


def sent_late(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """The load generator sent requests so late that its own delay is a part of the response times."""
    late = next((one for one in use.late if one.late_ms > acceptable_ms(one)), None)
    if late is None or not is_met(use, resources):
        return None
    sentence = (
        f"the load generator itself delayed requests by {late.late_ms:.3g} ms at {late.percentile}, "
        f"acceptable are {acceptable_ms(late):.3g} ms"
    )
    remedy = f"leave the load generator's CPUs to it alone, or {more_cpus(resources)}"
    return _delayed(BottleneckKind.GENERATOR_LATE, sentence, remedy)


def acceptable_ms(late: Lateness) -> float:
    """The most of a response time that may be the load generator's own."""
    share = LATE_SHARE * late.of_ms
    return share if late.has_objective else max(LATE_LEAST_MS, share)
