"""Other sweeps of `scale` on this machine, by the locks of their runs (see `scale_sweep/results/store/held.py`)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

SWITCH = "SCALE_OTHER_SWEEPS"  # "off" in the environment: none is named
PROC = Path("/proc")
_NAMES = {"scale", "scale_sweep"}  # the command, and the module of `python -m`
_SWEEPS = {"sweep", "resume", "ab"}
_FIRST_WORDS = 6  # the interpreter and its options come before the name


def flocks(proc: Path = PROC) -> Iterator[tuple[int, str]]:
    """The process and the file ("device:inode") of each exclusive lock of flock(2); none if the kernel's table cannot
    be read. Processes of other PID namespaces have no number here."""
    try:
        rows = [line.split() for line in (proc / "locks").read_text(encoding="ascii").splitlines()]
    except (OSError, ValueError):
        return
    for row in rows:
        if len(row) > 5 and row[1] == "FLOCK" and row[3] == "WRITE" and row[4].isdigit() and int(row[4]):
            yield int(row[4]), row[5]


def other_sweeps(run: str = "", proc: Path = PROC) -> tuple[str, ...]:
    """Each other sweep in words, with the path of its run if this user may see it. run: the name of this sweep's run,
    which another process may write."""
    paths: dict[int, list[str]] = {}
    if os.environ.get(SWITCH) == "off":
        return ()
    for pid, file in flocks(proc):
        if pid != os.getpid() and _is_sweep(proc / str(pid)):
            paths.setdefault(pid, []).append(_path(proc / str(pid), file))
    return tuple(
        f"process {pid}" + (f", which writes {min(seen)!r}" if all(seen) else " of another user")
        for pid, seen in sorted(paths.items())
        if not run or all(os.path.basename(path) != run for path in seen)
    )


def _is_sweep(process: Path) -> bool:
    try:
        words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return False
    names = [os.path.basename(word) for word in words[:_FIRST_WORDS]]
    return any(name in _NAMES and command in _SWEEPS for name, command in zip(names, words[1:], strict=False))


def _path(process: Path, file: str) -> str:
    """The path of a file that the process has locked; "" if it may not be seen."""
    try:
        for name in os.listdir(process / "fdinfo"):
            if file in (process / "fdinfo" / name).read_text(encoding="ascii").split():
                return os.readlink(process / "fd" / name)
    except (OSError, ValueError):
        pass
    return ""
