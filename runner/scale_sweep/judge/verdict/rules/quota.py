"""Did a quota throttle the server: a requested one, or a foreign one?"""

from __future__ import annotations

from scale_sweep.base.units import format_number
from scale_sweep.judge.verdict.evidence import ResourceUse, TrialResources
from scale_sweep.judge.verdict.rules.cpu import used_share
from scale_sweep.judge.verdict.rules.rule import Found
from scale_sweep.judge.verdict.thresholds import CORES_FULL, THROTTLED
from scale_sweep.model import BottleneckKind


def foreign_quota(use: ResourceUse, given: TrialResources) -> Found | None:
    """The server was throttled, and no quota was requested."""
    if given.quota or not _throttled(use):
        return None
    return Found(
        kind=BottleneckKind.THROTTLING,
        sentence=f"a CPU quota that the sweep did not set held the server back {_percent(use)} of the time",
        remedy="lift the quota of the cgroup that this runs in",
        reason=f"the server was throttled for {use.seconds * (use.throttled or 0.0):.1f} s of {use.seconds:.1f} s",
    )


def own_quota(use: ResourceUse, given: TrialResources) -> Found | None:
    """The server was throttled by the level's own quota, which was used up."""
    share = used_share(use, given)
    if not given.quota or not _throttled(use) or share is None or share < CORES_FULL:
        return None
    cores, held = format_number(given.cores), _percent(use)
    return Found(
        kind=BottleneckKind.QUOTA,
        sentence=f"the server used its quota of {cores} cores and was throttled {held} of the time",
        remedy="a larger level of --cores",
    )


def _throttled(use: ResourceUse) -> bool:
    return use.throttled is not None and use.throttled > THROTTLED


def _percent(use: ResourceUse) -> str:
    return f"{100 * (use.throttled or 0.0):.0f} %"
