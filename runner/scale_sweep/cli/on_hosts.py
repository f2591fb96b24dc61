"""`scale sweep --hosts`, `--each-server` and `--cluster`: a sweep on other hosts."""

from __future__ import annotations

import functools
import secrets
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import EXIT_HOSTS_FAILED, EXIT_INTERRUPTED, HOSTS_COUNTED_MAX, ScaleError, UsageError
from scale_sweep.base.units import counted
from scale_sweep.cli import boards, compose, console
from scale_sweep.cli.arguments import quiet_s
from scale_sweep.cli.console.live import LinesView
from scale_sweep.cli.running import announce, ask, has_failed, run_and_show, start_dashboards
from scale_sweep.cli.sweep_help import Flags
from scale_sweep.cli.sweep_request import FleetFlags, SweepRequest
from scale_sweep.fleet.engine import FleetOrder, HereRun, Task, engine_of
from scale_sweep.fleet.run import RunEnding, refuse_few, run_all, without_missing
from scale_sweep.hosts import setup
from scale_sweep.hosts.inventory import Inventory, named_again, of_one_server, read_inventory
from scale_sweep.hosts.place import HostsPlace
from scale_sweep.machine.host.host_facts import Host
from scale_sweep.machine.state.places import check_nearest
from scale_sweep.measure.executing.execute import Sink
from scale_sweep.model.declared import Sweep
from scale_sweep.model.derived import counted_verdicts
from scale_sweep.model.events import Event, TrialStarted
from scale_sweep.model.fitted import StoredRun
from scale_sweep.plan.preparing.findings import refuse_blocking
from scale_sweep.plan.preparing.on_hosts import prepare_again_on, prepare_on
from scale_sweep.results.store.reader import read_run
from scale_sweep.results.store.run_lock import RunLock
from scale_sweep.sweep.resolve import resolve_sweep
from scale_sweep.watch.live.state import LiveState


@contextmanager
def reached(inventory: Inventory) -> Iterator[HostsPlace]:
    """With an agent each until the end of the block."""
    console.say(f"reaching {counted(len(inventory.hosts), 'host')}")
    with ExitStack() as stack:
        links = stack.enter_context(setup.linked(inventory))
        yield HostsPlace(inventory, links, stack)


def sweep(flags: Flags, request: SweepRequest, hosts: Path) -> None:
    wait_s = quiet_s(request.wait_quiet)
    with reached(of_one_server(read_inventory(hosts))) as place:
        resolved = resolve_sweep(request.what, flags, place.host)
        prepared = prepare_on(resolved, request.results, place, insecure=request.insecure_network)
        prepared = replace(prepared, wait_quiet_s=wait_s)
        begin = announce(prepared, request.yes)
        start_dashboards(request.with_dashboards, request.metrics_port, request.no_metrics)
        writer = compose.new_run(prepared, ["scale", *sys.argv[1:]])
        metrics_port = 0 if request.no_metrics else request.metrics_port
        execute = functools.partial(compose.execute_on, place)
        run_and_show(prepared, writer, begin, request.as_json, metrics_port, execute)


def resume(stored: StoredRun, held: RunLock, as_json: bool, metrics_port: int, wait_quiet_s: float) -> None:
    """On its hosts."""
    hosts = stored.manifest.get("hosts")
    named = hosts if isinstance(hosts, dict) else {}
    path, server, load = (named.get(key) for key in ("inventory", "server", "load"))
    if not (isinstance(path, str) and isinstance(server, str) and isinstance(load, list)):
        raise UsageError("the run does not name its hosts", remedy="start a new sweep")
    with reached(named_again(read_inventory(Path(path)), server, [str(name) for name in load])) as place:
        prepared = replace(prepare_again_on(stored, held.run.path.parent, place), wait_quiet_s=wait_quiet_s)
        refuse_blocking(prepared.findings)
        console.show_findings([finding for finding in prepared.findings if finding.remedy])
        writer = compose.reopen_run(stored, held)
        missing = len(stored.plan.trials) - len(stored.results)
        begin = f"{missing} of {counted(len(stored.plan.trials), 'trial')} to go"
        run_and_show(prepared, writer, begin, as_json, metrics_port, functools.partial(compose.execute_on, place))


def sweep_each(flags: Flags, request: SweepRequest, fleet: FleetFlags) -> None:
    """Ends the process with the number of hosts that failed."""
    flag, address = _address(request, fleet)
    check_nearest(request.results, of_sudo=True)
    with engine_of(address).opened(address, console.say) as hosts:
        refuse_few(hosts.hosts, flag)
        tasks = hosts.tasks(_order(flags, request, fleet))
        _announce(tasks, request.yes)
        start_dashboards(request.with_dashboards, request.metrics_port, request.no_metrics)
        try:
            endings = run_all(tasks, lambda host, line: console.say(f"{host}: {line}"))
        except KeyboardInterrupt:
            console.say("interrupted: nothing is left running; scale list shows the runs, scale resume continues one")
            sys.exit(EXIT_INTERRUPTED)
    _show(endings, request)


