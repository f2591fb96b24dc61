"""Which stored runs this user began here, with digests of what they may start; other sweeps on this machine."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from scale_sweep.machine.host.host_facts import text_of
from scale_sweep.machine.state.places import folder_held, refusals_named
from scale_sweep.machine.state.trusted import read_at, replace_at, unlink_at

RUNS = "runs"
KEPT_MAX = 10_000  # of a few hundred bytes; then the one that was written first is removed


def remember_run(run: str, digests: Sequence[str]) -> None:
    """Raises PreflightError if it cannot be written."""
    with refusals_named(), folder_held(RUNS) as at:
        replace_at(at, _run_file(run), "\n".join(digests))
        names = os.listdir(at)
        if len(names) > KEPT_MAX:
            unlink_at(at, min(names, key=lambda name: os.stat(name, dir_fd=at, follow_symlinks=False).st_mtime_ns))


def remembers_run(run: str, digest: str) -> bool:
    """Whether this user began the run here, and it is unchanged. Raises PreflightError for an untrusted folder."""
    try:
        with folder_held(RUNS, makes=False) as at:
            return digest in read_at(at, _run_file(run)).decode().splitlines()
    except (OSError, ValueError):
        return False


def _run_file(run: str) -> str:
    return hashlib.sha256(run.encode("utf-8", "surrogateescape")).hexdigest()


SWITCH = "SCALE_OTHER_SWEEPS"  # "off" in the environment: none is named
PROC = Path("/proc")
_NAMES = {"scale", "scale_sweep"}  # the command, and the module of `python -m`
_SWEEPS = {"sweep", "resume", "ab"}
_FIRST_WORDS = 6  # the interpreter and its options come before the name


def flocks(proc: Path = PROC) -> Iterator[tuple[int, str]]:
    """The process and file ("device:inode") of each exclusive flock(2); none if the kernel's table cannot be read."""
    for row in map(str.split, text_of(proc / "locks").splitlines()):
        if len(row) > 5 and row[1] == "FLOCK" and row[3] == "WRITE" and row[4].isdigit() and int(row[4]):
            yield int(row[4]), row[5]


def other_sweeps(run: str = "", proc: Path = PROC) -> tuple[str, ...]:
    """Each other sweep in words, with its run's path if this user may see it. run: this sweep's, which is left out."""
    paths: dict[int, list[str]] = {}
    if os.environ.get(SWITCH) == "off":
        return ()
    for pid, file in flocks(proc):
        if pid != os.getpid() and _is_sweep(proc / str(pid)):
            paths.setdefault(pid, []).append(_locked_path(proc / str(pid), file))
    return tuple(
        f"process {pid}" + (f", which writes {min(seen)!r}" if all(seen) else " of another user")
        for pid, seen in sorted(paths.items())
        if not run or all(os.path.basename(path) != run for path in seen)
    )


def _is_sweep(process: Path) -> bool:
    words = text_of(process / "cmdline").split("\0")
    names = [os.path.basename(word) for word in words[:_FIRST_WORDS]]
    return any(name in _NAMES and command in _SWEEPS for name, command in zip(names, words[1:], strict=False))


def _locked_path(process: Path, file: str) -> str:
    """The path of a file that the process has locked; "" if it may not be seen."""
    try:
        for name in os.listdir(process / "fdinfo"):
            if file in (process / "fdinfo" / name).read_text(encoding="ascii").split():
                return os.readlink(process / "fd" / name)
    except (OSError, ValueError):
        pass
    return ""
