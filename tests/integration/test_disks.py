"""Disks for real: loop devices made, limited, measured, refused and removed, also after Ctrl-C and kill -9."""

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.base.errors import ProvisionError
from scale_sweep.machine.disks.limits import measure_ceilings, shares_bottleneck, verify_caps
from scale_sweep.machine.disks.playbook import run_playbook
from scale_sweep.machine.disks.sets import forget, new_set, save
from scale_sweep.machine.disks.source import check_source
from scale_sweep.model.samples import DataDisk, DiskSource
from tests.integration.cli import run, start
from tests.needs import needs

MIB = 2**20
CAP = 8 * MIB
LIMITS = Path("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device")
REGISTER = Path("/var/lib/scale-disks")
ENVIRONMENT = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
pytestmark = needs("root")


def out(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True, env=ENVIRONMENT).stdout


def traces(base) -> list[str]:
    """Mounts, loop devices, limits of loop devices, files and register entries that belong to these tests."""
    loops = [line.split() for line in out("losetup", "-n", "-O", "NAME,MAJ:MIN,BACK-FILE").splitlines()]
    ours = [fields for fields in loops if str(base) in fields[2]]
    numbers = {fields[1] for fields in ours}
    limits = LIMITS.read_text().splitlines() if LIMITS.exists() else []
    found = [f"loop {fields[0]}" for fields in ours]
    found += [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(base) in line]
    found += [f"limit {x}" for x in limits if x.startswith("7:") and x.split()[0] in numbers]
    found += [str(p) for p in base.glob("scale-disks-*")]
    return found + [str(p.parent) for p in REGISTER.glob("*/state.json") if str(base) in p.read_text()]


@pytest.fixture(scope="module")
def base():
    path = Path(f"/var/tmp/scale-test-made-{os.getpid()}")
    path.mkdir(mode=0o755)
    yield path
    assert traces(path) == []
    shutil.rmtree(path)


def _attached() -> set[str]:
    return set(out("losetup", "-n", "-O", "MAJ:MIN").split())


def _limits_of(number: str) -> list[str]:
    rules = [line for path in LIMITS.parent.glob("blkio.throttle.*_device") for line in path.read_text().splitlines()]
    return [line for line in rules if line.startswith(f"{number} ")]


def create(base, words, cwd=Path("/tmp"), **more):
    return run(*f"disks create --base {base} {words} --json".split(), cwd=cwd, **more)


@pytest.fixture(scope="module")
def lab(base):
    """Three disks of ours, looked at by several tests."""
    words = "--loop 128MiB --count 3 --cap 8MiB/s --name lab --owner nobody"
    done = create(base, words)
    assert done.returncode == 0, done.stderr
    yield words, [DataDisk(**d) for d in json.loads(done.stdout)["disks"]]
    numbers = {d["device"] for d in json.loads(done.stdout)["disks"]}
    removed = run("disks", "remove", "lab", cwd=base)
    assert removed.returncode == 0, removed.stderr
    assert traces(base) == []
    assert not any(_limits_of(number) for number in numbers - _attached())


@pytest.fixture
def spare(base):
    """A raw loop device of the tests' own, as a spare disk would be."""
    image = base / "spare.img"
    with image.open("wb") as file:
        file.truncate(320 * MIB)
    device = out("losetup", "--show", "--find", str(image)).strip()
    yield device
    out("losetup", "-d", device)
    image.unlink()


def test_disks_are_made_mounted_labelled_and_limited(lab, base):
    _, disks = lab
    assert [d.name for d in disks] == ["d1", "d2", "d3"]
    assert len({d.device for d in disks}) == 3
    for disk in disks:
        assert os.path.ismount(disk.path)
        assert Path(disk.path).owner() == "nobody"
        assert (disk.kind, disk.file_system, disk.cap_bytes_per_s) == ("loop", "ext4", CAP)
        assert 100 * MIB < disk.free_bytes <= disk.size_bytes <= 128 * MIB
        assert out("blkid", "-p", "-s", "LABEL", "-o", "value", f"/dev/{disk.block_name}").startswith("sc")
        if LIMITS.exists():
            assert f"{disk.device} {CAP}" in LIMITS.read_text().splitlines()
    (listed,) = [s for s in json.loads(run("disks", "list", "--json", cwd=base).stdout) if s["name"] == "lab"]
    assert listed["state"] == "ready"
    assert listed["paths"] == [d.path for d in disks]


