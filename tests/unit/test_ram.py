"""Data in memory: what "ram" comes to, a tmpfs that is there for a run and gone afterwards, a full one in one message."""

import subprocess
import sys
from dataclasses import replace

import pytest

from scale_sweep.base.errors import LoadError, PreflightError, ProvisionError, UsageError
from scale_sweep.base.units import format_bytes, parse_bytes
from scale_sweep.machine.host import block_devices
from scale_sweep.machine.host.block_devices import RamDirectory, Room, may_mount, ram_directory
from scale_sweep.machine.state.places import folder
from scale_sweep.machine.state.records import read_records
from scale_sweep.measure.machine_setup import disks_of_run
from scale_sweep.measure.trial.disks import full_disk, refuse_full
from scale_sweep.plan.preparing import machine_findings
from scale_sweep.plan.preparing.data_place import data_place, sized, with_data
from scale_sweep.plan.preparing.findings import rows_space
from scale_sweep.server.runtimes.clean import find_leftovers, remove
from scale_sweep.server.runtimes.data_dir import mounted, unmount
from scale_sweep.sweep.resolve import resolve_sweep
from tests.needs import needs
from tests.unit.test_plan import planned
from tests.unit.test_sampling import sample

MIB, GIB = 2**20, 2**30


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("SCALE_STATE_DIR", str(tmp_path / "state"))


def free(size: int, where: str = "the machine's memory"):
    return lambda: Room(where=where, free_bytes=size)


def test_without_a_size_it_is_half_of_the_free_memory_or_a_disk_where_that_is_too_small():
    for word in ("ram", "auto"):
        wanted, note = sized(word, MIB, GIB, free(8 * GIB))
        assert wanted == "ram:4096MiB" and f"--data-dir {word}, 4096MiB" in note
    assert sized("ram:1GiB", 2**50, 2**50, free(0))[0] == "ram:1GiB"
    assert sized("./ram", 0, 0, free(0)) == ("./ram", "")
    assert sized("", 0, 0, free(0)) == ("", "")
    for size, most in ((64 * MIB, 0), (3 * GIB, GIB), (8 * GIB, 5 * GIB)):
        wanted, note = sized("auto", 0, most, free(size, "/dev/shm"))
        assert wanted == "" and f"/dev/shm has {format_bytes(size)}" in note


@pytest.mark.parametrize(
    ("least", "most", "size", "words", "remedy"),
    [
        (5 * GIB, 9 * GIB, 8 * GIB, "8GiB free.* 5GiB", "--data-dir ram:5120MiB, or"),
        (0, 0, 64 * MIB, "64MiB free.* 256MiB", "--data-dir auto, which"),
    ],
)
def test_memory_without_room_for_the_rows_is_refused_with_the_size_that_has_it(least, most, size, words, remedy):
    with pytest.raises(PreflightError, match=words) as refused:
        sized("ram", least, most, free(size))
    assert refused.value.remedy.startswith(remedy)


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        ({"target__memory": "1GiB"}, "memory limit"),
        ({"target__endpoint": "127.0.0.1:5432"}, "runs already"),
        ({"preload__rows": "1k", "method__cache": "cold"}, "never cold"),
    ],
)
def test_auto_takes_a_disk_for_what_memory_would_change(flags, why):
    plan = with_data(planned(cores="1", target__data_dir="auto", **flags), data_place)
    assert plan.sweep.data_dir == "" and why in plan.notes[-1]


@pytest.mark.parametrize(("size", "kept"), [(GIB, ""), (8 * GIB, "ram:4096MiB")])
def test_the_plan_of_auto_keeps_what_was_decided(size, kept, monkeypatch):
    monkeypatch.setattr(block_devices, "may_mount", lambda: True)
    monkeypatch.setattr(block_devices, "memory_left_bytes", lambda: size)
    plan = with_data(planned(cores="1..2", load__rows="1M", target__data_dir="auto"), data_place)
    assert plan.sweep.data_dir == with_data(plan, data_place).sweep.data_dir == kept
    assert any("in memory" in note and "4096MiB" in note for note in plan.notes) is bool(kept)


