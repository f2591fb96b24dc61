"""`scale sweep --hosts`, and `scale resume` of such a run. Wiring only."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from scale_sweep.base.errors import UsageError
from scale_sweep.base.units import counted
from scale_sweep.cli import compose, console
from scale_sweep.cli.options import Flags
from scale_sweep.cli.sweeps import SweepRequest, announce, run_and_show, start_dashboards
from scale_sweep.hosts import setup
from scale_sweep.hosts.inventory import Inventory, named_again, of_one_server, read_inventory
from scale_sweep.hosts.place import HostsPlace
from scale_sweep.model import StoredRun
from scale_sweep.plan.preparing import refuse_blocking
from scale_sweep.plan.preparing.on_hosts import prepare_again_on, prepare_on
from scale_sweep.results.store.run_lock import RunLock
from scale_sweep.sweep.resolve import resolve_sweep


@contextmanager
def reached(inventory: Inventory) -> Iterator[HostsPlace]:
    """The hosts of an inventory, with an agent each until the end of the block."""
    console.say(f"reaching {counted(len(inventory.hosts), 'host')}")
    with ExitStack() as stack:
        links = stack.enter_context(setup.linked(inventory))
        yield HostsPlace(inventory, links, stack)


def sweep(flags: Flags, request: SweepRequest, hosts: Path) -> None:
    """Plans on the hosts, runs there, and stores here."""
    with reached(of_one_server(read_inventory(hosts))) as place:
        resolved = resolve_sweep(request.what, flags, place.host)
        prepared = prepare_on(resolved, request.results, place, insecure=request.insecure_network)
        begin = announce(prepared, request.yes)
        start_dashboards(request.with_dashboards, request.metrics_port, request.no_metrics)
        writer = compose.new_run(prepared, ["scale", *sys.argv[1:]])
        metrics_port = 0 if request.no_metrics else request.metrics_port
        execute = functools.partial(compose.execute_on, place)
        run_and_show(prepared, writer, begin, request.as_json, metrics_port, execute)


def resume(stored: StoredRun, held: RunLock, as_json: bool, metrics_port: int) -> None:
    """Continues a run on its hosts."""
    hosts = stored.manifest.get("hosts")
    named = hosts if isinstance(hosts, dict) else {}
    path, server, load = (named.get(key) for key in ("inventory", "server", "load"))
    if not (isinstance(path, str) and isinstance(server, str) and isinstance(load, list)):
        raise UsageError("the run does not name its hosts", remedy="start a new sweep")
    with reached(named_again(read_inventory(Path(path)), server, [str(name) for name in load])) as place:
        prepared = prepare_again_on(stored, held.run.path.parent, place)
        refuse_blocking(prepared.findings)
        console.show_findings([finding for finding in prepared.findings if finding.remedy])
        writer = compose.reopen_run(stored, held)
        missing = len(stored.plan.trials) - len(stored.results)
        begin = f"{missing} of {counted(len(stored.plan.trials), 'trial')} to go"
        run_and_show(prepared, writer, begin, as_json, metrics_port, functools.partial(compose.execute_on, place))
