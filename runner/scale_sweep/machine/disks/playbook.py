"""Runs the playbook of disks on this machine through ansible-runner."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import ProvisionError
from scale_sweep.machine.disks.sets import DiskSet, folder_of

MARK = "SCALE_DISK_SET"
PLAYBOOK_S = 1800  # formatting many large devices
_SHIPPED = Path(__file__).resolve().parents[2] / "playbooks"
_CHECKOUT = Path(__file__).resolve().parents[4] / "playbooks"


def playbook_path(name: str = "disks.yml") -> Path:
    """Installed or in the checkout. Raises ProvisionError."""
    for folder in (_CHECKOUT, _SHIPPED):
        if (folder / name).is_file():
            return folder / name
    raise ProvisionError(f"the playbook {name} is missing", remedy="install again: pip install --force-reinstall .")


def search_path() -> str:
    """PATH with this environment's programs (ansible-playbook) and the system's (losetup, mkfs)."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


def variables(disk_set: DiskSet, state: str) -> dict[str, Any]:
    """The playbook's variables for a set."""
    source = disk_set.source
    return {
        "disks_state": state,
        "disks_kind": source.kind,
        "disks_folder": disk_set.folder,
        "disks_label": disk_set.label,
        "disks_count": disk_set.count,
        "disks_bytes": source.loop_bytes or 0,
        "disks_devices": list(source.devices[: disk_set.count]),
        "disks_file_system": source.file_system,
        "disks_owner": disk_set.owner,
        "disks_wipe": source.wipe,
        "disks_stripe": disk_set.stripe,
        "disks_cap_bytes_per_s": source.cap_bytes_per_s or 0,
        "disks_cap_iops": source.cap_iops or 0,
        "disks_capped": bool(source.cap_bytes_per_s or source.cap_iops),
    }


def play(
    private: Path, name: str, hosts: Mapping[str, Mapping[str, Any]], limit_s: int, **options: Any
) -> tuple[Any, list[str]]:
    """Hosts have their variables. private: for files of the play. Returns ansible-runner's result, and the last line of
    the output if it failed."""
    import ansible_runner  # the import takes half a second

    (private / "ansible.cfg").write_text("[defaults]\n", encoding="utf-8")
    result = ansible_runner.run(
        private_data_dir=str(private),
        playbook=str(playbook_path(name)),
        inventory={"all": {"hosts": dict(hosts)}},
        cancel_callback=lambda: False,  # without it, ansible-runner replaces the handler of SIGINT and keeps it
        quiet=True,
        timeout=limit_s,
        **options,
    )
    lines = result.stdout.read().splitlines() if result.rc != 0 else ()
    return result, [line for line in lines if line.strip()][-1:]


def run_playbook(disk_set: DiskSet, state: str) -> None:
    """Makes the set `present` or `absent`. Raises ProvisionError with the message of the failed step."""
    failures: list[str] = []
    private = folder_of(disk_set.name) / "ansible"
    shutil.rmtree(private, ignore_errors=True)
    private.mkdir(parents=True, mode=0o700)
    try:
        result, last = play(
            private,
            "disks.yml",
            {"localhost": {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}},
            PLAYBOOK_S,
            extravars=variables(disk_set, state),
            envvars=environment_of(disk_set.name, private),
            event_handler=listener(failures),
        )
        if result.status == "timeout":
            end_processes(disk_set.name)
            failures.append(f"ansible-playbook did not end within {PLAYBOOK_S} s; does a disk hang?")
        failures = failures or last
    except BaseException:
        end_processes(disk_set.name)
        raise
    finally:
        shutil.rmtree(private, ignore_errors=True)
    if result.rc != 0:
        reasons = "; ".join(dict.fromkeys(failures)) or f"ansible-playbook ended with {result.rc}"
        raise ProvisionError(f"disks {disk_set.name}: not {state}: {reasons}", remedy=_REMEDY[state])


_REMEDY = {
    "present": "nothing was left behind; see docs/disks.md",
    "absent": "end the processes that use it, then: scale clean",
}


def environment_of(name: str, private: Path) -> dict[str, str]:
    """With the mark of a set, and without the user's own configuration."""
    return {
        MARK: name,
        "PATH": search_path(),
        "ANSIBLE_HOME": str(private),
        "ANSIBLE_LOCAL_TEMP": str(private / "tmp"),
        "ANSIBLE_REMOTE_TEMP": str(private / "tmp"),
        "ANSIBLE_PIPELINING": "1",
        "ANSIBLE_RETRY_FILES_ENABLED": "0",
        "ANSIBLE_CONFIG": str(private / "ansible.cfg"),  # not the user's own, which is for the user's own plays
    }


def listener(failures: list[str]) -> Callable[[Mapping[str, Any]], bool]:
    """Adds the message of each failed step."""

    def listen(event: Mapping[str, Any]) -> bool:
        if event.get("event") == "runner_on_failed":
            data = event.get("event_data", {})
            result = data.get("res", {})
            lines = str(result.get("stderr") or result.get("msg") or "no reason given").strip().splitlines()
            failures.append(f"{data.get('task', 'a task')}: {lines[-1] if lines else 'no reason given'}")
        return False

    return listen


def end_processes(name: str) -> None:
    """Ends what was started for the set and still runs (Ansible, mkfs, fio)."""
    deadline = time.monotonic() + 5
    while (left := _processes(name)) and time.monotonic() < deadline:
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def _processes(name: str) -> list[int]:
    wanted, pids = f"{MARK}={name}".encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0") and int(folder.name) != os.getpid():
                pids.append(int(folder.name))
    return pids
