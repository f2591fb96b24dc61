"""Prepares the hosts of an inventory by a playbook, links to them, and cleans them."""

from __future__ import annotations

import itertools
import platform
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scale_sweep.agent.serve import DIGEST_FILE
from scale_sweep.base.errors import ProvisionError, UsageError
from scale_sweep.hosts.inventory import HostEntry, Inventory
from scale_sweep.hosts.link import AgentLink, run_line
from scale_sweep.hosts.package import FOLDER, Kind, Package, copied_servers, package_for, refuse_other_machine
from scale_sweep.machine.disks.playbook import environment_of, listener, play

LEAST_PYTHON = (3, 11)
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Found:
    entry: HostEntry  # with an absolute home for the files
    kind: Kind
    machine: str  # a text that two names of one machine share


def ask_all(inventory: Inventory) -> tuple[Found, ...]:
    """All at the same time. Raises UsageError with the line of the first that does not answer."""
    with ThreadPoolExecutor(max_workers=len(inventory.hosts)) as pool:
        answers = tuple(pool.map(_answer_of, inventory.hosts))
    refuse_shared(answers)
    return answers


def refuse_shared(answers: Sequence[Found]) -> None:
    """Raises UsageError for two names of one machine, unless each has separate CPUs."""
    for one, other in itertools.combinations(answers, 2):
        cpus, others = set(one.entry.cpus), set(other.entry.cpus)
        if one.machine == other.machine and not (cpus and others and cpus.isdisjoint(others)):
            raise UsageError(
                f"--hosts: {one.entry.name} and {other.entry.name} are one machine",
                remedy="give both scale_cpus that do not overlap, or leave out one of them",
            )


def _answer_of(host: HostEntry) -> Found:
    asks = (
        "import os, platform; print(*platform.python_version_tuple()[:2], platform.machine(), "
        "open('/proc/sys/kernel/random/boot_id').read().strip(), os.stat('/proc/self/ns/net').st_ino, "
        "os.path.expanduser('~'))"
    )
    words = run_line(host, f'{host.python} -I -c "{asks}"').split(maxsplit=5)
    if len(words) != 6 or not (words[0].isdigit() and words[1].isdigit()):
        raise UsageError(
            f"--hosts: {host.name}: {host.python} did not print its version", remedy="does the shell print words?"
        )
    version = int(words[0]), int(words[1])
    if version < LEAST_PYTHON:
        raise UsageError(
            f"--hosts: {host.name}: Python {version[0]}.{version[1]}; 3.11 is the oldest that can",
            remedy="name a later one: ansible_python_interpreter=PATH",
        )
    home = host.home if host.home.startswith("/") else f"{words[5].strip()}/{host.home}"
    kind = Kind(python=f"{version[0]}.{version[1]}", machine=words[2])
    return Found(entry=replace(host, home=home), kind=kind, machine=f"{words[3]}:{words[4]}")


def each_place(answers: Sequence[Found]) -> tuple[Found, ...]:
    """Each place of files once: two names of one machine may share it."""
    return tuple({(one.machine, one.entry.home): one for one in reversed(answers)}.values())


@dataclass(frozen=True, kw_only=True)
class PreparedHost:
    entry: HostEntry
    digest: str
    changes: int  # of this preparation
    servers: str = ""  # the digest of the copied servers; "" for none
    lacks: tuple[str, ...] = ()  # why a copied server does not run there


def prepare(inventory: Inventory, say: Say, names: Sequence[str] = ()) -> tuple[PreparedHost, ...]:
    """The files on every host that lacks them, the named servers on those of [server]. Raises UsageError,
    PreflightError or ProvisionError."""
    servers = copied_servers(names)
    answers = ask_all(inventory)
    own = {host.name for host in inventory.servers} if names else set()
    with_servers = [one for one in answers if one.entry.name in own]
    for one in with_servers:
        refuse_other_machine(one.entry.name, one.kind.machine, platform.machine())
    with tempfile.TemporaryDirectory(prefix="scale-hosts-") as folder:
        packages = {kind: package_for(kind, Path(folder)) for kind in {one.kind for one in answers}}
        archives: dict[Kind, str] = {}
        for one in answers:
            digest = packages[one.kind].digest
            if one.kind not in archives and not _has(one.entry, digest, digest):
                package, archive = packages[one.kind], Path(folder) / f"{digest}.tar.gz"
                say(f"packing {package.bytes / 1e6:.0f} MB for Python {one.kind.python} on {one.kind.machine}")
                package.write(archive)
                archives[one.kind] = str(archive)
        archives_of_servers = _archives_of_servers(servers, with_servers, Path(folder), say)
        files = {}
        for one in each_place(answers):
            name, digest = one.entry.name, packages[one.kind].digest
            packed, of_servers = archives.get(one.kind, ""), archives_of_servers.get(name, "")
            files[name] = _variables(one.entry, digest, packed, of_servers)
        changes = run_playbook(files, "present")
    return tuple(
        PreparedHost(
            entry=one.entry,
            digest=packages[one.kind].digest,
            changes=changes.get(one.entry.name, 0),
            servers=servers.digest if one in with_servers else "",
            lacks=_lacks(one.entry, packages[one.kind].digest, servers) if one in with_servers else (),
        )
        for one in answers
    )


