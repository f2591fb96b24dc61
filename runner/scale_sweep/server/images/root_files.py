"""The files of an image's root: which shared libraries programs need, and all files as a tar archive."""

from __future__ import annotations

import glob
import io
import os
import re
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from scale_sweep.base.errors import PreflightError
from scale_sweep.base.spawning import run_within

SHELL = Path("/bin/sh")
RELEASE = Path(
    "/etc/os-release"
)  # of the system whose libraries the image has; some servers refuse to start without it
ZONE = Path("/usr/share/zoneinfo/UTC")  # the time zone that every server is given
LIBRARIES = "/usr/lib"  # of the image, where every program finds libraries that were elsewhere on this machine
# What a Java runtime of a development kit has besides what a server needs.
JAVA_ALONE = frozenset({"jmods", "include", "man", "legal", "demo", "src.zip", "lib/src.zip"})
_OF_SYSTEM = tuple(map(Path, ("/lib", "/lib64", "/usr/lib", "/usr/lib64")))
_LDD_S = 60.0
_ELF = b"\x7fELF"
_FOUND = re.compile(r"(?:=>\s*)?(/\S+) \(0x")
_MISSING = re.compile(r"(\S+) => not found")
_USERS = "root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n"
_OPEN_FOLDERS = ("tmp", "var/tmp")


def is_of_system(library: Path) -> bool:
    """Whether it is where programs look for libraries by themselves."""
    return any(library.is_relative_to(folder) for folder in _OF_SYSTEM)


def tree(folder: Path, where: str, left_out: frozenset[str] = frozenset()) -> dict[str, Path]:
    """All files below a folder, by their paths in the image. Links are followed once, also those to folders. where: the
    folder in the image, ending with "/". left_out: files and folders, relative to the folder."""
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
    """Programs and libraries of this machine by their names. Raises PreflightError for one that is not here."""
    places = [Path(folder) for folder in ("/bin", "/usr/bin", *sorted(glob.glob("/lib/*-linux-gnu")))]
    paths = {name: next((place / name for place in places if (place / name).is_file()), None) for name in names}
    if missing := [name for name, path in paths.items() if path is None]:
        raise PreflightError(f"these are missing here: {', '.join(missing)}", remedy="install them")
    return tuple(path for path in paths.values() if path is not None)


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_ELF)) == _ELF


def needed_libraries(programs: Sequence[Path], folders: Sequence[Path]) -> tuple[Path, ...]:
    """The shared libraries that the programs load at their start, as `ldd` finds them. folders: are searched first.

    Raises PreflightError that names the libraries that this machine lacks.
    """
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
    """Writes a tar of the files by their absolute paths in the image, with users and temporary folders. The bytes of
    all files."""
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
