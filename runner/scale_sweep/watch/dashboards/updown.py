"""`up`, `down` and `status` of Prometheus and Grafana, and a stored run loaded into Prometheus."""

from __future__ import annotations

import json
import os
import shutil
import socket
import time
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.base.errors import PreflightError, ProvisionError, UsageError
from scale_sweep.base.interrupts import deferred
from scale_sweep.server.runtimes.docker_engine import docker_facts
from scale_sweep.server.runtimes.local import free_port
from scale_sweep.watch.dashboards import containers, processes
from scale_sweep.watch.dashboards.services import (
    RunningSweep,
    ask,
    lives,
    running_sweeps,
    stale,
    stop,
    url_of,
    wait_ready,
)
from scale_sweep.watch.dashboards.state_directory import (
    How,
    Service,
    StartedService,
    StateDirectory,
    pins,
    read_services,
)

PORTS = {"prometheus": 9090, "grafana": 3000}
GRAFANA_HOME_IN_IMAGE = "/usr/share/grafana"
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Status:
    """services: what runs, by name. page: the address to open; "" without Grafana. sweeps: the sweeps that run now."""

    state: Path
    services: Mapping[str, StartedService]
    page: str
    sweeps: tuple[RunningSweep, ...]

    @property
    def password_file(self) -> Path:
        return StateDirectory(path=self.state).password_file


def status(state: StateDirectory) -> Status:
    running = {name: s for name, s in state.started().items() if lives(s)}
    sweeps = running_sweeps(state)
    page = page_of(running, sweeps[-1].run if sweeps else "")
    return Status(state=state.path, services=running, page=page, sweeps=sweeps)


def page_of(
    services: Mapping[str, StartedService], run: str, board: str = "live", span: tuple[float, float] | None = None
) -> str:
    """The address of a dashboard; "" without Grafana. span: start and end, in seconds since 1970."""
    if "grafana" not in services:
        return ""
    chosen = {"var-run": run} if run else {}
    times = {"from": f"{span[0] * 1000:.0f}", "to": f"{span[1] * 1000:.0f}"} if span else {}
    query = urllib.parse.urlencode({**chosen, **times})
    return f"{url_of(services['grafana'])}/d/scale-{board}/{board}" + (f"?{query}" if query else "")


def up(state: StateDirectory, how: str, images: Mapping[str, str], say: Say) -> Status:
    """Starts what does not run. images: instead of the pinned ones. Raises PreflightError without Prometheus,
    ProvisionError if it does not start. If only Grafana cannot, it says so."""
    running = dict(status(state).services)
    if set(PORTS) <= set(running):
        return status(state)
    named = {name: images.get(name) or pinned_image(name) for name in PORTS}
    ways = {name: way for name in PORTS if name not in running and (way := _way_or_say(name, how, named[name], say))}
    if not running:
        state.fill()
    for path in stale(state):
        path.unlink(missing_ok=True)
    for name, way in ways.items():
        ports = {other: running[other].port if other in running else _port(other) for other in PORTS}
        with deferred():
            service, port = _declared(state, way, ports, named)[name], ports[name]
            docker = way == "docker"
            started = (
                containers.start(service, port, str(state.path)) if docker else processes.start(service, port, state)
            )
            running[name] = started
            state.remember(running)
        try:
            wait_ready(started, state)
        except BaseException:
            stop(started)
            state.remember({n: s for n, s in running.items() if n != name})
            raise
    return status(state)


def images_of(texts: Sequence[str]) -> Mapping[str, str]:
    """NAME=IMAGE arguments. Raises UsageError."""
    pairs = [one.partition("=") for one in texts]
    wrong = [one for one, (name, _, image) in zip(texts, pairs, strict=True) if name not in PORTS or not image]
    if wrong:
        raise UsageError(f"--image: {wrong[0]!r} is not NAME=IMAGE", remedy=f"NAME is one of {', '.join(PORTS)}")
    return {name: image for name, _, image in pairs}


def pinned_image(name: str) -> str:
    pin = pins()[name]
    return f"{pin['image']}@{pin['digest']}" if pin["digest"] else f"{pin['image']}:{pin['version']}"


def _way(name: str, how: str, image: str, say: Say) -> How | None:
    """Docker before a process, a present image before one that must be pulled; None if neither works."""
    if how != "process" and containers.usable():
        if containers.is_local(image):
            return "docker"
        say(f"pulling {image}")
        if containers.pull(image):
            return "docker"
        say(f"{image} cannot be pulled")
    elif how != "process" and (elsewhere := docker_facts().elsewhere):
        say(elsewhere)
    return "process" if how != "docker" and processes.find_program(name) else None


def _way_or_say(name: str, how: str, image: str, say: Say) -> How | None:
    """How to run a service; says why if neither works. Raises PreflightError if that leaves nothing to start."""
    if (way := _way(name, how, image, say)) is not None:
        return way
    where = {"docker": "no Docker image", "process": "no program"}.get(how, "neither a Docker image nor a program")
    if name == "prometheus":
        raise PreflightError(
            f"{where} of Prometheus can be had: nothing would keep the metrics",
            remedy="apt install prometheus, or start dockerd on a machine that can pull images",
        )
    say(
        f"{where} of Grafana can be had: Prometheus keeps the metrics, and nothing shows them; "
        f"install Grafana 11 ({processes.HOME_VARIABLE} names its directory), then run `scale dashboards up` again"
    )
    return None


