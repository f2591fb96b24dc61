"""A trial's server: room for it, what its target wants started, started; and how it is reached.

Refuses to keep a server longer than the caller's ExitStack lives.
"""

from __future__ import annotations

import os
import secrets
from contextlib import ExitStack
from dataclasses import replace

from runner.interrupts import deferred
from runner.model import ServerOrder, SiteRequest, Trial
from runner.runtimes import Server
from runner.runtimes.local import vacate
from runner.targets import ENDPOINT_PASSWORD, Address
from runner.trial.placed import data_paths, trial_disks
from runner.trial.setup import TrialSetup


def provision(setup: TrialSetup, trial: Trial, name: str, cleanup: ExitStack) -> tuple[Server, Address]:
    """Starts the trial's server under a name, to be stopped by cleanup. Raises ProvisionError."""
    is_ours = not trial.subject.endpoint
    secret = secrets.token_urlsafe(16) if is_ours else os.environ.get(ENDPOINT_PASSWORD, "")
    on_disks = trial.resources.disks > 0
    with deferred():
        site = setup.runtime.site(
            SiteRequest(
                run_id=setup.run_id,
                trial_id=name,
                data_dir=setup.data_dir,
                home=setup.home,
                port=setup.sweep.port,
                endpoint=trial.subject.endpoint,
                disks=tuple(data_paths(trial_disks(setup, trial))) if on_disks else (),
            )
        )
        cleanup.callback(vacate, site)
    site = replace(site, disk_placement=setup.sweep.disk_placement, wal_disk=setup.sweep.wal_disk)
    order = ServerOrder(
        spec=replace(setup.target.server(trial, site, secret), image=trial.subject.image),
        site=site,
        placement=trial.placement,
        memory_bytes=trial.resources.memory_bytes,
        run_id=setup.run_id,
        trial_id=name,
    )
    server = setup.runtime.start(order, cleanup)
    address = Address(
        host=server.host,
        port=server.port,
        secret=secret,
        home=setup.client_home,
        data_dir=site.data_dir,
        is_ours=is_ours,
        disks=site.disks,
        disk_placement=site.disk_placement,
    )
    return server, address
