"""Runs hosts.yml on the hosts of an inventory through ansible-runner: puts the agent there, or removes it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import ProvisionError
from scale_sweep.hosts.inventory import HostEntry
from scale_sweep.machine.disks.playbook import environment_of, listener, playbook_path

PLAYBOOK_S = 900


@dataclass(frozen=True, kw_only=True)
class HostFiles:
    home: str  # absolute
    digest: str = ""
    # archive, servers: of the files and of database servers, on this machine; "" where the host has them, or needs none
    archive: str = ""
    servers: str = ""


def run_playbook(hosts: Mapping[str, tuple[HostEntry, HostFiles]], state: str) -> dict[str, int]:
    """Makes the files `present` or `absent` on the hosts. Returns the number of changes by the name of the host. Raises
    ProvisionError with the message of each failed step."""
    import ansible_runner  # the import takes half a second

    failures: list[str] = []
    changes = dict.fromkeys(hosts, 0)
    listen = listener(failures)

    def on_event(event: Mapping[str, Any]) -> bool:
        data = event.get("event_data") or {}
        if event.get("event") == "runner_on_unreachable":
            failures.append(f"{data.get('host')}: {(data.get('res') or {}).get('msg')}")
        if (
            event.get("event") == "runner_on_ok"
            and (data.get("res") or {}).get("changed")
            and data.get("host") in changes
        ):
            changes[data["host"]] += 1
        return listen(event)

    with tempfile.TemporaryDirectory(prefix="scale-hosts-") as folder:
        private = Path(folder)
        (private / "ansible.cfg").write_text("[defaults]\n", encoding="utf-8")
        result = ansible_runner.run(
            private_data_dir=folder,
            playbook=str(playbook_path("hosts.yml")),
            inventory={"all": {"hosts": {name: _variables(host, files) for name, (host, files) in hosts.items()}}},
            extravars={"hosts_state": state},
            envvars=_environment(private),
            event_handler=on_event,
            cancel_callback=lambda: False,
            quiet=True,
            timeout=PLAYBOOK_S,
        )
        if result.rc != 0 and not failures:
            failures += [line for line in result.stdout.read().splitlines() if line.strip()][-1:]
    if result.rc != 0:
        raise ProvisionError(f"hosts: not {state}: {'; '.join(dict.fromkeys(failures))}", remedy="scale hosts check")
    return changes


def _variables(host: HostEntry, files: HostFiles) -> dict[str, Any]:
    own = {"scale_home": files.home, "scale_digest": files.digest, "scale_archive": files.archive}
    own["scale_servers"] = files.servers
    own["ansible_remote_tmp"] = f"{files.home}/ansible"  # nothing stays elsewhere
    return {**host.variables, **own, "ansible_python_interpreter": host.python}


def _environment(private: Path) -> dict[str, str]:
    environment = {**environment_of("hosts", private), "ANSIBLE_HOST_KEY_CHECKING": "1"}
    del environment["ANSIBLE_REMOTE_TEMP"]
    return environment
