"""The limit of the data's disk: measured by fio once, kept for a day, and never believed from somebody else."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from scale_sweep.machine.disks import kept_limit
from scale_sweep.machine.disks.kept_limit import FREE_BYTES_MIN, KEPT_S, SWITCH, limit_of
from scale_sweep.machine.host import data_disk, disk_of
from scale_sweep.machine.state import folder
from tests.needs import need

BLOCK = 65536
NOW = 1_800_000_000.0


@pytest.fixture
def disk(tmp_path, monkeypatch):
    there = disk_of(tmp_path)
    need("fio")
    if there is None:
        pytest.skip("no disk below the files of tests")
    monkeypatch.delenv(SWITCH, raising=False)
    monkeypatch.setenv("SCALE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(kept_limit, "CEILING_S", 0.3)
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
    monkeypatch.setenv(SWITCH, "off")
    assert ask(disk, tmp_path) == (None, False)
    monkeypatch.delenv(SWITCH)
    monkeypatch.setattr(kept_limit, "search_path", lambda: str(tmp_path))
    assert ask(disk, tmp_path) == (None, False)  # no fio
