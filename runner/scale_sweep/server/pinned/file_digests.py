"""Compares the files of installed servers with their digests: of the pins, or kept when they were made."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.base.errors import PreflightError
from scale_sweep.machine.state.copies import tree_digest
from scale_sweep.machine.state.trusted import open_trusted
from scale_sweep.server.pinned.pins import Pinned, read_pins
from scale_sweep.server.targets.installations import COMPLETE, copies_folder, servers_folder

JAVA, BIN, LIB = "java", "bin", "lib"


@dataclass(frozen=True, kw_only=True)
class Corrupt:
    name: str
    sentence: str  # which, and where
    command: str  # repairs it


def home_of(pinned: Pinned) -> Path:
    return servers_folder() / f"{pinned.name}-{pinned.version}"


def is_installed(home: Path) -> bool:
    return (home / COMPLETE).is_file()


def corrupt_servers(homes: Iterable[str]) -> list[Corrupt]:
    """Only of directories that `scale servers install` made."""
    wanted = {os.path.realpath(home) for home in homes}
    pins, copies = read_pins().servers.values(), copies_folder()
    places = [(pinned, home_of(pinned), f"scale servers install {pinned.name}") for pinned in pins]
    if copies:
        again = "scale hosts prepare HOSTS.ini --servers"
        places += [(one, copies / f"{one.name}-{one.version}", f"{again} {one.name}") for one in pins]
    mistakes = (corrupt(one, home, command) for one, home, command in places if os.path.realpath(home) in wanted)
    return [one for one in mistakes if one is not None]


def corrupt(pinned: Pinned, home: Path, command: str) -> Corrupt | None:
    """None if it is whole. command: repairs it."""
    try:
        os.close(open_trusted(home))
        if not (wrong := changed(home, pinned)):
            return None
        sentence = f"corrupt: {', '.join(wrong[:3])} in {home}{' and more' * (len(wrong) > 3)}"
    except PreflightError as error:
        sentence = error.message
    except OSError as error:
        sentence = f"{error.filename or home}: {error.strerror}"
    return Corrupt(name=pinned.name, sentence=sentence, command=command)


def changed(home: Path, pinned: Pinned) -> list[str]:
    """Files that are missing or others, and jars that are none of the server's."""
    expected = {file.name: file.sha256 for file in pinned.files}
    expected |= {f"{LIB}/{jar.name}": jar.sha256 for jar in pinned.jars}
    wrong = [name for name, digest in expected.items() if file_digest(home / name) != digest]
    parts = pinned.parts
    jars = [f"{LIB}/{path.name}" for path in sorted((home / LIB).glob("*"))] if LIB not in parts else []
    wrong += [name for name in jars if name not in expected]
    must = (*parts, *((BIN,) if pinned.go else ()))
    kept = [name for name in dict.fromkeys((JAVA, BIN, *parts)) if (home / name).exists() or name in must]
    return wrong + [name for name in kept if not _is_as_kept(home, name)]


def keep_digest(home: Path, name: str) -> None:
    """Keeps that of a folder that was made from a file with a pinned one."""
    (home / f"{name}.sha256").write_text(f"{tree_digest(home / name)}\n", encoding="ascii")


def _is_as_kept(home: Path, name: str) -> bool:
    try:
        kept = (home / f"{name}.sha256").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return False
    return (home / name).is_dir() and tree_digest(home / name) == kept


def file_digest(path: Path) -> str:
    """ "" if there is no regular file that can be read."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
