"""A run as one archive, and back: nothing that an archive says about links, owners, places or sizes is trusted."""

from __future__ import annotations

import gzip
import io
import os
import secrets
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from scale_sweep.base.errors import StoreError
from scale_sweep.results.store.stored import (
    ENTRIES_MAX,
    Folder,
    bytes_max,
    is_there,
    make_folder,
    own_folder,
    remove_folder,
    subfolder,
    unwritable,
    write,
)
from scale_sweep.verify.digests import check_digests

GET_AGAIN = "nothing of it was kept; get it once more"
RUN_BYTES_MAX = 2**30  # of all files of a run
_PARTS_MAX = 4  # RUN/trials/TRIAL/FILE
_HEADERS_MAX = 2 * 512 * ENTRIES_MAX
_FOLDER, _FILES = tarfile.DIRTYPE, (tarfile.REGTYPE, tarfile.AREGTYPE)  # no sparse file, whose size is made up


def packed(run: Path, name: str = "") -> bytes:
    """name: of the run in the archive, if another than here."""
    content = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=content, mode="wb", compresslevel=6, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as archive,
    ):
        archive.add(run, arcname=name or run.name, filter=_without_owner)
    return content.getvalue()


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    return member


def unpacked(content: bytes, results: Path, source: str, accept: Callable[[Folder], None] = lambda run: None) -> Path:
    """Writes the run into the directory of runs, when all of it is right. source: for messages. accept: looks at the
    run before it has its name, and may add to it. Raises StoreError."""
    there, arriving = own_folder(results, makes=True), f".arriving-{secrets.token_hex(3)}"
    make_folder(there, arriving)
    try:
        try:
            with tarfile.open(fileobj=_Bounded(content, source), mode="r|") as archive:
                name = _write_run(archive, there, arriving, source)
        except (tarfile.TarError, EOFError, gzip.BadGzipFile, ValueError, zlib.error) as error:  # of a NUL in a name
            raise _refused(source, f"its run did not arrive: {error}") from None
        except OSError as error:
            raise unwritable(results, error) from None
        run = subfolder(there, f"{arriving}/{name}")
        if wrong := check_digests(run).disagreements:
            raise _refused(source, f"its run did not arrive whole: {wrong[0].file} {wrong[0].sentence}")
        if is_there(there, name):
            remedy = "name another directory: --results DIR"
            raise StoreError(f"{source}: {results / name} exists already", remedy=remedy)
        accept(run)
        os.rename(f"{arriving}/{name}", name, src_dir_fd=there.fd, dst_dir_fd=there.fd)
    finally:
        remove_folder(there, arriving)
    return results / name


class _Bounded(gzip.GzipFile):
    """Ends the reading of what is larger than any run: before it is in memory."""

    def __init__(self, content: bytes, source: str) -> None:
        super().__init__(fileobj=io.BytesIO(content), mode="rb")
        self._source, self._left = source, RUN_BYTES_MAX + _HEADERS_MAX

    def read(self, size: int | None = -1) -> bytes:
        block = super().read(size)
        self._left -= len(block)
        if self._left < 0:
            raise _too_large(self._source)
        return block


def _too_large(source: str) -> StoreError:
    return _refused(source, "it has more than a run: too many files, or too large ones")


def _refused(source: str, why: str) -> StoreError:
    return StoreError(f"{source}: {why}", remedy=GET_AGAIN)


def _write_run(archive: tarfile.TarFile, there: Folder, folder: str, source: str) -> str:
    """The name of the only folder at the top. Files have the permissions of new ones. Raises StoreError."""
    top, left = "", RUN_BYTES_MAX
    for count, member in enumerate(archive):
        path = PurePosixPath(member.name)
        top = top or path.parts[0] if path.parts else top
        is_plain = member.type == _FOLDER or (member.type in _FILES and len(path.parts) > 1)
        is_below = path.parts[:1] == (top,) and len(path.parts) <= _PARTS_MAX and ".." not in path.parts
        if not (is_plain and is_below) or top.startswith(("/", ".")):
            raise _refused(source, "it is not the archive of a run")
        left -= member.size
        if left < 0 or member.size < 0 or member.size > bytes_max(str(path)) or count > ENTRIES_MAX:
            raise _too_large(source)
        name = f"{folder}/{path}"
        make_folder(there, name if member.type == _FOLDER else name.rpartition("/")[0])
        content = archive.extractfile(member)  # None of a folder
        if content is not None:
            write(there, name, content.read())
    if not top:
        raise _refused(source, "it is not the archive of a run")
    return top
