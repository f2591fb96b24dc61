"""Did new memory pages become dearer, or cheaper, within the window?"""

from __future__ import annotations

from collections.abc import Mapping

from scale_sweep.judge.verdict.evidence import Evidence, LoadHalf
from scale_sweep.judge.verdict.thresholds import (
    PAGES_EXPLAIN,
    PAGES_FAULTS,
    PAGES_FAULTS_MIN,
    PAGES_MORE_US,
    PAGES_RATE_PERCENT,
    PAGES_TIMES,
)
from scale_sweep.model import NEW_PAGES


def new_pages(evidence: Evidence) -> str:
    """The sentence with the figures of both halves; "" if the cost of pages explains no change."""
    if evidence.halves is None:
        return ""
    first, second = evidence.halves
    if min(first.count, second.count, first.cpu_us, second.cpu_us) <= 0:
        return ""
    if min(first.page_faults, second.page_faults) < PAGES_FAULTS_MIN or not _explains(first, second):
        return ""
    before, after = first.fault_us, second.fault_us
    change = 100 * (second.count / second.cpu_us / (first.count / first.cpu_us) - 1)
    return (
        f"{NEW_PAGES}: the server's system time per page fault {_moved(after - before)} from {before:.1f} to "
        f"{after:.1f} µs in the second half of the window, and its rate per CPU-second {_moved(change)} by "
        f"{abs(change):.0f} %"
    )


def new_pages_between(trials: Mapping[str, LoadHalf]) -> str:
    """The sentence with the cheapest and the dearest of the trials of one level, each a whole window, by their ids; ""
    if the cost of pages explains no difference."""
    counted = {name: one for name, one in trials.items() if one.page_faults >= PAGES_FAULTS_MIN}
    if len(counted) < 2 or any(min(one.count, one.cpu_us) <= 0 for one in counted.values()):
        return ""
    low, *_, high = sorted(counted, key=lambda name: counted[name].fault_us)
    cheap, dear = counted[low], counted[high]
    if not _explains(cheap, dear):
        return ""
    less = 100 * (1 - dear.count / dear.cpu_us / (cheap.count / cheap.cpu_us))
    return (
        f"{NEW_PAGES}: the server's system time per page fault was {cheap.fault_us:.1f} µs in {low} and "
        f"{dear.fault_us:.1f} µs in {high}, whose rate per CPU-second is {less:.0f} % lower"
    )


def _explains(first: LoadHalf, second: LoadHalf) -> bool:
    """Whether a page costs clearly more in one half, a row touches as many, and the system time is most of what a row
    costs more."""
    cheap, dear = sorted((first, second), key=lambda half: half.fault_us)
    is_dearer = dear.fault_us >= max(PAGES_TIMES * cheap.fault_us, cheap.fault_us + PAGES_MORE_US)
    fewer, more = sorted((first.page_faults / first.count, second.page_faults / second.count))
    extra = dear.cpu_us / dear.count - cheap.cpu_us / cheap.count
    in_system = dear.system_us / dear.count - cheap.system_us / cheap.count
    slows = 100 * extra >= PAGES_RATE_PERCENT * dear.cpu_us / dear.count
    return is_dearer and more <= PAGES_FAULTS * fewer and slows and in_system >= PAGES_EXPLAIN * extra


def _moved(change: float) -> str:
    return "rose" if change > 0 else "fell"
