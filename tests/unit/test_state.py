"""What `scale` believes of files outside of `results/`, tried as two real users: root, and one who plants files."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from scale_sweep.base.errors import PreflightError
from scale_sweep.machine import state
from scale_sweep.machine.host.alive import started_ticks
from scale_sweep.server.runtimes.clean import find_ignored, find_leftovers, remove
from tests.needs import needs

OTHER = 12345


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Where this user's folders will lie."""
    monkeypatch.setenv("SCALE_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def shared():
    """A directory in which everybody can create names, as in /tmp."""
    path = Path(f"/var/tmp/scale-test-shared-{os.getpid()}")
    path.mkdir()
    path.chmod(0o1777)
    yield path
    subprocess.run(["rm", "-rf", str(path)], check=True)


def as_other(script: str) -> None:
    """Runs a shell script as the other user."""
    subprocess.run(["/bin/sh", "-ec", script], check=True, user=OTHER, group=OTHER, extra_groups=[], cwd="/")


def dead_record(name, *paths, **parts):
    return replace(state.record_of(name, [str(p) for p in paths]), runner_pid=2**22 + 1, runner_started=1, **parts)


def servers():
    return [x for x in find_leftovers() if x.kind != "container"]


def test_folders_are_made_for_this_user_alone(place):
    before = os.umask(0)
    try:
        for name in ("records", "scratch", "clients", "programs", "data"):
            state.folder(name)
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (place, *place.iterdir())}
    passed = 0o711 if os.geteuid() == 0 else 0o700
    assert modes == {
        "state": passed, "records": 0o700, "scratch": 0o700, "clients": 0o700, "programs": passed, "data": passed,
    }  # fmt: skip


@needs("root")
@pytest.mark.parametrize("made", ["mkdir {}", "ln -s /root {}", "mkdir -m 0777 {}"])
def test_a_folder_that_somebody_else_made_is_refused_with_its_owner(made, shared, monkeypatch):
    monkeypatch.setenv("SCALE_STATE_DIR", str(shared / "inner" / "state"))
    (shared / "inner").mkdir(mode=0o777)
    (shared / "inner").chmod(0o777)
    as_other(made.format(shared / "inner" / "state"))
    (shared / "inner").chmod(0o755)
    with pytest.raises(PreflightError, match=rf"{shared}/inner/state .*12345") as error:
        state.folder("records")
    assert error.value.exit_code == 3


@needs("root")
def test_roots_folders_are_not_where_everybody_can_create_names(shared, monkeypatch):
    monkeypatch.setenv("SCALE_STATE_DIR", str(shared / "state"))
    with pytest.raises(PreflightError, match="no place for root's files"):
        state.folder("records")


@needs("root")
def test_a_folder_that_others_come_to_change_is_refused_at_its_next_use(place):
    state.save(dead_record("one"))
    (place / "records").chmod(0o777)
    with pytest.raises(PreflightError, match="can be changed by other users"):
        state.read_records()
    (place / "records").chmod(0o700)
    os.chown(place / "records", OTHER, OTHER)
    with pytest.raises(PreflightError, match="belongs to user 12345"):
        state.save(dead_record("two"))


@needs("root")
def test_records_that_another_user_wrote_end_and_delete_nothing(place, tmp_path):
    records, kept = state.folder("records"), tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as victim:
        began = started_ticks(victim.pid)
        planted = dead_record("planted", kept, server_pid=victim.pid, server_started=began)
        state.save(planted)
        os.chown(records / "planted.json", OTHER, OTHER)
        for name, mode in (("group", 0o620), ("world", 0o602)):
            state.save(replace(planted, name=name))
            (records / f"{name}.json").chmod(mode)
        state.save(replace(planted, name="linked"))
        os.link(records / "linked.json", tmp_path / "second name")
        (records / "link.json").symlink_to(tmp_path / "second name")
        os.mkfifo(records / "fifo.json")
        assert servers() == []
        assert victim.poll() is None and (kept / "file").exists()
        ignored = "\n".join(find_ignored())
        for word in ("planted.json: belongs to user 12345", "group.json: can be written", "world.json: can be written",
                     "linked.json: has 2 names", "link.json: ", "fifo.json: is not a regular file"):  # fmt: skip
            assert f"{records}/{word}" in ignored
        victim.kill()


def test_a_record_ends_no_process_without_a_mark_of_its_run(place, tmp_path):
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], cwd="/") as victim:
        state.save(dead_record("one", server_pid=victim.pid, server_started=started_ticks(victim.pid)))
        assert [remove(x) for x in servers()] == [""]
        assert victim.poll() is None
        victim.kill()


def test_a_record_of_another_boot_ends_no_process(place, tmp_path):
    marked = {**os.environ, state.SERVER_VARIABLE: "one"}
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], env=marked) as victim:
        began = started_ticks(victim.pid)
        state.save(dead_record("one", server_pid=victim.pid, server_started=began, boot="another"))
        assert [remove(x) for x in servers()] == [""]
        assert victim.poll() is None
        victim.send_signal(signal.SIGKILL)


def test_a_record_names_only_its_own_control_group(place, tmp_path):
    group = tmp_path / "scale-other"
    group.mkdir()
    (group / "cgroup.procs").write_text(f"{os.getppid()}\n")
    state.save(dead_record("one", cgroup_paths=(str(group), f"/sys/fs/cgroup/../..{group}")))
    assert [remove(x) for x in servers()] == [""]
    assert group.is_dir()


