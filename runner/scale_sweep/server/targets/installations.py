"""Servers that are installed on this machine; their programs are asked for versions and refused flags."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.spawning import run_within
from scale_sweep.machine.host.server_user import as_user, closed_to_others, server_user
from scale_sweep.machine.state.trusted import distrust
from scale_sweep.model.planned import Finding
from scale_sweep.server.targets.records import Installation, wrong_input

CACHE_VARIABLE = "SCALE_SERVERS_DIR"
COPIES_VARIABLE = "SCALE_COPIED_SERVERS_DIR"  # on a host: those that `scale hosts prepare` copied
_PACKAGES = {"influxd": "influxdb", "victoria-metrics": "victoria-metrics"}  # Debian's, by program
NO_HOME = "/nonexistent"  # as Debian calls it
COMPLETE = "complete"  # a file, written last


def servers_folder() -> Path:
    """By the variable, else in the user's cache."""
    named = os.environ.get(CACHE_VARIABLE, "")
    home = os.path.expanduser("~")  # as it is, for a user that the system does not know
    cache = os.environ.get("XDG_CACHE_HOME", "") or f"{home if home != '~' else NO_HOME}/.cache"
    return Path(named) if named else Path(cache) / "scale" / "servers"


def copies_folder() -> Path | None:
    """None where no controller made any."""
    named = os.environ.get(COPIES_VARIABLE, "")
    return Path(named) if named else None


def installed(name: str) -> tuple[str, ...]:
    """Directories of its versions, the newest first; not those that another user can change: what is in them would run
    as this user."""
    folders = [folder for folder in _complete(name) if not distrust(folder)]
    return tuple(str(path) for path in sorted(folders, key=lambda path: path.stat().st_mtime, reverse=True))


def distrusted(name: str) -> str:
    """Why a version is not used; "" if none is left out."""
    return next(filter(None, map(distrust, _complete(name))), "")


def _complete(name: str) -> list[Path]:
    folders = [folder for folder in (servers_folder(), copies_folder()) if folder]
    return [path.parent for folder in folders for path in folder.glob(f"{name}-*/{COMPLETE}")]


def home_of(program: str, home: str) -> tuple[str, str]:
    """The folder with bin/<program>, and its source; empty texts if there is none. home: a prefix, or where a package
    was unpacked (dpkg -x), with `usr` in it; "": on PATH."""
    if home:
        folders = [folder for folder in (Path(home), Path(home) / "usr") if (folder / "bin" / program).is_file()]
        return (str(folders[0].resolve()), "--home") if folders else ("", "")
    on_path = shutil.which(program)
    return (str(Path(on_path).resolve().parent.parent), "PATH") if on_path else ("", "")


def places(name: str, home: str) -> list[tuple[str, str]]:
    """Only `home` if it is named, else those of `scale servers install`; each with its source."""
    return [(home, "--home")] if home else [(folder, "scale servers") for folder in installed(name)]


def packaged(name: str, program: str, home: str, flag: str, pattern: str) -> Installation | None:
    """The server with bin/<program>: in `home`, of `scale servers install`, or on PATH. The version is what it prints
    for the flag, else that of Debian's package."""
    ours = [] if home else places(name, "")
    folder, source = ours[0] if ours else home_of(program, home)
    if not folder:
        return None
    version = version_of((f"{folder}/bin/{program}", flag), pattern)
    of_package = version_in_changes(folder, _PACKAGES[program]) if program in _PACKAGES else ""
    return Installation(home=folder, version=version or of_package, source=source)


def version_in_changes(folder: str, package: str) -> str:
    """1.79.5 of `victoria-metrics (1.79.5+ds1-2) unstable; ...`; "" without a changelog."""
    try:
        path = Path(folder) / "share" / "doc" / package / "changelog.Debian.gz"
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
            first = file.readline()
    except OSError:
        return ""
    match = re.search(r"\((?:\d+:)?(\d+(?:\.\d+)*)", first)
    return match.group(1) if match else ""


_WITHIN_S = 10.0
EndedProgram = subprocess.CompletedProcess[str]


def run_program(
    argv: Sequence[str], within_s: float = _WITHIN_S, environment: Mapping[str, str] | None = None
) -> EndedProgram | None:
    """None if it cannot be run, or does not end in time."""
    variables = {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/", **(environment or {})}
    try:
        user, program, place = server_user(), os.path.abspath(argv[0]), "/"
        if user and closed_to_others(folder := Path(program).parent.resolve()):
            program, place = f"./{Path(program).name}", str(folder)  # begun in its folder, it needs no way there
            variables["LD_LIBRARY_PATH"] = f"../lib:../../../{folder.parent.parent.name}.libs"  # the latter of a wheel
        words = (*(as_user(user) if user else ()), program, *argv[1:])
        return run_within(within_s, words, env=variables, cwd=place)
    except (OSError, ProvisionError, subprocess.TimeoutExpired):
        return None


def version_of(
    argv: Sequence[str], pattern: str, within_s: float = _WITHIN_S, environment: Mapping[str, str] | None = None
) -> str:
    """The pattern's first group in the output, standard output first; "" without a match."""
    done = run_program(argv, within_s, environment)
    match = re.search(pattern, done.stdout + done.stderr) if done else None
    return match.group(1) if match else ""


def refused_flags(
    server: str, done: EndedProgram | None, line_begins: str | tuple[str, ...] = ""
) -> tuple[Finding, ...]:
    """The message by which a program refused its flags; none if it accepted them or was not run. line_begins: of the
    message; "": it is the first line."""
    if done is None or done.returncode == 0:
        return ()
    lines = [line for line in (done.stderr + done.stdout).strip().splitlines() if line.startswith(line_begins)]
    sentence = f"{server} reports: {(lines or [f'code {done.returncode}'])[0][:300]}"
    return (wrong_input("--knob", sentence, "correct --knob"),)