@pytest.mark.parametrize("asked", [4 * CAP, CAP // 4])
def test_a_limit_that_does_not_hold_is_an_error(lab, asked):
    with pytest.raises(ProvisionError, match="limits do not hold: d1 does .*MiB/s of direct writes"):
        verify_caps([replace(lab[1][0], cap_bytes_per_s=asked)], "lab")


@pytest.mark.alone
def test_each_disks_own_ceiling_is_its_limit_and_only_one_disk_twice_shares_a_bottleneck(lab):
    disks, one = lab[1][:2], lab[1][2]
    ceilings = measure_ceilings(disks, 1.0, 65536)
    assert [c.disks for c in ceilings] == [("d1",), ("d2",), ("d1", "d2")]
    assert CAP / 2e6 < ceilings[0].write_mb_per_s < 1.2 * CAP / 1e6
    assert 1.2 * CAP / 1e6 < ceilings[2].write_mb_per_s < 2.4 * CAP / 1e6
    assert all(c.sync_writes_per_s > 0 for c in ceilings)
    assert shares_bottleneck(ceilings) is None
    assert [p for d in disks for p in Path(d.path).iterdir()] == []
    found = shares_bottleneck(measure_ceilings([one, replace(one, name="again")], 1.0, 65536))
    assert found is not None and "share a bottleneck" in found.sentence
    for way in ("oflag=direct", "conv=fsync"):
        began = time.monotonic()
        out("dd", "if=/dev/zero", f"of={one.path}/big", "bs=64k", f"count={16 * MIB // 65536}", way, "status=none")
        assert CAP / 2 < 16 * MIB / (time.monotonic() - began) < 1.2 * CAP
        os.unlink(f"{one.path}/big")


def test_making_them_again_changes_nothing(lab, base):
    words, disks = lab
    kept = Path(disks[0].path) / "kept"
    kept.write_text("here")
    again = create(base, words)
    assert again.returncode == 0, again.stderr
    assert [d["device"] for d in json.loads(again.stdout)["disks"]] == [d.device for d in disks]
    assert kept.read_text() == "here"
    kept.unlink()
    other = create(base, "--loop 128MiB --count 2 --name lab")
    assert other.returncode == 2 and "exists with other options" in other.stderr


@pytest.mark.parametrize(("flags", "word"), [(0, "open by process {pid} ("), (os.O_EXCL, "device or resource busy")])
def test_a_device_that_a_process_has_open_is_not_wiped(base, spare, flags, word):
    with open(spare, "r+b", buffering=0, opener=lambda path, mode: os.open(path, mode | flags)) as device:
        device.write(b"precious")
        refused = create(base, f"--device {spare} --format --wipe -y --name x")
        assert refused.returncode == 3, refused.stderr
        assert f"{spare} is in use: {word.format(pid=os.getpid())}" in " ".join(refused.stderr.split())
        device.seek(0)
        assert device.read(8) == b"precious"


def test_a_device_that_is_opened_after_it_was_checked_is_not_wiped_either(base, spare):
    out("mkfs.ext4", "-q", spare)
    asked = DiskSource(kind="device", devices=(spare,), file_system="ext4", format=True, wipe=True)
    disk_set = new_set("late", asked, 1, base, owner="root", kept=False)
    save(disk_set)
    try:
        with open(spare, "rb"), pytest.raises(ProvisionError, match=rf"in use: open by process {os.getpid()} "):
            run_playbook(disk_set, "present")
        assert out("blkid", "-p", "-s", "TYPE", "-o", "value", spare) == "ext4\n"
    finally:
        forget("late")


def test_what_is_in_use_shared_or_twice_is_refused_and_named(lab, base, spare):
    one = lab[1][0]
    device = f"/dev/{one.block_name}"
    for words, said in (
        (f"{device} --format --wipe", f"{device} is in use: mounted at {one.path}"),
        (f"{spare},{spare} --format", f"{spare} and {spare} are both"),
    ):
        done = create(base, f"--device {words} -y --name x")
        assert done.returncode == 3 and said in done.stderr, done.stderr
    (theirs,) = check_source(DiskSource(kind="dir", dirs=(one.path,)), 1)
    assert theirs.blocking and f"{one.path} belongs to nobody" in theirs.sentence
    os.chown(one.path, 0, 0)
    (found,) = check_source(DiskSource(kind="dir", dirs=(one.path, one.path)), 2)
    assert found.blocking and f"both on {one.block_name}" in found.sentence
    assert check_source(DiskSource(kind="dir", dirs=(one.path, one.path), allow_shared_device=True), 2) == ()
    shutil.chown(one.path, "nobody")
    assert [s.name for s in REGISTER.iterdir() if s.name == "x"] == []


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("--loop 900TiB --count 2", 3, "not enough space: 2 × 900TiB"),
        ("--loop 128MiB --file-system zfs9", 3, "unknown file system 'zfs9'"),
        ("--loop 1MiB", 3, "1MiB is too small for ext4"),
        ("--loop 200MiB --file-system xfs", 3, "200MiB is too small for xfs"),
        ("--loop 128MiB --cap fast", 2, "--cap"),
        ("--loop 128MiB --name ../x", 2, "cannot be called"),
        ("--device /dev/null --format -y", 3, "/dev/null is not a block device"),
        ("--device /dev/null --format", 2, "would be formatted"),
        ("", 2, "--loop SIZE or --device LIST"),
    ],
)
def test_refusals_name_the_flag_and_start_nothing(base, words, code, said):
    before = traces(base)
    done = create(base, words)
    assert done.returncode == code and said in done.stderr, done.stderr
    assert traces(base) == before


