"""Mounts that are unlike those of a usual machine, a disk for results that fills, and one that shares blocks."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from scale_sweep.server.runtimes.data_files import can_reflink, copy_tree
from tests.integration.cli import run
from tests.needs import needs

pytestmark = needs("root")

NULL = "--target null --cores 1 --replicates 1 --duration 1s --warmup 0s --window-max 0 --rate 20k".split()
# A new root of links and mounts of the directories of this one: it is itself no mount point.
CHROOT = """
mkdir root
for there in /*; do
    case "$there" in /lost+found) continue ;; esac
    if [ -L "$there" ]; then cp -P "$there" "root$there"
    elif [ -d "$there" ]; then mkdir -p "root$there"; mount --rbind "$there" "root$there"; fi
done
mkdir root/new
exec chroot root "$@"
"""
BLANK = """
mkdir "two words"
truncate -s 4G image
mkfs.ext4 -q image
mount -o loop image "two words"
"$@"
"""
READ_ONLY = 'mkdir -p there/{}; mount --bind there /var/tmp; mount -o remount,bind,ro /var/tmp; exec "$@"'
OVERLAY = 'mkdir low up work over; mount -t overlay -o lowerdir=low,upperdir=up,workdir=work overlay over; exec "$@"'


def run_there(setup: str, *words: str, cwd, **environment: str):
    """The command after a shell made the mounts."""
    under = ("unshare", "--mount", "sh", "-ec", setup, "sh")
    return run(*words, cwd=cwd, under=under, SCALE_DISK_LIMIT="off", **environment)


@pytest.fixture
def base():
    """A directory on a disk: an overlay cannot be made on an overlay."""
    path = f"/var/tmp/scale-test-mounts-{os.getpid()}"
    os.mkdir(path, 0o755)
    yield path
    subprocess.run(["rm", "-rf", "--one-file-system", path], check=True)


def manifest_below(folder: str):
    found = subprocess.run(["find", folder, "-name", "manifest.json"], capture_output=True, text=True, check=True)
    with open(found.stdout.strip(), encoding="utf-8") as file:
        return json.load(file)


def test_a_root_that_is_no_mount_point(base):
    words = ("sweep", "cpu", *NULL, "--results", "/new/results", "--data-dir", "/new/data")
    done = run_there(CHROOT, *words, cwd=base)
    assert done.returncode in (0, 10), done.stderr
    (disk,) = manifest_below(f"{base}/root/new")["data_disks"]
    assert disk["path"] == "/" and os.stat(base).st_dev == os.makedev(*map(int, disk["device"].split(":")))


def test_disks_below_such_a_root(base):
    words = ("plan", "disk", "--target", "tdengine", "--disks", "1..2", "--dir", "/new/a,/new/b")
    done = run_there(CHROOT.replace("root/new\n", "root/new root/new/a root/new/b\n"), *words, cwd=base)
    assert "/new/a and /new/b are both on" in " ".join(done.stderr.split()), done.stderr


def test_a_mount_point_with_a_blank(base):
    words = ("sweep", "cpu", *NULL, "--results", "results", "--data-dir", f"{base}/two words/data")
    done = run_there(BLANK, *words, cwd=base)
    assert done.returncode in (0, 10), done.stderr
    (disk,) = manifest_below(base)["data_disks"]
    assert disk["path"] == f"{base}/two words" and disk["block_name"].startswith("loop")


def test_a_disk_that_is_not_seen_is_said_once(base):
    said = f"the disk below {base}/over/data is not seen: it cannot be named as the bottleneck"
    words = ("cpu", *NULL, "--target", "postgres", "--data-dir", f"{base}/over/data")
    plan = run_there(OVERLAY, "plan", *words, cwd=base)
    assert plan.returncode == 0 and " ".join(plan.stderr.split()).count(said) == 1, plan.stderr
    shutil.rmtree(base, ignore_errors=True)
    os.mkdir(base, 0o755)
    done = run_there(OVERLAY, "sweep", *words, "--results", "results", cwd=base)
    assert done.returncode in (0, 10), done.stderr
    report = next(os.scandir(f"{base}/results")).path + "/report.md"
    with open(report, encoding="utf-8") as file:
        assert file.read().count(said) == 1


def test_disks_that_are_not_seen_get_one_sentence(base):
    words = ("plan", "disk", "--target", "tdengine", "--disks", "1", "--dir", f"{base}/over")
    done = run_there(OVERLAY, *words, cwd=base)
    assert done.returncode == 3, done.stderr
    assert " ".join(done.stderr.split()).count(f"{base}/over is on no block device") == 1, done.stderr


@pytest.mark.parametrize(
    ("command", "existed", "place"),
    [
        ("plan", "", ()),
        ("sweep", "state/records", ("--data-dir", "/dev/shm/new")),
        ("sweep", "state/records", ("--data-dir", "ram:256MiB")),
    ],
)
def test_a_read_only_directory_for_state_is_named_with_its_remedy(base, command, existed, place):
    words = (command, "cpu", *NULL, "--results", "results", *place)
    done = run_there(READ_ONLY.format(existed), *words, cwd=base, SCALE_STATE_DIR="/var/tmp/state")
    told = " ".join(done.stderr.split())
    assert done.returncode == 3, done.stderr
    assert told.count("the state directory /var/tmp/state cannot be written") == 1, done.stderr
    assert told.count("set SCALE_STATE_DIR to a directory that this user can make") == 1, done.stderr
    assert "give another directory with --data-dir" not in told


QUICK = "--target null --cores 0.5,1 --duration 1s --warmup 0s --window-max 0 --rate 20k --replicates 1 -y".split()
SIZE = 2**21


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 2 MiB."""
    path = tmp_path / "disk"
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(path)], check=True)
    yield path
    subprocess.run(["umount", str(path)], check=True)


def left_free(disk: Path, kilobytes: int) -> Path:
    """The file that takes the rest."""
    filling = disk / "filling"
    filling.write_bytes(bytes(SIZE - kilobytes * 1024))
    return filling


@pytest.mark.parametrize("kilobytes", [36, 48, 96])
def test_a_full_disk_is_said_and_the_run_goes_on_when_there_is_room(small_disk, kilobytes):
    filling = left_free(small_disk, kilobytes)
    done = run("sweep", "cpu", *QUICK, "--results", "r", cwd=small_disk)
    assert done.returncode == 6, done.stderr
    assert "No space left on device" in done.stderr
    assert "free some space, then: scale resume" in done.stderr
    filling.unlink()
    resumed = run("resume", "last", "--results", "r", cwd=small_disk)
    assert resumed.returncode == 0, resumed.stderr
    verified = run("verify", "last", "--results", "r", cwd=small_disk)
    assert verified.returncode == 0, verified.stdout + resumed.stderr


@pytest.mark.parametrize("kilobytes", [4, 20])
def test_without_room_for_a_begin_another_directory_is_asked_for(small_disk, kilobytes):
    left_free(small_disk, kilobytes)
    done = run("sweep", "cpu", *QUICK, "--results", "r", cwd=small_disk)
    assert done.returncode == 6, done.stderr
    assert "--results DIR" in done.stderr


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The archive of a run, and the folder of its results."""
    place = tmp_path_factory.mktemp("exported")
    assert run("sweep", "cpu", *QUICK, "--results", "r", cwd=place).returncode == 0
    done = run("export", "last", "--redacted", "--out", "run.tar.gz", "--results", "r", cwd=place)
    assert done.returncode == 0, done.stderr
    return place


@pytest.mark.parametrize(
    "words",
    [
        "kit cpu --target null --out {disk}/kit",
        "export last --redacted --out {disk}/again.tar.gz --results {exported}/r",
        "import {exported}/run.tar.gz --results {disk}/r",
    ],
)
def test_a_full_disk_keeps_nothing_of_what_is_carried(small_disk, exported, words):
    left_free(small_disk, 4)
    done = run(*words.format(disk=small_disk, exported=exported).split(), cwd=exported)
    assert done.returncode == 6, done.stderr
    told = " ".join(done.stderr.split())
    assert "No space left on device" in told and "name a writable directory with free space" in told
    assert {path.name for path in small_disk.iterdir()} <= {"filling", "r"}
    assert not [*small_disk.glob("r/*"), *small_disk.glob("r/.*")]


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


@needs("mkfs.xfs")
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