def _address(request: SweepRequest, fleet: FleetFlags) -> tuple[str, str]:
    """The flag that names the hosts, and its value."""
    if fleet.cluster is not None:
        for flag, is_given in {"--hosts": request.hosts, "--each-server": fleet.each_server}.items():
            if is_given:
                raise UsageError(f"--cluster beside {flag}: both name hosts", remedy="leave out one of the two")
        if "://" not in fleet.cluster:
            raise UsageError(f"--cluster {fleet.cluster}: no address with a scheme", remedy="like tls://HOST:8786")
        return "--cluster", fleet.cluster
    if request.hosts is None:
        raise UsageError("--each-server: no hosts are named", remedy="name them: --hosts hosts.ini")
    return "--hosts", str(request.hosts)


def _order(flags: Flags, request: SweepRequest, fleet: FleetFlags) -> FleetOrder:
    seed = secrets.randbelow(10**6)  # the same order everywhere: the hosts differ, and not the place of a trial in it

    def resolve(host: Host) -> Sweep:
        swept = resolve_sweep(request.what, flags, host)
        swept = swept if swept.order_seed is not None else replace(swept, order_seed=seed)
        return without_missing(swept, host) if fleet.skip_missing else swept

    return FleetOrder(
        what=request.what,
        flags=flags,
        results=request.results,
        fleet={"id": secrets.token_hex(4)},
        insecure_network=request.insecure_network,
        resolve=resolve,
        campaign=_Campaign(0 if request.no_metrics else request.metrics_port, quiet_s(request.wait_quiet)),
    )


@dataclass(frozen=True)
class _Campaign:
    metrics_port: int  # the first that is tried; 0: no metrics
    wait_quiet_s: float

    def __call__(self, run: HereRun) -> Path:
        writer = compose.new_run(run.prepared, ["scale", *sys.argv[1:]])
        writer.update_manifest(fleet={**run.fleet, "host": run.host})
        prepared = replace(run.prepared, wait_quiet_s=self.wait_quiet_s)
        run.say(f"Results in {writer.path}")
        state = LiveState(run=writer.path.name, plan=run.prepared.plan, results=writer.results)

        def before(event: Event) -> None:
            if isinstance(event, TrialStarted):
                run.before_trial()

        with ExitStack() as stack:
            sinks: list[Sink] = [before]
            if self.metrics_port:
                exporter = boards.serve(state, self.metrics_port, stack, run.host)
                writer.update_manifest(metrics_url=exporter.url)
                sinks.append(exporter)
            sinks.append(LinesView(state, lambda line, style: run.say(line.strip()), has_view=False))
            return Path(compose.execute_on(run.place, prepared, writer, sinks, run.say).path)


def _announce(tasks: Sequence[Task], yes: bool) -> None:
    """Raises PreflightError that names the host."""
    for task in tasks:
        for sentence in task.announced.sentences:
            console.say(f"{task.host}: {sentence}")
        try:
            refuse_blocking(task.announced.findings)
        except ScaleError as error:
            raise type(error)(f"{task.host}: {error.message}", remedy=error.remedy) from None
        console.show_findings([finding for finding in task.announced.findings if finding.remedy])
    ask(max(task.announced.seconds for task in tasks), yes)


def _show(endings: Sequence[RunEnding], request: SweepRequest) -> None:
    stored = {ending.host: read_run(ending.path) for ending in endings if ending.path is not None}
    failed = [one.host for one in endings if one.host not in stored or has_failed(stored[one.host])]
    if request.as_json:
        console.show_json([_document(one, stored.get(one.host), one.host in failed) for one in endings])
    else:
        console.show_table("", ["host", "run", "verdicts"], [_row(one, stored.get(one.host)) for one in endings])
        if len(stored) > 1:
            words = [run.path for run in stored.values()]
            console.show_line(f"next: scale compare {shlex.join(words)} --side-by-side --html fleet.html")
    if failed:
        console.say(f"{counted(len(failed), 'host')} of {len(endings)} failed: {', '.join(failed)}", "yellow")
        sys.exit(EXIT_HOSTS_FAILED + min(len(failed), HOSTS_COUNTED_MAX))


def _row(ending: RunEnding, stored: StoredRun | None) -> list[str]:
    if stored is None:
        return [ending.host, "none", ending.error.message if ending.error is not None else ""]
    return [ending.host, stored.path, f"{counted_verdicts(stored.results)}"]


def _document(ending: RunEnding, stored: StoredRun | None, failed: bool) -> dict[str, Any]:
    return {
        "host": ending.host,
        "path": stored.path if stored is not None else None,
        "failed": failed,
        "error": ending.error.message if ending.error is not None else None,
    }
