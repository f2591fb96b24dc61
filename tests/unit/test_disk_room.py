"""Disks without a disk: what fio and wipefs said, when disks share a bottleneck, what counts as left over."""

import json
import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from scale_sweep.base.errors import PreflightError, ProvisionError, UsageError
from scale_sweep.base.units import format_bytes, parse_bytes
from scale_sweep.machine.disks import sets
from scale_sweep.machine.disks.device import parse_wipefs
from scale_sweep.machine.disks.fio import Writing, arguments, file_bytes, parse, set_of
from scale_sweep.machine.disks.limits import expected, shares_bottleneck
from scale_sweep.machine.disks.playbook import playbook_path
from scale_sweep.machine.disks.prepare import leftover_sets
from scale_sweep.machine.disks.sets import list_disks
from scale_sweep.machine.disks.source import check_source
from scale_sweep.model.samples import DiskCeiling, DiskSource
from scale_sweep.server.runtimes.cgroup import keep_disk_limits
from tests.needs import needs
from tests.unit.factories import make_disk

LOOPS = DiskSource(kind="loop", loop_bytes=2**28, cap_bytes_per_s=2**23)
DISK = make_disk("d1", "/x", kind="loop", size_bytes=2**28, free_bytes=2**27)


@pytest.fixture
def register(tmp_path, monkeypatch):
    monkeypatch.setattr(sets, "REGISTER", tmp_path / "register")
    monkeypatch.setattr(sets, "REGISTER_OWNER", os.getuid())
    return tmp_path


def ceiling(rate, *names):
    return DiskCeiling(disks=names, write_mb_per_s=rate, sync_writes_per_s=None)


def job(name, rate=1000, error=0):
    return {"jobname": name, "error": error, "write": {"bw_bytes": rate, "iops": 2.5}}


def test_fio_is_read_by_job_after_its_warnings():
    found = parse("fio: some warning\n" + json.dumps({"jobs": [job("d1", 21000000), job("d2")]}))
    assert (found["d1"].bytes_per_s, found["d2"].writes_per_s) == (21e6, 2.5)
    assert set_of("/var/tmp/scale-0/scale-disks-lab/d1") == "lab"
    assert set_of("/mnt/a") == ""


def test_what_fio_could_not_do_is_said_in_its_words():
    full = json.dumps({"jobs": [job("d1"), job("d2", error=28)]})
    engine = "engine libaio not loadable"
    for text, err, said in (
        ("", f"fio: {engine}\n", engine),
        ("{}", "", "fio failed"),
        ("no json", "", "no json"),
        (full, "", "d2: No space left on device"),
    ):
        with pytest.raises(ProvisionError, match=said):
            parse(text, err)


def test_fio_is_told_how_to_write():
    timed = arguments(Writing(name="d1", path="/x", block_bytes=65536, file_bytes=2**20, seconds=2.0), 7)
    once = arguments(Writing(name="d1", path="/x", block_bytes=4096, file_bytes=2**20, direct=False), 7)
    assert {"--direct=1", "--runtime=2000ms", "--bs=65536", "--filename=/proc/self/fd/7"} <= set(timed)
    assert {"--direct=0", "--end_fsync=1", "--iodepth=1"} <= set(once)
    assert "--time_based" not in once


