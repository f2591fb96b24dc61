"""A disk for results that fills at the run's begin, in a trial, and at the report: one message, and resume goes on."""

import subprocess
from pathlib import Path

import pytest

from tests.integration.cli import run
from tests.needs import needs

QUICK = "--target null --cores 0.5,1 --duration 1s --warmup 0s --window-max 0 --rate 20k --replicates 1 -y".split()
SIZE = 2**21
pytestmark = needs("root")


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


@pytest.mark.parametrize("kilobytes", [28, 48, 96])
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
