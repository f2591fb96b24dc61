"""Did other programs, or the hypervisor, take the cores that the server lacks?"""

from __future__ import annotations

from scale_sweep.judge.verdict.evidence import ResourceUse, TrialResources
from scale_sweep.judge.verdict.rules.rule import Found
from scale_sweep.judge.verdict.rules.waiting import is_stalled
from scale_sweep.judge.verdict.thresholds import CPU_WAITING_PERCENT, OTHERS_CORES, OTHERS_EXPLAIN, RAN_CORES
from scale_sweep.model import BottleneckKind

STOP_THEM = "stop them, or measure on a machine of its own"


def hypervisor(use: ResourceUse, given: TrialResources) -> Found | None:
    """Steal time explains it, more than other programs do."""
    stolen = use.stolen_cores or 0.0
    if not _explain(use, given) or stolen <= (use.other_cores or 0.0):
        return None
    return Found(
        kind=BottleneckKind.HYPERVISOR,
        sentence=f"the hypervisor took {stolen:.2f} cores from this machine (steal time)",
        remedy="another time, or a machine with CPUs of its own",
    )


def other_processes(use: ResourceUse, given: TrialResources) -> Found | None:
    """Other programs of this machine explain it."""
    if not _explain(use, given):
        return None
    return Found(
        kind=BottleneckKind.OTHER_PROCESSES,
        sentence=f"other processes on this machine used {use.other_cores or 0.0:.2f} cores",
        remedy=STOP_THEM,
    )


def crowded_out(use: ResourceUse, given: TrialResources) -> Found | None:
    """In a stall other programs had the CPUs, and the server ran: it waited for a CPU, which looks like a pause.

    A server that did not run at all in some second was stopped or asleep, whoever else used the machine.
    """
    cores, others, waiting = use.stalled_cores, use.stalled_other_cores, use.stalled_cpu_waiting_percent
    if not is_stalled(use) or cores is None or others is None or waiting is None:
        return None
    if (
        (use.stalled_cores_min or 0.0) < RAN_CORES
        or waiting < CPU_WAITING_PERCENT
        or others < OTHERS_EXPLAIN * (given.cores - cores)
    ):
        return None
    return Found(
        kind=BottleneckKind.OTHER_PROCESSES,
        sentence=f"other processes on this machine used {others:.2f} cores while no {given.done} for "
        f"{use.stalled_s:.1f} s, and programs waited for a CPU {waiting:.0f} % of that time",
        remedy=STOP_THEM,
    )


def _explain(use: ResourceUse, given: TrialResources) -> bool:
    if use.server_cores is None or max(use.other_cores or 0.0, use.stolen_cores or 0.0) < OTHERS_CORES:
        return False
    lacks = given.cores - use.server_cores - (use.generator_cores or 0.0 if given.shared_cpus else 0.0)
    return use.taken_cores >= OTHERS_EXPLAIN * lacks
