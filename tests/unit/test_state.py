"""What `scale` believes of files outside of `results/`, tried as two real users: root, and one who plants files."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, replace

import pytest

from scale_sweep.base.errors import PreflightError
from scale_sweep.machine.host.processes import started_ticks
from scale_sweep.machine.state import copies, places, records, trusted
from scale_sweep.server.runtimes.clean import find_leftovers, remove
from tests.needs import needs

OTHER = 12345


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Where this user's folders will lie."""
    monkeypatch.setenv("SCALE_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


def as_other(script: str) -> None:
    """Runs a shell script as the other user."""
    subprocess.run(["/bin/sh", "-ec", script], check=True, user=OTHER, group=OTHER, extra_groups=[], cwd="/")


def dead_record(name, *paths, **parts):
    return replace(records.record_of(name, [str(p) for p in paths]), runner_pid=2**22 + 1, runner_started=1, **parts)


def servers():
    return [x for x in find_leftovers() if x.kind != "container"]


@contextlib.contextmanager
def living(**environment):
    """A process of a victim, which ends with the block, and when it began."""
    sleeping = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(sleeping, cwd="/", env={**os.environ, **environment}) as victim:
        yield victim, {"server_pid": victim.pid, "server_started": started_ticks(victim.pid)}
        assert victim.poll() is None
        victim.kill()


def remove_all():
    assert [remove(x) for x in servers()] == [""]


@pytest.fixture
def kept(tmp_path):
    """A directory that no record may have removed, with its file."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").touch()
    yield tmp_path / "kept"
    assert (tmp_path / "kept/file").exists()


def test_folders_are_made_for_this_user_alone_and_not_by_reading(place):
    assert records.read_records() == records.Records(records=())
    assert records.read_record("x") is None
    records.forget("x")
    assert not place.exists()
    before = os.umask(0)
    try:
        for name in ("records", "scratch", "clients", "programs", "data"):
            places.folder(name)
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (place, *place.iterdir())}
    passed = 0o711 if os.geteuid() == 0 else 0o700
    own = dict.fromkeys(("records", "scratch", "clients"), 0o700)
    assert modes == {"state": passed, "programs": passed, "data": passed, **own}


@needs("root")
def test_roots_folders_are_neither_where_everybody_can_create_names_nor_changed_by_others(shared, place, monkeypatch):
    records.save(dead_record("one"))
    (place / "records").chmod(0o777)
    with pytest.raises(PreflightError, match="can be changed by other users"):
        records.read_records()
    (place / "records").chmod(0o700)
    os.chown(place / "records", OTHER, OTHER)
    with pytest.raises(PreflightError, match="belongs to user 12345"):
        records.save(dead_record("two"))
    monkeypatch.setenv("SCALE_STATE_DIR", str(shared / "state"))
    with pytest.raises(PreflightError, match="no place for root's files"):
        places.folder("records")


@needs("root")
@pytest.mark.parametrize("made", ["mkdir {}", "mkdir -m 0777 {}", "ln -s /root {}"])
def test_a_folder_or_data_directory_that_somebody_else_made_is_refused_with_its_owner(made, shared, monkeypatch):
    for path in (shared / "inner/state", shared / "data"):
        path.parent.mkdir(exist_ok=True)
        path.parent.chmod(0o1777)
        as_other(made.format(path))
    (shared / "inner").chmod(0o755)
    monkeypatch.setenv("SCALE_STATE_DIR", str(shared / "inner/state"))
    with pytest.raises(PreflightError, match=rf"{shared}/inner/state .*12345") as error:
        places.folder("records")
    assert error.value.exit_code == 3
    with pytest.raises(PreflightError, match=rf"{shared}/data .*12345"):
        places.make_ready(shared / "data/deeper")
    places.make_ready(shared / "mine/deeper")
    (shared / "link").symlink_to(shared / "mine")
    places.make_ready(shared / "link/deeper")


def test_a_record_of_another_form_is_ignored_and_one_that_cannot_be_written_is_refused(place):
    there = places.folder("records")
    good = asdict(records.record_of("good", []))
    texts = {"list": "[]", "deep": "[" * 100_000, "name": json.dumps(good)}
    texts |= {
        name: json.dumps({**good, "name": name, **part})
        for name, part in (("more", {"x": 1}), ("text", {"server_pid": "1"}))
    }
    for name, text in texts.items():
        (there / f"{name}.json").write_text(text)
    assert records.read_records().records == ()
    assert len(records.read_records().ignored) == 5
    (there / "x.json.partial").mkdir()
    with pytest.raises(PreflightError, match=f"the state directory {place} cannot be written") as refused:
        records.save(records.record_of("x", ()))
    assert "SCALE_STATE_DIR" in refused.value.remedy


@needs("root")
def test_records_that_another_user_wrote_end_and_delete_nothing(place, tmp_path, kept, wording):
    there = places.folder("records")
    with living() as (_, began):
        planted = dead_record("planted", kept, **began)
        records.save(planted)
        os.chown(there / "planted.json", OTHER, OTHER)
        for name, mode in (("group", 0o620), ("world", 0o602)):
            records.save(replace(planted, name=name))
            (there / f"{name}.json").chmod(mode)
        records.save(replace(planted, name="linked"))
        os.link(there / "linked.json", tmp_path / "second name")
        (there / "link.json").symlink_to(tmp_path / "second name")
        os.mkfifo(there / "fifo.json")
        assert servers() == []
    ignored = [sentence.replace(str(there), "RECORDS") for sentence in records.read_records().ignored]
    wording(*sorted(sentence for sentence in ignored if "RECORDS" in sentence))


@pytest.mark.parametrize(("mark", "boot"), [({}, {}), ({records.SERVER_VARIABLE: "one"}, {"boot": "another"})])
def test_a_record_ends_no_process_without_a_mark_of_its_run_or_of_another_boot(place, mark, boot):
    with living(**mark) as (_, began):
        records.save(dead_record("one", **began, **boot))
        remove_all()


def test_only_the_very_directory_that_the_run_made_is_removed_and_its_own_control_group(place, tmp_path, kept):
    data = tmp_path / "data"
    for replaced in ("link", "directory", "unknown"):
        if replaced != "unknown":
            data.mkdir()
        records.save(dead_record("one", data))
        if replaced != "unknown":
            data.rename(tmp_path / f"moved-{replaced}")
        if replaced == "link":
            data.symlink_to(kept)
        else:
            data.mkdir()
            (data / "file").touch()
        remove_all()
        assert (data / "file").exists() and (kept / "file").exists()
        subprocess.run(["rm", "-rf", str(data)], check=True)
    (data / "deep").mkdir(parents=True)
    for link in (data / "link", data / "deep/link"):
        link.symlink_to(kept)  # and is not followed
    records.save(dead_record("one", data))
    remove_all()
    assert not data.exists()
    group = tmp_path / "scale-other"
    group.mkdir()
    (group / "cgroup.procs").write_text(f"{os.getppid()}\n")
    records.save(dead_record("one", cgroup_paths=(str(group), f"/sys/fs/cgroup/../..{group}")))
    remove_all()
    assert group.is_dir()


@needs("root")
def test_a_copied_program_or_library_that_was_changed_is_made_again(place, tmp_path):
    source = tmp_path / "home"
    (source / "bin").mkdir(parents=True)
    (source / "bin" / "server").write_text("right")
    (source / "bin" / "server").chmod(0o777)
    copy = copies.copy_of({"pkg/home": source}, "programs")
    program = copy / "pkg/home/bin/server"
    assert (program.read_text(), program.stat().st_mode & 0o777) == ("right", 0o755)
    program.write_text("other")
    (copy / "complete").touch()
    assert copies.copy_of({"pkg/home": source}, "programs") == copy
    assert program.read_text() == "right"
    library = ("image", "lib/x.so", "clients")
    path = copies.keep_file(b"right", *library)
    assert copies.kept_file(*library) == path
    path.write_bytes(b"other")
    assert copies.kept_file(*library) is None
    assert copies.keep_file(b"right", *library) == path
    assert path.read_bytes() == b"right"


def test_a_file_of_this_user_is_not_written_through_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(FileExistsError):
        trusted.write_own(tmp_path / "link", "x")
    (tmp_path / "target").write_text("other")
    with contextlib.suppress(OSError):
        assert trusted.read_own(tmp_path / "link") == ""
    trusted.write_own(tmp_path / "mine", "x")
    assert trusted.read_own(tmp_path / "mine") == "x"


def test_files_of_a_trial_are_removed_at_its_end_and_by_clean_after_a_kill(place):
    with records.scratch("trace") as folder:
        (folder / "file").touch()
        assert folder.parent == place / "scratch" and folder.stat().st_mode & 0o777 == 0o700
        assert servers() == [], "it lives"
    assert not folder.exists() and records.read_records().records == ()
    child = os.fork()
    if not child:
        try:
            with records.scratch("trace") as folder:
                (folder / "file").touch()
                os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    os.waitpid(child, 0)
    (left,) = (place / "scratch").iterdir()
    assert [(x.kind, remove(x)) for x in servers()] == [("scratch", "")]
    assert not left.exists()
