"""Asks a server's program for its version, or whether it accepts its flags, by what it prints."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.spawning import run_within
from scale_sweep.machine.host.server_user import as_user, closed_to_others, server_user
from scale_sweep.model import Finding

_WITHIN_S = 10.0
EndedProgram = subprocess.CompletedProcess[str]


def run_program(
    argv: Sequence[str], within_s: float = _WITHIN_S, environment: Mapping[str, str] | None = None
) -> EndedProgram | None:
    """The ended program with its output; None if it cannot be run, or does not end in time."""
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
    """The first group of the pattern in the program's output, its standard output first; "" without a match."""
    done = run_program(argv, within_s, environment)
    match = re.search(pattern, done.stdout + done.stderr) if done else None
    return match.group(1) if match else ""


def refused_flags(
    server: str, done: EndedProgram | None, line_begins: str | tuple[str, ...] = ""
) -> tuple[Finding, ...]:
    """A finding with the message by which a program refused its flags; none if it accepted them or was not run.

    server: its name for people. line_begins: the start of the line that is the message, or each that it can have;
    "": the first line.
    """
    if done is None or done.returncode == 0:
        return ()
    lines = [line for line in (done.stderr + done.stdout).strip().splitlines() if line.startswith(line_begins)]
    sentence = f"{server} reports: {(lines or [f'code {done.returncode}'])[0][:300]}"
    return (Finding(blocking=True, subject="--knob", sentence=sentence, remedy="correct --knob"),)
