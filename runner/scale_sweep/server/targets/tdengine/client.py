"""Whether a client can reach the server."""

from __future__ import annotations

import ctypes.util
import socket
from collections.abc import Callable, Iterable
from pathlib import Path

from scale_sweep.base.errors import LoadError, ScaleError
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.verbs import client_library, run_statements
from scale_sweep.model.planned import Finding
from scale_sweep.server.targets import Address
from scale_sweep.server.targets.records import REFUSED_LOGIN, blocking, login_remedy
from scale_sweep.server.targets.tdengine.config import adapter_port

DEFAULT_PASSWORD = "taosdata"
_SAME_PARTS = 3  # of versions, in which client and server must agree
_DNODES = "SELECT endpoint, support_vnodes, `vnodes` FROM information_schema.ins_dnodes"
_ADAPTER_S = 2.0


def library(home: str) -> str:
    """ "" lets the load generator search."""
    for folder in ("lib", "driver"):
        for name in ("libtaos.so", "libtaos.so.1"):
            if home and (Path(home) / folder / name).exists():
                return str(Path(home) / folder / name)
    return ctypes.util.find_library("taos") and "libtaos.so" or ""


def library_findings(library: str, server_version: str) -> tuple[Finding, ...]:
    """A libtaos that is missing, lacks a function, or is refused by the server."""
    try:
        client = client_library("tdengine", library)
    except LoadError as error:
        remedy = "give --home DIR with the server's own lib/libtaos.so, or install TDengine's client"
        return (blocking("libtaos", error.message, remedy),)
    ours, theirs = (version.split(".")[:_SAME_PARTS] for version in (client.version, server_version))
    if not server_version or ours == theirs:
        return ()
    sentence = f"{client.path} has version {client.version}, the server {server_version}, which would refuse it"
    remedy = "give --home DIR that holds a server and its lib/libtaos.so"
    return (blocking("libtaos", sentence, remedy),)


def endpoint_findings(address: Address, library: str, vgroups: int) -> tuple[Finding, ...]:
    """A wrong password, another version, names that do not resolve here, fewer free vnodes than `vgroups`."""
    spec = {
        "protocol": "1",
        "driver": "tdengine",
        "host": address.host,
        "port": str(address.port),
        **({"library": library} if library else {}),
    }
    try:
        answer = run_statements(loadgen_path(), spec, (_DNODES,), address.secret or DEFAULT_PASSWORD)[0]
    except ScaleError as error:
        return (_refused(address, error.message),)
    if not answer.ok:
        return (_refused(address, f"{answer.code} {answer.message}"),)
    hosts = [str(row[0]).rpartition(":")[0] for row in answer.rows]
    unresolved = names_that_do_not_resolve(hosts, socket.gethostbyname)
    return (*unresolved, *too_few_vnodes([(int(row[1]), int(row[2])) for row in answer.rows], vgroups))


def too_few_vnodes(dnodes: Iterable[tuple[int, int]], vgroups: int) -> tuple[Finding, ...]:
    """dnodes: supportVnodes of each, and its number of vnodes."""
    free = sum(max(0, supported - taken) for supported, taken in dnodes)
    if vgroups <= free:
        return ()
    sentence = f"{vgroups} vgroups are more than the {free} that the server has left of its supportVnodes"
    remedy = f"{f'--vgroups {free}, or ' if free else ''}drop databases there, or raise its supportVnodes"
    return (blocking("--vgroups", sentence, remedy),)


def adapter_unreachable(address: Address) -> str:
    """ "" if something listens on taosAdapter's port."""
    host, port = address.host, adapter_port(address.port)
    try:
        socket.create_connection((host, port), timeout=_ADAPTER_S).close()
    except OSError as error:
        return f"taosAdapter on {host}:{port} does not answer: {error.strerror or error}"
    return ""


def adapter_findings(address: Address) -> tuple[Finding, ...]:
    why = adapter_unreachable(address)
    remedy = "start taosadapter beside the server, or --method stmt"
    return (blocking("--method", why, remedy),) if why else ()


def names_that_do_not_resolve(hosts: Iterable[str], resolve: Callable[[str], str]) -> tuple[Finding, ...]:
    """hosts: the server's own names. resolve: raises OSError."""
    findings = []
    for host in dict.fromkeys(hosts):
        try:
            resolve(host)
        except OSError:
            sentence = f"the server calls itself {host}, which does not resolve here; clients need this name"
            remedy = f"add a line 'ADDRESS {host}' to /etc/hosts, or set the server's fqdn to a name that does"
            findings.append(blocking("FQDN", sentence, remedy))
    return tuple(findings)


def _refused(address: Address, words: str) -> Finding:
    where = f"{address.host}:{address.port}"
    if "FQDN" in words:
        remedy = "add the server's FQDN to /etc/hosts of this machine, or set the server's fqdn to a name that resolves"
        return blocking("FQDN", f"{where}: {words}", remedy)
    remedy = login_remedy(address) if REFUSED_LOGIN.search(words) else "correct the address, or take another version"
    return blocking("--endpoint", f"{where} answers, but refuses us: {words}", remedy)
