"""The engine for the servers of an inventory: one run for each, in threads of this process, over OpenSSH."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from scale_sweep.base.errors import ProvisionError, ScaleError
from scale_sweep.base.interrupts import Stop, Stopped
from scale_sweep.base.units import counted
from scale_sweep.fleet.engine import Announced, FleetHost, FleetOrder, HereRun, Say
from scale_sweep.fleet.run import Turn, out_of_step
from scale_sweep.hosts import setup
from scale_sweep.hosts.inventory import Inventory, by_server, read_inventory
from scale_sweep.hosts.link import AgentLink
from scale_sweep.hosts.place import HostsPlace
from scale_sweep.plan.preparing.on_hosts import prepare_on
from scale_sweep.plan.preparing.prepared import Prepared
from scale_sweep.plan.summary import plan_sentence


@contextmanager
def opened(address: str, say: Say) -> Iterator[InventoryFleet]:
    """With an agent on each host. Raises UsageError."""
    inventory = read_inventory(Path(address))
    say(f"reaching {counted(len(inventory.hosts), 'host')}")
    with ExitStack() as stack:
        links = stack.enter_context(setup.linked(inventory))
        yield InventoryFleet(inventory, links, stack)


class InventoryFleet:
    """stack: ends what is started for the servers."""

    def __init__(self, inventory: Inventory, links: dict[str, AgentLink], stack: ExitStack) -> None:
        self._inventory, self._links, self._stack = inventory, links, stack
        self.hosts = tuple(
            FleetHost(name=place.server, host=place.host, machine=place.machine) for place in self._places()
        )

    def _places(self) -> Iterator[HostsPlace]:
        for own in by_server(self._inventory):
            yield HostsPlace(own, {host.name: self._links[host.name] for host in own.hosts}, self._stack)

    def tasks(self, order: FleetOrder) -> Sequence[ServerTask]:
        """Raises UsageError or PreflightError that names the server."""
        places = list(self._places())
        prepared = [_prepared(place, order) for place in places]
        turns = {host.name: Turn() for host in self._inventory.load}
        made = []
        for number, (place, plan) in enumerate(zip(places, prepared, strict=True)):
            trial_s = plan.plan.seconds_estimated / max(1, len(plan.plan.trials))
            before, turn = out_of_step(number, len(places), trial_s), turns[place.load[0]]
            made.append(ServerTask(place, plan, order, before, turn))
        return made


def _prepared(place: HostsPlace, order: FleetOrder) -> Prepared:
    try:
        return prepare_on(order.resolve(place.host), order.results, place, insecure=order.insecure_network)
    except ScaleError as error:
        raise type(error)(f"{place.server}: {error.message}", remedy=error.remedy) from None


class ServerTask:
    """The run of one server, in a thread. turn: held while it measures, by one server of a load host at a time."""

    def __init__(
        self, place: HostsPlace, prepared: Prepared, order: FleetOrder, before_trial: Callable[[], None], turn: Turn
    ) -> None:
        self._place, self._prepared, self._order = place, prepared, order
        self._before_trial, self._turn, self._stop = before_trial, turn, Stop()
        self._path: Path | None = None
        self._error: ScaleError | None = None
        self._thread: threading.Thread | None = None
        plan = prepared.plan
        choices = tuple(choice.sentence for choice in prepared.choices.values())
        self.host = place.server
        self.announced = Announced(
            sentences=(*choices, plan_sentence(plan), f"load from {', '.join(place.load)}"),
            findings=prepared.findings,
            seconds=plan.seconds_estimated,
            trials=len(plan.trials),
        )

    def start(self, say: Say) -> None:
        self._thread = threading.Thread(target=self._work, args=(say,), name=f"run {self.host}", daemon=True)
        self._thread.start()

    def has_ended(self) -> bool:
        return self._thread is None or not self._thread.is_alive()

    def stop(self) -> None:
        self._stop.request()

    def finished_run(self) -> Path:
        """Raises the error that ended the run."""
        if self._path is None:
            raise self._error or ProvisionError(f"{self.host}: the run was not started")
        return self._path

    def _work(self, say: Say) -> None:
        try:
            with self._stop.here(), self._turn.held(lambda: say("waits for its load hosts, which another server uses")):
                here = HereRun(
                    host=self.host,
                    place=self._place,
                    prepared=self._prepared,
                    fleet=self._order.fleet,
                    before_trial=self._before_trial,
                    say=say,
                )
                self._path = self._order.campaign(here)
        except Stopped:
            self._error = ProvisionError("interrupted", remedy="scale resume RUN continues it")
        except ScaleError as error:
            self._error = error
        except Exception as error:  # of one host's run: the others go on
            self._error = ProvisionError(f"{type(error).__name__}: {error}")
