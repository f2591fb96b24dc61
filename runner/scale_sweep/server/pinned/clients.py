"""Runs the clients of package registries: mvn, pip, go."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from scale_sweep.base.errors import PreflightError


def run_client(argv: Sequence[str], within_s: float, folder: str, environment: Mapping[str, str] | None = None) -> str:
    """The standard output of the client, which runs in the folder. Raises PreflightError with the end of its output."""
    name = Path(argv[0]).name
    if name == "mvn":
        Path(folder, ".mvn").mkdir(exist_ok=True)  # else it takes one above the folder, which may be another user's
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