def _archives_of_servers(servers: Package, hosts: Sequence[Found], folder: Path, say: Say) -> dict[str, str]:
    lacking = [one.entry.name for one in hosts if not _has(one.entry, FOLDER, servers.digest)]
    archive = folder / "servers.tar.gz"
    if lacking:
        say(f"packing {servers.bytes / 1e6:.0f} MB of {', '.join(servers.servers)}")
        servers.write(archive)
    return dict.fromkeys(lacking, str(archive))


def _has(host: HostEntry, folder: str, digest: str) -> bool:
    return run_line(host, f"cat '{host.home}/{folder}/{DIGEST_FILE}' 2>/dev/null || true").strip() == digest


def _lacks(host: HostEntry, digest: str, servers: Package) -> tuple[str, ...]:
    with AgentLink(host, digest) as link:
        return tuple(str(words) for words in link.ask("lacking", names=servers.servers).answer())


@contextmanager
def linked(inventory: Inventory) -> Iterator[dict[str, AgentLink]]:
    """The agents by the names of their hosts. Raises UsageError that names the host."""
    answers = ask_all(inventory)
    with tempfile.TemporaryDirectory(prefix="scale-hosts-") as folder, ExitStack() as links:
        digests = {kind: package_for(kind, Path(folder)).digest for kind in {one.kind for one in answers}}
        made = {one.entry.name: AgentLink(one.entry, digests[one.kind]) for one in answers}
        for link in made.values():
            links.callback(link.close)
        for link in made.values():  # before any is waited for: all agents end at the same time
            links.callback(link.hang_up)
        for link in made.values():
            link.begin()
        for link in made.values():
            link.greet()
        yield made


def clean(inventory: Inventory, say: Say) -> dict[str, int]:
    """Removes what runs left on the hosts, then the files. Returns the changes by the name of the host."""
    answers = ask_all(inventory)
    for one in answers:
        for words in _clean_leftovers(one):
            say(f"{one.entry.name}: removed {words}")
    return run_playbook({one.entry.name: _variables(one.entry) for one in each_place(answers)}, "absent")


def _clean_leftovers(one: Found) -> list[str]:
    listed = run_line(one.entry, f"ls -1 '{one.entry.home}' 2>/dev/null || true").split()
    digests = [name for name in listed if len(name) == 16 and all(c in "0123456789abcdef" for c in name)]
    if not digests:
        return []
    with AgentLink(one.entry, digests[0]) as link:
        return [str(words) for words in link.ask("clean").answer()]


PLAYBOOK_S = 900


def run_playbook(hosts: Mapping[str, Mapping[str, Any]], state: str) -> dict[str, int]:
    """Makes the files `present` or `absent` on hosts, by name with their variables. Returns the number of changes by
    host. Raises ProvisionError."""
    failures: list[str] = []
    changes = dict.fromkeys(hosts, 0)
    listen = listener(failures)

    def on_event(event: Mapping[str, Any]) -> bool:
        what, data = event.get("event"), event.get("event_data") or {}
        host, result = data.get("host"), data.get("res") or {}
        if what == "runner_on_unreachable":
            failures.append(f"{host}: {result.get('msg')}")
        if what == "runner_on_ok" and result.get("changed") and host in changes:
            changes[host] += 1
        return listen(event)

    with tempfile.TemporaryDirectory(prefix="scale-hosts-") as folder:
        environment = {**environment_of("hosts", Path(folder)), "ANSIBLE_HOST_KEY_CHECKING": "1"}
        del environment["ANSIBLE_REMOTE_TEMP"]
        result, last = play(
            Path(folder),
            "hosts.yml",
            hosts,
            PLAYBOOK_S,
            extravars={"hosts_state": state},
            envvars=environment,
            event_handler=on_event,
        )
    if result.rc != 0:
        reasons = "; ".join(dict.fromkeys(failures or last))
        raise ProvisionError(f"hosts: not {state}: {reasons}", remedy="scale hosts check")
    return changes


def _variables(host: HostEntry, digest: str = "", archive: str = "", servers: str = "") -> dict[str, Any]:
    """archive, servers: of the files and of database servers, on this machine; "" where the host has them, or needs
    none."""
    return {
        **host.variables,
        "scale_home": host.home,
        "scale_digest": digest,
        "scale_archive": archive,
        "scale_servers": servers,
        "ansible_remote_tmp": f"{host.home}/ansible",  # nothing stays elsewhere
        "ansible_python_interpreter": host.python,
    }
