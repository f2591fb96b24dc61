"""A sweep with everything filled in that only its target can decide: method, knobs, rows in a request. Pure.

Refuses what the target does not have, by flag.
"""

from __future__ import annotations

from dataclasses import replace

from runner.axes import load_axis
from runner.errors import UsageError
from runner.model import Origin, Sweep
from runner.plan.grants import resource_range
from runner.plan.knobs import granted_knobs
from runner.sweep.vary import check_variants, is_knob
from runner.targets import Target


def complete(sweep: Sweep, target: Target) -> Sweep:
    """The sweep with everything filled in that only the target could decide.

    Raises UsageError for a method or a knob that the target does not have.
    """
    mistakes = []
    method = sweep.method or target.METHODS[0]
    if method not in target.METHODS:
        mistakes.append(f"--method: {target.NAME} has no method {method!r}; it has {', '.join(target.METHODS)}")
    if sweep.load.loader not in target.LOADERS:
        mistakes.append(f"--loader: {target.NAME} can be loaded by {', '.join(target.LOADERS)}")
    if not sweep.load.is_ours and sweep.load.rows is None:
        mistakes.append(f"--loader: {sweep.load.loader} knows fixed work only; give --rows instead of --duration")
    mistakes += check_variants(sweep, target.METHODS)
    for name in (*sweep.knobs, *(n for n in sweep.vary if is_knob(n))):
        named = name in ("vgroups", "partitions", "write_threads", "commit_threads")
        if name not in target.KNOBS and (named or not target.ANY_KNOB):
            mistakes.append(
                f"--{name.replace('_', '-')}: {target.NAME} has no knob {name}; it has "
                f"{', '.join(k.replace('_', '-') for k in target.KNOBS)}"
            )
    mistakes += _disk_mistakes(sweep, target)
    mistakes += [
        f"--{name.replace('_', '-')}: {load_axis(sweep.axis).flag} says how many at each level; leave it out"
        for name in sorted(granted_knobs(sweep) & {*sweep.knobs, *sweep.vary})
    ]
    if mistakes:
        raise UsageError("\n".join(mistakes))
    defaults = target.default_knobs(resource_range(sweep))
    origin: dict[str, Origin] = dict(sweep.origin)
    per_request = sweep.work.data.rows_per_request or target.ROWS_PER_REQUEST
    return replace(
        sweep,
        knobs={**defaults, **sweep.knobs},
        origin=origin,
        wal_disk=_wal_disk(sweep, target),
        method=method,
        work=replace(sweep.work, data=replace(sweep.work.data, rows_per_request=per_request)),
    )


def _disk_mistakes(sweep: Sweep, target: Target) -> list[str]:
    if sweep.disks is None:
        return []
    if not target.DISK_PLACEMENTS:
        return [f"--disks: {target.NAME} cannot be spread over disks"]
    found = []
    if sweep.disk_placement not in ("auto", "stripe", *target.DISK_PLACEMENTS):
        has = ", ".join((*target.DISK_PLACEMENTS, "stripe"))
        found.append(f"--disk-placement: {target.NAME} has no {sweep.disk_placement}; it has {has}")
    if sweep.wal_disk not in ("auto", *target.WAL_DISKS):
        found.append(f"--wal-disk: {target.NAME} keeps its log {' or '.join(target.WAL_DISKS)}, not {sweep.wal_disk}")
    return found


def _wal_disk(sweep: Sweep, target: Target) -> str:
    chosen = sweep.wal_disk == "auto" and sweep.disks is not None and target.WAL_DISKS
    return target.WAL_DISKS[0] if chosen else sweep.wal_disk
