"""Did other programs, or the hypervisor, take the cores that the server lacks?"""

from __future__ import annotations

from runner.model import BottleneckKind
from runner.verdict.evidence import ResourceUse, TrialResources
from runner.verdict.rules.rule import Found
from runner.verdict.thresholds import OTHERS_CORES, OTHERS_EXPLAIN


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
        remedy="stop them, or measure on a machine of its own",
    )


def _explain(use: ResourceUse, given: TrialResources) -> bool:
    if use.server_cores is None or max(use.other_cores or 0.0, use.stolen_cores or 0.0) < OTHERS_CORES:
        return False
    lacks = given.cores - use.server_cores - (use.generator_cores or 0.0 if given.shared_cpus else 0.0)
    return use.taken_cores >= OTHERS_EXPLAIN * lacks
