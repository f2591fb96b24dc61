"""Every shipped sweep file is planned as a user types it, on a machine where no server is installed."""

import re
import tomllib
from pathlib import Path

import pytest
from whole_commands import run

SWEEPS = Path(__file__).resolve().parents[2] / "sweeps"
FILES = sorted(path for path in SWEEPS.glob("*.toml") if "machine" not in tomllib.loads(path.read_text()))
assert len(FILES) == len(list(SWEEPS.glob("*.toml"))) - 1  # all but the price list


def plan(path, folder, *words):
    """The end of `scale plan`, with no server on PATH, and nothing that this user installed."""
    programs = folder / "bin"
    programs.mkdir()
    for name in ("setpriv", "true"):  # without which root can start no server as another user
        (programs / name).symlink_to(f"/usr/bin/{name}")
    state = {"HOME": str(folder / "home"), "SCALE_STATE_DIR": str(folder / "state")}
    return run("plan", str(path), *words, cwd=folder, PATH=str(programs), **state)


def needed(path, folder):
    """What a file leaves to the user: the disks of a disk sweep."""
    sweep = tomllib.loads(path.read_text())
    if "disks" not in sweep["axis"] or "disks" in sweep:
        return ()
    return ("--dir", ",".join(str(folder / name) for name in "abc"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_sweep_is_planned_for_a_large_machine_without_servers(path, tmp_path):
    done = plan(path, tmp_path, *needed(path, tmp_path), "--machine", str(SWEEPS / "machines/one-socket.toml"))
    assert done.code == 0, done.stderr
    assert "Trials" in done.stdout and "assumed rate" in done.stdout
    assert done.stderr.count("plan assumes") == (path.stem != "article-rehearsal")  # nothing of it is assumed


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_sweep_is_planned_here_without_servers(path, tmp_path):
    cores_swept = set(tomllib.loads(path.read_text())["axis"]) == {"cores"}
    fitting = ("--cores", "1..all:x2") if cores_swept else ()  # of a machine that is smaller than the file's
    done = plan(path, tmp_path, *needed(path, tmp_path), *fitting)
    assert done.code in (0, 3), done.stderr
    assert "Trials" in done.stdout and "assumed rate" in done.stdout
    obstacles = re.findall("^Cannot start: (.*)$", done.stderr, re.MULTILINE)
    assert not [line for line in obstacles if line.startswith("server:")], obstacles
    assert bool(obstacles) == (done.code == 3)


def test_what_is_not_checked_is_one_sentence_and_says_what_to_install(tmp_path):
    wanted = ("--cores", "1", "--target", "questdb,victoriametrics", "--data-dir", "/var/tmp")
    done = plan(SWEEPS / "databases.toml", tmp_path, *wanted)
    assert done.code == 0, done.stderr
    (line,) = [one for one in done.stderr.splitlines() if "plan assumes" in one]
    names = ("no questdb server", "no victoriametrics server", "client libraries", "→", "servers install questdb")
    assert [name for name in names if name not in line] == []


def test_a_sweep_still_refuses_to_start_without_a_server(tmp_path):
    nothing = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    done = run("sweep", "cpu", "--cores", "1", "--target", "questdb", cwd=tmp_path, **nothing)
    assert done.code == 3 and "no questdb server" in done.stderr


SEARCH = ("cpu", "--cores", "1", "--target", "postgres", "--data-dir")
FITS = ("--columns", "a:int", "--rows-per-request", "10", "--duration", "1s", "--warmup", "1s")


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("ram:256MiB", "--slo", "p99 < 20ms", "--duration", "10s"), ["300,000 rows/s", "0.3 GB", "--duration"]),
        (("ram:4GiB", "--slo", "p99 < 20ms", *FITS), []),
        (("ram:256MiB",), []),
    ],
)
def test_a_search_that_may_fill_its_disk_in_memory_is_named_with_its_bytes(tmp_path, words, names):
    done = run("plan", *SEARCH, *words, cwd=tmp_path)
    assert "Trials" in done.stdout, done.stderr
    lines = [line for line in done.stderr.splitlines() if "a search writes" in line]
    assert len(lines) == bool(names)
    assert [name for name in names if name not in lines[0]] == []
