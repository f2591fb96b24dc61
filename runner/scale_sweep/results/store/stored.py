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
from scale_sweep.machine.state.trusted import open_trusted

WAITING = ".partial"  # ends the name of a file's new content, until it is in place
MANIFEST, PLAN, FIT, TRIAL = "manifest.json", "plan.json", "fit.json", "trial.json"
ENTRIES_MAX = 100_000  # 10,000 trials have ten files each
# The largest file of each kind: what grows with a trial, six days at 2 kB a second.
_DOCUMENT, _GROWING = 64 << 20, 1 << 30
_BYTES_MAX = {MANIFEST: 16 << 20, TRIAL: 16 << 20, "spec": 16 << 20, "facts.json": 16 << 20, "server.log": 256 << 20}
_GROWING_KINDS = (".jsonl", ".parquet", "series.csv")
_BLOCK = 1 << 20
_RETURNS_S, _LOOKS_S = 2.0, 0.001  # until the name of a new directory is back
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
    """An open directory: it stays the same one if its name goes to another."""

    def __init__(self, path: Path, fd: int | None = None) -> None:
        """fd: of the open directory. Raises StoreError."""
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
    """To write into. makes: what is missing. Raises PreflightError if another user can change it, StoreError."""
    try:
        return Folder(path, open_trusted(path, makes=makes, of_sudo=True))
    except OSError as error:
        raise unwritable(path, error) from None


def new_folder(path: Path) -> Folder:
    """Raises as `own_folder`, and PreflightError if its name stays with something else; for a moment is waited for."""
    parent = own_folder(path.parent, makes=True)
    try:
        os.mkdir(path.name, dir_fd=parent.fd)
        deadline = time.monotonic() + _RETURNS_S
        while time.monotonic() < deadline:
            if made := _own_and_empty(path, parent):
                return made
            time.sleep(_LOOKS_S)
    except OSError as error:
        raise unwritable(path, error) from None
    raise PreflightError(f"{path} was replaced as soon as it was made", remedy="name another directory")


def _own_and_empty(path: Path, parent: Folder) -> Folder | None:
    """None for anything else. Raises OSError."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):  # also of a link
        folder = Folder(path, os.open(path.name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=parent.fd))
        if os.fstat(folder.fd).st_uid == os.geteuid() and not os.listdir(folder.fd):
            return folder
    return None


def unwritable(path: Path, error: OSError) -> StoreError:
    return StoreError(f"{path} cannot be written: {error.strerror}", remedy="name a writable directory with free space")


def subfolder(run: Folder, name: str) -> Folder:
    """Raises OSError, and StoreError for a link."""
    with _holding(run, f"{name}/") as folder:
        return Folder(run / name, os.dup(folder))


def is_run(path: Path) -> bool:
    try:
        return is_there(Folder(path), MANIFEST)
    except StoreError:
        return False


def bytes_max(name: str) -> int:
    return _BYTES_MAX.get(_last(name), _GROWING if name.endswith(_GROWING_KINDS) else _DOCUMENT)


def is_there(run: Folder, name: str) -> bool:
    try:
        with contextlib.suppress(StoreError), _holding(run, name) as folder:
            os.stat(_last(name), dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


def opened(run: Folder, name: str) -> BinaryIO:
    """Raises StoreError, and FileNotFoundError if it does not exist."""
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
    """Raises as `opened`."""
    with opened(run, name) as file:
        try:
            content = file.read(bytes_max(name) + 1)
        except OSError as error:
            raise _refused(run, name, error.strerror or "") from None
    if len(content) > bytes_max(name):  # it grew while it was read
        raise _too_large(run, name, len(content))
    return content


def read_text(run: Folder, name: str) -> str:
    """Raises StoreError that names the file, also if it is missing or no UTF-8."""
    try:
        return read_bytes(run, name).decode("utf-8")
    except FileNotFoundError:
        raise _refused(run, name, "No such file or directory") from None
    except UnicodeDecodeError as error:
        raise StoreError(f"{run / name} cannot be read: {error}") from None


def lines_of(run: Folder, name: str) -> Iterator[str]:
    """One at a time, without their ends. Raises as `read_text`."""
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
    """SHA-256. Raises as `opened`."""
    made = hashlib.sha256()
    with opened(run, name) as file:
        while block := file.read(_BLOCK):
            made.update(block)
    return made.hexdigest()


def names_of(run: Folder, folder: str = "") -> Iterator[str]:
    """All but directories, below a folder that may be missing; a link is one entry. Raises StoreError for too many."""
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
    """Beside the file. Raises OSError, and StoreError for a link on the way."""
    with _holding(run, name) as folder:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_last(name) + WAITING, dir_fd=folder)
        with os.fdopen(os.open(_last(name) + WAITING, _NEW, 0o666, dir_fd=folder), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())


def put_in_place(run: Folder, name: str) -> None:
    """Raises as `write_waiting`."""
    with _holding(run, name) as folder:
        os.replace(_last(name) + WAITING, _last(name), src_dir_fd=folder, dst_dir_fd=folder)


def write(run: Folder, name: str, content: bytes) -> None:
    """Raises as `write_waiting`."""
    write_waiting(run, name, content)
    put_in_place(run, name)


def new_file(run: Folder, name: str) -> TextIO:
    """Raises OSError, also if it exists, and StoreError for a link on the way."""
    with _holding(run, name) as folder:
        return os.fdopen(os.open(_last(name), _NEW, 0o666, dir_fd=folder), "w", encoding="utf-8")


def make_folder(run: Folder, name: str) -> None:
    """With those on its way. Raises as `write_waiting`."""
    if "/" in name:
        make_folder(run, name.rpartition("/")[0])
    with contextlib.suppress(FileExistsError), _holding(run, name) as folder:
        os.mkdir(_last(name), dir_fd=folder)


def remove_folder(run: Folder, name: str) -> None:
    """As far as possible. Raises StoreError for a link on the way."""
    with contextlib.suppress(FileNotFoundError), _holding(run, name) as folder:
        shutil.rmtree(_last(name), ignore_errors=True, dir_fd=folder)


@contextlib.contextmanager
def _holding(run: Folder, name: str) -> Iterator[int]:
    """The directory of a file, without following a link. Raises OSError, and StoreError for a link."""
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
    """Its kind, or the kernel's reason."""
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
