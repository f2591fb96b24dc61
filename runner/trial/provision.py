"""Starts a trial's server: reserves its space, describes it by its target, starts it; and how it is reached.

Refuses to keep a server longer than the caller's ExitStack.
"""

from __future__ import annotations

import os
import secrets
from contextlib import ExitStack
from dataclasses import dataclass, replace

from runner.errors import ProvisionError
from runner.interrupts import deferred
from runner.model import Placement, ServerOrder, SiteRequest
from runner.runtimes import Runtime, Server
from runner.runtimes.local import remove_directories
from runner.targets import ENDPOINT_PASSWORD, Address, Session, Target
from runner.trial.order import TrialOrder
from runner.trial.placed import data_paths
from runner.units import format_cpus


@dataclass(frozen=True, kw_only=True)
class Reached:
    """A trial's server and the two ways to reach it: the process, and a session of its database. who: its name for
    people."""

    server: Server
    address: Address
    session: Session
    who: str = "the server"


def provision(
    order: TrialOrder, target: Target, runtime: Runtime, name: str, cleanup: ExitStack
) -> tuple[Server, Address]:
    """Starts the trial's server under a name; cleanup stops it. Raises ProvisionError."""
    trial = order.trial
    is_ours = not trial.subject.endpoint
    secret = secrets.token_urlsafe(16) if is_ours else os.environ.get(ENDPOINT_PASSWORD, "")
    with deferred():
        site = runtime.site(
            SiteRequest(
                run_id=order.run_id,
                trial_id=name,
                data_dir=order.data_dir,
                home=order.home,
                port=order.port,
                endpoint=trial.subject.endpoint,
                disks=tuple(data_paths(order.disks)) if order.is_on_disks else (),
            )
        )
        cleanup.callback(remove_directories, site)
    site = replace(site, disk_placement=order.disk_placement, wal_disk=order.wal_disk)
    asked = ServerOrder(
        spec=replace(target.server(trial, site, secret), image=trial.subject.image),
        site=site,
        placement=trial.placement,
        memory_bytes=trial.resources.memory_bytes,
        run_id=order.run_id,
        trial_id=name,
    )
    server = runtime.start(asked, cleanup)
    address = Address(
        host=server.host,
        port=server.port,
        secret=secret,
        home=order.client_home,
        data_dir=site.data_dir,
        is_ours=is_ours,
        disks=site.disks,
        disk_placement=site.disk_placement,
    )
    return server, address


def prove_pinning(server: Server, placement: Placement) -> None:
    """Raises ProvisionError unless the server has exactly the CPUs that it was given."""
    allowed = server.cpus_allowed()
    if allowed and not set(allowed) <= set(placement.server_cpus):
        raise ProvisionError(
            f"the server may run on CPUs {format_cpus(allowed)}, planned were {format_cpus(placement.server_cpus)}"
        )
