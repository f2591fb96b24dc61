"""Whether a client can talk to the server at all: libtaos there, complete and of its version; names that resolve."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable

from runner.errors import LoadError, ScaleError
from runner.loadgen.binary import loadgen_path
from runner.loadgen.library import client_library
from runner.loadgen.statements import Answer, run_statements
from runner.model import Finding
from runner.targets import ENDPOINT_PASSWORD, Address

DEFAULT_PASSWORD = "taosdata"
_SAME_PARTS = 3  # client and server must agree in the first three numbers of their versions
_ENDPOINTS = "SELECT endpoint FROM information_schema.ins_dnodes"


def library_findings(library: str, server_version: str) -> tuple[Finding, ...]:
    """libtaos missing, or lacking a function (named), or of a version that the server would not talk to."""
    try:
        found = client_library("tdengine", library)
    except LoadError as error:
        remedy = "give --home DIR with the server's own lib/libtaos.so, or install TDengine's client"
        return (Finding(blocking=True, subject="libtaos", sentence=error.message, remedy=remedy),)
    if not server_version or _parts(found.version) == _parts(server_version):
        return ()
    return (
        Finding(
            blocking=True,
            subject="libtaos",
            sentence=f"{found.path} is of version {found.version}, the server of {server_version}: it would refuse",
            remedy="give --home DIR that holds a server and its own lib/libtaos.so",
        ),
    )


def _parts(version: str) -> list[str]:
    return version.split(".")[:_SAME_PARTS]


def endpoint_findings(address: Address, library: str) -> tuple[Finding, ...]:
    """What a first question to a server that already runs brings to light: wrong password, version, unresolved name."""
    spec = {
        "protocol": "1",
        "driver": "tdengine",
        "host": address.host,
        "port": str(address.port),
        **({"library": library} if library else {}),
    }
    try:
        answer = run_statements(loadgen_path(), spec, (_ENDPOINTS,), address.secret or DEFAULT_PASSWORD)[0]
    except ScaleError as error:
        return (_refused(address, error.message),)
    if not answer.ok:
        return (_refused(address, f"{answer.code} {answer.message}"),)
    return names_that_do_not_resolve(_hosts(answer), socket.gethostbyname)


def _hosts(answer: Answer) -> list[str]:
    return [str(row[0]).rpartition(":")[0] for row in answer.rows]


def names_that_do_not_resolve(hosts: Iterable[str], resolve: Callable[[str], str]) -> tuple[Finding, ...]:
    """A finding for each name that the server calls itself and that `resolve` raises OSError for."""
    found = []
    for host in dict.fromkeys(hosts):
        try:
            resolve(host)
        except OSError:
            found.append(
                Finding(
                    blocking=True,
                    subject="FQDN",
                    sentence=f"the server calls itself {host}, which does not resolve here; a client must reach it so",
                    remedy=f"add a line 'ADDRESS {host}' to /etc/hosts, or set the server's fqdn to a name that does",
                )
            )
    return tuple(found)


def _refused(address: Address, words: str) -> Finding:
    where = f"{address.host}:{address.port}"
    if "FQDN" in words:
        remedy = "add the server's FQDN to /etc/hosts of this machine, or set the server's fqdn to a name that resolves"
        return Finding(blocking=True, subject="FQDN", sentence=f"{where}: {words}", remedy=remedy)
    remedy = f"check the address and the version; the password of root comes from the environment: {ENDPOINT_PASSWORD}"
    return Finding(
        blocking=True, subject="--endpoint", sentence=f"{where} answers, but not to us: {words}", remedy=remedy
    )
