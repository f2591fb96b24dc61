"""Servers in Docker containers, not privileged: CPU set, quota and memory by the engine, ports on loopback only."""

from __future__ import annotations

import contextlib
import os
import shlex
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.interrupts import deferred
from scale_sweep.base.units import format_cpus
from scale_sweep.machine.host.processes import alive, started_ticks
from scale_sweep.machine.host.server_user import privileges
from scale_sweep.machine.state.records import save
from scale_sweep.model.resources import CORES, DISKS, MEMORY, Accounting, Resources, ServerOrder, Site, SiteRequest
from scale_sweep.server.runtimes import Capabilities, Obstacle
from scale_sweep.server.runtimes.cgroup import Group, OutOfMemory, read_out_of_memory
from scale_sweep.server.runtimes.clean import LABEL, RUNNER_LABEL, owner_label
from scale_sweep.server.runtimes.docker_engine import (
    accounting_of,
    can_pull,
    docker_facts,
    ended_state,
    engine_to_start,
    exposed,
    image_state,
    join_root_blkio,
    refuse_unpublished,
)
from scale_sweep.server.runtimes.docker_engine import copy_out as copy_out
from scale_sweep.server.runtimes.local import (
    LocalServer,
    free_port,
    fresh_directories,
    lay_out,
    remove_directories,
    tail,
)
from scale_sweep.server.runtimes.processes import wait_until

NANO = 1_000_000_000
PID_S = 20.0
SHM_BYTES = 256 * 2**20
_OWN_RIGHTS = ["CHOWN", "DAC_OVERRIDE", "NET_BIND_SERVICE", "SETGID", "SETUID"]  # of an image's own command


def _core_options(resources: Resources) -> dict[str, Any]:
    placement = resources.placement
    quota = {"nano_cpus": round(placement.quota_cores * NANO)} if placement.quota_cores is not None else {}
    nodes = {"cpuset_mems": format_cpus(placement.memory_nodes)} if placement.memory_nodes else {}
    return {"cpuset_cpus": format_cpus(placement.server_cpus), **nodes, **quota}


# The engine's options, by quantity; a site has the disks.
_OPTIONS: Mapping[str, Callable[[Resources], dict[str, Any]]] = {
    CORES: _core_options,
    MEMORY: lambda of: {"mem_limit": of.memory_bytes, "memswap_limit": of.memory_bytes},
}
CAN = Capabilities(gives=frozenset({DISKS, *_OPTIONS}), is_local=True, owns_server=True, has_images=True)


def obstacle(image: str) -> Obstacle | None:
    facts = docker_facts()
    if not facts.reachable:
        return Obstacle(sentence=facts.why_none, remedy=facts.remedy, is_elsewhere=bool(facts.elsewhere))
    if image_state(image) == "local" or can_pull(image):
        return None
    return Obstacle(
        sentence=f"image {image} is not here and cannot be pulled",
        remedy=f"docker pull {image} shows why; correct --version or --image, or load the image with docker load",
        installing_helps=False,
        lacks_image=True,
    )


def phrase(place: str) -> str:
    return f"in Docker ({place})"


def site(wanted: SiteRequest) -> Site:
    data_dir, disks = fresh_directories(wanted)
    return Site(
        data_dir=data_dir,
        port=wanted.port or free_port(wanted.address),
        bind_address="0.0.0.0",
        home=wanted.home,
        disks=disks,
        in_image=True,
        address=wanted.address,
    )


def start(order: ServerOrder, cleanup: ExitStack) -> DockerServer:
    server = DockerServer(order)
    cleanup.callback(server.stop)
    server.launch()
    return server