def _port(name: str) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", PORTS[name]))
        except OSError:
            return free_port()
    return PORTS[name]


def _declared(
    state: StateDirectory, way: How, ports: Mapping[str, int], images: Mapping[str, str]
) -> Mapping[str, Service]:
    values = {
        "STATE_DIRECTORY": str(state.path),
        "OWNER": f"{state.owner.pw_uid}:{state.owner.pw_gid}",
        "PROMETHEUS_IMAGE": images["prometheus"],
        "GRAFANA_IMAGE": images["grafana"],
        "PROMETHEUS_PORT": str(ports["prometheus"]),
        "GRAFANA_PORT": str(ports["grafana"]),
        "GRAFANA_HOME": GRAFANA_HOME_IN_IMAGE if way == "docker" else processes.grafana_home(),
    }
    return read_services(state.path / "config" / "compose.yaml", values)


def down(state: StateDirectory) -> tuple[str, ...]:
    services = state.started()
    for started in reversed(list(services.values())):
        stop(started)
    if services:
        state.remember({})
    return tuple(services)


def purge(state: StateDirectory) -> None:
    down(state)
    state.remove()


def restart(state: StateDirectory, started: StartedService) -> None:
    """On the same port. Raises ProvisionError."""
    if started.how == "docker":
        again = containers.restart(started)
    else:
        stop(started)
        ports = {n: s.port for n, s in state.started().items()}
        images = {name: pinned_image(name) for name in PORTS}
        services = _declared(state, "process", {**PORTS, **ports}, images)
        again = processes.start(services[started.name], started.port, state)
    state.remember({**state.started(), started.name: again})
    wait_ready(again, state)


# Prometheus looks for new blocks once a minute.
SEEN_S = 100.0
MARGIN_S = 5.0
_TIMES = (b"scale_trial_start_time_seconds{", b"scale_trial_end_time_seconds{")


def span_of(openmetrics: bytes) -> tuple[float, float]:
    """From the first trial's start to the last one's end, in seconds since 1970, with some seconds on both sides."""
    times = [float(line.split(b" ")[-2]) for line in openmetrics.splitlines() if line.startswith(_TIMES)]
    return (min(times) - MARGIN_S, max(times) + MARGIN_S) if times else (0.0, 0.0)


def load_run(state: StateDirectory, run: str, openmetrics: bytes) -> bool:
    """False: it was loaded before. Raises UsageError if nothing runs, ProvisionError if loading fails."""
    prometheus = state.started().get("prometheus")
    if prometheus is None or not lives(prometheus):
        raise UsageError("no Prometheus of ours runs", remedy="scale dashboards up")
    record = state.path / "load" / f"{run}.loaded"
    if record.exists():
        return False
    blocks = _blocks(state, prometheus, openmetrics)
    for block in blocks:
        _as_late(block)
        block.rename(state.path / "prometheus" / block.name)
    shutil.rmtree(state.path / "load" / "blocks" / "made", ignore_errors=True)
    record.touch()
    if not running_sweeps(state):
        # Prometheus does not scrape for two seconds, which costs little and saves a minute of waiting.
        restart(state, prometheus)
    _wait_seen(state, run)
    return True


def _blocks(state: StateDirectory, prometheus: StartedService, openmetrics: bytes) -> list[Path]:
    source, made = state.path / "load" / "run.om", state.path / "load" / "blocks" / "made"
    shutil.rmtree(made, ignore_errors=True)
    made.parent.mkdir(parents=True, exist_ok=True)
    source.write_bytes(openmetrics)
    state.give()
    argv = ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(source), str(made)]
    try:
        docker = prometheus.how == "docker"
        code, output = containers.run_inside(prometheus, argv) if docker else processes.run_beside(state, argv)
    finally:
        source.unlink(missing_ok=True)
    blocks = sorted(path.parent for path in made.glob("*/meta.json"))
    if code != 0 or not blocks:
        raise ProvisionError(f"promtool made no blocks: {' | '.join(output.split(chr(10)))[-600:]}")
    return blocks


def _as_late(block: Path) -> None:
    """Marks the block as late data: else Prometheus takes its end for the time up to which its log is complete, and
    forgets at the next start what it scraped before."""
    path = block / "meta.json"
    # The directory belongs to another user, so a link in place of the file is not followed.
    with os.fdopen(os.open(path, os.O_RDWR | os.O_NOFOLLOW), "r+", encoding="utf-8") as file:
        meta = json.load(file)
        meta["compaction"]["hints"] = ["from-out-of-order"]
        file.seek(0)
        file.write(json.dumps(meta, indent=1))
        file.truncate()


def _wait_seen(state: StateDirectory, run: str) -> None:
    prometheus = state.started()["prometheus"]
    query = urllib.parse.urlencode({"match[]": f'scale_run_info{{run="{run}"}}', "start": "0"})
    deadline = time.monotonic() + SEEN_S
    while time.monotonic() < deadline:
        answer = ask(prometheus, f"/api/v1/series?{query}")
        if isinstance(answer, dict) and answer.get("data"):
            return
        time.sleep(0.25)
    raise ProvisionError(f"Prometheus does not show {run}, {SEEN_S:.0f} s after its blocks were laid down")
