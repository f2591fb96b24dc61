"""Questions to the Docker Engine: images, files in them, control groups and states of containers."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import posixpath
import tarfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from scale_sweep.base.errors import PreflightError, ProvisionError, ScaleError
from scale_sweep.base.interrupts import deferred
from scale_sweep.machine.state.copies import keep_file, kept_file
from scale_sweep.model.resources import Accounting

ENGINE_S, PULL_QUESTION_S = 60, 5
SOCKET = "unix:///var/run/docker.sock"


@dataclass(frozen=True, kw_only=True)
class DockerFacts:
    reachable: bool
    version: str = ""
    cgroup_driver: str = ""
    cgroup_version: str = ""
    elsewhere: str = ""  # a sentence, if the engine is not of this machine

    @property
    def why_none(self) -> str:
        return self.elsewhere or "no Docker Engine answers"

    @property
    def remedy(self) -> str:
        if self.elsewhere:
            return f"to measure there: --hosts (docs/hosts.md); for an engine of this machine: DOCKER_HOST={SOCKET}"
        return "install Docker Engine (apt-get install docker.io), start dockerd, and be root or in the group docker"


def client(timeout_s: int = ENGINE_S) -> Any:
    """None without an engine of this machine."""
    return _engine(timeout_s)[0]


def docker_facts() -> DockerFacts:
    return _engine(ENGINE_S)[1]


@functools.cache
def _engine(timeout_s: int) -> tuple[Any, DockerFacts]:
    with contextlib.suppress(Exception):
        import docker

        elsewhere = _other_address()
        engine = None if elsewhere else docker.from_env(timeout=timeout_s)
        info = engine.info() if engine is not None else {}
        if elsewhere := elsewhere or _other_machine(info):
            return None, DockerFacts(reachable=False, elsewhere=elsewhere)
        return engine, DockerFacts(
            reachable=True,
            version=str(info.get("ServerVersion", "")),
            cgroup_driver=str(info.get("CgroupDriver", "")),
            cgroup_version=str(info.get("CgroupVersion", "")),
        )
    return None, DockerFacts(reachable=False)


def _other_address() -> str:
    """ "" for a socket of this machine: servers get its directories and CPUs."""
    from docker.context import ContextAPI
    from docker.utils import parse_host

    if host := os.environ.get("DOCKER_HOST", ""):
        named_by = "DOCKER_HOST"
    else:
        host = str(ContextAPI.kwargs_from_context().get("base_url") or SOCKET)
        named_by = "DOCKER_CONTEXT" if os.environ.get("DOCKER_CONTEXT") else "the context of `docker`"
    if str(parse_host(host)).startswith("http+unix:"):
        return ""
    return f"the Docker Engine at {host} ({named_by}) is not on a socket of this machine"


def _other_machine(info: Mapping[str, Any]) -> str:
    """Behind a socket may be another one too. dockerd counts the CPUs that its process may use."""
    name, cpus, here = info.get("Name"), info.get("NCPU"), os.uname().nodename
    if name == here and cpus in (os.cpu_count(), len(os.sched_getaffinity(0))):
        return ""
    return f"the Docker Engine is on {name} with {cpus} CPUs, and this is {here} with {os.cpu_count()}"


def image_state(image: str) -> str:
    """ "local" or "absent"."""
    return "local" if _has(client(), lambda engine: engine.images.get(image)) else "absent"


def can_pull(image: str) -> bool:
    return _has(client(PULL_QUESTION_S), lambda engine: engine.images.get_registry_data(image))


def _has(engine: Any, question: Callable[[Any], Any]) -> bool:
    try:
        return engine is not None and question(engine) is not None
    except Exception:
        return False


def engine_to_start() -> Any:
    """Raises ProvisionError without an engine of this machine."""
    if (engine := client()) is None:
        raise ProvisionError(docker_facts().why_none, remedy=docker_facts().remedy)
    return engine


BUILT_FROM = "scale.built-from"  # a label: the installation


def labels_of(image: str) -> Mapping[str, str] | None:
    """None without the image. Raises PreflightError without an engine."""
    from docker.errors import APIError, NotFound

    try:
        return dict(engine_or_error().images.get(image).labels)
    except NotFound:
        return None
    except APIError as error:
        raise ProvisionError(f"image {image}: {error.explanation or error}") from None


def import_image(archive: BinaryIO, image: str, labels: Mapping[str, str]) -> str:
    """Raises ProvisionError."""
    from docker.errors import APIError

    repository, _, tag = image.rpartition(":")
    changes = [f"LABEL {json.dumps(name)}={json.dumps(value)}" for name, value in labels.items()]
    changes.append("ENV PATH=/usr/bin:/bin")
    try:
        answer = engine_or_error().api.import_image_from_data(archive, repository=repository, tag=tag, changes=changes)
        lines = [json.loads(line) for line in answer.splitlines() if line.strip()]
    except (APIError, ValueError, OSError) as error:
        raise ProvisionError(f"image {image} was not made: {getattr(error, 'explanation', None) or error}") from None
    if refused := [line["error"] for line in lines if "error" in line]:
        raise ProvisionError(f"image {image} was not made: {refused[0]}")
    return str(lines[-1].get("status", "")) if lines else ""


def engine_or_error() -> Any:
    engine = client()
    if engine is None:
        raise PreflightError(docker_facts().why_none, remedy=docker_facts().remedy)
    return engine


LINKS_MAX = 10
BYTES_MAX = 1 << 30


def copy_out(image: str, path: str) -> Path:
    """Links are followed. Raises ProvisionError."""
    engine = engine_to_start()
    try:
        if image_state(image) != "local":
            engine.images.pull(image)
        key = str(engine.images.get(image).id).partition(":")[2][:12]
        inside = f"lib/{posixpath.basename(path)}"
        if there := kept_file(key, inside, "clients"):
            return there
        with deferred():
            container = engine.containers.create(image, entrypoint=["/bin/true"], labels={"scale.run": "copy"})
            try:
                return keep_file(_content(container, path), key, inside, "clients")
            finally:
                with contextlib.suppress(Exception):
                    container.remove(force=True, v=True)
    except ScaleError:
        raise
    except Exception as error:
        raise ProvisionError(f"{path} cannot be taken from image {image}: {error}") from None


def _content(container: Any, path: str) -> bytes:
    for _ in range(LINKS_MAX):
        stream, _ = container.get_archive(path)
        with tarfile.open(fileobj=io.BytesIO(b"".join(stream))) as tar:
            entry = tar.getmembers()[0]
            if entry.issym():
                path = posixpath.join(posixpath.dirname(path), entry.linkname)
                continue
            file = tar.extractfile(entry)
            if file is None or entry.size > BYTES_MAX:
                raise ProvisionError(f"{path} in the image is not a file of sensible size")
            return file.read()
    raise ProvisionError(f"{path} in the image is a chain of links without end")


JOIN_S = 5.0
_BLKIO = Path("/sys/fs/cgroup/blkio/cgroup.procs")


def join_root_blkio(pids: Callable[[], Sequence[int]]) -> None:
    """The root group of cgroup v1 has the disk limits: writes by fsync escape others. Raises ProvisionError."""
    if not _BLKIO.exists() or os.geteuid() != 0:
        return
    deadline = time.monotonic() + JOIN_S
    while (outside := outside_root_blkio(pids())) and time.monotonic() < deadline:
        for pid in outside:
            with contextlib.suppress(OSError):  # it ended, or a child has just started
                _BLKIO.write_text(str(pid), encoding="utf-8")
    if outside:
        raise ProvisionError(f"processes {outside} of the container are not under the disks' limits")


def outside_root_blkio(pids: Sequence[int]) -> list[int]:
    outside = []
    for pid in pids:
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines()
            outside += [pid for line in lines if "blkio" in line.split(":")[1].split(",") and line.split(":")[2] != "/"]
    return outside


def accounting_of(pid: int) -> Accounting | None:
    """None once the process is ending: v1 then names the root group."""
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    paths = {}
    for line in lines:
        _, controllers, path = line.split(":", 2)
        for name in controllers.split(","):
            if name in ("cpuacct", "cpu", "memory"):
                paths[name] = f"/sys/fs/cgroup/{name}{path}"
    if "cpuacct" in paths:
        ending = Path(paths["cpuacct"]) == Path("/sys/fs/cgroup/cpuacct")
        return None if ending else Accounting(kind="cgroup1", paths=paths)
    unified = [line.split(":", 2)[2] for line in lines if line.startswith("0::")]
    return Accounting(kind="cgroup2", paths={"unified": f"/sys/fs/cgroup{unified[0]}"}) if unified else None


EXITED_S = 10.0  # the engine is later than the kernel


def ended_state(container: Any) -> Mapping[str, Any]:
    """Empty if the engine does not report it."""
    deadline = time.monotonic() + EXITED_S
    with contextlib.suppress(Exception):  # a failing engine may raise anything
        while True:
            container.reload()
            state: Mapping[str, Any] = container.attrs["State"]
            if state["Status"] == "exited" or time.monotonic() > deadline:
                return state
            time.sleep(0.05)
    return {}


def exposed(container: Any) -> tuple[str, int]:
    """The container's own address on this machine, and the first TCP port that its image exposes: no proxy is between.
    Raises ProvisionError."""
    ports = container.image.attrs.get("Config", {}).get("ExposedPorts") or {}
    numbers = sorted(int(name.partition("/")[0]) for name in ports if name.endswith("/tcp"))
    networks = container.attrs.get("NetworkSettings", {}).get("Networks") or {}
    addresses = [network["IPAddress"] for network in networks.values() if network.get("IPAddress")]
    if not numbers or not addresses:
        lacking = "exposes no TCP port" if addresses else "has no address"
        raise ProvisionError(
            f"the container of {container.image.tags or container.image.id} {lacking}",
            remedy="--server CMD, which listens on {port}",
        )
    return addresses[0], numbers[0]


def refuse_unpublished(container: Any, ports: Iterable[int]) -> None:
    """Raises ProvisionError."""
    published = container.attrs.get("NetworkSettings", {}).get("Ports") or {}
    lacking = [port for port in ports if not published.get(f"{port}/tcp")]
    if lacking:
        raise ProvisionError(
            f"the published port {lacking[0]} of the container cannot be reached: the Docker Engine published none; "
            "was dockerd started with --bridge=none?",
            remedy="start dockerd without that, or use --runtime process",
        )
