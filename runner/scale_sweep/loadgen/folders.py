"""Folders that a spec names, for a load that is made on another host: read on the server's, written on the load's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

NAMED = ("client_config",)  # keys of a spec that name a folder
BYTES_MAX = 2**16

Folders = Mapping[str, Mapping[str, str]]  # by the key of the spec, the text of each file by its name


def folders_of(spec: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The files of the folders that the spec names, with the folder's path taken out."""
    named = {key: Path(spec[key]) for key in NAMED if spec.get(key)}
    return {
        key: {file.name: file.read_text(encoding="utf-8").replace(str(path), _HERE) for file in _texts(path)}
        for key, path in named.items()
    }


def written(spec: Mapping[str, str], folders: Folders, below: Path) -> dict[str, str]:
    """The spec with these folders written below a directory that is empty."""
    paths = {}
    for key, files in folders.items():
        path = below / key
        path.mkdir(mode=0o700)
        for name, text in files.items():
            (path / Path(name).name).write_text(text.replace(_HERE, str(path)), encoding="utf-8")
        paths[key] = str(path)
    return {**spec, **paths}


_HERE = "{here}"


def _texts(path: Path) -> list[Path]:
    return [file for file in path.glob("*.cfg") if file.is_file() and file.stat().st_size <= BYTES_MAX]
