"""Servers that Debian packages bring: found on this machine, or below a folder that a package was unpacked into.

Refuses to start them: a version is read from the files of the package where the program does not say it.
"""

from __future__ import annotations

import gzip
import re
import shutil
from pathlib import Path

from runner.targets.nouns import Installation


def home_of(program: str, home: str) -> tuple[str, str]:
    """The folder that has bin/<program>, and how it was found; empty texts where there is none.

    home: a prefix, or what a package was unpacked into (dpkg -x), which has it in `usr`; "": the program on PATH.
    """
    if home:
        folders = [folder for folder in (Path(home), Path(home) / "usr") if (folder / "bin" / program).is_file()]
        return (str(folders[0].resolve()), "--home") if folders else ("", "")
    on_path = shutil.which(program)
    return (str(Path(on_path).resolve().parent.parent), "PATH") if on_path else ("", "")


def packaged(program: str, package: str, home: str, version: str = "") -> Installation | None:
    """What `home_of` finds, with the version that the package's list of changes begins with, unless it is given."""
    folder, found = home_of(program, home)
    if not folder:
        return None
    return Installation(home=folder, version=version or _changes_begin(folder, package), found=found)


def _changes_begin(folder: str, package: str) -> str:
    """1.79.5 of `victoria-metrics (1.79.5+ds1-2) unstable; ...`; "" where the list is not there."""
    try:
        path = Path(folder) / "share" / "doc" / package / "changelog.Debian.gz"
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
            first = file.readline()
    except OSError:
        return ""
    match = re.search(r"\((?:\d+:)?(\d+(?:\.\d+)*)", first)
    return match.group(1) if match else ""
