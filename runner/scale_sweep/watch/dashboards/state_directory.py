"""The directory that holds everything of the dashboards, and the services that compose.yaml declares."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import secrets
import shutil
import stat
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from string import Template
from typing import Any, Literal

import yaml

from scale_sweep.base.errors import ProvisionError, StoreError
from scale_sweep.machine.host.server_user import closed_to_others
from scale_sweep.machine.state.places import folder_path, own_directory
from scale_sweep.machine.state.trusted import read_own
from scale_sweep.server.runtimes.local import UNPRIVILEGED_USER

SHIPPED = Path(__file__).resolve().parent / "provisioned"
CHECKOUT = Path(__file__).resolve().parents[4]
VARIABLE = "SCALE_DASHBOARDS_DIR"
PASSWORD_BYTES = 24
How = Literal["docker", "process"]
_WRITTEN = ("prometheus", "grafana", "grafana/plugins", "load/blocks", "admin-password")


@dataclass(frozen=True, kw_only=True)
class StartedService:
    name: str
    how: How
    port: int
    # pid, ticks: of a process
    pid: int = 0
    ticks: int = 0
    container: str = ""  # the id of a container
    program: str = ""


@dataclass(frozen=True, kw_only=True)
class StateDirectory:
    """Both programs run as `owner`, nobody if `scale` runs as root. What root reads again belongs to root: else nobody
    could decide what root starts or ends."""

    path: Path

    @property
    def owner(self) -> pwd.struct_passwd:
        uid = os.geteuid()
        if uid == 0:
            return pwd.getpwnam(UNPRIVILEGED_USER)
        with contextlib.suppress(KeyError):  # a container may run as a number that has no name
            return pwd.getpwuid(uid)
        return pwd.struct_passwd((str(uid), "", uid, os.getegid(), "", "/", ""))

    @property
    def targets(self) -> Path:
        return self.path / "targets"

    @property
    def password_file(self) -> Path:
        return self.path / "admin-password"

    def log(self, service: str) -> Path:
        return self.path / f"{service}.log"

    def fill(self) -> None:
        """Makes the subdirectories, copies the configuration, and makes a password once. Raises ProvisionError."""
        self.check(makes=True)
        try:
            shutil.rmtree(self.path / "config", ignore_errors=True)
            shutil.copytree(source() / "dashboards", self.path / "config")
            for name in ("targets", "prometheus", "grafana/plugins", "load/blocks"):
                (self.path / name).mkdir(parents=True, exist_ok=True)
            self._password()
        except OSError as error:
            raise ProvisionError(f"{self.path} cannot be filled: {error}", remedy=f"set {VARIABLE}") from None
        self.give()
        closed = closed_to_others(self.path) if os.geteuid() == 0 else ""
        if closed:
            raise ProvisionError(
                f"the dashboards run as {UNPRIVILEGED_USER}, who may not enter {closed}", remedy=f"set {VARIABLE}"
            )

    def check(self, *, makes: bool = False) -> bool:
        """Whether it is there. Raises PreflightError if it is not this user's alone, ProvisionError if it cannot be
        used."""
        try:
            return own_directory(self.path, makes=makes)
        except OSError as error:
            raise ProvisionError(f"{self.path} cannot be used: {error}", remedy=f"set {VARIABLE}") from None

    def give(self) -> None:
        """The programs' data and the password belong to `owner`; the rest belongs to us, and `owner` may read it."""
        if os.geteuid() != 0:
            return
        theirs = {self.path / name for name in _WRITTEN}
        for path in theirs:
            _give(path, self.owner)
        for where, folders, files in os.walk(self.path):
            folders[:] = [name for name in folders if Path(where, name) not in theirs]
            for path in (Path(where), *(Path(where, name) for name in files)):
                if path not in theirs:
                    os.chown(path, 0, 0, follow_symlinks=False)
                    path.chmod(path.stat().st_mode | (0o755 if path.is_dir() else 0o644))  # independent of the umask

    def _password(self) -> None:
        with contextlib.suppress(FileExistsError):
            handle = os.open(self.password_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(secrets.token_urlsafe(PASSWORD_BYTES))

    def started(self) -> Mapping[str, StartedService]:
        try:
            raw = json.loads(read_own(self.path / "state.json")) if self.check() else []
            return {one["name"]: StartedService(**one) for one in raw}
        except (OSError, ValueError, TypeError, KeyError):
            return {}

    def remember(self, started: Mapping[str, StartedService]) -> None:
        """Replaces the record. Raises StoreError."""
        path = self.path / "state.json"
        self.check()
        try:
            if not started:
                path.unlink(missing_ok=True)
                return
            partial = path.with_suffix(".partial")
            partial.write_text(json.dumps([asdict(s) for s in started.values()], indent=1), encoding="utf-8")
            partial.replace(path)
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error}") from None

    def remove(self) -> None:
        if self.check():
            shutil.rmtree(self.path, ignore_errors=True)


