"""A server that runs already on this machine, listening by its port, process, container or unit."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from scale_sweep.base.errors import UsageError
from scale_sweep.machine.host.host_facts import cpu_quota, quota_group
from scale_sweep.machine.sampling.processes import ProcessTree
from scale_sweep.model.resources import Accounting
from scale_sweep.server.runtimes.cgroup import Group
from scale_sweep.server.runtimes.docker_engine import accounting_of, client

PID_MAX = 2**22  # of Linux
PROXY = "docker-proxy"  # listens on a published port in place of the container
_UNITS = ("/sys/fs/cgroup", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup/cpuacct")


@dataclass(frozen=True, kw_only=True)
class RunningServer:
    words: str
    accounting: Accounting
    pids: Callable[[], Sequence[int]]
    cpus: tuple[int, ...]  # that its processes may use
    quota_cores: float | None  # of its control group
    folder: str = ""  # in which it runs, often that of its data; "": not known


def find_server(pids: Sequence[int], ports: Sequence[int], container: str = "", unit: str = "") -> RunningServer | None:
    """None if nothing is named. Raises UsageError for what is not there, or cannot be told apart."""
    if container:
        return _of_container(container, f"container {container}")
    for pid in pids:
        if not 0 < pid <= PID_MAX or not psutil.pid_exists(pid):
            raise UsageError(f"--pid {pid}: there is no such process")
    roots = [*pids, *(_of_unit(unit) if unit else ())]
    for port in ports:
        listening = listeners_of(port)
        if isinstance(listening, RunningServer):
            return listening
        roots += listening
    return _of_processes(tuple(dict.fromkeys(roots))) if roots else None


def _of_processes(roots: tuple[int, ...]) -> RunningServer:
    names = dict.fromkeys(Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() for pid in roots)
    words = f"{', '.join(names)} (pid {', '.join(map(str, roots[:3]))}{', ...' if len(roots) > 3 else ''})"
    accounting = Accounting(kind="processes", root_pids=roots)
    return _server(words, accounting, ProcessTree(roots).pids)


def _server(words: str, accounting: Accounting, pids: Callable[[], Sequence[int]]) -> RunningServer:
    now = pids()
    cpus: set[int] = set()
    for pid in now:
        try:
            cpus |= os.sched_getaffinity(pid)
        except OSError:  # it ended
            continue
    first = next(iter(now), 0)
    try:
        folder = os.readlink(f"/proc/{first}/cwd")
    except OSError:  # another user's
        folder = ""
    quota = cpu_quota(of=str(first)) if first else None
    is_limit = quota is not None and quota < len(cpus)
    if is_limit and accounting.kind == "processes":
        accounting = replace(accounting, paths={"cpu": quota_group(str(first))})
    return RunningServer(
        words=words,
        accounting=accounting,
        pids=pids,
        cpus=tuple(sorted(cpus)),
        quota_cores=quota if is_limit else None,
        folder=folder if accounting.kind == "processes" and folder != "/" else "",
    )


def listeners_of(port: int) -> list[int] | RunningServer:
    """A published port is its container's. Raises UsageError if nobody listens there, or a user whom the port does not
    tell apart."""
    try:
        connections = psutil.net_connections("tcp")
    except psutil.AccessDenied:
        connections = []
    here = [c for c in connections if c.status == psutil.CONN_LISTEN and c.laddr.port == port]
    pids = sorted({c.pid for c in here if c.pid})
    if pids and all(psutil.Process(pid).name() == PROXY for pid in pids):
        return _behind_proxy(port, psutil.Process(pids[0]).cmdline())
    if not pids:
        return _of_owner(port, is_there=bool(here))
    return pids


def _behind_proxy(port: int, words: Sequence[str]) -> RunningServer:
    address = words[words.index("-container-ip") + 1] if "-container-ip" in words else ""
    engine = client()
    for one in engine.containers.list() if engine is not None else ():
        networks = one.attrs.get("NetworkSettings", {}).get("Networks", {}).values()
        if address in {network.get("IPAddress") for network in networks}:
            return _of_container(one.id, f"container {one.name}, which published port {port}")
    sentence = f"--port {port}: belongs to a container that the Docker Engine does not name"
    raise UsageError(sentence, remedy="--container NAME")


def _of_container(name: str, words: str) -> RunningServer:
    engine = client()
    if engine is None:
        raise UsageError("--container: no Docker Engine of this machine answers", remedy="give --port or --pid")
    try:
        pid = int(engine.containers.get(name).attrs["State"]["Pid"])
    except Exception:  # the engine's client may raise anything
        pid = 0
    accounting = accounting_of(pid) if pid else None
    if accounting is None:
        raise UsageError(f"--container {name}: no such container runs", remedy="docker ps lists them")
    return _server(words, accounting, Group(version="", paths=dict(accounting.paths)).pids)


def _of_unit(unit: str) -> list[int]:
    """The processes in the group of a systemd service."""
    name = unit if "." in unit else f"{unit}.service"
    if "/" in name:
        raise UsageError(f"--unit {unit}: is not the name of a unit", remedy="like postgresql@15-main")
    for root in _UNITS:
        for file in Path(root, "system.slice").rglob(f"{name}/cgroup.procs"):
            if pids := [int(pid) for pid in file.read_text(encoding="ascii").split()]:
                return pids
    raise UsageError(f"--unit {unit}: no such unit runs", remedy="systemctl list-units --type=service lists them")


_SOCKET = re.compile(r"^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F:]+ 0A (?:\S+ ){3}\s*(\d+)", re.MULTILINE)


def _of_owner(port: int, *, is_there: bool) -> list[int]:
    """Another user's process cannot be seen by its socket. All processes of that user are the server's, if it is a
    user of its own."""
    tables = (Path(f"/proc/net/{name}") for name in ("tcp", "tcp6"))
    texts = [table.read_text(encoding="ascii") for table in tables if table.exists()]
    owners = {int(uid) for text in texts for number, uid in _SOCKET.findall(text) if int(number, 16) == port}
    if not owners:
        raise UsageError(f"--port {port}: nobody listens there", remedy="start the server, or give its --pid")
    uid = owners.pop()
    every = [p for p in psutil.process_iter(["uids", "ppid"]) if p.info["uids"] and p.info["uids"].effective == uid]
    pids = {p.pid for p in every}
    roots = [p.pid for p in every if p.info["ppid"] not in pids]
    if owners or uid in (0, os.geteuid()) or len(roots) != 1:
        remedy = f"--pid \"$(sudo ss -tlnpH sport = :{port} | grep -oP 'pid=\\K\\d+' | head -1)\""
        raise UsageError(f"--port {port}: the process that listens there belongs to another user", remedy=remedy)
    return roots
