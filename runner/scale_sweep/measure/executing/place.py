"""Where the trials of a run are, and what they share: data sets, ceilings of the load generator."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import Any, Protocol

from scale_sweep.base.interrupts import Stop
from scale_sweep.base.units import format_cpus
from scale_sweep.loadgen.ceiling import (
    NONE_FOR_OTHERS,
    NONE_FOR_READS,
    CeilingKey,
    Means,
    ceiling_key,
    means_of,
    measure_ceiling,
)
from scale_sweep.machine.state.records import remove_recorded
from scale_sweep.measure.machine_setup import MachineReady, MachineSetup, Say, machine_ready, supports_tiers
from scale_sweep.measure.trial.order import DataSet, TrialOrder
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model.events import Event
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.model.resources import LOOPBACK
from scale_sweep.plan.data_sets import data_key, makers
from scale_sweep.server.targets import load_target
from scale_sweep.server.targets.planned import planned_spec


class Place(Protocol):
    """Each function does what that of `Here` does. address: of the server's machine, for the load."""

    @property
    def address(self) -> str: ...
    def ceiling(self, program: str, key: CeilingKey) -> float | None: ...
    def set_up(self, setup: MachineSetup, say: Say) -> contextlib.AbstractContextManager[MachineReady]: ...
    def supports_tiers(self, order: TrialOrder, stop: Stop) -> tuple[bool, str]: ...
    def remove_data(self, name: str) -> object: ...
    def run(self, order: TrialOrder, stop: Stop) -> Generator[Event, None, None]: ...
    def now_ns(self) -> int: ...  # the clock of the trials' events
    def manifest(self) -> Mapping[str, Any]: ...  # about the hosts


class Here:
    address = LOOPBACK

    ceiling = staticmethod(measure_ceiling)
    set_up = staticmethod(machine_ready)
    supports_tiers = staticmethod(supports_tiers)
    remove_data = staticmethod(remove_recorded)
    run = staticmethod(run_trial)
    now_ns = staticmethod(time.monotonic_ns)

    def manifest(self) -> Mapping[str, Any]:
        return {}


@contextlib.contextmanager
def data_of_run(
    plan: Plan, run_id: str, remove: Callable[[str], object] = remove_recorded
) -> Iterator[Callable[[Trial], DataSet | None]]:
    """The data set that a trial gets a copy of, None if it loads its own rows; all are removed at the end."""
    by_key, prefix = makers(plan.trials), f"{run_id[-6:]}-data-"

    def data_set(trial: Trial) -> DataSet | None:
        key = data_key(trial)
        return DataSet(name=prefix + key, maker=by_key.setdefault(key, trial)) if key else None

    try:
        yield data_set
    finally:
        for key in by_key:
            remove(prefix + key)


class Ceilings:
    """The load generator's own, by key. client_homes: by `Subject.server`."""

    def __init__(
        self,
        program: str,
        client_homes: Mapping[tuple[str, ...], str],
        measured: Callable[[str, CeilingKey], float | None] = measure_ceiling,
    ) -> None:
        self._program, self._homes, self._measured = program, client_homes, measured
        self._rates: dict[CeilingKey, float | None] = {}
        self._means: dict[tuple[str, str], Means] = {}

    def are_measured(self, trials: Iterable[Trial]) -> bool:
        return any(self._key(trial).means.is_measured for trial in trials)

    def measure(self, trials: Iterable[Trial]) -> None:
        """Raises LoadError."""
        for trial in trials:
            key = self._key(trial)
            if key not in self._rates:
                self._rates[key] = self._measured(self._program, key)

    def of(self, trial: Trial) -> float | None:
        """In rows/s; None if there is none."""
        return self._rates.get(self._key(trial))

    def described(self) -> dict[str, float | str]:
        """The rate, or why there is none."""
        return {_words(key): rate if rate is not None else key.means.value for key, rate in self._rates.items()}

    def _key(self, trial: Trial) -> CeilingKey:
        if not trial.load.is_ours:
            return NONE_FOR_OTHERS
        if trial.work.counts_requests:
            return NONE_FOR_READS
        target = load_target(trial.subject.target)
        spec = planned_spec(trial, target, self._homes[trial.subject.server])
        method = spec["driver"], spec.get("method", "")
        if method not in self._means:
            self._means[method] = means_of(self._program, spec)
        cpus, threads = trial.placement.generator_cpus, target.facts.threads_per_process
        return ceiling_key(spec, cpus, threads, self._means[method])


def _words(key: CeilingKey) -> str:
    if key in (NONE_FOR_READS, NONE_FOR_OTHERS):
        return "a load that reads" if key is NONE_FOR_READS else "a load of another program"
    spec = dict(key.spec)
    interlaced = f", {spec['interlace_rows']} of a table in turn" if spec.get("interlace_rows", "0") != "0" else ""
    if spec.get("requests_per_table", "1") != "1":
        interlaced = f", {spec['requests_per_table']} requests of a table in a row"
    driver = f", driver {spec['driver']} with {key.means.value}" if key.means is Means.STUBBED else ""
    return (
        f"{spec['threads']} threads, {spec['rows_per_request']} rows a request{interlaced}, {spec['tables']} tables, "
        f"{f'on CPU {format_cpus(key.cpus)}' if key.cpus else 'on the load hosts'}{driver}"
    )