class DockerServer(LocalServer):
    def __init__(self, order: ServerOrder) -> None:
        super().__init__(order)
        self._container: Any = None
        self._pid = self._started = 0
        self._last_words = ""

    def launch(self) -> None:
        engine = engine_to_start()
        save(self._record)
        lay_out(self._spec, self._trees, self._user)
        labels = {
            LABEL: self._order.run_id,
            "scale.trial": self._order.trial_id,
            RUNNER_LABEL: owner_label(self._record),
        }
        try:
            if image_state(self._spec.image) != "local":
                engine.images.pull(self._spec.image)
            with deferred():
                self._container = engine.containers.create(
                    self._spec.image,
                    labels=labels,
                    name=f"scale-{self._record.name}",
                    **self._command(),
                    **self._limits(),
                )
            self._container.start()
        except Exception as error:
            reason = getattr(error, "explanation", None) or str(error)
            raise ProvisionError(
                f"Docker did not start {self._spec.image}: {reason}",
                remedy="scale doctor shows the engine and the images",
            ) from None
        self._find_pid()
        if self._site.disks:
            join_root_blkio(self.pids)

    def _command(self) -> dict[str, Any]:
        """Without a command the image's own, as its user, with the rights by which it becomes another."""
        if not self._spec.argv:
            return {"environment": dict(self._spec.env), "cap_add": _OWN_RIGHTS}
        # A container's first process gets no signal without a handler.
        heed = [f"trap 'exit 143' {self._spec.stop_signal.removeprefix('SIG')}"] if self._spec.setup else []
        lines = [*heed, *map(shlex.join, self._spec.setup), "exec " + shlex.join(self._spec.argv)]
        return {
            "entrypoint": ["/bin/sh", "-e", "-c", "\n".join(lines)],
            "command": [],
            "environment": {"HOME": self._site.data_dir, **self._spec.env},
            "user": f"{self._uid}:{self._user.pw_gid if self._user else os.getegid()}",
            "working_dir": self._site.data_dir,
            "hostname": self._spec.hostname or "scale",
            "ports": {f"{port}/tcp": (self._site.address, port) for port in self._spec.ports},
            "volumes": {p: {"bind": p, "mode": "rw"} for p in self._trees},
        }

    def _limits(self) -> dict[str, Any]:
        resources = self._order.resources
        granted = [_OPTIONS[quantity](resources) for quantity in resources.amounts if quantity in _OPTIONS]
        return {
            "shm_size": SHM_BYTES,
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges"],
            "privileged": False,
            "detach": True,
            **{name: value for options in granted for name, value in options.items()},
        }

    def _find_pid(self) -> None:
        deadline = time.monotonic() + PID_S
        while time.monotonic() < deadline:
            self._container.reload()
            state = self._container.attrs["State"]
            if state["Pid"]:
                self._pid, self._started = state["Pid"], started_ticks(state["Pid"])
                if os.geteuid() == 0:  # may enter it
                    self.network_namespace = f"/proc/{self._pid}/ns/net"
                if self._spec.argv:
                    refuse_unpublished(self._container, self._spec.ports)
                else:
                    self.host, self.port = exposed(self._container)
                return
            if state["Status"] == "exited":
                break
            time.sleep(0.05)
        raise ProvisionError(f"the container ended at once: {self._why_ended()}")

    def alive(self) -> bool:
        """By the kernel: it is called often, and the engine runs on the same CPUs."""
        return alive(self._pid, self._started)

    def accounting(self) -> Accounting | None:
        return accounting_of(self._pid)

    def pids(self) -> tuple[int, ...]:
        accounting = self.accounting()
        return Group(version="", paths=dict(accounting.paths)).pids() if accounting else ()

    def log_tail(self, lines: int) -> str:
        with contextlib.suppress(Exception):
            self._last_words = self._container.logs(tail=lines).decode("utf-8", "replace")
        files = tail([Path(p) for p in self._spec.log_paths], lines, self._uid)
        return "\n".join(part for part in (self._last_words, files) if part)

    def out_of_memory(self) -> OutOfMemory:
        if self._container is not None and (counted := self.accounting()) is not None:
            self._out_of_memory = read_out_of_memory(counted.paths)
        elif self._container is not None and not self._out_of_memory.killed:
            # the groups end with the container; the engine keeps one fact of them
            self._out_of_memory = OutOfMemory(killed=int(ended_state(self._container).get("OOMKilled", 0)))
        return self._out_of_memory

    def exit_code(self) -> int | None:
        if self._container is None or self.alive():
            return None
        code: int | None = ended_state(self._container).get("ExitCode")
        return 128 - code if code is not None and code > 128 else code  # 128 and a signal

    def facts(self) -> Mapping[str, str]:
        if self._container is None:
            return {}
        try:
            image = self._container.image
        except Exception:  # a failing engine may raise anything; the trial reports it
            return {}
        digests = image.attrs.get("RepoDigests") or []
        return {
            "image": self._spec.image,
            "image_id": image.id,
            "image_digest": digests[0] if digests else "",
            "container": self._container.id,
            **privileges(self.pids(), self._spec.needs_root),
        }

    def stop(self) -> None:
        """A second Ctrl-C skips the clean shutdown."""
        with deferred() as hurry:
            self._end(hurry, self._spec.stop_signal, self._spec.stop_timeout_s)
            remove_directories(self._site)

    def shut_down(self, within_s: float) -> bool:
        with deferred() as hurry:
            self.log_tail(1)  # its words are gone with the container
            return self._end(hurry, self._spec.clean_stop_signal or self._spec.stop_signal, within_s)

    def _end(self, hurry: Callable[[], bool], number: str, within_s: float) -> bool:
        if self._container is None:
            return False
        with contextlib.suppress(Exception):
            self._container.kill(signal=number)
        wait_until(lambda: not self.alive() or hurry(), within_s)
        ended = not self.alive()
        self.out_of_memory()  # the counts are gone with the container
        with contextlib.suppress(Exception):
            self._container.remove(force=True, v=True)
        self._container = None
        return ended
