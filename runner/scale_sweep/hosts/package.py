"""Archives for hosts: the agent, its libraries and the load generator; database servers of this machine."""

from __future__ import annotations

import hashlib
import importlib
import io
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePath

from scale_sweep.agent.serve import DIGEST_FILE
from scale_sweep.base.errors import PreflightError, UsageError
from scale_sweep.base.spawning import run_within
from scale_sweep.base.texts import not_one_of
from scale_sweep.loadgen.binary import LOOPBACK, loadgen_path
from scale_sweep.machine.disks.playbook import playbook_path
from scale_sweep.machine.state.copies import tree_digest
from scale_sweep.results.identity import PACKAGE
from scale_sweep.server.pinned import corrupt_servers, read_pins
from scale_sweep.server.pinned.pins import home_of, is_installed

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
    python: str  # like "3.11"
    machine: str  # as uname(1) names it


@dataclass(frozen=True, kw_only=True)
class Package:
    files: tuple[tuple[str, Path], ...]  # by their path in the archive; a folder stands for all in it
    digest: str  # of all paths and contents
    servers: tuple[str, ...] = ()  # the names of database servers, if these are their files

    def write(self, archive: Path) -> None:
        """Writes the archive; the digest's file is the last one in it."""
        with tarfile.open(archive, "w:gz", compresslevel=1) as made:
            for name, path in self.files:
                made.add(path, arcname=name, filter=_of_nobody if self.servers else _plain)
            content = f"{self.digest}\n".encode()
            last = tarfile.TarInfo(DIGEST_FILE)
            last.size, last.mode = len(content), 0o644
            made.addfile(last, io.BytesIO(content))

    @property
    def bytes(self) -> int:
        return sum(one.lstat().st_size for _, path in self.files for one in (path, *path.rglob("*")))


def _of_nobody(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mode &= 0o755
    return info


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.mtime, info.mode = 0, 0o755 if info.mode & 0o100 else 0o644
    return _of_nobody(info)


def package_for(kind: Kind, scratch: Path) -> Package:
    """scratch: for fetched wheels. Raises PreflightError."""
    program = Path(loadgen_path()).resolve()
    left_out = {*LEFT_OUT, "cli", "playbooks", "provisioned"}
    inside = {path.relative_to(PACKAGE): path for path in PACKAGE.rglob("*") if path.is_file()}
    own = [(f"{SITE}/scale_sweep/{at}", path) for at, path in inside.items() if not set(at.parts) & left_out]
    programs = [(f"bin/{name}", program.parent / name) for name in (program.name, LOOPBACK)]
    playbook, folder = scratch / "ansible-playbook", playbook_path().parent
    playbook.write_text(ANSIBLE, encoding="ascii")
    playbook.chmod(0o755)
    programs.append(("bin/ansible-playbook", playbook))
    plays = [path for path in folder.rglob("*") if path.is_file()]
    own += [(f"{SITE}/scale_sweep/{folder.name}/{path.relative_to(folder)}", path) for path in plays]
    here = Kind(python=f"{sys.version_info.major}.{sys.version_info.minor}", machine=platform.machine())
    libraries = _installed() if kind == here else _fetched(kind, scratch)
    files = tuple(sorted({**dict(own), **dict(libraries), **dict(programs)}.items()))
    digest = hashlib.sha256()
    for name, path in files:
        digest.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return Package(files=files, digest=digest.hexdigest()[:16])


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
    """Whether the agent may import a library's file, by its path below the libraries."""
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
    argv = [sys.executable, "-I", *"-m pip install --quiet --no-deps --no-compile --target".split(), str(target)]
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


FOLDER = "servers"  # in the home of a host
DIGITS = 16


def copied_servers(names: Iterable[str]) -> Package:
    """Raises UsageError for a name that is not installed, PreflightError for changed files."""
    pins = read_pins().servers
    wanted = sorted(set(names))
    for name in wanted:
        if name not in pins:
            raise UsageError(f"--servers: {not_one_of(name, pins)}")
        if not is_installed(home_of(pins[name])):
            raise UsageError(
                f"--servers: {name} {pins[name].version} is not installed here", remedy=f"scale servers install {name}"
            )
    homes = tuple(home_of(pins[name]) for name in wanted)
    for wrong in corrupt_servers(map(str, homes)):
        raise PreflightError(f"--servers: {wrong.name}: {wrong.sentence}", remedy=wrong.command)
    digest = hashlib.sha256("".join(f"{home.name}\0{tree_digest(home)}\n" for home in homes).encode())
    files = tuple((home.name, home) for home in homes)
    return Package(files=files, digest=digest.hexdigest()[:DIGITS], servers=tuple(wanted))


def refuse_other_machine(host: str, machine: str, own: str) -> None:
    """Raises UsageError for a host with another processor than that of the files here."""
    if machine != own:
        raise UsageError(
            f"--servers: {host} is a {machine}, and the servers here are those of {own}",
            remedy="leave out --servers, and install the server there",
        )


def to_have_on(host: str, inventory: Path, target: str, remedies: str) -> str:
    others = [one for one in remedies.split(", or ") if one and not one.startswith("scale servers install")]
    ours = [f"scale servers install {target}, then scale hosts prepare {inventory} --servers {target}"]
    there = [f"on {host}: {', or '.join(others)}"] if others else []
    return "; or ".join([*(ours if target in read_pins().servers else ()), *there])


def names_of(text: str) -> Sequence[str]:
    """Raises UsageError for an empty name."""
    names = [name.strip() for name in text.split(",")] if text else []
    if "" in names:
        raise UsageError(f"--servers {text}: a name is empty", remedy="like --servers postgres,questdb")
    return names
