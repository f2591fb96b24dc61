"""Opens and replaces the files of stored runs; nothing else does."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import stat
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

from scale_sweep.base.errors import PreflightError, StoreError
from scale_sweep.machine.state import open_trusted

WAITING = ".partial"  # the end of the name of a file's new content, until it replaces the file
MANIFEST, PLAN, FIT, TRIAL = "manifest.json", "plan.json", "fit.json", "trial.json"
ENTRIES_MAX = 100_000  # in a run: 10,000 trials have ten files each
# The largest file of each kind. What grows with a trial has the larger limit: six days at a line of 2 kB a second.
_DOCUMENT, _GROWING = 64 << 20, 1 << 30
_BYTES_MAX = {MANIFEST: 16 << 20, TRIAL: 16 << 20, "spec": 16 << 20, "facts.json": 16 << 20, "server.log": 256 << 20}
_GROWING_KINDS = (".jsonl", ".parquet", "series.csv")
_BLOCK = 1 << 20
_RETURNS_S, _LOOKS_S = 2.0, 0.001  # for the name of a new directory to come back; between two looks at it
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a directory",
    stat.S_IFLNK: "a link",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class Folder:
    """A directory that is open: it stays the same one if its name goes to another. path: for messages."""

    def __init__(self, path: Path, fd: int | None = None) -> None:
        """fd: of the open directory; without it, the path is opened for reading. Raises StoreError."""
        self.path = path
        try:
            self.fd = os.open(path, _DIRECTORY) if fd is None else fd
        except (OSError, ValueError) as error:  # a ValueError: a NUL in the path
            raise StoreError(f"{path} cannot be read: {getattr(error, 'strerror', error)}") from None
        weakref.finalize(self, os.close, self.fd)

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def __str__(self) -> str:
        return str(self.path)


def own_folder(path: Path, *, makes: bool = False) -> Folder:
    """A directory to write into. makes: what is missing on the path. Raises PreflightError if another user can change
    it, StoreError if it cannot be opened."""
    try:
        return Folder(path, open_trusted(path, makes=makes, of_sudo=True))
    except OSError as error:
        raise _unwritable(path, error) from None


def new_folder(path: Path) -> Folder:
    """A new directory in an own one, which is made if it is missing. Raises as `own_folder`, and PreflightError if its
    name stays with something else: one that another user moves away for a moment is waited for."""
    parent = own_folder(path.parent, makes=True)
    try:
        os.mkdir(path.name, dir_fd=parent.fd)
        deadline = time.monotonic() + _RETURNS_S
        while time.monotonic() < deadline:
            if made := _own_and_empty(path, parent):
                return made
            time.sleep(_LOOKS_S)
    except OSError as error:
        raise _unwritable(path, error) from None
    raise PreflightError(f"{path} was replaced as soon as it was made", remedy="name another directory")


def _own_and_empty(path: Path, parent: Folder) -> Folder | None:
    """The directory of this name; None for anything else. Raises OSError."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):  # also of a link
        folder = Folder(path, os.open(path.name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=parent.fd))
        if os.fstat(folder.fd).st_uid == os.geteuid() and not os.listdir(folder.fd):
            return folder
    return None


def _unwritable(path: Path, error: OSError) -> StoreError:
    return StoreError(f"{path} cannot be written: {error.strerror}", remedy="name a writable directory with free space")


def subfolder(run: Folder, name: str) -> Folder:
    """A folder below an open one. Raises OSError, and StoreError for a link."""
    with _holding(run, f"{name}/") as folder:
        return Folder(run / name, os.dup(folder))


def is_run(path: Path) -> bool:
    """Whether a path is that of a directory with a manifest, whatever it is, which this user may enter."""
    try:
        return is_there(Folder(path), MANIFEST)
    except StoreError:
        return False


def bytes_max(name: str) -> int:
    """The largest size of a file of a run, by its name."""
    return _BYTES_MAX.get(_last(name), _GROWING if name.endswith(_GROWING_KINDS) else _DOCUMENT)


