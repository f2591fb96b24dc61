"""Where the trials of a run are: on this machine, or (`scale_sweep/hosts/`) with the server on one host and the load on
others. Refuses to know what a trial does."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from scale_sweep.base.interrupts import Stop
from scale_sweep.loadgen.ceiling import CeilingKey, measure_ceiling
from scale_sweep.machine.state import make_ready
from scale_sweep.measure.executing.run_setup import PreparedDisks, Say, disks_of_run
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.preload import remove
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model import LOOPBACK, Event, Plan


class Place(Protocol):
    """address: of the server's machine, on which the load reaches it."""

    @property
    def address(self) -> str: ...

    def ceiling(self, program: str, key: CeilingKey) -> float | None:
        """The load generator's own ceiling. Raises LoadError."""

    def disks(
        self, plan: Plan, data_dir: Path, run_id: str, say: Say
    ) -> contextlib.AbstractContextManager[PreparedDisks]:
        """The directory for data, made ready, and the disks of the run until the end of the block."""

    def remove_data(self, name: str) -> None:
        """Removes rows that trials shared."""

    def run(self, order: TrialOrder, stop: Stop) -> Generator[Event, None, None]:
        """Runs one trial; see `run_trial`."""

    def now_ns(self) -> int:
        """The clock of the trials' events, in nanoseconds."""

    def manifest(self) -> Mapping[str, Any]:
        """The part of the manifest about the hosts."""


class Here:
    """This machine."""

    address = LOOPBACK

    def ceiling(self, program: str, key: CeilingKey) -> float | None:
        return measure_ceiling(program, key)

    @contextlib.contextmanager
    def disks(self, plan: Plan, data_dir: Path, run_id: str, say: Say) -> Iterator[PreparedDisks]:
        make_ready(data_dir)
        with disks_of_run(plan, data_dir, run_id, say) as disks:
            yield disks

    def remove_data(self, name: str) -> None:
        remove(name)

    def run(self, order: TrialOrder, stop: Stop) -> Generator[Event, None, None]:
        return run_trial(order, stop)

    def now_ns(self) -> int:
        return time.monotonic_ns()

    def manifest(self) -> Mapping[str, Any]:
        return {}
