"""Counts the files of the package that a sweep of one trial loads and calls, and those that hold its number of cores.

    python tools/walk.py            counts
    python tools/walk.py --files    and the files

It runs `scale sweep` with one trial of the null target in this process, in a directory that is removed, and traces its
calls. A file holds the number when a function of it gets or returns the number itself, has it in a variable, or has it
in a list or a mapping. An object with the number in a field does not count: who passes it on need not know the field.

Changes nothing, and does not see calls in child processes.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import io
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "runner" / "scale_sweep"
CORES = 0.83  # a number that nothing else has
AFTERWARDS = {"analysis", "cli", "report", "results", "watch"}  # packages that show or keep what was measured
WORDS = ("sweep", "cpu", "--cores", str(CORES), "--target", "null", "--replicates", "1")
WORDS += ("--duration", "2s", "--warmup", "500ms", "--no-metrics")


@dataclass
class Walk:
    """Files that were imported, called, and that held the number; paths below the package."""

    loaded: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    holding: set[str] = field(default_factory=set)

    def trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        """A trace function of Python: of each call, then of its return."""
        name = below_package(frame.f_code.co_filename)
        if name is None:
            return None
        if event == "call":
            (self.loaded if is_body(frame) else self.called).add(name)
        elif not is_body(frame) and (holds(arg) or any(map(holds, frame.f_locals.values()))):
            self.holding.add(name)
        frame.f_trace_lines = False
        return self.trace


def below_package(path: str) -> str | None:
    """The path below the package; None elsewhere."""
    return os.path.relpath(path, PACKAGE) if path.startswith(f"{PACKAGE}{os.sep}") else None


def is_body(frame: FrameType) -> bool:
    """Whether it runs a module or the body of a class, and no function."""
    return not frame.f_code.co_flags & inspect.CO_OPTIMIZED


def holds(value: Any) -> bool:
    """Whether it is the number, also as text, or has it in it."""
    if isinstance(value, float):
        return value == CORES
    if isinstance(value, str):
        return value == str(CORES)
    if isinstance(value, (tuple, list, set, frozenset)):
        return any(isinstance(one, float) and one == CORES for one in value)
    if isinstance(value, Mapping):
        return any(isinstance(one, float) and one == CORES for one in value.values())
    return False


@contextlib.contextmanager
def traced(walk: Walk) -> Iterator[None]:
    """All threads that start meanwhile, and this one."""
    threading.settrace(walk.trace)
    sys.settrace(walk.trace)
    try:
        yield
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]


def walk_of_a_trial() -> Walk:
    """Raises RuntimeError with what the command wrote if it fails."""
    sys.path.insert(0, str(ROOT / "runner"))
    walk, written, before = Walk(), io.StringIO(), Path.cwd()
    with tempfile.TemporaryDirectory(prefix="scale-walk-", dir="/var/tmp") as folder:
        os.environ |= {"SCALE_STATE_DIR": f"{folder}/state", "SCALE_NEW_PAGES": "off", "SCALE_DISK_LIMIT": "off"}
        os.environ |= {"SCALE_OTHER_SWEEPS": "off"}
        os.chdir(folder)
        sys.argv = ["scale", *WORDS]
        try:
            with contextlib.redirect_stdout(written), contextlib.redirect_stderr(written), traced(walk):
                from scale_sweep.cli import main as scale

                scale()
        except SystemExit as end:
            if end.code:
                raise RuntimeError(written.getvalue()) from None
        finally:
            os.chdir(before)
    return walk


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", action="store_true", help="list the files")
    lists_files = parser.parse_args().files
    walk = walk_of_a_trial()
    counts = {
        f"of {len(list(PACKAGE.rglob('*.py')))} files a sweep of one trial loads": walk.loaded,
        "of these it calls functions of": walk.called,
        "of these hold the number of cores": walk.holding,
        "of these are not of reports": {name for name in walk.holding if name.split(os.sep)[0] not in AFTERWARDS},
    }
    for title, files in counts.items():
        print(f"{title}: {len(files)}", *(sorted(files) if lists_files else ()), sep="\n    ")


if __name__ == "__main__":
    main()
