"""The state of a container by its engine: how it ended, whether its ports are published. Refuses to change it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Mapping
from typing import Any

from scale_sweep.base.errors import ProvisionError

EXITED_S = 10.0  # the engine hears of the end of a container later than the kernel


def ended_state(container: Any) -> Mapping[str, Any]:
    """The engine's words for a container whose first process has ended; empty if it does not say them."""
    deadline = time.monotonic() + EXITED_S
    with contextlib.suppress(Exception):  # an engine that is failing may raise anything: then nothing is known
        while True:
            container.reload()
            state: Mapping[str, Any] = container.attrs["State"]
            if state["Status"] == "exited" or time.monotonic() > deadline:
                return state
            time.sleep(0.05)
    return {}


def refuse_unpublished(container: Any, ports: Iterable[int]) -> None:
    """Raises ProvisionError for a port of a running container that the engine did not publish: nobody can reach the
    server. container: as the engine described it last."""
    published = container.attrs.get("NetworkSettings", {}).get("Ports") or {}
    lacking = [port for port in ports if not published.get(f"{port}/tcp")]
    if lacking:
        raise ProvisionError(
            f"the published port {lacking[0]} of the container cannot be reached: the Docker Engine published none; "
            "was dockerd started with --bridge=none?",
            remedy="start dockerd without that, or use --runtime process",
        )
