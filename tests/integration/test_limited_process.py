"""`scale` where it may use a part of the machine, as in a container, and the limit of a disk, measured by fio once a day."""

from __future__ import annotations

import json
import os
import re
import shlex
import uuid
from dataclasses import replace

import pytest

from scale_sweep.machine.disks import limits
from scale_sweep.machine.disks.limits import DISK_LIMIT_SWITCH, FREE_BYTES_MIN, KEPT_S, limit_of
from scale_sweep.machine.host.block_devices import data_disk, disk_of
from scale_sweep.machine.state.places import folder
from scale_sweep.model.resources import CORES, MEMORY, Amount, Placement, Resources
from scale_sweep.server.runtimes.cgroup import make_group
from tests.integration.cli import assert_measured, run
from tests.needs import need, needs

GROUPS = needs("mount", "control groups")
QUICK = ("cpu", "--quick", "--target", "postgres")
SMALL_MEMORY = """
mount -t tmpfs -o size=64m tmpfs /dev/shm
exec setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$@"
"""


@pytest.fixture
def half_a_cpu():
    """The words that start a program in a control group."""
    limits = {CORES: Amount(value=0.5, unit="core"), MEMORY: Amount(value=600 * 2**20, unit="byte")}
    placement = Placement(server_cpus=(), generator_cpus=(), quota_cores=0.5)
    group = make_group(f"scale-test-{uuid.uuid4().hex}", Resources(amounts=limits, placement=placement))
    assert group is not None
    joins = "; ".join(f"echo $$ >{shlex.quote(file)}" for file in group.procs_files)
    yield ("/bin/sh", "-ec", f'{joins}; exec "$@"', "sh")
    group.remove()
    assert not any(map(os.path.exists, group.procs_files))


@GROUPS
def test_the_quota_and_the_limit_of_the_group_are_what_can_be_used(tmp_path, half_a_cpu):
    said = run("doctor", cwd=tmp_path, under=half_a_cpu).stdout
    assert "0.5 usable of " in said and "(quota of the control group)" in said
    assert re.search(r"memory +0\.6 GB", said), said
    refused = run("plan", *QUICK, "--cores", "1..all", cwd=tmp_path, under=half_a_cpu)
    assert refused.returncode == 2
    assert "--cores: 1 core asked for, the quota of this process' control group is 0.5 CPUs" in refused.stderr
    refused = run("plan", *QUICK, "--cores", "0.5", "--data-dir", "ram", cwd=tmp_path, under=half_a_cpu)
    assert refused.returncode == 3
    assert re.search(r"ram: the machine's memory has [345]\d\d(\.\d+)?MiB free, half of it for data", refused.stderr)


@GROUPS
def test_without_memory_for_data_a_sweep_works_on_the_disk(tmp_path):
    under = ("unshare", "--mount", "/bin/sh", "-ec", SMALL_MEMORY, "sh")
    words = (*QUICK, "--cores", "1", "--rows", "20k", "--replicates", "1", "--no-metrics", "--results", str(tmp_path))
    done = run("sweep", *words, "--data-dir", "auto", cwd=tmp_path, under=under)
    assert_measured(done)
    (run_dir,) = tmp_path.glob("*-postgres-*")
    manifest = json.loads((run_dir / "manifest.json").read_text())
    assert "--data-dir auto takes a disk: /dev/shm has 64MiB free" in json.dumps(manifest["findings"])
    assert manifest["sweep"]["data_dir"] == ""
    refused = run("plan", *QUICK, "--cores", "1", "--data-dir", "ram", cwd=tmp_path, under=under)
    assert refused.returncode == 3
    assert "ram: /dev/shm has 64MiB free, half of it for data, and a trial needs about " in refused.stderr
    assert "→ --data-dir auto, which takes a disk then" in refused.stderr


BLOCK = 65536
NOW = 1_800_000_000.0


@pytest.fixture
def disk(tmp_path, monkeypatch):
    there = disk_of(tmp_path)
    need("fio")
    if there is None:
        pytest.skip("no disk below the files of tests")
    monkeypatch.delenv(DISK_LIMIT_SWITCH, raising=False)
    monkeypatch.setenv("SCALE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(limits, "CEILING_S", 0.3)
    return replace(data_disk(there), free_bytes=FREE_BYTES_MIN)


def ask(disk, tmp_path, now_s=NOW):
    """The limit, and whether fio measured it."""
    said: list[str] = []
    data = tmp_path / "data"
    data.mkdir(exist_ok=True)
    limit = limit_of(disk, data, BLOCK, now_s, said.append)
    assert not list(data.iterdir()), "fio leaves no file"
    return limit, bool(said)


def test_it_is_measured_once_a_day(disk, tmp_path):
    limit, was_measured = ask(disk, tmp_path)
    assert was_measured and limit.disks == ("d1",) and limit.write_mb_per_s > 0 and limit.sync_writes_per_s > 0
    assert ask(disk, tmp_path, NOW + KEPT_S - 1) == (limit, False)
    assert ask(disk, tmp_path, NOW + KEPT_S)[1] and ask(disk, tmp_path, NOW - 1)[1]  # too old; from the future


def test_a_file_that_is_not_this_users_or_of_another_disk_is_not_believed(disk, tmp_path):
    ask(disk, tmp_path)
    (kept,) = folder("limits").iterdir()
    held = json.loads(kept.read_text())
    os.chmod(kept, 0o666)
    assert ask(disk, tmp_path)[1]
    for wrong in ("[]", json.dumps({**held, "disk": ["other"]})):
        kept.write_text(wrong)
        assert ask(disk, tmp_path)[1], wrong
    assert os.stat(kept).st_mode & 0o777 == 0o600


def test_it_is_not_measured_where_it_could_harm_or_was_switched_off(disk, tmp_path, monkeypatch):
    assert ask(replace(disk, free_bytes=FREE_BYTES_MIN - 1), tmp_path) == (None, False)
    assert ask(replace(disk, device=""), tmp_path) == (None, False)  # a tmpfs
    monkeypatch.setenv(DISK_LIMIT_SWITCH, "off")
    assert ask(disk, tmp_path) == (None, False)
    monkeypatch.delenv(DISK_LIMIT_SWITCH)
    monkeypatch.setattr(limits, "search_path", lambda: str(tmp_path))
    assert ask(disk, tmp_path) == (None, False)  # no fio
