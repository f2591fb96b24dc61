"""What counts as left over: never what a living run owns, never a process under a recycled number."""

import contextlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.machine.host.processes import alive, started_ticks
from scale_sweep.machine.state.places import folder
from scale_sweep.machine.state.records import SERVER_VARIABLE, read_records, record_of, save
from scale_sweep.model.resources import SiteRequest
from scale_sweep.server.runtimes.clean import find_caches, find_leftovers, remove
from scale_sweep.server.runtimes.local import WAYS, fresh_directories
from scale_sweep.server.runtimes.processes import remove_segments, remove_shared, shared_by


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("SCALE_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


def ours():
    return [x for x in find_leftovers() if x.kind != "container"]


DEAD = {"runner_pid": 2**22 + 1, "runner_started": 1}


def of_dead_run(*paths, **parts):
    return replace(record_of("trial", [str(p) for p in paths]), **DEAD, **parts)


def test_a_living_run_and_another_process_under_the_same_number_are_left_alone(tmp_path):
    save(record_of("trial", [str(tmp_path / "data")]))
    (folder("clients") / "x").mkdir()
    assert ours() == [] and find_caches() == ()
    assert not alive(os.getpid(), started_ticks(os.getpid()) + 1)
    save(of_dead_run(tmp_path / "data", server_pid=os.getpid(), server_started=1))
    remove(ours()[0])
    assert started_ticks(os.getpid()) > 0


def test_the_server_of_a_dead_run_is_stopped_and_its_data_removed(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows").touch()
    marked = {**os.environ, SERVER_VARIABLE: "trial"}
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], env=marked) as server:
        save(of_dead_run(tmp_path / "data", server_pid=server.pid, server_started=started_ticks(server.pid)))
        (found,) = ours()
        assert found.kind == "server"
        remove(found)
        assert server.wait(timeout=50) != 0
    assert not (tmp_path / "data").exists() and read_records().records == ()


def test_a_directory_that_stays_keeps_its_state_so_that_the_next_clean_finds_it(tmp_path, monkeypatch):
    monkeypatch.setattr("scale_sweep.machine.state.records.REMOVAL_PAUSE_S", 0.001)
    data = tmp_path / "data"
    (data / "deep").mkdir(parents=True)
    save(of_dead_run(data))
    with monkeypatch.context() as busy:
        busy.setattr("scale_sweep.machine.state.records.shutil.rmtree", lambda path, ignore_errors, dir_fd: None)
        assert remove(ours()[0]) == str(data)
    assert remove(ours()[0]) == ""
    assert not data.exists() and ours() == []


def all_removed(record, *folders):
    """Whether clean leaves nothing of a run that died."""
    save(replace(record, **DEAD))
    return {remove(left) for left in ours()} == {""} and not any(any(one.iterdir()) for one in folders)


def test_a_run_killed_at_any_step_of_making_directories_leaves_nothing_that_no_state_names(tmp_path, monkeypatch):
    disk = tmp_path / "disk"
    disk.mkdir()
    for steps in range(3):
        data = tmp_path / f"data{steps}"
        data.mkdir()
        killed_after(steps, monkeypatch, lambda to=data: fresh_directories(wanted(to, disk)))
        made = {*data.iterdir(), *disk.iterdir()}
        (record,) = read_records().records
        assert len(made) == steps and made <= set(map(Path, record.paths))
        assert all_removed(record, data, disk)


def test_a_data_directory_that_was_named_from_elsewhere_is_found(tmp_path, monkeypatch):
    (tmp_path / "disk").mkdir()
    monkeypatch.chdir(tmp_path)
    fresh_directories(wanted(Path("data"), "disk"))
    monkeypatch.chdir("/")
    assert all_removed(*read_records().records, tmp_path / "data", tmp_path / "disk")


class Killed(BaseException):
    pass


def killed_after(steps, monkeypatch, task):
    done, real = [], os.mkdir

    def mkdir(path, *args, **given):
        if str(path).startswith("run-1"):
            if len(done) == steps:
                raise Killed
            done.append(path)
        return real(path, *args, **given)

    with monkeypatch.context() as patched, contextlib.suppress(Killed):
        patched.setattr(os, "mkdir", mkdir)
        task()


def wanted(folder, disk):
    return SiteRequest(run_id="run-1", trial_id="t1", data_dir=str(folder), home="", disks=(str(disk),))


