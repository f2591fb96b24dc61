"""A service in a container, through the Docker Engine."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from scale_sweep.base.errors import ProvisionError
from scale_sweep.server.runtimes.docker_engine import client, image_state
from scale_sweep.watch.dashboards.state_directory import Service, StartedService

LABEL = "scale.dashboards"
STOP_S = 10


def usable() -> bool:
    return client() is not None


def is_local(image: str) -> bool:
    return image_state(image) == "local"


def pull(image: str) -> bool:
    try:
        client().images.pull(image)
    except Exception:
        return False
    return True


def start(service: Service, port: int, state: str) -> StartedService:
    """Raises ProvisionError with the engine's message."""
    engine = client()
    try:
        labels = {LABEL: service.name, f"{LABEL}.room": state}
        of_service = {"label": [f"{name}={value}" for name, value in labels.items()]}
        for old in engine.containers.list(all=True, filters=of_service):
            old.remove(force=True, v=True)
        container = engine.containers.run(
            service.image,
            name=f"scale-dashboards-{service.name}-{port}",
            entrypoint=[service.argv[0]],
            command=list(service.argv[1:]),
            environment=dict(service.environment),
            user=service.user,
            network_mode=service.network_mode,
            volumes={path: {"bind": path, "mode": "rw"} for path in service.volumes},
            cap_drop=list(service.cap_drop),
            security_opt=list(service.security_opt),
            labels=labels,
            detach=True,
        )
    except Exception as error:
        reason = getattr(error, "explanation", None) or str(error)
        raise ProvisionError(f"Docker did not start {service.image}: {reason}") from None
    return StartedService(name=service.name, how="docker", port=port, container=container.id, program=service.image)


def _container(started: StartedService) -> Any:
    return client().containers.get(started.container)


def lives(started: StartedService) -> bool:
    with contextlib.suppress(Exception):
        return bool(_container(started).status == "running")
    return False


def last_words(started: StartedService) -> str:
    with contextlib.suppress(Exception):
        return str(_container(started).logs(tail=5).decode("utf-8", "replace"))
    return ""


def restart(started: StartedService) -> StartedService:
    _container(started).restart(timeout=STOP_S)
    return started


def stop(started: StartedService) -> None:
    with contextlib.suppress(Exception):
        _container(started).stop(timeout=STOP_S)
    with contextlib.suppress(Exception):
        _container(started).remove(force=True, v=True)


def run_inside(started: StartedService, argv: Sequence[str]) -> tuple[int, str]:
    done = _container(started).exec_run(list(argv))
    return int(done.exit_code), done.output.decode("utf-8", "replace")


def stopped_ids(state: str) -> tuple[str, ...]:
    engine = client()
    if engine is None:
        return ()
    all_of_state = engine.containers.list(all=True, filters={"label": f"{LABEL}.room={state}"})
    return tuple(c.id for c in all_of_state if c.status != "running")
