"""Starts a trial's server, and says how it is reached and whether it has the planned settings."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.interrupts import deferred
from scale_sweep.base.texts import is_same_value
from scale_sweep.base.units import format_cpus
from scale_sweep.measure.trial.disks import data_paths
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.model.planned import Trial
from scale_sweep.model.resources import Placement, ServerOrder, Site, SiteRequest
from scale_sweep.server.runtimes import Runtime, Server
from scale_sweep.server.runtimes.local import remove_directories
from scale_sweep.server.targets import ENDPOINT_PASSWORD, ENDPOINT_USER, Address, Session, Target


@dataclass(frozen=True, kw_only=True)
class Reached:
    """The process, and a session of its database."""

    server: Server
    address: Address
    session: Session
    who: str = "the server"  # for people


@dataclass(frozen=True, kw_only=True)
class Files:
    """Another server's, to start on."""

    port: int  # port, secret: in the files
    secret: str
    fill: Callable[[Site], None]  # puts them into a directory


@dataclass(frozen=True, kw_only=True)
class Provisioned:
    server: Server
    address: Address
    order: ServerOrder


def provision(
    order: TrialOrder, target: Target, runtime: Runtime, name: str, cleanup: ExitStack, files: Files | None = None
) -> Provisioned:
    """In an empty directory or on files; cleanup stops it. Raises ProvisionError, and what `Files.fill` raises."""
    trial = order.trial
    is_ours = not trial.subject.endpoint
    secret = files.secret if files else _secret(is_ours)
    with deferred():
        site = runtime.site(
            SiteRequest(
                run_id=order.run_id,
                trial_id=name,
                data_dir=order.data_dir,
                home=order.home,
                port=files.port if files else order.port,
                endpoint=trial.subject.endpoint,
                disks=tuple(data_paths(order.disks)) if order.is_on_disks else (),
                programs=target.programs(trial, order.home) if is_ours else (),
                address=order.address,
            )
        )
        cleanup.callback(remove_directories, site)
    site = replace(site, disk_placement=order.disk_placement, wal_disk=order.wal_disk)
    spec = target.server(trial, site, secret)
    spec = replace(spec, image=trial.subject.image, needs_root=target.facts.needs_root)
    if files:
        files.fill(site)
        spec = replace(spec, setup=())
    server_order = ServerOrder(
        spec=spec, site=site, resources=trial.resources, run_id=order.run_id, trial_id=name, level=order.level_words
    )
    server = runtime.start(server_order, cleanup)
    address = Address(
        host=server.host,
        port=server.port,
        secret=secret,
        home=order.client_home,
        data_dir=site.data_dir,
        is_ours=is_ours,
        disks=site.disks,
        disk_placement=site.disk_placement,
        holds_data=files is not None,
        user="" if is_ours else os.environ.get(ENDPOINT_USER, ""),
    )
    return Provisioned(server=server, address=address, order=server_order)


def reached_by(target: Target, trial: Trial, started: Provisioned) -> Reached:
    session = target.session(trial, started.address)
    session.log_tail = started.server.log_tail
    return Reached(server=started.server, address=started.address, session=session, who=target.facts.title)


def started_again(before: Provisioned, runtime: Runtime, cleanup: ExitStack) -> Provisioned:
    """On its own files; the one before is shut down. Raises ProvisionError."""
    spec = replace(before.order.spec, setup=(), folders=(), links={}, files={})
    server = runtime.start(replace(before.order, spec=spec), cleanup)
    return replace(before, server=server, address=replace(before.address, holds_data=True))


def _secret(is_ours: bool) -> str:
    return secrets.token_urlsafe(16) if is_ours else os.environ.get(ENDPOINT_PASSWORD, "")


def prove_pinning(server: Server, placement: Placement) -> None:
    """Raises ProvisionError unless the server has exactly its CPUs."""
    allowed = server.cpus_allowed()
    if allowed and not set(allowed) <= set(placement.server_cpus):
        raise ProvisionError(
            f"the server may run on CPUs {format_cpus(allowed)}, planned were {format_cpus(placement.server_cpus)}"
        )


def mismatches(expected: Mapping[str, str], effective: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(
        f"{name} was to be {value}, {_reported(effective.get(name, ''))}"
        for name, value in expected.items()
        if not is_same_value(value, effective.get(name, ""))
    )


def _reported(value: str) -> str:
    return f"the server reports {value}" if value else "the server does not report it"
