"""Operations on a service that are the same for containers and processes, and HTTP requests to it on loopback."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from typing import Any

from scale_sweep.base.errors import ProvisionError
from scale_sweep.watch.dashboards import containers, processes
from scale_sweep.watch.dashboards.state_directory import Started, StateDirectory

_READY = {"prometheus": "/-/ready", "grafana": "/api/health"}
READY_S = 90.0
ANSWER_S = 5.0


def lives(started: Started) -> bool:
    return containers.lives(started) if started.how == "docker" else processes.lives(started)


def stop(started: Started) -> None:
    """Stops it and keeps its data."""
    containers.stop(started) if started.how == "docker" else processes.stop(started)


def url_of(started: Started) -> str:
    """Its address for a browser."""
    return f"http://127.0.0.1:{started.port}"


def ask(started: Started, path: str) -> Any:
    """The answer: JSON, or the text if it is not JSON. None if nothing answers."""
    try:
        with urllib.request.urlopen(url_of(started) + path, timeout=ANSWER_S) as answer:
            body = answer.read().decode("utf-8", "replace")
    except (OSError, urllib.error.URLError):
        return None
    try:
        return json.loads(body)
    except ValueError:
        return body


def wait_ready(started: Started, state: StateDirectory) -> None:
    """Waits until it answers. Raises ProvisionError with the end of its output if it ends or does not answer."""
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        if ask(started, _READY[started.name]) is not None:
            return
        if not lives(started):
            break
        time.sleep(0.1)
    words = containers.last_words(started) if started.how == "docker" else processes.last_words(started, state)
    said = " | ".join(words.split("\n"))[-600:]
    raise ProvisionError(f"{started.name}, run as {state.owner.pw_name}, did not come up: {said}")
