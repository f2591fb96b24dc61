"""Where the trials of a run are: on this machine, or (`scale_sweep/hosts/`) with the server on one host and the load on
others."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Mapping
from typing import Any, Protocol

from scale_sweep.base.interrupts import Stop
from scale_sweep.loadgen.ceiling import CeilingKey, measure_ceiling
from scale_sweep.measure.disk_placement import supports_tiers
from scale_sweep.measure.machine_setup import MachineReady, MachineSetup, Say, machine_ready
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.preload import remove
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model import LOOPBACK, Event


class Place(Protocol):
    """address: of the server's machine, on which the load reaches it."""

    @property
    def address(self) -> str: ...

    def ceiling(self, program: str, key: CeilingKey) -> float | None:
        """The load generator's own ceiling. Raises LoadError."""

    def set_up(self, setup: MachineSetup, say: Say) -> contextlib.AbstractContextManager[MachineReady]:
        """Makes the shared parts of the trials on the server's machine, until the end of the block: `machine_ready`."""

    def supports_tiers(self, order: TrialOrder, stop: Stop) -> tuple[bool, str]:
        """Whether the server supports several data directories; see `disk_placement.supports_tiers`."""

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

    def set_up(self, setup: MachineSetup, say: Say) -> contextlib.AbstractContextManager[MachineReady]:
        return machine_ready(setup, say)

    def supports_tiers(self, order: TrialOrder, stop: Stop) -> tuple[bool, str]:
        return supports_tiers(order, stop)

    def remove_data(self, name: str) -> None:
        remove(name)

    def run(self, order: TrialOrder, stop: Stop) -> Generator[Event, None, None]:
        return run_trial(order, stop)

    def now_ns(self) -> int:
        return time.monotonic_ns()

    def manifest(self) -> Mapping[str, Any]:
        return {}
