"""Facts of a host, its clock, and the remains of a crash. Removes nothing but these."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from scale_sweep.agent.lines import Talk
from scale_sweep.base.errors import ScaleError
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.machine.host import read_host
from scale_sweep.machine.host.alive import machine_identity
from scale_sweep.server.runtimes.clean import find_leftovers, remove
from scale_sweep.server.targets import TARGETS, load_target


def facts(talk: Talk, line: Mapping[str, Any]) -> dict[str, Any]:
    """The machine, its load generator, and the databases that are installed there."""
    try:
        program, lacks = loadgen_path(), ""
    except ScaleError as error:
        program, lacks = "", error.message
    return {
        "host": asdict(read_host()),
        "machine": machine_identity(),
        "python": platform.python_version(),
        "root": os.geteuid() == 0,
        "program": program,
        "lacks": lacks,
        "servers": _servers(),
    }


def _servers() -> dict[str, str]:
    versions = {}
    for name in TARGETS.names():
        target = load_target(name)
        installed = target.find("") if target.facts.to_install else None
        if installed is not None:
            versions[name] = installed.version
    return versions


def clock(talk: Talk, line: Mapping[str, Any]) -> int:
    """The host's monotonic clock in nanoseconds."""
    return time.monotonic_ns()


def clean(talk: Talk, line: Mapping[str, Any]) -> list[str]:
    """Removes what runs left that have ended. Returns it in words."""
    from scale_sweep.machine.disks import leftover_sets, remove_sets  # a load host has none

    removed = []
    with _cleaning:
        for leftover in find_leftovers():
            if not remove(leftover):
                removed.append(f"{leftover.kind} {leftover.name}")
        left = leftover_sets() if os.geteuid() == 0 else ()
        remove_sets(left)
    return [*removed, *(f"disks {disk_set.name}" for disk_set in left)]


_cleaning = threading.Lock()
REQUESTS = {"facts": facts, "clock": clock, "clean": clean}
