"""The hosts of a sweep, from an inventory that Ansible reads: groups [server] and [load]."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import PreflightError, UsageError
from scale_sweep.base.spawning import run_within
from scale_sweep.base.units import parse_cpus

SERVER, LOAD = "server", "load"
READ_S = 60.0
CONNECT_S = 10
HOME = ".scale-host"  # below the home directory of the user on the host
_REMEDY = "docs/hosts.md has an example"
_OURS = ("scale_address", "scale_cpus", "scale_data_dir", "scale_home")


@dataclass(frozen=True, kw_only=True)
class HostEntry:
    name: str
    address: str  # where the load reaches a server on it
    cpus: tuple[int, ...] = ()  # that may be used; empty: all
    data_dir: str = ""
    home: str = HOME  # of what `scale hosts prepare` puts there
    variables: Mapping[str, Any] = field(default_factory=dict)  # all of the inventory, for Ansible

    @property
    def python(self) -> str:
        named = str(self.variables.get("ansible_python_interpreter") or "")
        return named if named.startswith("/") else "python3"

    @property
    def is_local(self) -> bool:
        return self.variables.get("ansible_connection") == "local"

    def command(self, line: str) -> list[str]:
        if self.is_local:
            return ["/bin/sh", "-c", line]
        has = self.variables
        host = str(has.get("ansible_host") or self.name)
        user, port, key = (str(has.get(f"ansible_{what}") or "") for what in ("user", "port", "ssh_private_key_file"))
        words = ["ssh", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-o", f"ConnectTimeout={CONNECT_S}"]
        words += ["-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3", "-o", "LogLevel=ERROR", "-T"]
        words += shlex.split(str(has.get("ansible_ssh_common_args") or ""))
        words += shlex.split(str(has.get("ansible_ssh_extra_args") or ""))
        words += [*(("-p", port) if port else ()), *(("-i", key) if key else ()), *(("-l", user) if user else ())]
        return [*words, "--", host, line]


@dataclass(frozen=True, kw_only=True)
class Inventory:
    path: Path  # of the file
    servers: tuple[HostEntry, ...]  # one; more in a fleet
    load: tuple[HostEntry, ...]

    @property
    def server(self) -> HostEntry:
        (server,) = self.servers
        return server

    @property
    def hosts(self) -> tuple[HostEntry, ...]:
        return (*self.servers, *self.load)


def _wrong(path: Path, sentence: str, remedy: str = _REMEDY) -> UsageError:
    return UsageError(f"--hosts {path}: {sentence}", remedy=remedy)


def of_one_server(inventory: Inventory) -> Inventory:
    """Raises UsageError if the inventory has several servers."""
    if len(inventory.servers) != 1:
        names = ", ".join(server.name for server in inventory.servers)
        sentence = f"[{SERVER}] names {names}; one host has the server"
        raise _wrong(inventory.path, sentence, "--each-server runs the sweep on every one of them")
    return inventory


def named_again(inventory: Inventory, server: str, load: Sequence[str]) -> Inventory:
    """The server and load hosts of a stored run. Raises UsageError for one that the inventory lacks now."""
    known = {host.name: host for host in inventory.hosts}
    for name in (server, *load):
        if name not in known:
            raise _wrong(inventory.path, f"the run was begun on {name}, which is not there any more", "")
    return replace(inventory, servers=(known[server],), load=tuple(known[name] for name in load))


def by_server(inventory: Inventory) -> tuple[Inventory, ...]:
    """An inventory for each server; the load hosts are dealt in turn, and shared if they are fewer."""
    most = min(len(inventory.servers), len(inventory.load))
    return tuple(
        replace(inventory, servers=(server,), load=inventory.load[number % most :: most])
        for number, server in enumerate(inventory.servers)
    )


def read_inventory(path: Path) -> Inventory:
    """Raises UsageError with Ansible's line, or one that names the group or variable."""
    if not path.is_file():
        raise _wrong(path, "there is no such file")
    raw = _listed(path)
    groups = {name: list((raw.get(name) or {}).get("hosts") or ()) for name in (SERVER, LOAD)}
    if not groups[SERVER]:
        raise _wrong(path, f"[{SERVER}] is missing or empty; one host has the server")
    if not groups[LOAD]:
        raise _wrong(path, f"[{LOAD}] is missing or empty; its hosts make the load")
    known = (raw.get("_meta") or {}).get("hostvars") or {}
    entries = {name: _entry(path, name, known.get(name) or {}) for names in groups.values() for name in names}
    servers, load = (tuple(entries[name] for name in groups[group]) for group in (SERVER, LOAD))
    for host in load:
        if host in servers:
            remedy = "give the machine two names with scale_cpus that do not overlap, or leave out --hosts"
            raise _wrong(path, f"{host.name} is in [{SERVER}] and in [{LOAD}]", remedy)
    return Inventory(path=path.absolute(), servers=servers, load=load)


