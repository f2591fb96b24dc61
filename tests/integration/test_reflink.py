"""A copy on a file system that shares blocks: XFS on a loop device. It takes no space until one of both is written."""

import os
import subprocess

import pytest

from scale_sweep.server.runtimes.copying import can_reflink, copy_tree
from tests.needs import needs

pytestmark = needs("root", "mkfs.xfs")


@pytest.fixture
def xfs(tmp_path):
    image, mount = tmp_path / "image", tmp_path / "mount"
    mount.mkdir()
    with image.open("wb") as file:
        file.truncate(320 * 2**20)
    subprocess.run(["mkfs.xfs", "-q", "-m", "reflink=1", str(image)], check=True, timeout=60)
    done = subprocess.run(["mount", "-o", "loop", str(image), str(mount)], capture_output=True, text=True, timeout=60)
    if done.returncode:
        pytest.skip(f"this kernel mounts no XFS: {done.stderr.strip()}")
    yield mount
    subprocess.run(["umount", str(mount)], check=True, timeout=60)


def test_a_copy_shares_its_blocks_until_it_is_written(xfs):
    first, second = xfs / "a", xfs / "b"
    first.mkdir()
    second.mkdir()
    (first / "rows").write_bytes(os.urandom(32 * 2**20))
    os.sync()
    free = os.statvfs(xfs).f_bfree
    assert can_reflink(xfs)
    assert copy_tree(first, second) == "reflink"
    os.sync()
    assert (free - os.statvfs(xfs).f_bfree) * os.statvfs(xfs).f_frsize < 2**20
    with (second / "rows").open("r+b") as file:
        file.write(b"other")
    assert (first / "rows").read_bytes()[5:] == (second / "rows").read_bytes()[5:]
    assert (first / "rows").read_bytes()[:5] != b"other"
    assert sorted(path.name for path in xfs.iterdir()) == ["a", "b"]
