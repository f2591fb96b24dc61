"""Vnodes on disks: the disk of each vnode, the links that put it there, and its actual place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scale_sweep.base.errors import ProvisionError
from scale_sweep.model import Site
from scale_sweep.server.targets import Part

FIRST_VNODE = 2
_PATH_MAX = 127
_LONGEST_FILES = ("tq/subscribe/main.tdb-journal.99", "meta/main.tdb-journal.999999999")  # numbers of transactions


def disk_index(vnode: int, disks: int) -> int:
    """The disk of a vnode, round robin: 12 vnodes on 3 disks are 4 on each."""
    return (vnode - FIRST_VNODE) % disks


def data_dirs(site: Site) -> tuple[str, ...]:
    if site.disks and site.disk_placement == "tiers":
        return tuple(f"{path} 0 {int(i == 0)}" for i, path in enumerate(site.disks))
    if site.disks and site.disk_placement == "stripe":
        return site.disks[:1]
    return (f"{site.data_dir}/data",)


def refuse_long(site: Site, vgroups: int) -> None:
    """taosd 3.3.0.0 writes names of files into 128 bytes without a look at their length, resolves links before, and
    dies of a longer one in CREATE DATABASE. Raises ProvisionError."""
    last = FIRST_VNODE + vgroups - 1
    room = _PATH_MAX - max(len(f"/vnode/vnode{last}/{name}") for name in _LONGEST_FILES)
    for line in data_dirs(site):
        path = line.split()[0]
        if len(path) > room:
            raise ProvisionError(
                f"{path} has {len(path)} characters, and TDengine dies of data directories with more than {room}",
                remedy="--data-dir or --dir with a shorter path",
            )


def links(site: Site, vgroups: int) -> dict[str, str]:
    """Each vnode's directory in the data directory → its directory on its disk; empty if nothing is linked."""
    if not site.disks or site.disk_placement != "spread":
        return {}
    vnodes = range(FIRST_VNODE, FIRST_VNODE + vgroups)
    disk_of = {vnode: site.disks[disk_index(vnode, len(site.disks))] for vnode in vnodes}
    return {f"{site.data_dir}/data/vnode/vnode{vnode}": f"{disk}/vnode{vnode}" for vnode, disk in disk_of.items()}


def parts_of(disk_placement: str, data_dir: str, disks: Sequence[str], vnodes: Sequence[int]) -> tuple[Part, ...]:
    """Each vnode's actual place: below the data directory (links are followed later), or on a tier."""
    parts = []
    for vnode in vnodes:
        places = [f"{path}/vnode/vnode{vnode}" for path in disks] if disk_placement in ("tiers", "stripe") else []
        there = next((p for p in places if Path(p).is_dir()), f"{data_dir}/data/vnode/vnode{vnode}")
        wanted = disk_index(vnode, len(disks)) if disk_placement == "spread" else None
        parts.append(Part(name=f"vnode {vnode}", path=there, disk=wanted))
    return tuple(parts)
