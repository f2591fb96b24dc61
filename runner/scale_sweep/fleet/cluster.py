"""The engine for a Dask cluster that exists: one task for each host, which runs a whole sweep there."""

from __future__ import annotations

import contextlib
import ipaddress
import itertools
import json
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import PreflightError, ProvisionError, UsageError
from scale_sweep.base.registry import require_extra
from scale_sweep.fleet import on_worker
from scale_sweep.fleet.engine import Announced, FleetHost, FleetOrder, Say
from scale_sweep.fleet.run import files_of, words_of
from scale_sweep.machine.host.host_facts import Host
from scale_sweep.model.planned import Finding, Plan
from scale_sweep.plan.summary import plan_sentence
from scale_sweep.results.identity import identity
from scale_sweep.results.store.codec import from_plain
from scale_sweep.verify.archive import unpacked

FLAG = "--cluster"
CONNECT_S = 10.0
ANSWER_S = 60.0
PLAN_S = on_worker.PLAN_S + 30.0
_TLS = "use tls://HOST:8786"
_LIMITS = "without root there are no fractional cores and no memory limit; scale doctor on that host shows what it has"
_REMEDY = "docs/hosts.md lists the conditions; tools/dask makes a cluster"
SAME_VERSIONS = ("python", "dask", "distributed", "msgpack", "cloudpickle", "tornado")
# The client sends functions by pickle, as Dask does, and takes none.
_SENDS, _TAKES = ["dask", "msgpack", "pickle"], ["dask", "msgpack"]
_ONE_START = {"pure": False, "retries": 0, "allow_other_workers": False}


@contextmanager
def opened(address: str, say: Say) -> Iterator[ClusterFleet]:
    """Raises UsageError."""
    require_extra("dask", FLAG)
    refuse_open(address)
    with _connected(address) as client:
        yield ClusterFleet(client, address, say)


def _wrong(address: str, sentence: str, remedy: str = _REMEDY) -> UsageError:
    return UsageError(f"{FLAG} {address}: {sentence}", remedy=remedy)


def refuse_open(address: str) -> None:
    """Raises UsageError for an address without TLS that others can reach: it executes what anyone sends."""
    scheme, _, rest = address.partition("://")
    if scheme == "tls":
        return
    host = rest.rpartition(":")[0].strip("[]")
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            return
    raise _wrong(address, "without TLS a scheduler executes any code that it receives", _TLS)


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    from dask import config
    from distributed import Client
    from distributed.security import Security

    security = Security(require_encryption=True) if address.startswith("tls://") else None
    if security is None and config.get("distributed.comm.require-encryption", None):
        raise _wrong(address, "Dask's configuration requires encryption", _TLS)
    if security is not None and security.get_connection_args("client").get("ssl_context") is None:
        raise _wrong(address, "Dask's configuration names no certificates (distributed.comm.tls)")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions, which are compared here
            client = Client(
                address,
                timeout=CONNECT_S,
                security=security,
                set_as_default=False,
                serializers=_SENDS,
                deserializers=_TAKES,
            )
    except (OSError, TypeError, ValueError, RuntimeError) as error:
        words = " ".join(str(error).split()) or type(error).__name__
        raise _wrong(address, f"no connection: {words[:200]}") from None
    try:
        yield client
    finally:
        client.close(timeout=CONNECT_S)


class ClusterFleet:
    """Raises UsageError for a cluster that could start a trial twice."""

    def __init__(self, client: Any, address: str, say: Say) -> None:
        self._client, self._address = client, address
        workers = client.scheduler_info(n_workers=-1)["workers"]
        if not workers:
            raise _wrong(address, "the cluster has no workers", "start one on each host")
        self._refuse_unsafe(workers)
        self._refuse_other_versions()
        described = {worker: self._described(worker) for worker in sorted(workers)}
        seen: dict[str, str] = {}
        for worker, host in described.items():
            if host.machine and host.machine in seen:
                say(f"{worker} and {seen[host.machine]} are one host; the second worker is not used")
            else:
                seen[host.machine or worker] = worker
        self._workers = tuple(seen.values())
        self.hosts = tuple(described[worker] for worker in self._workers)

    def _refuse_unsafe(self, workers: Mapping[str, Mapping[str, Any]]) -> None:
        with_nanny = [worker for worker, about in workers.items() if about.get("nanny")]
        if with_nanny:
            sentence = f"{with_nanny[0]} has a nanny, which starts a lost worker again"
            raise _wrong(self._address, sentence, "dask worker --no-nanny")
        of_scheduler = json.loads(self._client.run_on_scheduler(on_worker.of_scheduler))
        for name, wanted in {"allowed-failures": 0, "work-stealing": False}.items():
            key = f"distributed.scheduler.{name}"
            if of_scheduler[key] != wanted:
                sentence = f"{key} is {of_scheduler[key]} there, which may start a trial twice"
                raise _wrong(self._address, sentence, f"set it to {wanted} in the scheduler's configuration")

    def _refuse_other_versions(self) -> None:
        versions = self._client.get_versions()
        own = versions["client"]["packages"]
        for place, there in {"its scheduler": versions["scheduler"], **versions["workers"]}.items():
            for name in SAME_VERSIONS:
                theirs, ours = (_version(packages.get(name)) for packages in (there["packages"], own))
                if theirs != ours:
                    sentence = f"{place} has {name} {theirs}, here is {ours}"
                    raise _wrong(self._address, sentence, "install the same versions on all hosts")

    def _described(self, worker: str) -> FleetHost:
        raw = json.loads(self._answer(self._submitted(worker, on_worker.described), ANSWER_S))
        own = identity()
        for key in ("tool_version", "code"):
            if (theirs := raw["identity"].get(key)) != own[key]:
                sentence = f"{worker} has another scale: {key} {theirs}, here {own[key]}"
                raise _wrong(self._address, sentence, "install the same version there")
        if any(raw["memory"].values()):
            remedy = "set distributed.worker.memory.target, spill, pause and terminate to false"
            sentence = f"the memory manager of {worker} is on, and would pause or end a sweep"
            raise _wrong(self._address, sentence, remedy)
        host = from_plain(raw["host"], Host, Path(worker))
        return FleetHost(name=host.hostname, host=host, machine=str(raw["machine"]))

    def _submitted(self, worker: str, function: Any, *words: Any) -> Any:
        return self._client.submit(function, *words, workers=[worker], **_ONE_START)

    def _answer(self, future: Any, limit_s: float) -> bytes:
        """Raises ProvisionError."""
        try:
            return bytes(future.result(timeout=limit_s))
        except Exception as error:  # whatever Dask raises, or what arrives in another form
            raise ProvisionError(f"{FLAG} {self._address}: {_line(error)}") from None

    def tasks(self, order: FleetOrder) -> Sequence[ClusterTask]:
        """Raises UsageError or PreflightError that names the host."""
        return [self._task(order, number) for number in range(len(self.hosts))]

    def _task(self, order: FleetOrder, number: int) -> ClusterTask:
        host, worker, files = self.hosts[number], self._workers[number], files_of(order.what)
        words = words_of(order, host.host)
        answer = json.loads(self._answer(self._submitted(worker, on_worker.planned, words, files), PLAN_S))
        announced = _announced(answer, host.name)
        token = f"{order.fleet['id']}-{number}"
        delay_s = announced.trial_s * number / len(self.hosts)
        start = partial(self._submitted, worker, on_worker.swept, token, words, files, delay_s)
        return ClusterTask(self._client, token, start, order.results, host=host.name, announced=announced)


