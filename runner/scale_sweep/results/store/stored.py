"""Opens and replaces the files of stored runs; nothing else does. Whoever copied a run here may have made any of them.

Refuses what is no regular file (a FIFO would wait for ever), a link and what lies behind one, and a file that is larger
than any run's. Each refusal is a StoreError that names the file.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from scale_sweep.base.errors import StoreError

WAITING = ".partial"  # the end of the name of a file's new content, until it replaces the file
MANIFEST, PLAN, FIT, TRIAL = "manifest.json", "plan.json", "fit.json", "trial.json"
ENTRIES_MAX = 100_000  # in a run: 10,000 trials have ten files each
# The largest file of each kind. What grows with the length of a trial has the larger limit: at one line of 2 kB a
# second, six days of a soak.
_DOCUMENT, _GROWING = 64 << 20, 1 << 30
_BYTES_MAX = {MANIFEST: 16 << 20, TRIAL: 16 << 20, "spec": 16 << 20, "facts.json": 16 << 20, "server.log": 256 << 20}
_GROWING_KINDS = (".jsonl", ".parquet", "series.csv")
_BLOCK = 1 << 20
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a directory",
    stat.S_IFLNK: "a link",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def bytes_max(name: str) -> int:
    """The largest size of a file of a run, by its name."""
    last = name.rpartition("/")[2]
    return _BYTES_MAX.get(last, _GROWING if last.endswith(_GROWING_KINDS) else _DOCUMENT)


def is_there(run: Path, name: str) -> bool:
    """Whether the run has an entry of this name, whatever it is: reading refuses what is no file of a run. False for a
    run that is no directory, or that this user may not enter."""
    try:
        folder = _folder(run, name)
    except (OSError, ValueError):  # a ValueError: a NUL in the path
        return False
    except StoreError:
        return True
    try:
        os.stat(_last(name), dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    finally:
        os.close(folder)
    return True


def opened(run: Path, name: str) -> BinaryIO:
    """A file of the run, open for reading. Raises StoreError, and FileNotFoundError if it does not exist."""
    try:
        folder = _folder(run, name)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _refused(run, name, error.strerror or "") from None
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
    try:
        file = os.open(_last(name), flags, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _refused(run, name, _why(folder, _last(name), error)) from None
    finally:
        os.close(folder)
    seen = os.fstat(file)
    if not stat.S_ISREG(seen.st_mode) or seen.st_size > bytes_max(name):
        os.close(file)
        if stat.S_ISREG(seen.st_mode):
            raise _too_large(run, name, seen.st_size)
        raise _refused(run, name, _is_no_file(seen.st_mode))
    return os.fdopen(file, "rb")


def read_bytes(run: Path, name: str) -> bytes:
    """The content of a file of the run. Raises as `opened`."""
    with opened(run, name) as file:
        try:
            content = file.read(bytes_max(name) + 1)
        except OSError as error:
            raise _refused(run, name, error.strerror or "") from None
    if len(content) > bytes_max(name):  # it grew while it was read
        raise _too_large(run, name, len(content))
    return content


def read_text(run: Path, name: str) -> str:
    """The text of a file of the run. Raises StoreError that names the file, also if it is missing or no UTF-8."""
    try:
        return read_bytes(run, name).decode("utf-8")
    except FileNotFoundError:
        raise _refused(run, name, "No such file or directory") from None
    except UnicodeDecodeError as error:
        raise StoreError(f"{run / name} cannot be read: {error}") from None


def digest_of(run: Path, name: str) -> str:
    """The SHA-256 of a file of the run, in hexadecimal. Raises as `opened`."""
    made = hashlib.sha256()
    with opened(run, name) as file:
        while block := file.read(_BLOCK):
            made.update(block)
    return made.hexdigest()


def names_of(run: Path, folder: str = "") -> Iterator[str]:
    """The names of all entries of the run, or below one of its folders, that are no directories; nothing of a folder
    that does not exist. A link counts as one entry. Raises StoreError for more entries than a run has."""
    count = 0
    for where, folders, files in os.walk(run / folder):
        links = [name for name in folders if os.path.islink(os.path.join(where, name))]
        for name in (*links, *files):
            count += 1
            if count > ENTRIES_MAX:
                raise StoreError(f"{run / folder} has more than {ENTRIES_MAX} files, so it does not belong to a run")
            yield str(Path(where, name).relative_to(run))


def write_waiting(run: Path, name: str, content: bytes) -> None:
    """Writes the new content of a file beside it. Raises OSError, and StoreError for a link on the way."""
    folder, waiting = _folder(run, name), _last(name) + WAITING
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(waiting, dir_fd=folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(waiting, flags, 0o666, dir_fd=folder), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    finally:
        os.close(folder)


def put_in_place(run: Path, name: str) -> None:
    """Replaces a file by its new content, which `write_waiting` wrote. Raises as it does."""
    folder = _folder(run, name)
    try:
        os.replace(_last(name) + WAITING, _last(name), src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.close(folder)


def _folder(run: Path, name: str) -> int:
    """A descriptor of the directory that holds the file, reached without following a link. Raises OSError, and
    StoreError for a link."""
    held = os.open(run, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in name.split("/")[:-1]:
        try:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=held)
        except OSError as error:
            if isinstance(error, FileNotFoundError):
                raise
            raise _refused(run, name, f"{part}: {_why(held, part, error, wanted='directory')}") from None
        finally:
            os.close(held)
        held = below
    return held


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _why(folder: int, entry: str, error: OSError, wanted: str = "regular file") -> str:
    """Why an entry of a directory could not be opened: what it is, or the kernel's reason."""
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
        try:
            return _is_no_file(os.stat(entry, dir_fd=folder, follow_symlinks=False).st_mode, wanted)
        except OSError:
            pass
    return error.strerror or str(error)


def _is_no_file(mode: int, wanted: str = "regular file") -> str:
    return f"it is {_KINDS.get(stat.S_IFMT(mode), 'a file')}, not a {wanted}"


def _refused(run: Path, name: str, why: str) -> StoreError:
    return StoreError(f"{run / name} cannot be read: {why}")


def _too_large(run: Path, name: str, size: int) -> StoreError:
    return StoreError(f"{run / name} has {size} bytes; a file of this kind has at most {bytes_max(name)}")
