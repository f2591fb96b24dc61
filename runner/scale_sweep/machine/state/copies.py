"""Copies of programs and libraries in this user's folders, each in a directory named by its contents' digest."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from scale_sweep.base.errors import ProvisionError
from scale_sweep.machine.host.server_user import closed_to_others
from scale_sweep.machine.state.places import folder, refusals_named

DIGITS = 32
_checked: dict[tuple[str, int], str] = {}


def copy_of(sources: Mapping[str, Path], name: str) -> Path:
    """A copy of directories or files, by their path in it; made if missing or changed. Raises PreflightError,
    OSError."""
    wanted = _digest({inside: _known_digest(path) for inside, path in sources.items()})

    def fill(made: Path) -> None:
        for inside, path in sources.items():
            (made / inside).parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                shutil.copytree(path, made / inside, symlinks=True)
            else:
                shutil.copy(path, made / inside)

    def is_right(there: Path) -> bool:
        return _digest({inside: _known_digest(there / inside) for inside in sources}) == wanted

    return _kept(folder(name) / wanted, fill, is_right)


def _kept(copy: Path, fill: Callable[[Path], None], is_right: Callable[[Path], bool]) -> Path:
    if copy.is_dir() and is_right(copy):
        return copy
    made = copy.with_name(f"made-{secrets.token_hex(8)}")
    with refusals_named():
        made.mkdir(mode=0o755)
    try:
        fill(made)
        _close_to_others(made)
        if not is_right(made):
            raise OSError(f"{copy.parent}: the source changed while it was copied")
        shutil.rmtree(copy, ignore_errors=True)
        os.rename(made, copy)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return copy


def reachable(home: str) -> str:
    """A server's home or program, or a copy (with the NAME.libs of a wheel) if the server's user may not reach it.
    Raises ProvisionError."""
    source = Path(home).resolve()
    folder_of = source if source.is_dir() else source.parent
    if not home or os.geteuid() != 0 or not closed_to_others(folder_of):
        return home
    package = source.parent
    libraries = package.with_name(package.name + ".libs")
    inside = f"{package.name}/{source.name}"
    sources = {inside: source, **({libraries.name: libraries} if libraries.is_dir() else {})}
    try:
        return str(copy_of(sources, "programs") / inside)
    except OSError as error:
        raise ProvisionError(f"{home} cannot be copied for the server's user: {error}") from None


def keep_file(content: bytes, key: str, inside: str, name: str) -> Path:
    """Under a key of its source and its digest in the folder `name`; `kept_file` finds it again."""
    directory = f"{key}-{hashlib.sha256(content).hexdigest()[:DIGITS]}"

    def fill(made: Path) -> None:
        path = made / inside
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755)

    def is_right(there: Path) -> bool:
        return directory == f"{key}-{_file_digest(there / inside)[:DIGITS]}"

    return _kept(folder(name) / directory, fill, is_right) / inside


def kept_file(key: str, inside: str, name: str) -> Path | None:
    """Under this key, and with its digest; None if there is none."""
    for there in sorted(folder(name).glob(f"{key}-*")):
        if (there / inside).is_file() and there.name == f"{key}-{_file_digest(there / inside)[:DIGITS]}":
            return there / inside
    return None


def _known_digest(top: Path) -> str:
    key = (str(top), hash(tuple((str(p), s.st_size, s.st_ctime_ns, s.st_ino) for p, s in _entries(top))))
    if key not in _checked:
        _checked[key] = tree_digest(top)
    return _checked[key]


def tree_digest(top: Path) -> str:
    """The digest of the names, links, contents and execution permissions of a directory or file."""
    return _digest({str(path.relative_to(top)): _entry_digest(path, status) for path, status in _entries(top)})


def _entry_digest(path: Path, status: os.stat_result) -> str:
    if stat.S_ISLNK(status.st_mode):
        return f"link {os.readlink(path)}"
    if stat.S_ISREG(status.st_mode):
        return f"file {bool(status.st_mode & stat.S_IXUSR)} {_file_digest(path)}"
    return "directory" if stat.S_ISDIR(status.st_mode) else "other"


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest(parts: Mapping[str, str]) -> str:
    text = "".join(f"{name}\0{value}\n" for name, value in sorted(parts.items()))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:DIGITS]


def _entries(top: Path) -> Iterator[tuple[Path, os.stat_result]]:
    yield top, os.lstat(top)
    for where, folders, files in os.walk(top):
        folders.sort()
        for name in sorted((*folders, *files)):
            yield Path(where, name), os.lstat(os.path.join(where, name))


def _close_to_others(top: Path) -> None:
    for path, status in list(_entries(top)):
        if not stat.S_ISLNK(status.st_mode):
            others = 0o055 if stat.S_ISDIR(status.st_mode) or status.st_mode & stat.S_IXUSR else 0o044
            path.chmod(stat.S_IMODE(status.st_mode) & 0o755 | others)
