"""Figures of each disk of a trial, and its ceiling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scale_sweep.judge.figures.counts_per_second import RatedInterval
from scale_sweep.judge.verdict.evidence import ResourceUse
from scale_sweep.model.samples import DiskCeiling, DiskFigures, Sample


def ceiling_mb_per_s(ceilings: Sequence[DiskCeiling], names: Sequence[str]) -> float | None:
    """Together: as measured, else the sum of each, at most their parts of the largest common measurement, because disks
    may share a bottleneck."""
    for ceiling in ceilings:
        if set(ceiling.disks) == set(names):
            return ceiling.write_mb_per_s
    alone = own_ceilings(ceilings)
    if not names or not all(name in alone for name in names):
        return None
    total = sum(alone[name] for name in names)
    common = max(ceilings, key=lambda c: len(c.disks))
    if set(names) <= set(common.by_disk) and len(common.disks) > len(names):
        total = min(total, common.write_mb_per_s)
    return total


def own_ceilings(ceilings: Sequence[DiskCeiling]) -> Mapping[str, float]:
    return {c.disks[0]: c.write_mb_per_s for c in ceilings if len(c.disks) == 1}


def disk_figures(
    use: ResourceUse, samples: Sequence[Sample], ceilings: Sequence[DiskCeiling]
) -> Mapping[str, DiskFigures]:
    """By name, in the order of the axis."""
    alone, total = own_ceilings(ceilings), sum(use.disk_mb_per_s.values())
    figures = {}
    for name in samples[-1].disks if samples else ():
        rate, own = use.disk_mb_per_s.get(name), alone.get(name)
        free = [s.disks[name].free_bytes for s in samples if name in s.disks]
        known = [f for f in free if f is not None]
        figures[name] = DiskFigures(
            write_mb_per_s=rate,
            share_percent=100 * rate / total if rate is not None and total > 0 else None,
            used_percent=100 * rate / own if rate is not None and own else None,
            busy_percent=use.disk_busy_percent.get(name),
            queue=use.disk_queue.get(name),
            free_gb_min=min(known) / 1e9 if known else None,
        )
    return figures


def stalled_s(intervals: Sequence[RatedInterval]) -> float | None:
    """Without any acknowledgement, in whole intervals; None without intervals."""
    if not intervals:
        return None
    total, before = 0.0, 0.0
    for interval in intervals:
        total += interval.t_s - before if interval.count == 0 else 0.0
        before = interval.t_s
    return total
