"""Docker images of installed servers, under the names that `--runtime docker` starts."""

from __future__ import annotations

import glob
import io
import os
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from scale_sweep.base.errors import PreflightError, UsageError
from scale_sweep.base.spawning import run_within
from scale_sweep.server.runtimes.docker_engine import BUILT_FROM, import_image, labels_of
from scale_sweep.server.targets import Target, all_facts, load_target

SHELL = Path("/bin/sh")
RELEASE = Path("/etc/os-release")  # some servers refuse to start without it
ZONE = Path("/usr/share/zoneinfo/UTC")
LIBRARIES = "/usr/lib"  # of the image, for libraries that are elsewhere on this machine
# Of a development kit, but not of a server.
JAVA_ALONE = frozenset({"jmods", "include", "man", "legal", "demo", "src.zip", "lib/src.zip"})
_OF_SYSTEM = tuple(map(Path, ("/lib", "/lib64", "/usr/lib", "/usr/lib64")))
_LDD_S = 60.0
_ELF = b"\x7fELF"
_FOUND = re.compile(r"(?:=>\s*)?(/\S+) \(0x")
_MISSING = re.compile(r"(\S+) => not found")
_USERS = "root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n"
_OPEN_FOLDERS = ("tmp", "var/tmp")


@dataclass(frozen=True, kw_only=True)
class BuiltImage:
    image: str  # with its tag
    image_id: str
    version: str  # of the server
    home: str
    files: int
    size_bytes: int  # of all files
    is_default: bool  # `--runtime docker` starts it by default


def build(name: str, home: str, image: str = "") -> BuiltImage:
    """image: "" for the official name. Raises UsageError, PreflightError, ProvisionError."""
    target = load_target(name)
    facts = target.facts
    if not facts.image_files:
        able = ", ".join(one.name for one in all_facts() if one.image_files)
        raise UsageError(f"images build: {facts.title} cannot be an image of an installation; possible: {able}")
    installed = target.find(home)
    if installed is None:
        raise UsageError(f"--home {home}: there is no {facts.title}", remedy=facts.to_install)
    if not installed.version:
        raise PreflightError(
            f"--home {home}: {facts.title} does not report its version", remedy="was it built for another machine?"
        )
    wanted = image or facts.default_image(installed.version)
    labels = labels_of(wanted)
    if labels is not None and BUILT_FROM not in labels:
        raise UsageError(
            f"image {wanted} is here already, and `scale` has not built it",
            remedy=f"name another one with --image, or remove it: docker image rm {wanted}",
        )
    inside = _files(target, Path(installed.home))
    with tempfile.TemporaryFile() as archive:
        size_bytes = write_root(archive, inside)
        archive.seek(0)
        image_id = import_image(archive, wanted, {BUILT_FROM: installed.home})
    return BuiltImage(
        image=wanted,
        image_id=image_id,
        version=installed.version,
        home=installed.home,
        files=len(inside),
        size_bytes=size_bytes,
        is_default=wanted == facts.default_image(""),
    )


def _files(target: Target, home: Path) -> Mapping[str, Path]:
    """By their paths in the image. Raises UsageError for a missing one."""
    facts = target.facts
    inside: dict[str, Path] = {}
    for path, names in facts.image_files.items():
        there = next((home / name for name in names if (home / name).exists()), None)
        if there is None and path not in facts.image_extras:
            raise UsageError(f"--home {home}: there is no {' or '.join(names)}", remedy=facts.to_install)
        if there is not None:
            inside |= tree(there, path) if path.endswith("/") else {path: there}
    if facts.image_java:
        inside |= tree(Path(target.java_runtime(str(home))), f"{facts.image_java}/", JAVA_ALONE)
    for path, folder in target.image_folders().items():
        inside |= tree(Path(folder), path)
    of_system = [path for path in (SHELL, RELEASE, ZONE) if path.is_file()]
    tools = system_files(facts.image_tools)
    folders = tuple(dict.fromkeys(path.parent for path in inside.values()))
    own = {path.resolve() for path in inside.values()}
    for library in needed_libraries((*inside.values(), *tools, SHELL), folders):
        if library.resolve() not in own:
            is_found = any(library.is_relative_to(folder) for folder in _OF_SYSTEM)  # by every program
            inside[str(library) if is_found else f"{LIBRARIES}/{library.name}"] = library
    return {**inside, **{str(path): path for path in (*of_system, *tools)}}


def tree(folder: Path, where: str, left_out: frozenset[str] = frozenset()) -> dict[str, Path]:
    """Links are followed once. where: in the image, with "/" at its end. left_out: relative to the folder."""
    inside: dict[str, Path] = {}
    seen: set[str] = set()
    for place, folders, names in os.walk(folder, followlinks=True):
        relative = Path(place).relative_to(folder)
        folders[:] = [
            name
            for name in folders
            if str(relative / name) not in left_out and os.path.realpath(f"{place}/{name}") not in seen
        ]
        seen.add(os.path.realpath(place))
        files = [Path(place, name) for name in names if str(relative / name) not in left_out]
        inside |= {f"{where}{file.relative_to(folder)}": file for file in files if file.is_file()}
    return inside


def system_files(names: Sequence[str]) -> tuple[Path, ...]:
    """Raises PreflightError for one that is not here."""
    places = [Path(folder) for folder in ("/bin", "/usr/bin", *sorted(glob.glob("/lib/*-linux-gnu")))]
    paths = {name: next((place / name for place in places if (place / name).is_file()), None) for name in names}
    if missing := [name for name, path in paths.items() if path is None]:
        raise PreflightError(f"these are missing here: {', '.join(missing)}", remedy="install them")
    return tuple(path for path in paths.values() if path is not None)


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_ELF)) == _ELF


def needed_libraries(programs: Sequence[Path], folders: Sequence[Path]) -> tuple[Path, ...]:
    """By `ldd`, first in the folders. Raises PreflightError for missing ones."""
    environment = {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(map(str, folders)), "LC_ALL": "C"}
    try:
        files = [str(program) for program in programs if _is_elf(program)]
        outputs = [run_within(_LDD_S, ("ldd", *files), env=environment).stdout] if files else []
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PreflightError(f"ldd cannot be run: {error}", remedy="apt-get install libc-bin") from None
    if missing := sorted({name for text in outputs for name in _MISSING.findall(text)}):
        raise PreflightError(f"these libraries are missing here: {', '.join(missing)}", remedy="install them")
    return tuple(Path(path) for path in sorted({path for text in outputs for path in _FOUND.findall(text)}))


def write_root(archive: BinaryIO, inside: Mapping[str, Path]) -> int:
    """With users and temporary folders. Returns the bytes of all files."""
    total = 0
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for folder in _OPEN_FOLDERS:
            tar.addfile(_entry(folder, 0o1777, kind=tarfile.DIRTYPE))
        users = _USERS.encode()
        tar.addfile(_entry("etc/passwd", 0o644, len(users)), io.BytesIO(users))
        for path, source in sorted(inside.items()):
            with source.open("rb") as file:
                facts = os.fstat(file.fileno())
                mode = 0o755 if facts.st_mode & 0o111 else 0o644
                tar.addfile(_entry(path.lstrip("/"), mode, facts.st_size), file)
                total += facts.st_size
    return total


def _entry(path: str, mode: int, size: int = 0, *, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(path)
    entry.mode, entry.size, entry.type = mode, size, kind
    return entry
