"""The work of the server's host: it chooses the server, checks a plan, holds what a run's trials share, runs trials."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

from scale_sweep.agent.lines import Talk
from scale_sweep.base.errors import LoadError, PreflightError
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.handle import LoadHandle
from scale_sweep.loadgen.process import LoadProcesses
from scale_sweep.loadgen.remote import START, RemoteProcess, folders_of
from scale_sweep.loadgen.spec import PROTOCOL
from scale_sweep.loadgen.split import begun_together, delay_elsewhere_ns, group_specs, split_spec, start_ns
from scale_sweep.machine.host.child_programs import measure_new_pages, speed_now
from scale_sweep.machine.host.host_facts import Host
from scale_sweep.machine.state.records import remove_recorded
from scale_sweep.measure.machine_setup import MachineSetup, machine_ready, supports_tiers
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.provision import Reached
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model.planned import Plan
from scale_sweep.model.samples import HostSample
from scale_sweep.plan.preparing.choice import ServerChoice, choose
from scale_sweep.plan.preparing.data_place import DataPlace, data_place
from scale_sweep.plan.preparing.findings import preflight
from scale_sweep.results.store.codec import from_plain
from scale_sweep.results.store.events import plain_event
from scale_sweep.server.pinned import lacking as lacking_of
from scale_sweep.server.targets import load_target
from scale_sweep.server.targets.installations import installed

ONE_ROW_S = 30.0
_CONTROLLER = Path("controller")  # the source of values, for messages
RUNNING: set[int] = set()  # the numbers of the requests whose trials have not removed their servers yet
_ONE_ROW = {"protocol": PROTOCOL, "driver": "null", "rows": "1", "rows_per_request": "1"}


@dataclass(frozen=True, kw_only=True)
class Request:
    """ "auto" and "" leave the choice open."""

    target: str
    runtime: str
    version: str
    image: str
    home: str
    endpoint: str
    tls, command, ready = None, "", ""  # a database that is started here


def chosen(talk: Talk, line: Mapping[str, Any]) -> dict[str, str]:
    """Raises as `choose`, also with what keeps installed files from running."""
    request = from_plain(line["request"], Request, _CONTROLLER)
    try:
        return plain_choice(choose(request))
    except PreflightError as error:
        reasons = lacking(talk, {"names": [request.target]})
        raise PreflightError("; ".join([error.message, *reasons]), remedy=error.remedy) from None


def lacking(talk: Talk, line: Mapping[str, Any]) -> list[str]:
    """Why servers whose files are here do not run, such as a missing Java."""
    reasons = {str(name): lacking_of(str(name)) for name in line["names"] if installed(str(name))}
    return [f"{name}: {reason.sentence}" for name, reason in reasons.items() if reason]


def plain_choice(choice: ServerChoice) -> dict[str, str]:
    names = ("runtime", "image", "home", "version", "sentence", "missing")
    return {"target": choice.facts.name, **{name: getattr(choice, name) for name in names}}


def choice_of(plain: Mapping[str, Any]) -> ServerChoice:
    """Raises KeyError, UsageError for a target that is not known here."""
    words = {str(key): str(value) for key, value in plain.items() if key != "target"}
    return ServerChoice(target=load_target(str(plain["target"])), **words)


def findings(talk: Talk, line: Mapping[str, Any]) -> list[dict[str, Any]]:
    plan = from_plain(line["plan"], Plan, _CONTROLLER)
    host = from_plain(line["host"], Host, _CONTROLLER)
    choices = {str(key): choice_of(plain) for key, plain in dict(line["choices"]).items()}
    data = from_plain(line["data"], DataPlace, _CONTROLLER)
    listed = list(preflight(plan, host, choices, data.ram or data.path, data.path))
    for choice in choices.values():
        listed += choice.target.check_client(choice.home, choice.version)
    return [asdict(one) for one in dict.fromkeys(listed)]


def removed(talk: Talk, line: Mapping[str, Any]) -> None:
    for name in line["names"]:
        remove_recorded(str(name))


def trial(talk: Talk, line: Mapping[str, Any]) -> None:
    order = replace(from_plain(line["order"], TrialOrder, _CONTROLLER), program=loadgen_path())
    loads = _AskedLoads(talk, [str(name) for name in line["load_hosts"]], int(line["clock_error_ns"]))
    RUNNING.add(talk.number)
    try:
        with closing(run_trial(order, talk.stop, make_load=loads.make, hosts=lambda: loads.samples)) as events:
            for event in events:
                talk.put(event=plain_event(event))
    finally:
        RUNNING.discard(talk.number)


class _AskedLoads:
    """Asks the controller for the processes of a load. error_ns: the greatest difference between all clocks."""

    def __init__(self, talk: Talk, hosts: Sequence[str], error_ns: int) -> None:
        self._talk, self._hosts, self.error_ns = talk, hosts, error_ns
        self._numbers = itertools.count(1)
        self._processes: dict[int, RemoteProcess] = {}
        self.samples: dict[str, HostSample] = {}
        self._delay_ns = self._begin_ns = 0
        talk.on_line = self._hear

    def make(
        self, order: TrialOrder, spec: Mapping[str, str], threads_per_process: int, reached: Reached, folder: str
    ) -> LoadHandle:
        """One load on all load hosts: each gets its workers, and all begin at the same moment."""
        if folder or not order.trial.load.is_ours:
            raise LoadError("only a load of scale-loadgen without --trace is made on other hosts")
        now_ns = time.monotonic_ns()
        specs: list[dict[str, str]] = []
        for group in group_specs(spec, order.trial.work):
            specs += split_spec(group, threads_per_process, now_ns, least=len(self._hosts))
        specs = begun_together(specs, now_ns)
        threads = sum(int(one["threads"]) for one in specs)
        self._delay_ns = start_ns(0, threads)
        if len(specs) > 1 and not threads_per_process:  # a client library that serves few threads starts slowly
            self._delay_ns = delay_elsewhere_ns(threads, order.trial.cores, self._started_s())
        return LoadProcesses("", specs, (), reached.address.secret, elsewhere=self)

    def _started_s(self) -> float:
        """The seconds in which all load hosts start a load of one row and end it, at the same time."""
        begun = time.monotonic()
        with LoadProcesses("", [_ONE_ROW] * len(self._hosts), (), "", elsewhere=_NotTogether(self)) as load:
            for _ in load.lines(ONE_ROW_S):
                self._talk.stop.look()
        return time.monotonic() - begun

    def start(self, index: int, spec: Mapping[str, str], secret: str, errors: IO[str]) -> RemoteProcess:
        """Asks for one process, on the hosts in turn. The first one fixes the moment at which all begin."""
        if index == 0:
            self._begin_ns = time.monotonic_ns() + self._delay_ns
        if START in spec:
            spec = {**spec, START: str(self._begin_ns)}
        number = next(self._numbers)
        process = RemoteProcess(lambda what: self._talk.put(load=number, signal=what), errors)
        self._processes[number] = process
        host = self._hosts[index % len(self._hosts)]
        self._talk.put(load=number, host=host, spec=dict(spec), secret=secret, folders=folders_of(spec))
        return process

    def _hear(self, line: Mapping[str, Any]) -> None:
        if "closed" in line:
            for process in list(self._processes.values()):
                process.lose(str(line["closed"]))
            return
        if "sample" in line:
            self.samples[str(line["host"])] = from_plain(line["sample"], HostSample, _CONTROLLER)
            return
        number = int(line.get("load") or 0)
        if number in self._processes:
            self._processes[number].hear(line)


class _NotTogether:
    """The same hosts, for processes that need not begin at the same moment."""

    def __init__(self, loads: _AskedLoads) -> None:
        self._loads, self.error_ns = loads, round(ONE_ROW_S * 1e9)

    def start(self, index: int, spec: Mapping[str, str], secret: str, errors: IO[str]) -> RemoteProcess:
        return self._loads.start(index, spec, secret, errors)


TRIAL_END_S = 60.0  # a server's clean stop, and the removal of its data


def data(talk: Talk, line: Mapping[str, Any]) -> dict[str, Any]:
    return asdict(data_place(str(line["data_dir"]), int(line["least"]), int(line["most"])))


def new_pages(talk: Talk, line: Mapping[str, Any]) -> dict[str, Any] | None:
    pages = measure_new_pages(int(line["bytes"]))
    return asdict(pages) if pages else None


def speed(talk: Talk, line: Mapping[str, Any]) -> float:
    return speed_now()


def set_up(talk: Talk, line: Mapping[str, Any]) -> None:
    """Holds what a run's trials share until the controller ends the request. A line with "take" holds memory again."""
    setup = from_plain(line["setup"], MachineSetup, _CONTROLLER)
    with machine_ready(setup, lambda sentence: talk.put(event={"say": sentence})) as ready:
        talk.put(event={"disks": asdict(ready.disks)})
        while "closed" not in (heard := talk.heard.get()):
            if "take" in heard:
                ready.before_trial()
                talk.put(event={"taken": True})
        deadline = time.monotonic() + TRIAL_END_S
        while RUNNING and time.monotonic() < deadline:  # the end of the controller ends both requests at once
            time.sleep(0.05)


def tiers(talk: Talk, line: Mapping[str, Any]) -> tuple[bool, str]:
    """The observation in words, too."""
    order = from_plain(line["order"], TrialOrder, _CONTROLLER)
    return supports_tiers(replace(order, program=loadgen_path()), talk.stop)


REQUESTS = {
    "choose": chosen, "lacking": lacking, "findings": findings, "remove": removed, "trial": trial,
    "data": data, "new_pages": new_pages, "speed": speed, "set_up": set_up, "tiers": tiers,
}  # fmt: skip
