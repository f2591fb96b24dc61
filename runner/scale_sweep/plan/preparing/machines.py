"""The machine for which a sweep is planned: this one, or one that is not here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from scale_sweep.base.errors import UsageError
from scale_sweep.base.registry import require_extra
from scale_sweep.machine.host.block_devices import Room
from scale_sweep.machine.host.child_programs import ESTIMATES_SPEED, measure_new_pages, speed_now
from scale_sweep.machine.host.host_facts import Host, read_host
from scale_sweep.model.declared import Sweep
from scale_sweep.model.planned import Finding, Plan
from scale_sweep.model.resources import NewPages
from scale_sweep.plan.preparing.assumed import assume
from scale_sweep.plan.preparing.choice import ANY, Find, RequestedServer, ServerChoice
from scale_sweep.plan.preparing.data_place import DataPlace, data_place, sized
from scale_sweep.plan.preparing.findings import findings_elsewhere, preflight
from scale_sweep.server.targets import load_facts


class PlannedMachine(Protocol):
    @property
    def host(self) -> Host: ...

    def choose(self, request: RequestedServer) -> ServerChoice: ...

    def data(self, requested: str, least: int = 0, most: int = 0) -> DataPlace: ...

    def new_pages(self, wanted_bytes: int) -> NewPages | None: ...

    def speed(self) -> float:
        """In pieces per ms."""

    def findings(self, plan: Plan, choices: Mapping[str, ServerChoice], data: DataPlace) -> tuple[Finding, ...]: ...


class ThisMachine:
    def __init__(self, results: Path, find: Find) -> None:
        self.host, self._find, self._results = read_host(), find, results

    def choose(self, request: RequestedServer) -> ServerChoice:
        return self._find(request)

    def data(self, requested: str, least: int = 0, most: int = 0) -> DataPlace:
        return data_place(requested, least, most)

    def new_pages(self, wanted_bytes: int) -> NewPages | None:
        return measure_new_pages(wanted_bytes)

    def speed(self) -> float:
        return speed_now()

    def findings(self, plan: Plan, choices: Mapping[str, ServerChoice], data: DataPlace) -> tuple[Finding, ...]:
        if plan.sweep.load.trace_every:
            require_extra("parquet", "--trace")
        return preflight(plan, self.host, choices, data.ram or data.path, self._results)


class SimulatedMachine(ThisMachine):
    """The load runs here, and the server nowhere."""

    def __init__(self, results: Path, find: Find, described: Host) -> None:
        super().__init__(results, find)
        self._here, self.host = self.host, without_load(described)

    def new_pages(self, wanted_bytes: int) -> NewPages | None:
        return None

    def speed(self) -> float:
        return ESTIMATES_SPEED

    def findings(self, plan: Plan, choices: Mapping[str, ServerChoice], data: DataPlace) -> tuple[Finding, ...]:
        return preflight(plan, self._here, choices, data.ram or data.path, self._results)


def without_load(host: Host) -> Host:
    return replace(host, makes_load=False)


def is_simulated(sweep: Sweep) -> bool:
    """Raises UsageError for simulated servers beside others."""
    names = sweep.vary.get("target", (sweep.target,))
    kinds = {name: load_facts(name).is_simulated for name in names if name != ANY}
    if len(set(kinds.values())) > 1:
        raise UsageError(f"--target {','.join(names)}: a simulated server is compared with no database")
    return any(kinds.values())


def machine_of(sweep: Sweep, results: Path, find: Find, described: Host | None = None) -> ThisMachine:
    """That of a sweep. described: one that is not here. Raises UsageError for one whose server would be here."""
    if is_simulated(sweep):
        if sweep.prove:
            raise UsageError("--prove: a simulated server has no CPUs to disturb", remedy="leave it out")
        return SimulatedMachine(results, find, described or read_host())
    if described is not None:
        raise UsageError(
            "--machine: a sweep measures this machine", remedy="scale plan --machine FILE plans for another one"
        )
    return ThisMachine(results, find)


class OtherMachine:
    def __init__(self, host: Host) -> None:
        self.host = host

    def choose(self, request: RequestedServer) -> ServerChoice:
        return assume(request)

    def data(self, requested: str, least: int = 0, most: int = 0) -> DataPlace:
        room = Room(where="the machine's memory", free_bytes=self.host.memory_bytes)
        wanted, note = sized(requested, least, most, lambda: room)
        return DataPlace(wanted=wanted, path=Path(wanted), note=note)

    def new_pages(self, wanted_bytes: int) -> NewPages | None:
        return None

    def speed(self) -> float:
        return ESTIMATES_SPEED

    def findings(self, plan: Plan, choices: Mapping[str, ServerChoice], data: DataPlace) -> tuple[Finding, ...]:
        return findings_elsewhere(plan, self.host, choices)
