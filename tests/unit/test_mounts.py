"""The disk below a directory, from mounts as the kernel writes them, in roots that were made up."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.machine.host import block_devices
from scale_sweep.machine.host.block_devices import disk_of, memory_disk, mount_of, read_mounts
from scale_sweep.plan.preparing.data_place import DataPlace, with_unseen_disk
from tests.unit.test_quick_time import planned

REAL, HIDDEN, SOURCE = "900:1", "0:77", "900:2"
DISKSTATS = "".join(f" 900 {n} made{n} 1 0 8 0 1 0 8 0 0 0 0\n" for n in (1, 2))


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    """A root with these lines of mountinfo; the number that the path's file system has is `device`."""

    def root_of(*lines: str, device: str = REAL):
        (tmp_path / "proc/self").mkdir(parents=True, exist_ok=True)
        (tmp_path / "proc/diskstats").write_text(DISKSTATS)
        (tmp_path / "proc/self/mountinfo").write_bytes(os.fsencode("".join(f"{line}\n" for line in lines)))
        monkeypatch.setattr(block_devices, "_there", lambda path: (path, device))
        monkeypatch.setattr(block_devices, "number_of", {"/dev/made2": SOURCE}.get)
        return tmp_path

    return root_of


def line(point: str, device: str = REAL, kind: str = "ext4", source: str = "/dev/made1") -> str:
    return f"27 1 {device} / {point} rw,relatime shared:1 - {kind} {source} rw"


def test_a_mount_point_is_decoded_the_last_one_holds_the_path_and_a_root_may_be_none(made_up, tmp_path):
    root = made_up(line("/"), line(f"{tmp_path}/two\\040words\\011\\012\\134\\303\\244 "))
    assert [mount.point for mount in read_mounts(root)] == ["/", f"{tmp_path}/two words\t\n\\ä"]
    there = tmp_path / "two words"
    there.mkdir()
    found = disk_of(there, made_up(line("/"), line(str(there).replace(" ", "\\040"), kind="xfs")))
    assert (found.name, found.mount_point, found.file_system) == ("made1", str(there), "xfs")
    root = made_up(line("/a", kind="ext4"), line("/a", "0:5", "tmpfs", "tmpfs"), line("/a/b", kind="xfs"))
    assert mount_of(Path("/a/b/c"), REAL, root).file_system == "xfs"
    assert mount_of(Path("/a/c"), "0:6", root).file_system == "tmpfs"
    assert mount_of(Path("/b"), REAL, root) is None
    other = line("/proc", "0:4", "proc", "proc")
    found = disk_of(tmp_path, made_up(other))
    assert (found.name, found.file_system) == ("made1", "")
    assert os.path.ismount(found.mount_point), "the highest directory of the file system that is seen"
    root = made_up(other, device=HIDDEN)
    assert disk_of(tmp_path, root) is memory_disk(tmp_path, root) is None


def test_a_disk_is_that_of_a_block_device_and_is_said_where_it_is_not_seen(made_up, tmp_path):
    root = made_up(line("/"), line(str(tmp_path), "0:76", "btrfs", "/dev/made2"), device=HIDDEN)
    found = disk_of(tmp_path, root)
    assert (found.name, found.device, found.file_system) == ("made2", SOURCE, "btrfs")
    assert found.mount_point == str(tmp_path)
    for name in ("made2", "made3"):
        (root / "sys/fs/btrfs/id/devices" / name).mkdir(parents=True)
    assert disk_of(tmp_path, root) is None, "one of two devices is not the disk"
    for source in ("overlay", "host:/share", "/dev/none"):
        assert disk_of(tmp_path, made_up(line(str(tmp_path), HIDDEN, "overlay", source), device=HIDDEN)) is None
    plan, unseen = planned(target="postgres"), DataPlace(wanted="", path=tmp_path, is_seen=False)
    (said,) = set(with_unseen_disk(plan, unseen).notes) - set(plan.notes)
    assert str(tmp_path) in said
    assert with_unseen_disk(with_unseen_disk(plan, unseen), unseen).notes.count(said) == 1
    assert with_unseen_disk(plan, replace(unseen, is_seen=True)) == plan
    no_files = planned(target="null")
    assert with_unseen_disk(no_files, unseen) == no_files