def test_known_rows_must_have_room_in_a_size_that_was_given():
    plan = planned(cores="1", load__rows="10M", target__data_dir="ram:1GiB")
    (found,) = rows_space(plan, GIB)
    assert found.blocking and "2,100 MB" in found.sentence
    size = found.remedy.partition("--data-dir ")[2].partition(",")[0]
    assert rows_space(plan, parse_bytes(size.removeprefix("ram:"))) == []


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ("ram:lots", "4GiB"),
        ("ram:1MiB", "below 256MiB"),
        ("RAM", r"mean ram\?.* \./RAM"),
        ("Auto", "mean auto"),
        ("Ram:1GiB", "mean ram:1GiB"),
    ],
)
def test_a_value_that_cannot_be_is_one_message_with_the_flag(asked, word):
    with pytest.raises(UsageError, match=f"--data-dir.*{word}"):
        resolve_sweep("cpu", {"axis.cores": "1", "target.data_dir": asked})


def test_who_may_not_mount_gets_a_directory_on_the_tmpfs_that_is_there(tmp_path, monkeypatch):
    (tmp_path / "status").write_text("CapInh:\t0\nCapEff:\t0000000000000000\n")
    assert not may_mount(tmp_path / "status")
    monkeypatch.setattr("scale_sweep.machine.host.block_devices.may_mount", lambda: False)
    found = ram_directory("ram:1GiB", tmp_path)
    assert (str(found.path.parent), found.is_mounted) == ("/dev/shm", False)
    assert len(found.path.name) > 32 and ram_directory("ram:1GiB", tmp_path) != found
    with mounted(found):
        assert found.path.is_dir() and [r.paths for r in read_records().records] == [(str(found.path),)]
    assert not found.path.exists() and read_records().records == ()
    assert "may not limit" in found.sentence


@needs("mount")
def test_a_run_has_its_tmpfs_and_leaves_nothing(tmp_path):
    directory = RamDirectory(path=tmp_path / "ram-1", size_bytes=4 * MIB, is_mounted=True)
    with mounted(directory):
        assert directory.path.is_mount() and not find_leftovers()
        with disks_of_run(planned(cores="1"), directory.path, "run", print) as stage:
            (disk,) = stage.disks
        assert (disk.kind, disk.file_system, disk.size_bytes) == ("ram", "tmpfs", 4 * MIB)
        with pytest.raises(OSError, match="No space"):
            (directory.path / "much").write_bytes(bytes(5 * MIB))
        assert f"{directory.path}, 4MiB" in full_disk([disk], MIB)
        none_free = replace(sample(0, disk=0).disks["d1"], free_bytes=0)
        with pytest.raises(LoadError, match=r"--data-dir ram:SIZE\) is about to fill"):
            refuse_full(replace(sample(0), disks={"ram": none_free}), [disk], MIB)
        file = (directory.path / "open").open("w")  # a busy tmpfs is detached
    assert not directory.path.exists()
    file.close()


DYING = """
import sys
from pathlib import Path
from scale_sweep.machine.host import block_devices
from scale_sweep.machine.host.block_devices import RamDirectory
from scale_sweep.server.runtimes.data_dir import mounted
with mounted(RamDirectory(path=Path(sys.argv[1]), size_bytes=2**22, is_mounted=True)):
    print("there", flush=True)
    sys.stdin.read()
"""


@needs("mount")
def test_what_a_killed_run_left_is_found_and_removed():
    path = folder("ram") / "ram-1"
    command = [sys.executable, "-c", DYING, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        try:
            assert run.stdout.readline() == "there\n"
            assert not find_leftovers(), "it lives"
            run.kill()
            run.wait(timeout=50)
            (found,) = (x for x in find_leftovers() if x.name == path.name)
            assert found.kind == "memory"
            remove(found)
            assert not path.exists()
        finally:
            run.kill()
            unmount(path)


def test_no_mount_and_more_memory_than_there_is_are_one_message(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    directory = RamDirectory(path=tmp_path / "ram-1", size_bytes=4 * MIB, is_mounted=True)
    with pytest.raises(ProvisionError, match="no tmpfs at"), mounted(directory):
        pass
    assert not directory.path.exists()
    for size, blocks in ((2**50, True), (256 * MIB, False)):
        found = machine_findings.in_memory(replace(directory, size_bytes=size))
        assert found[0].blocking is blocks and format_bytes(size) in found[0].sentence