def _as_nobody(queue):
    os.setgid(65534)
    os.setuid(65534)
    queue.put(check_source(DiskSource(kind="loop", loop_bytes=2**30, cap_bytes_per_s=CAP), 3))


def test_without_root_it_says_what_to_do_instead():
    fork = multiprocessing.get_context("fork")
    queue = fork.Queue()
    process = fork.Process(target=_as_nobody, args=(queue,))
    process.start()
    found = queue.get(timeout=60)
    process.join()
    assert [f.blocking for f in found] == [True]
    assert "needs root" in found[0].sentence
    assert "sudo scale disks create --loop 1GiB --cap 8MiB/s --count 3" in found[0].remedy


def test_a_device_is_wiped_only_when_told_and_put_back(base, spare):
    out("mkfs.ext4", "-q", "-L", "precious", spare)
    for words, said in (("", "--format to make"), ("--format", f"{spare} holds ext4")):
        refused = create(base, f"--device {spare} {words} --name dev -y")
        assert refused.returncode == 3 and said in refused.stderr, refused.stderr
    assert out("blkid", "-p", "-s", "LABEL", "-o", "value", spare) == "precious\n"
    done = create(base, f"--device {spare} --format --wipe -y --cap-iops 200 --name dev --file-system xfs")
    assert done.returncode == 0, done.stderr
    (disk,) = json.loads(done.stdout)["disks"]
    assert (disk["file_system"], f"/dev/{disk['block_name']}") == ("xfs", spare)
    assert os.path.ismount(disk["path"])
    assert run("disks", "remove", "dev", cwd=base).returncode == 0
    assert out("wipefs", spare) == ""
    assert [x for x in traces(base) if "scale-disks-dev" in x or x.endswith("/dev")] == []
    assert not _limits_of(out("lsblk", "-dnro", "MAJ:MIN", spare).strip())
    again = run("disks", "remove", "dev", cwd=base)
    assert again.returncode == 2 and "no set of disks called dev" in again.stderr


def test_a_preparation_that_fails_half_way_is_undone(base):
    done = create(base, "--loop 64MiB --count 2 --name half --owner no-such-user")
    assert done.returncode == 4 and "no-such-user" in done.stderr, done.stderr
    assert [x for x in traces(base) if "half" in x] == []


def in_the_middle(base, name, sign):
    words = f"disks create --base {base} --loop 64MiB --count 2 --cap 4MiB/s --name {name}".split()
    process = start(*words, cwd=base)
    deadline = time.monotonic() + 60
    while not sign(base / f"scale-disks-{name}"):
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.02)
    return process


def test_ctrl_c_while_they_are_made_leaves_nothing(base):
    process = in_the_middle(base, "ctrl-c", lambda folder: (folder / "d1.img").exists())
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert [x for x in traces(base) if "ctrl-c" in x] == []


def test_after_kill_9_clean_removes_all_of_it(base, only_cleaner):
    """Two makers, one killed while it makes devices, the other when they are mounted: one clean for both."""
    signs = {
        "killed-early": lambda folder: (folder / "d1.img").exists(),
        "killed-late": lambda folder: os.path.ismount(folder / "d2"),
    }
    for name, sign in signs.items():
        process = in_the_middle(base, name, sign)
        process.kill()
        process.wait()
        assert any(name in x for x in traces(base))
    numbers = _attached()
    shown = json.loads(run("clean", "--dry-run", "--json", cwd=base).stdout)
    assert all({"kind": "disks", "name": name} in shown for name in signs)
    two_at_once = [start("clean", cwd=base) for _ in range(2)]
    for cleaner in two_at_once:
        _, err = cleaner.communicate(timeout=120)
        assert cleaner.returncode == 0, err
    assert [x for x in traces(base) if "killed" in x] == []
    assert not any(_limits_of(number) for number in numbers - _attached())