def _announced(answer: Mapping[str, Any], host: str) -> Announced:
    """Raises UsageError or PreflightError with the host's own first line."""
    if answer["code"] != 0:
        lines = [line.strip() for line in str(answer["words"]).splitlines() if line.strip()]
        own = [line for line in lines if line.startswith(("scale:", "Cannot start:"))]
        line = (own or lines[-1:] or ["no plan"])[0]
        message = f"{host}: {line.partition(': ')[2] or line}"
        raise (UsageError if answer["code"] == UsageError.exit_code else PreflightError)(message, remedy=_LIMITS)
    document = json.loads(answer["plan"])
    if document["assumed"]:
        raise PreflightError(f"{host}: {', '.join(document['assumed'])} is not installed there", remedy=_LIMITS)
    plan = from_plain(document["plan"], Plan, Path(host))
    findings = tuple(from_plain(one, Finding, Path(host)) for one in document["findings"])
    sentences = (str(document["choice"]), plan_sentence(plan))
    return Announced(sentences=sentences, findings=findings, seconds=plan.seconds_estimated, trials=len(plan.trials))


class ClusterTask:
    """The run of one host: a task of Dask, started once. token: also the name of its lease and its lines."""

    def __init__(
        self, client: Any, token: str, start: Callable[[], Any], results: Path, *, host: str, announced: Announced
    ) -> None:
        self.host, self.announced = host, announced
        self._client, self._token, self._start, self._results = client, token, start, results
        self._future: Any = None
        self._is_stopped = threading.Event()

    def start(self, say: Say) -> None:
        """Submits the task, and renews its lease from now on."""
        from distributed import Variable

        def hear(event: tuple[float, Mapping[str, Any]]) -> None:
            say(str(event[1]["line"]))

        self._lease = Variable(self._token, client=self._client)
        self._lease.set(0)
        self._client.subscribe_topic(self._token, hear)
        self._future = self._start()
        threading.Thread(target=self._renew, name=f"lease {self.host}", daemon=True).start()

    def _renew(self) -> None:
        for number in itertools.count(1):
            if self._is_stopped.wait(on_worker.BEAT_S) or self.has_ended():
                return
            with contextlib.suppress(Exception):
                self._lease.set(number)

    def has_ended(self) -> bool:
        return self._future is None or bool(self._future.done())

    def stop(self) -> None:
        self._is_stopped.set()
        if self._future is not None:
            with contextlib.suppress(Exception):
                self._lease.set(-1)  # negative: ends it

    def finished_run(self) -> Path:
        """Its directory here. Raises ProvisionError, StoreError."""
        if self._future is None:
            raise ProvisionError(f"{self.host}: the run was not started")
        try:
            about, archive = self._future.result(timeout=ANSWER_S)
            ended = json.loads(bytes(about))
        except Exception as error:  # whatever Dask raises for a lost worker, or what arrives in another form
            raise ProvisionError(f"{self.host}: {_line(error)}", remedy="see the log of its worker") from None
        if not archive:
            last = str(ended["words"]).strip().splitlines() or ["no reason given"]
            raise ProvisionError(f"{self.host}: ended with code {ended['code']}: {last[-1].strip()}")
        return unpacked(bytes(archive), self._results, self.host)


def _version(packaged: str | None) -> str:
    """A version; of Python its first two numbers: "3.11.7.final.0" is "3.11"."""
    numbers = (packaged or "none").split(".")
    return ".".join(numbers[:2] if "final" in numbers else numbers)


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
