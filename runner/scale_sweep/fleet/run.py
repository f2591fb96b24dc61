"""Runs the tasks of a fleet together, whatever the engine: starts them, waits, and says how each ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import sleep

from scale_sweep.base.errors import ScaleError, UsageError
from scale_sweep.base.interrupts import current, deferred
from scale_sweep.fleet.engine import FleetHost, Task

LOOK_S = 0.1
SayOf = Callable[[str, str], None]


@dataclass(frozen=True, kw_only=True)
class RunEnding:
    """How the run of a host ended."""

    host: str
    path: Path | None  # of its directory; None if it did not come to its end
    error: ScaleError | None = None  # why


def refuse_few(hosts: Sequence[FleetHost], flag: str) -> None:
    """Raises UsageError for fewer than two hosts, or for a machine that is there twice. flag: that named them."""
    seen: dict[str, str] = {}
    for host in hosts:
        if host.machine and host.machine in seen:
            raise UsageError(
                f"{flag}: {seen[host.machine]} and {host.name} are one machine",
                remedy="two servers of one machine would disturb each other; name it once",
            )
        seen[host.machine] = host.name
    if len(hosts) < 2:
        named = f"only {hosts[0].name}" if hosts else "no host"
        raise UsageError(f"{flag}: {named}; a fleet has two servers or more", remedy="docs/hosts.md has an example")


def run_all(tasks: Sequence[Task], say: SayOf) -> tuple[RunEnding, ...]:
    """Runs every task to its end. say: called with the host and a line of its progress, from any thread.

    Raises KeyboardInterrupt after Ctrl-C, when every run has ended.
    """
    begun: list[Task] = []
    try:
        for task in tasks:
            begun.append(task)
            task.start(partial(say, task.host))
        while not all(task.has_ended() for task in begun):
            current().sleep(LOOK_S)
    except BaseException:
        _stop(begun)
        raise
    return tuple(_ending(task) for task in tasks)


def _stop(tasks: Sequence[Task]) -> None:
    with deferred() as hurry:
        for task in tasks:
            task.stop()
        has_hurried = False
        while not all(task.has_ended() for task in tasks):
            sleep(LOOK_S)
            if hurry() and not has_hurried:
                has_hurried = True
                for task in tasks:
                    task.stop()


def _ending(task: Task) -> RunEnding:
    try:
        return RunEnding(host=task.host, path=task.finished_run())
    except ScaleError as error:
        return RunEnding(host=task.host, path=None, error=error)