def test_caches_are_removed_only_if_wanted_and_a_broken_record_is_named_and_ignored():
    programs = folder("programs")
    (programs / "x").mkdir()
    bad = folder("records") / "bad.json"
    bad.write_text("{not json")
    assert ours() == []
    (cache,) = find_caches()
    remove(cache)
    assert not any(programs.iterdir())
    assert sum(one.startswith(f"{bad}: ") for one in read_records().ignored) == 1 and bad.exists()


MAKER = "import ctypes; print(ctypes.CDLL(None).shmget(0, 56, 0o1600), flush=True)"  # IPC_PRIVATE, IPC_CREAT


def remove_segment(number):
    subprocess.run(["ipcrm", "-m", str(number)], capture_output=True, check=False)


def segments():
    return {int(line.split()[1]) for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]}


def test_shared_memory_of_a_killed_server_is_removed_and_nobody_elses(tmp_path):
    made = []
    for _ in range(2):
        with subprocess.Popen([sys.executable, "-c", MAKER], stdout=subprocess.PIPE, text=True) as maker:
            started = started_ticks(maker.pid)
            made.append(int(maker.stdout.readline()))
    assert set(made) <= segments()
    try:
        assert remove_segments(maker.pid, started + 10**6) == ()  # made before that process, so by another
        save(of_dead_run(tmp_path / "data", server_pid=maker.pid, server_started=started))
        remove(ours()[0])
        assert segments() & set(made) == {made[0]}
    finally:
        for number in made:
            remove_segment(number)


SHARER = """
import ctypes, mmap, sys, time
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
number = libc.shmget(0, 56, 0o1600)
libc.shmat(number, None, 0)
with open(sys.argv[1], "wb+") as file:
    file.write(bytes(4096))
    file.flush()
    kept = mmap.mmap(file.fileno(), 4096)
print(number, flush=True)
time.sleep(60)
"""


def test_what_a_killed_process_shared_is_removed_unless_it_is_used_or_older_or_anothers():
    path = Path(f"/dev/shm/scale-test-{os.getpid()}")
    with subprocess.Popen([sys.executable, "-c", SHARER, str(path)], stdout=subprocess.PIPE, text=True) as sharer:
        began, number = started_ticks(sharer.pid), int(sharer.stdout.readline())
        try:
            shared = shared_by([sharer.pid])
            assert (number in shared.segments, shared.files) == (True, {str(path)})

            def kept_after(more_uid=0, more_ticks=0):
                remove_shared(shared, os.geteuid() + more_uid, began + more_ticks)
                return number in segments(), path.exists()

            assert kept_after() == (True, True), "it is used"
            sharer.kill()
            sharer.wait()
            assert kept_after(more_ticks=10**6) == (True, True), "it is older"
            assert kept_after(more_uid=1) == (True, True), "it is another's"
            assert kept_after() == (False, False)
        finally:
            sharer.kill()
            path.unlink(missing_ok=True)
            remove_segment(number)


@pytest.mark.parametrize("way", WAYS, ids=["root", "anybody"])
def test_shared_memory_of_its_own_is_empty_and_brings_no_rights(way):
    is_root, is_for_root = os.geteuid() == 0, way is WAYS[0]
    if is_for_root and not is_root:
        pytest.skip("only for root")
    other = "setpriv --reuid=65534 --regid=65534 --clear-groups".split() if is_root and not is_for_root else []
    script = "ls -A /dev/shm; tail -n +2 /proc/sysvipc/shm; grep CapEff /proc/self/status"
    done = subprocess.run([*other, *way, "/bin/sh", "-c", script], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"not permitted here: {done.stderr.strip()}")
    (line,) = done.stdout.splitlines()
    assert is_for_root or int(line.split()[1], 16) == 0


def test_what_a_process_shares_in_its_own_memory_is_not_taken_for_ours():
    path = "/dev/shm/scale-test-own"
    command = [*WAYS[0], sys.executable, "-c", SHARER, path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as sharer:
        try:
            if not sharer.stdout.readline():
                pytest.skip("no namespace may be made here")
            assert shared_by([sharer.pid]) == shared_by([])
            assert not Path(path).exists()
        finally:
            sharer.kill()


def test_a_run_of_another_pid_namespace_is_left_alone_because_its_processes_cannot_be_seen(tmp_path):
    older, elsewhere = {"pid_namespace": 0}, {"pid_namespace": 1, "boot": "another"}
    for parts, count in (({"pid_namespace": 1}, 0), (older, 1), (elsewhere, 1)):
        save(of_dead_run(tmp_path / "data", **parts))
        assert len(ours()) == count
