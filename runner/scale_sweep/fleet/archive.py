"""A finished run as bytes, from the host that measured it to this one."""

from __future__ import annotations

import io
import os
import secrets
import tarfile
from pathlib import Path, PurePosixPath

from scale_sweep.base.errors import StoreError
from scale_sweep.results.store.stored import Folder, is_there, make_folder, own_folder, remove_folder, subfolder, write
from scale_sweep.verify.digests import check_digests

BYTES_MAX = 2**30  # of all files of a run


def packed(run: Path) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz", compresslevel=3) as archive:
        archive.add(run, arcname=run.name)
    return content.getvalue()


def unpacked(content: bytes, results: Path, host: str) -> Path:
    """Writes the run into the directory of runs, when all of it is right. Raises StoreError that names the host."""
    there, arriving = own_folder(results, makes=True), f".arriving-{secrets.token_hex(3)}"
    try:
        try:
            with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
                name = _name(archive, host)
                make_folder(there, f"{arriving}/{name}")
                _write(archive, there, arriving)
        except (tarfile.TarError, EOFError, OSError, ValueError) as error:  # ValueError: a NUL in a name
            raise StoreError(f"{host}: its run did not arrive: {error}") from None
        if wrong := check_digests(subfolder(there, f"{arriving}/{name}")).disagreements:
            raise StoreError(f"{host}: its run did not arrive whole: {wrong[0].file} {wrong[0].sentence}")
        if is_there(there, name):
            raise StoreError(f"{host}: {results / name} exists already")
        os.rename(f"{arriving}/{name}", name, src_dir_fd=there.fd, dst_dir_fd=there.fd)
    finally:
        remove_folder(there, arriving)
    return results / name


def _name(archive: tarfile.TarFile, host: str) -> str:
    """The only folder at the top. Raises StoreError."""
    members = archive.getmembers()
    tops = {PurePosixPath(member.name).parts[0] for member in members if PurePosixPath(member.name).parts}
    plain = all(
        (member.isreg() or member.isdir()) and ".." not in PurePosixPath(member.name).parts for member in members
    )
    if len(tops) != 1 or not plain or tops & {"/", "..", "."}:
        raise StoreError(f"{host}: its answer is not the archive of a run")
    if sum(member.size for member in members) > BYTES_MAX:
        raise StoreError(f"{host}: its run has more than {BYTES_MAX:,} bytes")
    return tops.pop()


def _write(archive: tarfile.TarFile, there: Folder, folder: str) -> None:
    """Its files, with the permissions of new ones. The Python of Debian 12 (3.11.2) has no filter of `extractall`."""
    for member in archive.getmembers():
        name = f"{folder}/{PurePosixPath(member.name)}"
        make_folder(there, name if member.isdir() else name.rpartition("/")[0])
        content = archive.extractfile(member)  # None of a folder
        if content is not None:
            write(there, name, content.read())