def is_there(run: Folder, name: str) -> bool:
    try:
        with contextlib.suppress(StoreError), _holding(run, name) as folder:
            os.stat(_last(name), dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


def opened(run: Folder, name: str) -> BinaryIO:
    """A file of the run, open for reading. Raises StoreError, and FileNotFoundError if it does not exist."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
    why = ""
    try:
        with _holding(run, name) as folder:
            try:
                file = os.open(_last(name), flags, dir_fd=folder)
            except OSError as error:
                why = _why(folder, _last(name), error)
                raise
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _refused(run, name, why or error.strerror or "") from None
    seen = os.fstat(file)
    if not stat.S_ISREG(seen.st_mode) or seen.st_size > bytes_max(name):
        os.close(file)
        if stat.S_ISREG(seen.st_mode):
            raise _too_large(run, name, seen.st_size)
        raise _refused(run, name, _is_no_file(seen.st_mode))
    return os.fdopen(file, "rb")


def read_bytes(run: Folder, name: str) -> bytes:
    """The content of a file of the run. Raises as `opened`."""
    with opened(run, name) as file:
        try:
            content = file.read(bytes_max(name) + 1)
        except OSError as error:
            raise _refused(run, name, error.strerror or "") from None
    if len(content) > bytes_max(name):  # it grew while it was read
        raise _too_large(run, name, len(content))
    return content


def read_text(run: Folder, name: str) -> str:
    """The text of a file of the run. Raises StoreError that names the file, also if it is missing or no UTF-8."""
    try:
        return read_bytes(run, name).decode("utf-8")
    except FileNotFoundError:
        raise _refused(run, name, "No such file or directory") from None
    except UnicodeDecodeError as error:
        raise StoreError(f"{run / name} cannot be read: {error}") from None


def lines_of(run: Folder, name: str) -> Iterator[str]:
    """The lines of a file of the run, one at a time, without their ends. Raises as `read_text`."""
    try:
        with opened(run, name) as file:
            for line in file:
                yield line.decode("utf-8").removesuffix("\n")
    except FileNotFoundError:
        raise _refused(run, name, "No such file or directory") from None
    except OSError as error:
        raise _refused(run, name, error.strerror or "") from None
    except UnicodeDecodeError as error:
        raise StoreError(f"{run / name} cannot be read: {error}") from None


def digest_of(run: Folder, name: str) -> str:
    """The SHA-256 of a file of the run, in hexadecimal. Raises as `opened`."""
    made = hashlib.sha256()
    with opened(run, name) as file:
        while block := file.read(_BLOCK):
            made.update(block)
    return made.hexdigest()


def names_of(run: Folder, folder: str = "") -> Iterator[str]:
    """The names of all entries of the run, or below one of its folders, that are no directories; nothing of a folder
    that does not exist. A link counts as one entry. Raises StoreError for more entries than a run has."""
    count = 0
    with contextlib.suppress(FileNotFoundError), _holding(run, f"{folder}/" if folder else "") as top:
        for where, folders, files, at in os.fwalk(".", dir_fd=top):
            links = [name for name in folders if stat.S_ISLNK(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode)]
            for name in (*links, *files):
                count += 1
                if count > ENTRIES_MAX:
                    raise StoreError(f"{run / folder} has more than {ENTRIES_MAX} files: it does not belong to a run")
                yield str(Path(folder, where, name))


def write_waiting(run: Folder, name: str, content: bytes) -> None:
    """Writes the new content of a file beside it. Raises OSError, and StoreError for a link on the way."""
    with _holding(run, name) as folder:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_last(name) + WAITING, dir_fd=folder)
        with os.fdopen(os.open(_last(name) + WAITING, _NEW, 0o666, dir_fd=folder), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())


def put_in_place(run: Folder, name: str) -> None:
    """Replaces a file by its new content, which `write_waiting` wrote. Raises as it does."""
    with _holding(run, name) as folder:
        os.replace(_last(name) + WAITING, _last(name), src_dir_fd=folder, dst_dir_fd=folder)


def write(run: Folder, name: str, content: bytes) -> None:
    """Replaces a file, or makes it. Raises as `write_waiting`."""
    write_waiting(run, name, content)
    put_in_place(run, name)


def new_file(run: Folder, name: str) -> TextIO:
    """A new file, open for writing. Raises OSError, also if it exists, and StoreError for a link on the way."""
    with _holding(run, name) as folder:
        return os.fdopen(os.open(_last(name), _NEW, 0o666, dir_fd=folder), "w", encoding="utf-8")


def make_folder(run: Folder, name: str) -> None:
    """Makes a folder of the run, and those on its way, if they are missing. Raises as `write_waiting`."""
    if "/" in name:
        make_folder(run, name.rpartition("/")[0])
    with contextlib.suppress(FileExistsError), _holding(run, name) as folder:
        os.mkdir(_last(name), dir_fd=folder)


def remove_folder(run: Folder, name: str) -> None:
    """Removes a folder of the run with its contents, as far as that is possible. Raises StoreError for a link on the
    way."""
    with contextlib.suppress(FileNotFoundError), _holding(run, name) as folder:
        shutil.rmtree(_last(name), ignore_errors=True, dir_fd=folder)


@contextlib.contextmanager
def _holding(run: Folder, name: str) -> Iterator[int]:
    """A descriptor of the directory that holds the file, reached without following a link. Raises OSError, and
    StoreError for a link."""
    held = os.dup(run.fd)
    try:
        for part in name.split("/")[:-1]:
            try:
                below = os.open(part, _DIRECTORY | os.O_NOFOLLOW, dir_fd=held)
            except FileNotFoundError:
                raise
            except OSError as error:
                raise _refused(run, name, f"{part}: {_why(held, part, error, wanted='directory')}") from None
            os.dup2(below, held, inheritable=False)
            os.close(below)
        yield held
    finally:
        os.close(held)


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _why(folder: int, entry: str, error: OSError, wanted: str = "regular file") -> str:
    """Why an entry of a directory could not be opened: what it is, or the kernel's reason."""
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
        with contextlib.suppress(OSError):
            return _is_no_file(os.stat(entry, dir_fd=folder, follow_symlinks=False).st_mode, wanted)
    return error.strerror or str(error)


def _is_no_file(mode: int, wanted: str = "regular file") -> str:
    return f"it is {_KINDS.get(stat.S_IFMT(mode), 'a file')}, not a {wanted}"


def _refused(run: Folder, name: str, why: str) -> StoreError:
    return StoreError(f"{run / name} cannot be read: {why}")


def _too_large(run: Folder, name: str, size: int) -> StoreError:
    return StoreError(f"{run / name} has {size} bytes; a file of this kind has at most {bytes_max(name)}")
