"""Commands of one user beside files that another user made: real users, and `scale` as it is typed."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from scale_sweep.base.errors import PreflightError
from scale_sweep.machine import state
from scale_sweep.machine.host.alive import started_ticks
from tests.integration.cli import run
from tests.needs import needs

pytestmark = needs("root")
USER, OTHER = 12344, 12345
NULL = "cpu --target null --cores 1 --replicates 1 --duration 1s --warmup 0s --window-max 0 --rate 20k".split()


@pytest.fixture
def shared():
    """A directory in which everybody can create names, as in /tmp."""
    path = Path(f"/var/tmp/scale-test-users-{os.getpid()}")
    path.mkdir()
    path.chmod(0o1777)
    yield path
    subprocess.run(["rm", "-rf", str(path)], check=True)


@pytest.fixture
def victim():
    """A process of root."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], cwd="/") as process:
        yield process
        process.kill()


def as_user(uid: int, script: str) -> None:
    """Runs a shell script as a user."""
    subprocess.run(["/bin/sh", "-ec", script], check=True, user=uid, group=uid, extra_groups=[], cwd="/")


def in_process_of(uid: int, task) -> str:
    """The words of the error that a task raises in a process of the user, or what it returns."""
    reader, writer = os.pipe()
    if not (child := os.fork()):
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            os.environ.pop(state.VARIABLE)
            words = str(task())
        except BaseException as error:
            words = f"{type(error).__name__}: {error}"
        os.write(writer, words.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as said:
        words = said.read()
    os.waitpid(child, 0)
    return words


def planted(path: Path, victim, folder: Path) -> str:
    """A record, in the form of the versions that believed it, with a process and a directory of root."""
    record = {
        "name": "x",
        "data_dir": str(folder),
        "runner_pid": 2**22 + 1,
        "runner_started": 1,
        "server_pid": victim.pid,
        "server_started": started_ticks(victim.pid),
        "cgroup_paths": [],
        "disk_dirs": [],
    }
    return f"printf %s {shlex.quote(json.dumps(record))} > {path}"


def test_clean_as_root_ends_and_deletes_nothing_that_another_user_named(shared, victim, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    planted_copy = shared / "x.json"
    as_user(OTHER, planted(planted_copy, victim, kept))
    record = state.folder("records") / "x.json"
    try:
        state.save(state.record_of("x", [str(kept)]))
        record.write_bytes(planted_copy.read_bytes())
        os.chown(record, OTHER, OTHER)
        for words in (("clean",), ("clean", "--data-dir", str(shared))):
            done = run(*words, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            assert f"ignored {record}: belongs to user {OTHER}" in " ".join(done.stderr.split())
            assert victim.poll() is None and (kept / "file").exists()
    finally:
        record.unlink(missing_ok=True)


@pytest.mark.parametrize("way", ["mkdir -p {}/programs/abc/java/bin", "ln -s /root {}"])
def test_a_sweep_does_not_use_what_another_user_put_in_place_of_its_state(way, shared, tmp_path):
    place = shared / "open" / "state"
    place.parent.mkdir(mode=0o755)
    place.parent.chmod(0o777)
    as_user(OTHER, way.format(place))
    place.parent.chmod(0o755)
    for command in ("plan", "sweep"):
        done = run(
            command, *NULL, *(() if command == "plan" else ("--results", "r")), cwd=tmp_path, SCALE_STATE_DIR=str(place)
        )
        said = " ".join(done.stderr.split())
        assert f"{place} " in said and f"user {OTHER}" in said
        if command == "sweep":
            assert done.returncode == 3 and not (tmp_path / "r").exists(), said
    if not place.is_symlink():
        assert [p.name for p in place.iterdir()] == ["programs"], "nothing was made there"
    done = run("clean", cwd=tmp_path, SCALE_STATE_DIR=str(place))
    assert done.returncode == 3 and f"user {OTHER}" in done.stderr


def test_a_data_directory_of_another_user_is_refused(shared, tmp_path):
    as_user(OTHER, f"mkdir {shared}/theirs")
    done = run("sweep", *NULL, "--results", "r", "--data-dir", f"{shared}/theirs/deeper", cwd=tmp_path)
    assert done.returncode == 3 and f"{shared}/theirs belongs to user {OTHER}" in " ".join(done.stderr.split())
    assert not (tmp_path / "r").exists() and list((shared / "theirs").iterdir()) == []


@pytest.mark.parametrize("way", ["mkdir {}", "mkdir -m 0777 {}", "ln -s /tmp {}"])
def test_a_user_whose_folder_another_one_made_first_is_told_who(way):
    place = Path(f"/var/tmp/scale-{USER}")
    as_user(OTHER, way.format(place))
    try:
        said = in_process_of(USER, lambda: state.folder("data"))
        assert said.startswith(PreflightError.__name__) and f"{place} " in said and f"user {OTHER}" in said
    finally:
        subprocess.run(["rm", "-rf", str(place)], check=True)


def test_a_users_folders_are_of_that_user_alone():
    place = Path(f"/var/tmp/scale-{USER}")
    try:
        assert in_process_of(USER, lambda: state.folder("data")) == str(place / "data")
        for path in (place, place / "data"):
            assert (path.stat().st_uid, path.stat().st_mode & 0o777) == (USER, 0o700)
    finally:
        subprocess.run(["rm", "-rf", str(place)], check=True)
