"""The runs of a fleet: their levels and command lines on each host, when each begins, and how all end."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from time import sleep

from scale_sweep.base.errors import ScaleError, UsageError
from scale_sweep.base.input_file import read_input_text
from scale_sweep.base.interrupts import current, deferred
from scale_sweep.base.units import format_levels
from scale_sweep.experiment.axes import all_axes, axis_of
from scale_sweep.fleet.engine import FleetHost, FleetOrder, Task
from scale_sweep.machine.host.host_facts import Host
from scale_sweep.model.declared import Sweep
from scale_sweep.plan.granted import amounts_by_level, with_constants
from scale_sweep.sweep.settings import BY_KEY

LOOK_S = 0.1
SayOf = Callable[[str, str], None]


@dataclass(frozen=True, kw_only=True)
class RunEnding:
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
    """Runs every task to its end. say: gets the host and a line, from any thread. Raises KeyboardInterrupt."""
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
    return tuple(map(_ending, tasks))


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


WAKE_S = 30.0  # the longest time until the next look, if a thread died without waking the others


def out_of_step(number: int, many: int, trial_s: float) -> Callable[[], None]:
    """A function that run `number` of `many` calls before each trial; the first call waits for its part of a trial."""
    has_begun = threading.Event()

    def before() -> None:
        if not has_begun.is_set():
            has_begun.set()
            current().sleep(trial_s * number / many)

    return before


class Turn:
    """Held by one run at a time. A run that ends wakes the runs that wait for it."""

    def __init__(self) -> None:
        self._lock, self._is_held = threading.Lock(), False
        self._wakes: list[Callable[[], None]] = []

    @contextmanager
    def held(self, on_wait: Callable[[], None]) -> Iterator[None]:
        """Has it for the block, once nobody else does. on_wait: called before it waits. Raises Stopped."""
        if not self._take():
            on_wait()
            self._wait()
        try:
            yield
        finally:
            with self._lock:
                self._is_held = False
                for wake in self._wakes:
                    wake()

    def _take(self) -> bool:
        with self._lock:
            was_held, self._is_held = self._is_held, True
        return not was_held

    def _wait(self) -> None:
        news: SimpleQueue[None] = SimpleQueue()
        wake, stop = partial(news.put, None), current()
        with stop.waking(wake):
            with self._lock:
                self._wakes.append(wake)
            try:
                while True:
                    stop.look()
                    if self._take():
                        return
                    with suppress(Empty):
                        news.get(timeout=WAKE_S)
            finally:
                with self._lock:
                    self._wakes.remove(wake)


def without_missing(sweep: Sweep, host: Host) -> Sweep:
    """The sweep with the levels that the host has. Raises UsageError of the axis if it has none."""
    levels = tuple(level for level in sweep.levels if _has(sweep, level, host))
    if not levels:
        _check(sweep, sweep.levels[0], host)
    return replace(sweep, levels=levels)


def _has(sweep: Sweep, level: float, host: Host) -> bool:
    try:
        _check(sweep, level, host)
    except UsageError:
        return False
    return True


def _check(sweep: Sweep, level: float, host: Host) -> None:
    alone = with_constants(replace(sweep, levels=(level,)), host)
    for axis in all_axes():
        axis.check(alone, host, list(amounts_by_level(alone).values()))


BYTES_MAX = 1 << 20


def words_of(order: FleetOrder, host: Host) -> tuple[str, ...]:
    """Without the place of its results."""
    sweep = order.resolve(host)
    own = {axis_of(sweep.axis).key: format_levels(sweep.levels), "method.order_seed": str(sweep.seed_of_order)}
    return flag_words(order.what, {**order.flags, **own})


def flag_words(what: str, flags: Mapping[str, str | list[str]]) -> tuple[str, ...]:
    """flags: by key. A sweep file is in the folder of the sweep."""
    words = [Path(what).name if os.path.isfile(what) else what]
    for key, value in flags.items():
        setting = BY_KEY[key]
        if setting.switch:
            words.append(setting.flag)
        else:
            words += [f"{setting.flag}={one}" for one in ([value] if isinstance(value, str) else value)]
    return tuple(words)


def files_of(what: str) -> Mapping[str, str]:
    """By its name, if the sweep is in a file here. Raises UsageError."""
    if not os.path.isfile(what):
        return {}
    return {Path(what).name: read_input_text(Path(what), "the sweep file", BYTES_MAX)}
