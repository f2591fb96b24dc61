"""Other sweeps by the kernel's table of locks: which processes count, and what is said of them."""

import os

import pytest

from scale_sweep.machine.state import other_sweeps

LOCK = "1: FLOCK  ADVISORY  WRITE {} fe:00:{} 0 EOF\n"


@pytest.fixture
def proc(tmp_path, monkeypatch):
    """A folder like /proc: each process holds a lock of a file of its own."""
    monkeypatch.delenv("SCALE_OTHER_SWEEPS")

    def made(pid, *words, path=""):
        folder = tmp_path / str(pid)
        (folder / "fd").mkdir(parents=True)
        (folder / "cmdline").write_text("\0".join([*words, ""]))
        with (tmp_path / "locks").open("a") as locks:
            locks.write(LOCK.format(pid, pid))
        if path:
            (folder / "fdinfo").mkdir()
            (folder / "fdinfo/1").write_text("pos:\t0\n")
            (folder / "fdinfo/9").write_text("lock:\t" + LOCK.format(pid, pid))
            os.symlink(path, folder / "fd/9")

    made.folder = tmp_path
    return made


def test_sweeps_are_named_by_their_run_and_other_programs_are_not(proc):
    proc(101, "/v/bin/python", "/v/bin/scale", "sweep", "cpu", path="/there/run")
    proc(102, "python3", "-P", "-m", "scale_sweep", "resume", "last", path="/there/a\x1b[31m\n\u202eb")
    proc(103, "/v/bin/python", "/v/bin/scale", "ab", "cpu")
    proc(104, "/v/bin/python", "/v/bin/scale", "report", "last", path="/there/reported")
    proc(105, "/usr/bin/dockerd", path="/var/lib/docker")
    proc(os.getpid(), "/v/bin/python", "/v/bin/scale", "sweep", "cpu", path="/there/mine")
    with (proc.folder / "locks").open("a") as locks:
        locks.write("9: OFDLCK ADVISORY  READ -1 00:06:3 0 EOF\n9: -> FLOCK  ADVISORY  WRITE 106 fe:00:1 0 EOF\nodd\n")
    named = (
        "process 101, which writes '/there/run'",
        r"process 102, which writes '/there/a\x1b[31m\n\u202eb'",
        "process 103 of another user",
    )
    said = other_sweeps(proc=proc.folder)
    assert said == named
    assert other_sweeps("run", proc=proc.folder) == said[1:], "of the controller, beside the agent of its run"


def test_a_machine_without_a_table_of_locks_names_nothing(tmp_path):
    assert other_sweeps(proc=tmp_path) == ()
