"""Database servers for the hosts of [server]: those that `scale servers install` brought here, in one archive."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.agent.serve import DIGEST_FILE
from scale_sweep.base.errors import PreflightError, UsageError
from scale_sweep.base.texts import not_one_of
from scale_sweep.machine.state.copies import tree_digest
from scale_sweep.server.pinned import corrupt_servers, read_pins
from scale_sweep.server.pinned.whole import home_of, is_installed

FOLDER = "servers"  # in the home of a host
DIGITS = 16


@dataclass(frozen=True, kw_only=True)
class CopiedServers:
    """names: of the servers. homes: their directories here. digest: of all names and contents."""

    names: tuple[str, ...]
    homes: tuple[Path, ...]
    digest: str

    def write(self, archive: Path) -> None:
        """Writes the archive; the digest's file is the last one in it."""
        with tarfile.open(archive, "w:gz", compresslevel=1) as made:
            for home in self.homes:
                made.add(home, arcname=home.name, filter=_of_nobody)
            content = f"{self.digest}\n".encode()
            last = tarfile.TarInfo(DIGEST_FILE)
            last.size, last.mode = len(content), 0o644
            made.addfile(last, io.BytesIO(content))

    @property
    def bytes(self) -> int:
        """The size of the files."""
        return sum(path.lstat().st_size for home in self.homes for path in home.rglob("*"))


def _of_nobody(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mode &= 0o755
    return info


def copied_servers(names: Iterable[str]) -> CopiedServers:
    """The named servers of this machine. Raises UsageError for a name that is none or not installed here, and
    PreflightError for changed files."""
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
    return CopiedServers(names=tuple(wanted), homes=homes, digest=digest.hexdigest()[:DIGITS])


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
    """The names of a list with commas. Raises UsageError for an empty name."""
    names = [name.strip() for name in text.split(",")] if text else []
    if "" in names:
        raise UsageError(f"--servers {text}: a name is empty", remedy="like --servers postgres,questdb")
    return names