def _give(path: Path, owner: pwd.struct_passwd) -> None:
    """By a descriptor: the owner of the folder around it may put a link in its place."""
    at = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if os.fstat(at).st_nlink == 1 or stat.S_ISDIR(os.fstat(at).st_mode):
            os.fchown(at, owner.pw_uid, owner.pw_gid)
    finally:
        os.close(at)


def own_state_directory() -> StateDirectory:
    path = os.environ.get(VARIABLE, "")
    return StateDirectory(path=Path(path).absolute() if path else folder_path("dashboards"))


def source() -> Path:
    return SHIPPED if SHIPPED.is_dir() else CHECKOUT


def pins() -> Mapping[str, Any]:
    import tomllib

    with (source() / "images" / "pins.toml").open("rb") as file:
        pinned = tomllib.load(file)
    return {service: pin for service, pin in pinned.items() if service != "databases"}


_KEYS = {"image", "network_mode", "user", "cap_drop", "security_opt", "volumes", "entrypoint", "command", "environment"}


@dataclass(frozen=True, kw_only=True)
class Service:
    name: str
    image: str
    user: str
    network_mode: str
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    volumes: tuple[str, ...] = ()  # paths that are the same inside and outside the container
    cap_drop: tuple[str, ...] = ()
    security_opt: tuple[str, ...] = ()


def read_services(path: Path, values: Mapping[str, str]) -> Mapping[str, Service]:
    """The services by name, with each ${...} replaced. Raises ProvisionError that names key and file."""
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
        services = {name: _service(name, _filled(one, values)) for name, one in raw["services"].items()}
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise ProvisionError(f"{path} cannot be used: {error}") from None
    return services


def _filled(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return Template(value).substitute(values)
    if isinstance(value, list):
        return [_filled(one, values) for one in value]
    if isinstance(value, dict):
        return {key: _filled(one, values) for key, one in value.items()}
    return value


def _service(name: str, raw: Mapping[str, Any]) -> Service:
    unknown = sorted(set(raw) - _KEYS)
    if unknown:
        raise ValueError(f"services.{name} has the key {unknown[0]}, which nothing reads")
    volumes = [str(v).split(":") for v in raw.get("volumes", [])]
    if any(len(v) != 2 or v[0] != v[1] for v in volumes):
        raise ValueError(f"services.{name}.volumes: a path must be the same inside and outside")
    return Service(
        name=name,
        image=raw["image"],
        user=raw["user"],
        network_mode=raw["network_mode"],
        argv=(*raw["entrypoint"], *raw["command"]),
        environment={key: str(value) for key, value in raw.get("environment", {}).items()},
        volumes=tuple(v[0] for v in volumes),
        cap_drop=tuple(raw.get("cap_drop", ())),
        security_opt=tuple(raw.get("security_opt", ())),
    )
