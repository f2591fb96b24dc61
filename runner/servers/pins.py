"""Reads pins.toml: the one place where versions and digests of servers stand."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PINS = Path(__file__).with_name("pins.toml")


@dataclass(frozen=True, kw_only=True)
class PinnedFile:
    """maven: group:artifact:version. name: in the server's folder. sha256: of its bytes."""

    maven: str
    name: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Pinned:
    """A server. java: the oldest Java that runs it; 0: it needs none."""

    name: str
    version: str
    java: int
    files: tuple[PinnedFile, ...]


@dataclass(frozen=True, kw_only=True)
class PinnedJava:
    """A wheel that holds a Java runtime in `folder`. wheels: sha256 by the machine's processor, as uname has it."""

    version: str
    requirement: str
    folder: str
    wheels: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Pins:
    """All of the file."""

    servers: Mapping[str, Pinned]
    java: PinnedJava


def read_pins(path: Path = PINS) -> Pins:
    """The file that comes with this package, or another of the same form."""
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    servers = {
        name: Pinned(
            name=name,
            version=one["version"],
            java=one.get("java", 0),
            files=tuple(PinnedFile(**file) for file in one["files"]),
        )
        for name, one in raw["servers"].items()
    }
    return Pins(servers=servers, java=PinnedJava(**raw["java"]))
