"""Finds a sweep file: one on this machine by its path, else a bundled one by its name. Refuses to read it."""

from __future__ import annotations

import os
from pathlib import Path

from scale_sweep.base.errors import UsageError
from scale_sweep.base.input_file import bundled
from scale_sweep.base.texts import did_you_mean
from scale_sweep.experiment.axes import all_axes
from scale_sweep.sweep.axis import commands
from scale_sweep.sweep.prices import PREFIX


def bundled_sweeps() -> dict[str, Path]:
    """The paths of the sweep files that come with the project, by name."""
    return {name: path for name, path in bundled("sweeps", ".toml").items() if not name.startswith(PREFIX)}


def sweep_path(what: str) -> Path:
    """The file of what follows `scale sweep` and is no axis. A local file counts before a bundled one.

    Raises UsageError with all names for a word that is neither a file nor a name.
    """
    path, shipped = Path(what), bundled_sweeps()
    if os.path.isfile(path) or path.suffix == ".toml" or (os.path.exists(path) and what not in shipped):
        return path
    if what in shipped:
        return shipped[what]
    known = (*commands(), *shipped)
    raise UsageError(
        f"{what[:80]!r} is neither a kind of sweep ({', '.join(commands())}), nor a bundled sweep "
        f"({', '.join(shipped)}), nor a sweep file{did_you_mean(what, known)}",
        remedy=", ".join((*(axis.facts.example for axis in all_axes()), "or scale sweep FILE.toml")),
    )
