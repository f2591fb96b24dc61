"""Runs of root in a folder of another user, who puts a link in the place of the run's folder: real users, and `scale`
as it is typed."""

import contextlib
import os
import select
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scale_sweep.base.errors import PreflightError
from scale_sweep.results.store import stored
from tests.integration.cli import run
from tests.integration.test_two_users import NULL, OTHER, USER, as_user, in_process_of, pytestmark, shared  # noqa: F401
from tests.unit import stored_runs

SWAPS_MIN, ATTEMPTS_MAX, PAUSE_S = 1000, 20, 0.0005
DESTROYED = ("manifest.json", "plan.json", "points.csv", "SHA256SUMS", "trials/cores-1-r1/journal.jsonl")


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below, with its inode."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): (path.stat().st_ino, path.read_bytes()) for path in files}


@pytest.fixture
def theirs(shared):  # noqa: F811
    """A folder of the other user."""
    as_user(OTHER, f"mkdir -p {shared}/theirs/results")
    return shared / "theirs"


@pytest.fixture
def victim(shared):  # noqa: F811
    """A folder of root with files that are named as those of a run."""
    folder = shared / "victim"
    for name in DESTROYED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")
    folder.chmod(0o700)
    return folder


def swap(folder: Path, victim: Path, stop: int, begun: int) -> int:
    """Makes a link to the victim's folder of the newest run, and the run again, until there is something to read from
    stop. Returns how often."""
    os.write(begun, b"x")
    swaps, hidden = 0, folder / ".hidden"
    while not select.select([stop], [], [], PAUSE_S)[0]:
        for name in sorted(os.listdir(folder))[-1:]:
            with contextlib.suppress(OSError):  # of a run that is not there yet
                os.rename(folder / name, hidden)
                os.symlink(victim, folder / name)
                select.select([], [], [], PAUSE_S)
                os.unlink(folder / name)
                os.rename(hidden, folder / name)
                swaps += 1
    return swaps


@contextlib.contextmanager
def swapping(folder: Path, victim: Path, swaps: list[int]):
    """The other user swaps the newest run until the block ends. swaps: gets how often."""
    (stop, stopped), (begins, begun) = os.pipe(), os.pipe()
    with ThreadPoolExecutor() as pool:
        swapped = pool.submit(in_process_of, OTHER, lambda: swap(folder, victim, stop, begun))
        os.read(begins, 1)  # its process does not inherit what the block opens
        try:
            yield
        finally:
            os.write(stopped, b"x")
    for end in (stop, stopped, begins, begun):
        os.close(end)
    swaps.append(int(swapped.result()))


