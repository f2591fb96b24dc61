"""The place of a run whose server is on one host and whose load is on others: plans there, and runs trials there."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from scale_sweep.agent.trials import choice_of, plain_choice
from scale_sweep.base.errors import PreflightError, ProvisionError, ScaleError, UsageError
from scale_sweep.base.interrupts import Stop, deferred
from scale_sweep.hosts.check import MOVED_NS, ClockSeen, HostClock, measure_clocks, networks
from scale_sweep.hosts.inventory import Inventory
from scale_sweep.hosts.link import END_S, AgentLink, AgentRequest
from scale_sweep.hosts.package import to_have_on
from scale_sweep.hosts.requests import HeldSetup, LoadHost, OfController, TrialLoads
from scale_sweep.loadgen.ceiling import CeilingKey, measure_ceiling
from scale_sweep.machine.host.block_devices import AUTO
from scale_sweep.machine.host.host_facts import Host
from scale_sweep.measure.machine_setup import MachineReady, MachineSetup, Say
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.stages import lost_trial
from scale_sweep.model.events import Event, Noted, TrialFinished
from scale_sweep.model.planned import Finding, Plan
from scale_sweep.model.resources import NewPages
from scale_sweep.model.samples import HostNetwork
from scale_sweep.plan.preparing.choice import RequestedServer, ServerChoice
from scale_sweep.plan.preparing.data_place import DataPlace
from scale_sweep.results.store.codec import from_plain
from scale_sweep.results.store.events import event_of

TRIAL_S = 48 * 3600.0  # every wait of a trial has its own deadline; this one ends a host that forgot them
TIERS_S = 900.0  # a server's start, its schema and its end, each with its own deadline
AGAIN_S = 60.0
_WORDS = ("target", "runtime", "version", "image", "home", "endpoint")


class HostsPlace:
    """The hosts of a run, with an agent each. links: by name, replaced when a host is reached again."""

    def __init__(self, inventory: Inventory, links: dict[str, AgentLink], stack: ExitStack) -> None:
        self._inventory, self._links, self._stack = inventory, links, stack
        self.address = inventory.server.address
        self._clocks = measure_clocks(links)
        self._seen: list[ClockSeen] = []
        self._networks: tuple[HostNetwork, ...] = ()
        self._held: HeldSetup | None = None
        facts: Mapping[str, Any] = self._server.ask("facts").answer()
        host = from_plain(facts["host"], Host, self._source)
        allowed = tuple(cpu for cpu in host.allowed if cpu in inventory.server.cpus) or host.allowed
        if absent := sorted(set(inventory.server.cpus) - set(host.allowed)):
            raise UsageError(f"--hosts: {inventory.server.name}: scale_cpus has CPUs that it lacks: {absent}")
        self.host = replace(host, allowed=allowed, makes_load=False)
        self.machine = str(facts["machine"])
        self.server, self.load = inventory.server.name, tuple(host.name for host in inventory.load)

    @property
    def _server(self) -> AgentLink:
        return self._links[self._inventory.server.name]

    @property
    def _source(self) -> Path:
        return Path(f"host:{self._inventory.server.name}")

    @property
    def described(self) -> Mapping[str, Any]:
        """For the manifest."""
        return {
            "inventory": str(self._inventory.path),
            "server": self._inventory.server.name,
            "load": [host.name for host in self._inventory.load],
            "address": self.address,
        }

    def manifest(self) -> Mapping[str, Any]:
        clocks = [{**asdict(seen), "moved_ns": seen.moved_ns} for seen in self._seen]
        network = [asdict(one) for one in self._networks]
        return {"hosts": {**self.described, "network": network, "clocks": clocks}}

    def now_ns(self) -> int:
        """The clock of the server's host: every time of a trial is on it."""
        return time.monotonic_ns() + self._clocks[self._inventory.server.name].offset_ns

    # What a plan needs (plan/preparing/on_hosts.py).

    def choose(self, request: RequestedServer) -> ServerChoice:
        """Raises as its own `choose`, with how the host gets a server."""
        words = {name: getattr(request, name) for name in _WORDS}
        try:
            return choice_of(self._server.ask("choose", request=words).answer())
        except PreflightError as error:
            remedy = to_have_on(self.server, self._inventory.path, request.target, error.remedy)
            raise PreflightError(error.message, remedy=remedy) from None

    def data(self, requested: str, least: int = 0, most: int = 0) -> DataPlace:
        """On the server's host: the inventory's, unless the user names one."""
        named = self._inventory.server.data_dir
        data_dir = named if named and requested in ("", AUTO) else requested
        answer = self._server.ask("data", data_dir=data_dir, least=least, most=most).answer()
        return from_plain(answer, DataPlace, self._source)

    def new_pages(self, wanted_bytes: int) -> NewPages | None:
        answer = self._server.ask("new_pages", bytes=wanted_bytes).answer()
        return from_plain(answer, NewPages, self._source) if answer else None

    def speed(self) -> float:
        """In pieces per ms, of the server's host."""
        return float(self._server.ask("speed").answer())

    def findings(self, plan: Plan, choices: Mapping[str, ServerChoice], data: DataPlace) -> tuple[Finding, ...]:
        plain = {key: plain_choice(choice) for key, choice in choices.items()}
        words: dict[str, Any] = {"plan": asdict(plan), "host": asdict(self.host), "data": asdict(data)}
        answer = self._server.ask("findings", choices=plain, **words).answer()
        return tuple(from_plain(one, Finding, self._source) for one in answer)

    # What a run needs (measure/executing/place.py).

    def ceiling(self, program: str, key: CeilingKey) -> float | None:
        hosts = self._load_hosts()
        return measure_ceiling(program, key, OfController(hosts), len(hosts))

    @contextlib.contextmanager
    def set_up(self, setup: MachineSetup, say: Say) -> Iterator[MachineReady]:
        """Lets the server's host hold what the trials share, and measures the network."""
        cleaning = {name: link.ask("clean") for name, link in self._links.items()}
        for name, request in cleaning.items():
            for words in request.answer():
                say(f"{name}: removed {words}, which a run had left")
        say("measuring the network, two seconds for each load host, then two for all")
        self._networks = networks(self._inventory, self._links)
        held = self._held = HeldSetup(setup, say)

        def before_trial() -> None:
            self._reach_again()
            held.before_trial()

        try:
            yield MachineReady(disks=held.begin(self._server), before_trial=before_trial)
        finally:
            self._held = None
            held.end()
            if (setup.ram or setup.plan.sweep.disks) and self._server.broken:
                with contextlib.suppress(ScaleError):  # else the next agent unmounts them, or `scale hosts clean`
                    self._start_again(self.server)

    def supports_tiers(self, order: TrialOrder, stop: Stop) -> tuple[bool, str]:
        with stop.here():
            supports, sentence = self._server.ask("tiers", order=asdict(order)).answer(TIERS_S)
        return bool(supports), str(sentence)

    def remove_data(self, name: str) -> None:
        with contextlib.suppress(ScaleError):  # of a lost host, its next agent removes them
            self._server.ask("remove", names=[name]).answer()

    def run(self, order: TrialOrder, stop: Stop) -> Generator[Event, None, None]:
        """Raises ProvisionError if a host is gone and does not come back."""
        self._reach_again()
        before = self._clocks = measure_clocks(self._links)
        events = self._trial(replace(order, networks=self._networks))
        try:
            yield from self._with_clocks(events, order, before)
        except ProvisionError as error:
            yield from lost_trial(order, error.message)

    def _with_clocks(
        self, events: Iterator[Event], order: TrialOrder, before: Mapping[str, HostClock]
    ) -> Iterator[Event]:
        """The events; before the last one the clocks are measured again."""
        for event in events:
            if isinstance(event, TrialFinished):
                self._clocks = measure_clocks(self._links)
                for name, clock in self._clocks.items():
                    seen = ClockSeen(trial_id=order.trial.trial_id, host=name, before=before[name], after=clock)
                    self._seen.append(seen)
                    if seen.moved_ns > MOVED_NS:
                        sentence = f"the clock of {name} moved by {seen.moved_ns / 1e6:.1f} ms during the trial"
                        yield Noted(trial_id=order.trial.trial_id, sentence=sentence)
                        raise ProvisionError(sentence)
            yield event

    def _reach_again(self) -> None:
        """Starts a new agent on each lost host, removes what the lost one left, and sets it up again."""
        for name in self._links:
            deadline = time.monotonic() + AGAIN_S
            held = self._held if name == self.server else None
            while self._links[name].broken or (held is not None and not held.is_held_by(self._links[name])):
                try:
                    self._start_again(name)
                except ScaleError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(1.0)

    def _start_again(self, name: str) -> None:
        if self._links[name].broken:
            self._links[name] = self._stack.enter_context(self._links[name].again())
        self._links[name].ask("clean").answer()
        if name == self.server and self._held is not None:
            self._held.begin(self._links[name])

    def _load_hosts(self) -> list[LoadHost]:
        return [LoadHost(link=self._links[host.name], clock=self._clocks[host.name]) for host in self._inventory.load]

    def _trial(self, order: TrialOrder) -> Iterator[Event]:
        hosts = self._load_hosts()
        loads = TrialLoads(
            self._server, {host.link.host.name: host for host in hosts}, self._clocks[self._server.host.name]
        )
        words: dict[str, Any] = {
            "order": asdict(order),
            "load_hosts": [host.link.host.name for host in hosts],
            "clock_error_ns": sum(clock.error_ns for clock in self._clocks.values()) * 2,
        }
        request = self._server.ask("trial", on_line=loads.take, **words)
        loads.request = request
        watches = [self._watch(name, request) for name in self._links]
        try:
            for line in request.events(TRIAL_S):
                if "event" in line:
                    yield event_of(line["event"], order.trial, self._source)
        finally:
            for watch in watches:
                watch.stop()
            self._end(request, loads)

    def _watch(self, name: str, trial: AgentRequest) -> AgentRequest:
        host = LoadHost(link=self._links[name], clock=self._clocks[name])
        makes_load = any(one.name == name for one in self._inventory.load)
        offset_ns = self._clocks[self._server.host.name].offset_ns

        def passed(sample: Mapping[str, Any]) -> None:
            trial.tell(host=name, sample=sample)

        return host.watch(self.address, offset_ns, passed, makes_load=makes_load)

    def _end(self, request: AgentRequest, loads: TrialLoads) -> None:
        with deferred() as hurry:
            if not loads.is_over:
                request.stop()
                deadline = time.monotonic() + END_S
                while not loads.is_over and not self._server.broken and time.monotonic() < deadline and not hurry():
                    time.sleep(0.05)
            loads.stop()
