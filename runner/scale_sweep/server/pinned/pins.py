"""Which servers are pinned (pins.toml, and NAME.jars for the jars of one), and whether installed ones are whole."""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import PreflightError
from scale_sweep.machine.state.copies import tree_digest
from scale_sweep.machine.state.trusted import open_trusted
from scale_sweep.server.targets.installations import COMPLETE, copies_folder, servers_folder

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
    linked: str = ""  # flags of the linker, such as for the version
    tags: str = ""
    libraries: str = ""  # a program that builds libraries in Rust, called as pkg-config


@dataclass(frozen=True, kw_only=True)
class PinnedWheel:
    """With a Java runtime, or a server, in `folder`."""

    requirement: str
    folder: str
    wheels: Mapping[str, str]  # sha256 by processor, as in uname
    version: str = ""
    parts: tuple[str, ...] = ()  # folders in it; empty: all of it
    libraries: str = ""  # a folder whose files go to the part `lib`


@dataclass(frozen=True, kw_only=True)
class PinnedArchive:
    """A jar with a server's programs in `folder`."""

    maven: str
    sha256: str
    processor: str  # as in uname
    folder: str
    members: tuple[str, ...]  # files; with "/" at the end a folder

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(member.partition("/")[0] for member in self.members))


@dataclass(frozen=True, kw_only=True)
class Pinned:
    name: str
    version: str
    java: int  # the oldest that runs it; 0: it needs none
    files: tuple[PinnedFile, ...]
    jars: tuple[PinnedFile, ...] = ()  # its class path, installed into `lib`
    newest_java: int | None = None  # None: any newer one
    go: PinnedGo | None = None  # built into `bin`
    wheel: PinnedWheel | None = None  # a whole server, as `archive`
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
    """path: of pins.toml, or another of the same form."""
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
    """Lines `SHA256 group:artifact:version`, where `:jar:CLASSIFIER` may follow."""
    jars = []
    for line in path.read_text(encoding="utf-8").splitlines():
        sha256, maven = line.split()
        _, artifact, version, *more = maven.split(":")
        jars.append(PinnedFile(maven=maven, name="-".join((artifact, version, *more[1:])) + ".jar", sha256=sha256))
    return tuple(jars)


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
    """homes: only those of `scale servers install` are looked at."""
    wanted = {os.path.realpath(home) for home in homes}
    pins, copies = read_pins().servers.values(), copies_folder()
    places = [(pinned, home_of(pinned), f"scale servers install {pinned.name}") for pinned in pins]
    if copies:
        again = "scale hosts prepare HOSTS.ini --servers"
        places += [(one, copies / f"{one.name}-{one.version}", f"{again} {one.name}") for one in pins]
    mistakes = (corrupt(one, home, command) for one, home, command in places if os.path.realpath(home) in wanted)
    return [one for one in mistakes if one is not None]


def corrupt(pinned: Pinned, home: Path, command: str) -> Corrupt | None:
    """command: repairs it."""
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
    """Missing or other files, and jars that are not the server's."""
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
    """home: of the server; name: of a folder that was made from a pinned file."""
    (home / f"{name}.sha256").write_text(f"{tree_digest(home / name)}\n", encoding="ascii")


def _is_as_kept(home: Path, name: str) -> bool:
    try:
        kept = (home / f"{name}.sha256").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return False
    return (home / name).is_dir() and tree_digest(home / name) == kept


def file_digest(path: Path) -> str:
    """ "" without a readable regular file."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