def of_root(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command of root whom the other user made by sudo: that user's folders are trusted."""
    return run(*words, cwd=cwd, SUDO_UID=str(OTHER))


def test_a_sweep_goes_on_in_its_folder_while_its_name_goes_to_a_link(theirs, victim, tmp_path):
    before, results, swaps = contents(victim), theirs / "results", []
    for runs in range(1, ATTEMPTS_MAX + 1):
        with swapping(results, victim, swaps):
            done = of_root("sweep", *NULL, "--results", str(results), cwd=tmp_path)
        assert contents(victim) == before
        assert sorted(victim.iterdir()) == sorted({victim / name.split("/")[0] for name in before})
        assert done.returncode == 0, done.stderr
        made = sorted(results.iterdir())
        assert len(made) == runs and made[-1].is_dir() and not made[-1].is_symlink()
        assert (made[-1] / "report.html").is_file()
        assert of_root("verify", str(made[-1]), cwd=tmp_path).returncode == 0
        if sum(swaps) >= SWAPS_MIN:  # a busy machine has fewer in one sweep
            break
    assert sum(swaps) >= SWAPS_MIN


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_new_folder_whose_name_goes_to_a_link_is_waited_for(comes_back, tmp_path, victim, monkeypatch):
    monkeypatch.setattr(stored, "_RETURNS_S", 5.0 if comes_back else 0.1)
    hidden, name, mkdir = tmp_path / ".hidden", tmp_path / "run", os.mkdir

    def swapped(path, **more):
        mkdir(path, **more)
        name.rename(hidden)
        name.symlink_to(victim)

    def swap_back(_):
        if comes_back:
            name.unlink()
            hidden.rename(name)

    monkeypatch.setattr(os, "mkdir", swapped)
    monkeypatch.setattr(stored.time, "sleep", swap_back)
    if comes_back:
        assert os.path.samestat(os.fstat(stored.new_folder(name).fd), name.stat())
        return
    with pytest.raises(PreflightError):
        stored.new_folder(name)


@pytest.mark.parametrize("command", ["report", "resume"])
def test_a_run_is_written_where_it_was_opened_or_not_at_all(command, theirs, victim, tmp_path):
    """The victim's folder is another such run, so that only the descriptor distinguishes them."""
    results, swaps, ended = theirs / "results", [], set()
    of_root("sweep", *NULL, "--results", str(results), cwd=tmp_path)
    (stored,) = results.iterdir()
    if command == "resume":
        (result,) = stored.glob("trials/*-r1/trial.json")
        result.unlink()
    shutil.copytree(stored, victim, dirs_exist_ok=True)
    subprocess.run(["chown", "-R", f"{OTHER}:{OTHER}", str(stored)], check=True)
    before = contents(victim)
    for _ in range(ATTEMPTS_MAX):
        with swapping(results, victim, swaps):
            ended.add(of_root(command, str(stored), "-y" if command == "resume" else "--json", cwd=tmp_path).returncode)
        assert contents(victim) == before
        if sum(swaps) >= SWAPS_MIN and 0 in ended:
            break
    assert sum(swaps) >= SWAPS_MIN and 0 in ended and ended <= {0, 2, 3, 6}


FOREIGN = {
    "sweep": ("sweep", *NULL, "--results", "{}/results"),
    "ab": ("ab", "cpu", "--against-itself", *NULL[1:-6], "--results", "{}/new/results"),
    "observe": ("observe", "--duration", "1s", "--to", "{}/results"),
    "report": ("report", "{run}"),
    "resume": ("resume", "{run}"),
    "site": ("site", "{run}", "--out", "{}/site"),
    "export": ("export", "{run}", "--csv", "{}/results/points.csv"),
    "fit": ("fit", "{run}/points.csv", "--n", "cores", "--x", "rows_per_s", "--png", "{}/curve.png"),
}


@pytest.mark.parametrize(("command", "sudo"), [*((command, "") for command in FOREIGN), ("report", str(USER))])
def test_root_writes_nothing_where_another_user_can_exchange_folders(command, sudo, theirs, tmp_path):
    stored = stored_runs.unpacked("cpu", theirs / "results")
    subprocess.run(["chown", "-R", f"{OTHER}:{OTHER}", str(stored)], check=True)
    before = contents(theirs)
    done = run(*(word.format(theirs, run=stored) for word in FOREIGN[command]), cwd=tmp_path, SUDO_UID=sudo)
    said = " ".join(done.stderr.split())
    assert done.returncode == 3 and f"{theirs} belongs to user {OTHER}" in said, said
    assert contents(theirs) == before and sorted(os.listdir(theirs)) == ["results"]


def test_in_a_folder_like_tmp_only_own_folders_are_used(shared, tmp_path):  # noqa: F811
    as_user(OTHER, f"mkdir {shared}/theirs && ln -s {tmp_path} {shared}/link")
    for name in ("theirs", "link"):
        done = run("sweep", *NULL, "--results", f"{shared}/{name}", cwd=tmp_path)
        assert done.returncode == 3 and f"user {OTHER}" in done.stderr
        assert not any(path.is_dir() for path in tmp_path.iterdir())
    done = of_root("sweep", *NULL, "--results", f"{shared}/link", cwd=tmp_path)
    assert done.returncode == 3 and f"is a link of user {OTHER}" in " ".join(done.stderr.split())
    assert run("sweep", *NULL, "--results", f"{shared}/own", cwd=tmp_path).returncode == 0
    assert len(list((shared / "own").glob("*/report.html"))) == 1


def test_an_output_file_is_not_written_through_what_another_user_made_of_it(shared, victim, tmp_path):  # noqa: F811
    """In a folder like /tmp, a link in the place of the file is replaced."""
    stored = stored_runs.unpacked("cpu", tmp_path)
    as_user(OTHER, f"ln -s {victim}/manifest.json {shared}/points.csv")
    before = contents(victim)
    run("export", str(stored), "--csv", f"{shared}/points.csv", cwd=tmp_path)
    assert contents(victim) == before
    shutil.rmtree(stored)
