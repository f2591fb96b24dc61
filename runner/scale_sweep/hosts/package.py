"""The files of a host: the agent, its libraries and the load generator, in one archive made from this installation."""

from __future__ import annotations

import hashlib
import importlib
import io
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePath

from scale_sweep.agent.serve import DIGEST_FILE
from scale_sweep.base.errors import PreflightError
from scale_sweep.base.spawning import run_within
from scale_sweep.loadgen.binary import LOOPBACK, loadgen_path
from scale_sweep.machine.disks.playbook import playbook_path
from scale_sweep.results.identity import PACKAGE

# The libraries of the agent, and of the clients of databases, with what they need. Ansible makes disks, and needs its
# cryptography only for vaults.
LIBRARIES = (
    "ansible-core", "ansible-runner", "attrs", "cattrs", "hdrhistogram", "jinja2", "lockfile", "markupsafe", "numpy",
    "packaging", "pexpect", "psutil", "psycopg", "psycopg-binary", "ptyprocess", "python-daemon", "pyyaml", "scipy",
    "typing_extensions",
)  # fmt: skip
LEFT_OUT = ("tests", "__pycache__", "include", "ansible_test", "galaxy", "distutils")
ANSIBLE = """#!/bin/sh
exec "${SCALE_PYTHON:-python3}" -P -m ansible playbook "$@"
"""
# Of scipy the judgement of a trial needs Student's t alone. All of scipy has 114 MB, this part and what it imports 43.
PARTS = {"scipy": "scipy.special"}
ONLY_FOR_TYPES = ".pyi"
FETCH_S = 300.0
SITE = "site"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of host: version of Python as "3.11", and machine as uname(1) names it."""

    python: str
    machine: str


@dataclass(frozen=True, kw_only=True)
class Package:
    """Files by their path in the archive."""

    kind: Kind
    files: tuple[tuple[str, Path], ...]
    digest: str  # of all paths and contents

    def write(self, archive: Path) -> None:
        """Writes the archive; the digest's file is the last one in it."""
        with tarfile.open(archive, "w:gz", compresslevel=1) as made:
            for name, path in self.files:
                made.add(path, arcname=name, recursive=False, filter=_plain)
            content = f"{self.digest}\n".encode()
            last = tarfile.TarInfo(DIGEST_FILE)
            last.size, last.mode = len(content), 0o644
            made.addfile(last, io.BytesIO(content))

    @property
    def bytes(self) -> int:
        """The size of the files."""
        return sum(path.stat().st_size for _, path in self.files)


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = ""
    info.mode = 0o755 if info.mode & 0o100 else 0o644
    return info


def package_for(kind: Kind, scratch: Path) -> Package:
    """The package for a kind of host. scratch: for fetched wheels. Raises PreflightError."""
    program = Path(loadgen_path()).resolve()
    own = [(f"{SITE}/scale_sweep/{path.relative_to(PACKAGE)}", path) for path in sorted(_own_files())]
    programs = [(f"bin/{name}", program.parent / name) for name in (program.name, LOOPBACK)]
    programs.append(("bin/ansible-playbook", _written(scratch / "ansible-playbook")))
    own += _playbooks()
    here = Kind(python=f"{sys.version_info.major}.{sys.version_info.minor}", machine=_machine())
    libraries = _installed() if kind == here else _fetched(kind, scratch)
    files = tuple(sorted({**dict(own), **dict(libraries), **dict(programs)}.items()))
    digest = hashlib.sha256()
    for name, path in files:
        digest.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return Package(kind=kind, files=files, digest=digest.hexdigest()[:16])


def _written(script: Path) -> Path:
    script.write_text(ANSIBLE, encoding="ascii")
    script.chmod(0o755)
    return script


def _playbooks() -> Iterator[tuple[str, Path]]:
    folder = playbook_path().parent
    for path in folder.rglob("*"):
        if path.is_file():
            yield f"{SITE}/scale_sweep/{folder.name}/{path.relative_to(folder)}", path


def _own_files() -> Iterator[Path]:
    for path in PACKAGE.rglob("*"):
        inside = path.relative_to(PACKAGE).parts
        if path.is_file() and not set(inside) & {*LEFT_OUT, "cli", "playbooks", "provisioned"}:
            yield path


def _installed() -> Iterator[tuple[str, Path]]:
    for name in LIBRARIES:
        try:
            files = metadata.files(name) or []
        except metadata.PackageNotFoundError:
            raise PreflightError(f"{name} is not installed here", remedy="install scale again") from None
        for file in files:
            path = Path(str(file.locate()))
            if ".." not in file.parts and not set(file.parts) & set(LEFT_OUT) and path.is_file() and _is_needed(file):
                yield f"{SITE}/{file}", path


def _is_needed(file: PurePath) -> bool:
    """Whether the agent may import a library's file, by its path below the libraries: of a library of PARTS, its own
    modules, and the packages in it that its part imports here."""
    if file.suffix == ONLY_FOR_TYPES:
        return False
    part = PARTS.get(file.parts[0])
    if part is None or len(file.parts) == 2:
        return True
    importlib.import_module(part)
    return f"{file.parts[0]}.{file.parts[1]}" in sys.modules


def _fetched(kind: Kind, scratch: Path) -> Iterator[tuple[str, Path]]:
    """Wheels of the same versions for another Python."""
    target = scratch / f"{kind.machine}-{kind.python}"
    wanted = [f"{name}=={metadata.version(name)}" for name in LIBRARIES]
    platforms = [f"--platform=manylinux{tag}_{kind.machine}" for tag in ("2014", "_2_17", "_2_27", "_2_28")]
    argv = [
        sys.executable,
        "-I",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--target",
        str(target),
        "--no-deps",
        "--no-compile",
    ]
    argv += ["--only-binary=:all:", f"--python-version={kind.python}", *platforms, *wanted]
    shutil.rmtree(target, ignore_errors=True)
    try:
        done = run_within(FETCH_S, argv, cwd=scratch)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PreflightError(f"wheels for Python {kind.python} were not fetched: {error}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise PreflightError(f"wheels for Python {kind.python} on {kind.machine} were not fetched: {last}")
    for path in target.rglob("*"):
        inside = path.relative_to(target)
        if path.is_file() and not set(inside.parts) & set(LEFT_OUT) and _is_needed(inside):
            yield f"{SITE}/{inside}", path


def _machine() -> str:
    import platform

    return platform.machine()
