"""A Docker image with this Python and a shell, built without a registry: it stands for `python:slim`, from which
images/scale/Dockerfile builds.

Holds the interpreter, its standard library, the shared libraries that both ask for, the certificates of this machine and
the users root and nobody. What it cannot show is that the published image has what that file needs.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import ssl
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import Path

from tests.integration.docker_image import libraries, readable

REPOSITORY = "scale-test/python"
TOOLS = (
    "sh",
    "env",
    "id",
    "ls",
    "cat",
    "rm",
    "mkdir",
    "chmod",
    "uname",
    "nice",
    "sleep",
    "setpriv",
    "prlimit",
    "taskset",
)
LEFT_OUT = ("site-packages", "test", "__pycache__", "idlelib", "tkinter")
BESIDE = ("libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2", "libstdc++.so.6", "libgcc_s.so.1", "libz.so.1")
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
FILES = {
    "etc/passwd": "root:x:0:0::/tmp:/bin/sh\nnobody:x:65534:65534::/tmp:/bin/sh\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "etc/nsswitch.conf": "hosts: files dns\n",
}


def ensure_image() -> str:
    """The image's name; made once for each Python that runs the tests, then reused."""
    import docker

    engine = docker.from_env()
    tag = hashlib.sha256(f"{sys.base_prefix} {sys.version}".encode()).hexdigest()[:16]
    name = f"{REPOSITORY}:{tag}"
    if not engine.images.list(name=name):
        with tempfile.TemporaryFile(dir="/var/tmp") as file:
            _fill(file)
            file.seek(0)
            changes = ["ENV PATH=/usr/local/bin:/usr/bin:/bin", f"ENV PIP_CERT={CERTIFICATES}"]
            engine.api.import_image_from_data(file, repository=REPOSITORY, tag=tag, changes=changes)
    return name


def _fill(file: object) -> None:
    prefix = sys.base_prefix
    name = f"python{sysconfig.get_python_version()}"
    program, library = Path(prefix, "bin", name).resolve(), Path(sysconfig.get_path("stdlib"))
    library = Path(prefix, library.relative_to(sys.prefix)) if library.is_relative_to(sys.prefix) else library
    tools = [Path(found) for tool in TOOLS if (found := shutil.which(tool))]
    modules = list(library.rglob("*.so"))
    with tarfile.open(fileobj=file, mode="w") as tar:  # type: ignore[call-overload]
        tar.add(program, f"{prefix}/bin/{name}".lstrip("/"), filter=readable)
        tar.add(library, str(library).lstrip("/"), filter=_wanted)
        for link in ("python3", "python"):
            _link(tar, f"usr/local/bin/{link}", f"{prefix}/bin/{name}")
        for tool in tools:
            tar.add(tool.resolve(), f"bin/{tool.name}", filter=readable)
        for one in _libraries([program, *modules, *tools]):
            tar.add(Path(one).resolve(), one, filter=readable)
        tar.add(Path(ssl.get_default_verify_paths().cafile or CERTIFICATES).resolve(), CERTIFICATES, filter=readable)
        for path, text in FILES.items():
            _text(tar, path, text)
        for folder in ("tmp", "var/tmp"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777
            tar.addfile(entry)


def _libraries(files: list[Path]) -> set[str]:
    """With those of the smallest Debian that no header of these files names: for host names, and for wheels in C++."""
    found = libraries(files)
    folders = {os.path.dirname(one) for one in found if "libc.so" in one}
    return found | {str(path) for folder in folders for name in BESIDE if (path := Path(folder, name)).exists()}


def _wanted(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    parts = Path(entry.name).parts
    return None if any(part in LEFT_OUT for part in parts) else readable(entry)


def _link(tar: tarfile.TarFile, name: str, to: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = tarfile.SYMTYPE, to
    tar.addfile(entry)


def _text(tar: tarfile.TarFile, name: str, text: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(text), 0o644
    tar.addfile(entry, io.BytesIO(text.encode()))
