"""Builds a pinned server from a Go module: the module by the user's go, checked by the sum of the pins.

It is built in the folder of its module, so go.sum of the module, which the sum covers, pins all that it imports. The
program itself is not pinned: another version of Go makes other bytes. Refuses a module with another sum, and a Go that
is older than the module needs, so that go downloads no other Go.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

from scale_sweep.base.errors import PreflightError
from scale_sweep.server.pinned.clients import run_client
from scale_sweep.server.pinned.pins import PinnedGo

BIN = "bin"  # in the folder of a server
MODULE_S, BUILD_S = 900.0, 3600.0


def go_program(oldest: str) -> str:
    """The program `go` of this machine, of at least this version. Raises PreflightError if there is none."""
    path = shutil.which("go")
    remedy = f"install Go {oldest} or newer"
    if path is None:
        raise PreflightError("the program go is missing; it builds the server from its module", remedy=remedy)
    words = run_client((path, "env", "GOVERSION"), 60.0, "/", _environment()).strip()
    if _numbers(words) < _numbers(oldest):
        raise PreflightError(f"{path} is {words}, and the server needs {oldest} or newer", remedy=remedy)
    return path


def build(folder: Path, pinned: PinnedGo) -> None:
    """The program in `bin` of the folder. Takes some minutes of CPU time."""
    program = go_program(pinned.oldest)
    module = f"{pinned.module}@{pinned.version}"
    place = str(folder)
    loaded = json.loads(run_client((program, "mod", "download", "-json", module), MODULE_S, place, _environment()))
    if loaded.get("Sum") != pinned.sum:
        raise PreflightError(
            f"{module} has the sum {loaded.get('Sum')}, pinned is {pinned.sum}",
            remedy="remove it with `go clean -modcache`; if it comes again, check the module proxy of go",
        )
    made = folder / BIN
    made.mkdir()
    flags = ("-trimpath", "-buildvcs=false", "-tags", pinned.tags, "-ldflags", f"-s -w {pinned.linked}")
    argv = (program, "build", *flags, "-o", f"{made}{os.sep}", f"./{pinned.program}")
    run_client(argv, BUILD_S, loaded["Dir"], _environment())


def _environment() -> dict[str, str]:
    """The user's, with the installed Go only, without C, and without other modules of the user."""
    return {**os.environ, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0", "GOFLAGS": "", "GOWORK": "off"}


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