@given(free=st.integers(0, 2**45), wanted=st.integers(0, 2**40))
def test_fios_file_leaves_most_of_the_disk_free(free, wanted):
    size = file_bytes(free, wanted)
    assert size % 2**20 == 0
    assert 2**20 <= size <= max(2**20, free // 4)


def test_wipefs_says_what_a_device_holds():
    text = '{"signatures": [{"device":"sdb","offset":"0x1fe","type":"dos"},{"type":"ext4"},{"type":"ext4"}]}'
    assert parse_wipefs(text) == ("dos", "ext4")
    assert parse_wipefs("") == ()
    for broken in ("nonsense", '{"signatures": 3}', "{}"):
        with pytest.raises(ValueError):
            parse_wipefs(broken)


def test_disks_that_are_slower_together_share_a_bottleneck():
    alone = [ceiling(20.0, name) for name in ("d1", "d2", "d3")]
    assert shares_bottleneck([*alone, ceiling(59.0, "d1", "d2", "d3")]) is None
    found = shares_bottleneck([*alone, ceiling(30.0, "d1", "d2", "d3")])
    assert "50%" in found.sentence and "60.0 MB/s" in found.sentence
    assert not found.blocking
    assert shares_bottleneck(alone[:1]) is None
    assert shares_bottleneck([ceiling(9.0, "d1", "d2")]) is None
    both = replace(DISK, cap_bytes_per_s=2**20, cap_iops=100)
    assert expected(both, 65536) == 2**20
    assert expected(both, 4096) == 409600


@given(st.integers(1, 2**50))
def test_bytes_for_people_are_read_back(count):
    assert parse_bytes(format_bytes(count)) == pytest.approx(count, rel=1e-3)


def new_set(name, folder, *, count=2, kept=False):
    return sets.new_set(name, LOOPS, count, folder, owner="root", kept=kept)


def test_only_sets_without_a_maker_are_left_over(register):
    gone = {"maker_started": 1}
    mine = new_set("mine", register)
    dead = replace(new_set("dead", register), **gone)
    kept = replace(new_set("kept", register, kept=True), **gone, ready=True)
    half = replace(new_set("half", register, kept=True), **gone)
    for one in (mine, dead, kept, half):
        sets.save(one)
    assert {s.name for s in list_disks()} == {"mine", "dead", "kept", "half"}
    assert {s.name for s in leftover_sets()} == {"dead", "half"}
    assert sets.find_set("dead") == dead
    for one in (mine, dead, kept, half):
        sets.forget(one.name)
    assert not sets.REGISTER.exists()


def test_who_waited_for_a_set_learns_that_it_is_gone_even_where_another_has_its_name(register, monkeypatch):
    sets.save(new_set("one", register, kept=True))
    seen = []

    def wait() -> None:
        with sets.held("one") as is_there:
            seen.append(is_there)

    with sets.held("one") as is_there:
        assert is_there
        lock, comes = sets._lock, threading.Event()
        monkeypatch.setattr(sets, "_lock", lambda *words: (comes.set(), lock(*words)))
        waiting = threading.Thread(target=wait)
        waiting.start()
        assert comes.wait(50)
        time.sleep(0.2)
        assert seen == []
        sets.forget("one")
        sets.save(new_set("one", register, kept=True))
    waiting.join()
    assert seen == [False]
    assert sets.find_set("one")
    with sets.held("never there") as is_there:
        assert is_there


def test_a_register_that_is_not_ours_is_not_believed(register, monkeypatch):
    one = new_set("one", register)
    sets.save(replace(one, folder="/etc"))
    assert list_disks() == ()
    (sets.folder_of("one") / "state.json").write_text("{broken")
    assert list_disks() == ()
    sets.save(one)
    monkeypatch.setattr(sets, "REGISTER_OWNER", os.getuid() + 1)
    assert list_disks() == ()


def test_names_and_folders_that_no_command_takes_are_refused(tmp_path):
    for name in ("", "../x", "a b", "-x", "x;y", "x" * 200):
        with pytest.raises(UsageError):
            new_set(name, tmp_path)
    with pytest.raises(UsageError, match="cannot be mounted"):
        new_set("x", tmp_path / "a b")


@pytest.mark.parametrize("role", sorted(p.name for p in (playbook_path().parent / "roles").iterdir()))
def test_every_role_says_its_arguments(role):
    folder: Path = playbook_path().parent / "roles" / role
    said = yaml.safe_load((folder / "meta/argument_specs.yml").read_text())["argument_specs"]["main"]
    defaults = yaml.safe_load((folder / "defaults/main.yml").read_text())
    assert set(defaults) <= set(said["options"])
    assert all(name.startswith(role + "_") and option["description"] for name, option in said["options"].items())
    assert {name for name, o in said["options"].items() if "default" in o} == set(defaults)
    assert (folder / "tasks/present.yml").exists() and (folder / "tasks/absent.yml").exists()


def test_a_directory_in_memory_is_no_disk_and_those_on_one_device_are_named(tmp_path):
    said = " ".join(f.sentence for f in check_source(DiskSource(kind="dir", dirs=("/proc", "/nowhere")), 2))
    assert "/nowhere is" in said and "/proc" in said
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    source = DiskSource(kind="dir", dirs=tuple(map(str, folders)))
    found = [f for f in check_source(source, 2) if f.subject == "--dir"]
    assert len(found) in (1, 2)  # two where the tests' directory is in memory
    assert all(str(tmp_path) in f.sentence and f.blocking for f in found)


def test_a_group_of_its_own_keeps_the_limits_of_the_one_it_leaves(tmp_path):
    for name in ("user.slice", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "io.max").write_text("")
    (tmp_path / "user.slice/io.max").write_text("7:0 rbps=max wbps=20971520 riops=max wiops=max\n")
    own = tmp_path / "own"
    own.write_text("0::/user.slice/session-1.scope\n")
    keep_disk_limits(tmp_path, tmp_path / "new", own)
    assert (tmp_path / "new/io.max").read_text() == "7:0 rbps=max wbps=20971520 riops=max wiops=max"


@needs("root")
@pytest.mark.parametrize("way", ["link", "folder"])
def test_a_folder_of_disks_that_another_user_made_first_is_not_used(register, way):
    shared = register / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    disk_set = new_set("lab", shared)
    sets.claim_folder(disk_set, makes=True)
    sets.claim_folder(disk_set, makes=False)
    Path(disk_set.folder).rmdir()
    sets.claim_folder(disk_set, makes=False)
    if way == "link":
        os.symlink(register, disk_set.folder)
    else:
        os.mkdir(disk_set.folder)
    os.chown(disk_set.folder, 12345, 12345, follow_symlinks=False)
    for makes in (True, False):
        with pytest.raises(PreflightError, match=f"{disk_set.folder} .*user 12345"):
            sets.claim_folder(disk_set, makes=makes)


@needs("root")
def test_an_entry_of_the_register_that_root_did_not_write_is_ignored(register):
    sets.save(new_set("lab", register))
    entry = sets.folder_of("lab") / "state.json"
    assert sets.find_set("lab")
    entry.chmod(0o666)
    assert sets.find_set("lab") is None
    entry.chmod(0o600)
    os.chown(entry, 12345, 12345)
    assert sets.list_disks() == ()
    with pytest.raises(PreflightError, match="user 12345"):
        os.chown(sets.folder_of("lab"), 12345, 12345)
        sets.save(new_set("lab", register))