def test_only_the_very_directory_that_the_run_made_is_removed(place, tmp_path):
    data, kept = tmp_path / "data", tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    for replaced in ("link", "directory", "unknown"):
        if replaced != "unknown":
            data.mkdir()
        state.save(dead_record("one", data))
        if replaced != "unknown":
            data.rename(tmp_path / f"moved-{replaced}")
        if replaced == "link":
            data.symlink_to(kept)
        else:
            data.mkdir()
            (data / "file").touch()
        assert [remove(x) for x in servers()] == [""]
        assert (data / "file").exists() and (kept / "file").exists()
        subprocess.run(["rm", "-rf", str(data)], check=True)


def test_links_below_a_directory_are_not_followed(place, tmp_path):
    data, kept = tmp_path / "data", tmp_path / "kept"
    (data / "deep").mkdir(parents=True)
    kept.mkdir()
    (kept / "file").touch()
    (data / "link").symlink_to(kept)
    (data / "deep" / "link").symlink_to(kept)
    state.save(dead_record("one", data))
    assert [remove(x) for x in servers()] == [""]
    assert not data.exists() and (kept / "file").exists()


def test_a_record_of_another_form_is_ignored(place):
    records = state.folder("records")
    good = asdict(state.record_of("good", []))
    for name, text in {
        "list": "[]",
        "deep": "[" * 100_000,
        "more": json.dumps({**good, "name": "more", "x": 1}),
        "name": json.dumps(good),
        "text": json.dumps({**good, "name": "text", "server_pid": "1"}),
    }.items():
        (records / f"{name}.json").write_text(text)
    assert state.read_records().records == ()
    assert len(state.read_records().ignored) == 5


@needs("root")
@pytest.mark.parametrize("way", ["mkdir {}", "mkdir {} && chmod 0777 {}", "ln -s /root {}"])
def test_a_data_directory_that_another_user_can_change_is_refused(way, shared):
    as_other(way.replace("{}", str(shared / "data")))
    with pytest.raises(PreflightError, match=rf"{shared}/data .*12345"):
        state.make_ready(shared / "data" / "deeper")


def test_a_data_directory_of_this_user_in_a_shared_one_is_used(shared):
    state.make_ready(shared / "mine" / "deeper")
    (shared / "link").symlink_to(shared / "mine")
    state.make_ready(shared / "link" / "deeper")


@needs("root")
def test_a_copied_program_that_was_changed_is_made_again(place, tmp_path):
    source = tmp_path / "home"
    (source / "bin").mkdir(parents=True)
    (source / "bin" / "server").write_text("right")
    (source / "bin" / "server").chmod(0o777)
    copy = state.copy_of({"pkg/home": source}, "programs")
    program = copy / "pkg/home/bin/server"
    assert (program.read_text(), program.stat().st_mode & 0o777) == ("right", 0o755)
    program.write_text("other")
    (copy / "complete").touch()
    assert state.copy_of({"pkg/home": source}, "programs") == copy
    assert program.read_text() == "right"


def test_a_copied_library_that_was_changed_is_not_used(place):
    path = state.keep_file(b"right", "image", "lib/x.so", "clients")
    assert state.kept_file("image", "lib/x.so", "clients") == path
    path.write_bytes(b"other")
    assert state.kept_file("image", "lib/x.so", "clients") is None
    assert state.keep_file(b"right", "image", "lib/x.so", "clients") == path
    assert path.read_bytes() == b"right"


def test_a_file_of_this_user_is_not_written_through_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(FileExistsError):
        state.write_own(tmp_path / "link", "x")
    (tmp_path / "target").write_text("other")
    with contextlib.suppress(OSError):
        assert state.read_own(tmp_path / "link") == ""
    state.write_own(tmp_path / "mine", "x")
    assert state.read_own(tmp_path / "mine") == "x"


DYING = """
import sys
from scale_sweep.machine.state import scratch
with scratch("trace") as folder:
    (folder / "file").touch()
    print(folder, flush=True)
    sys.stdin.read()
"""


def test_files_of_a_trial_are_removed_at_its_end_and_by_clean_after_a_kill(place):
    with state.scratch("trace") as folder:
        (folder / "file").touch()
        assert folder.parent == place / "scratch" and folder.stat().st_mode & 0o777 == 0o700
        assert servers() == [], "it lives"
    assert not folder.exists() and state.read_records().records == ()
    with subprocess.Popen([sys.executable, "-c", DYING], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        left = Path(run.stdout.readline().decode().strip())
        run.kill()
    assert [(x.kind, remove(x)) for x in servers()] == [("scratch", "")]
    assert not left.exists()


def test_reading_makes_no_folder(place):
    assert state.read_records() == state.Records(records=())
    assert state.read_record("x") is None
    state.forget("x")
    assert not place.exists()


def test_a_record_that_cannot_be_written_names_the_state_directory_and_its_variable(place):
    (state.folder("records") / "x.json.partial").mkdir()
    with pytest.raises(PreflightError, match=f"the state directory {place} cannot be written") as refused:
        state.save(state.record_of("x", ()))
    assert refused.value.remedy == "set SCALE_STATE_DIR to a directory that this user can make"
