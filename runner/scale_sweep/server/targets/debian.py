"""Finds servers of Debian packages: installed on this machine, or below a folder into which a package was unpacked."""

from __future__ import annotations

import gzip
import re
import shutil
from pathlib import Path

from scale_sweep.server.targets.nouns import Installation


def home_of(program: str, home: str) -> tuple[str, str]:
    """The folder that contains bin/<program>, and how it was found; empty texts if there is none.

    home: a prefix, or the folder into which a package was unpacked (dpkg -x), with `usr` in it; "": the program on
    PATH.
    """
    if home:
        folders = [folder for folder in (Path(home), Path(home) / "usr") if (folder / "bin" / program).is_file()]
        return (str(folders[0].resolve()), "--home") if folders else ("", "")
    on_path = shutil.which(program)
    return (str(Path(on_path).resolve().parent.parent), "PATH") if on_path else ("", "")


def packaged(program: str, package: str, home: str, version: str = "") -> Installation | None:
    folder, source = home_of(program, home)
    if not folder:
        return None
    return Installation(home=folder, version=version or version_in_changes(folder, package), source=source)


def version_in_changes(folder: str, package: str) -> str:
    """1.79.5 of `victoria-metrics (1.79.5+ds1-2) unstable; ...`; "" if there is no changelog."""
    try:
        path = Path(folder) / "share" / "doc" / package / "changelog.Debian.gz"
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
            first = file.readline()
    except OSError:
        return ""
    match = re.search(r"\((?:\d+:)?(\d+(?:\.\d+)*)", first)
    return match.group(1) if match else ""
