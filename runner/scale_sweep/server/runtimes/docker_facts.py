"""Asks the Docker Engine for its version and images. Changes nothing; never raises if there is no engine."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

PULL_QUESTION_S = 5


@dataclass(frozen=True, kw_only=True)
class DockerFacts:
    """reachable: False if no engine answers; the other fields are then empty."""

    reachable: bool
    version: str = ""
    cgroup_driver: str = ""
    cgroup_version: str = ""


@functools.cache
def client(timeout_s: int = 60) -> Any:
    """The SDK's client; None if no engine answers."""
    try:
        import docker

        engine = docker.from_env(timeout=timeout_s)
        engine.ping()
        return engine
    except Exception:
        return None


def docker_facts() -> DockerFacts:
    """The engine's version and properties."""
    engine = client()
    if engine is None:
        return DockerFacts(reachable=False)
    info = engine.info()
    return DockerFacts(
        reachable=True,
        version=str(info.get("ServerVersion", "")),
        cgroup_driver=str(info.get("CgroupDriver", "")),
        cgroup_version=str(info.get("CgroupVersion", "")),
    )


def image_state(image: str) -> str:
    """ "local" or "absent"."""
    engine = client()
    if engine is None:
        return "absent"
    try:
        engine.images.get(image)
    except Exception:
        return "absent"
    return "local"


def can_pull(image: str) -> bool:
    """Whether a registry has the image. Asks for a few seconds."""
    engine = client(PULL_QUESTION_S)
    if engine is None:
        return False
    try:
        engine.images.get_registry_data(image)
    except Exception:
        return False
    return True
