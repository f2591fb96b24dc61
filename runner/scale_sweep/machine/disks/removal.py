"""Removes sets of disks: at the end of a sweep, by name, or after a crash."""

from __future__ import annotations

import os
from collections.abc import Sequence

from scale_sweep.base.errors import PreflightError, UsageError
from scale_sweep.base.interrupts import deferred
from scale_sweep.machine.disks.playbook import end_processes, run_playbook
from scale_sweep.machine.disks.sets import DiskSet, claim_folder, find_set, forget, held, list_disks, names


def undo(disk_set: DiskSet) -> None:
    """Ends what still uses the set, removes all of it, and deletes its record. Ctrl-C waits meanwhile.

    It uses the register's latest record, because an array may have been made after disk_set was. Raises ProvisionError
    if something cannot be removed; the set then stays in the register.
    """
    with deferred(), held(disk_set.name) as is_there:
        if not is_there:
            return
        disk_set = find_set(disk_set.name) or disk_set
        end_processes(disk_set.name)
        claim_folder(disk_set, makes=False)
        run_playbook(disk_set, "absent")
        forget(disk_set.name)


def remove_disks(wanted: Sequence[str] = (), *, everything: bool = False) -> tuple[DiskSet, ...]:
    """Removes sets by name, or all. Returns them. Raises UsageError before anything is removed."""
    there = list_disks()
    sets = there if everything else tuple(s for name in wanted if (s := find_set(name)))
    unknown = [name for name in wanted if find_set(name) is None]
    if unknown:
        raise UsageError(f"no set of disks called {', '.join(unknown)}", remedy=f"there are: {names(there)}")
    busy = [s for s in sets if not s.kept and s.in_use and s.maker_pid != os.getpid()]
    if busy:
        raise UsageError(f"in use by a sweep that runs: {names(busy)}", remedy="end the sweep; it removes its disks")
    remove_sets(sets)
    return sets


def leftover_sets() -> tuple[DiskSet, ...]:
    """Sets whose maker has ended and that were not made to stay."""
    return tuple(s for s in list_disks() if not s.in_use and not (s.kept and s.ready))


def remove_sets(sets: Sequence[DiskSet]) -> None:
    """Removes these sets, whoever made them. Another `scale clean` may be removing one or have removed it. Raises
    PreflightError."""
    if sets and os.geteuid() != 0:
        raise PreflightError("removing disks needs root", remedy="run with sudo")
    for disk_set in sets:
        undo(disk_set)