def _listed(path: Path) -> dict[str, Any]:
    """The inventory as Ansible reads it."""
    beside = Path(sys.executable).parent / "ansible-inventory"
    argv = [str(beside) if beside.exists() else "ansible-inventory", "-i", str(path.absolute()), "--list"]
    strict = {"ANSIBLE_INVENTORY_UNPARSED_FAILED": "1", "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "1"}
    quiet = {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_DEPRECATION_WARNINGS": "0"}
    try:
        done = run_within(READ_S, argv, env={**os.environ, **strict, **quiet}, cwd=path.absolute().parent)
    except (OSError, subprocess.TimeoutExpired) as error:
        sentence = f"ansible-inventory did not read {path}: {error}"
        raise PreflightError(sentence, remedy="pip install ansible-core") from None
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        of_ansible = [line for line in lines if "Failed to parse" in line or "ERROR" in line.upper()]
        raise _wrong(path, (of_ansible or lines[-1:] or ["no reason given"])[0])
    try:
        return dict(json.loads(done.stdout))
    except ValueError as error:
        raise _wrong(path, f"ansible-inventory wrote no JSON: {error}") from None


def _entry(path: Path, name: str, has: Mapping[str, Any]) -> HostEntry:
    odd = sorted(key for key in has if key.startswith("scale_") and key not in _OURS)
    if odd:
        raise _wrong(path, f"{name}: {odd[0]} is no variable of scale", f"use {', '.join(_OURS)}")
    cpus = str(has.get("scale_cpus", ""))  # a single 0 is a number for Ansible
    try:
        numbers = parse_cpus(cpus) if cpus else ()
    except ValueError as error:
        raise _wrong(path, f"{name}: scale_cpus {cpus}: {error}", "like 0-3,8") from None
    data_dir = str(has.get("scale_data_dir") or "")
    if data_dir and not data_dir.startswith("/"):
        raise _wrong(path, f"{name}: scale_data_dir {data_dir}: not an absolute path")
    return HostEntry(
        name=name,
        address=_address(path, name, has),
        cpus=tuple(numbers),
        data_dir=data_dir,
        home=str(has.get("scale_home") or HOME).rstrip("/"),
        variables=dict(has),
    )


def _address(path: Path, name: str, has: Mapping[str, Any]) -> str:
    """Numeric: a server listens on it, and clients reach it there."""
    local = has.get("ansible_connection") == "local"
    text = str(has.get("scale_address") or has.get("ansible_host") or ("127.0.0.1" if local else name))
    with contextlib.suppress(ValueError):
        return str(ipaddress.ip_address(text))
    try:
        return str(socket.getaddrinfo(text, None, socket.AF_INET)[0][4][0])
    except OSError as error:
        key = "scale_address" if has.get("scale_address") else "its address"
        raise _wrong(path, f"{name}: {key} {text}: {error}", "give scale_address=ADDRESS") from None
