"""Samples this host once a second for a controller, until that ends the request. Refuses to judge them."""

from __future__ import annotations

import contextlib
import os
import queue
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from scale_sweep.agent.lines import Talk
from scale_sweep.machine.sampling import HostReader

PERIOD_S = 1.0


def watch(talk: Talk, line: Mapping[str, Any]) -> None:
    """Sends a sample each second. A host that makes the load names its CPUs; an empty list means all."""
    makes_load, cpus = bool(line["makes_load"]), [int(cpu) for cpu in line["cpus"]]
    reader = HostReader(str(line["server"]), (cpus or sorted(os.sched_getaffinity(0))) if makes_load else ())
    due = time.monotonic()
    while not talk.stop.requested():
        talk.put(event=asdict(reader.read()))
        due = max(due + PERIOD_S, time.monotonic())
        with contextlib.suppress(queue.Empty):
            talk.heard.get(timeout=max(0.0, due - time.monotonic()))


REQUESTS = {"watch": watch}
