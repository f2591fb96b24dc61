"""Plans a sweep, or a stored run again, whose server and load are on hosts of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Protocol

from scale_sweep.base.errors import PreflightError, UsageError
from scale_sweep.machine.host import Host
from scale_sweep.model import Finding, NewPages, Plan, StoredRun, Subject, Sweep
from scale_sweep.plan.new_pages import held_bytes
from scale_sweep.plan.preparing import machine_findings
from scale_sweep.plan.preparing.choice import RequestedServer, ServerChoice, chosen_arms, refuse_unable, subject_key
from scale_sweep.plan.preparing.data_place import DataPlace, with_data, with_unseen_disk
from scale_sweep.plan.preparing.earlier_runs import noise_of
from scale_sweep.plan.preparing.prepared import (
    Prepared,
    in_cheap_pages,
    pages_of,
    planned,
    with_enough_replicates,
    with_order_seed,
)
from scale_sweep.plan.preparing.specs import refuse_wrong_specs
from scale_sweep.results.store.outside import read_reference
from scale_sweep.server.targets import Facts, load_facts


class ServerHost(Protocol):
    """The host of the server, asked about what a plan needs. described: for the manifest."""

    @property
    def host(self) -> Host: ...
    @property
    def described(self) -> Mapping[str, Any]: ...

    def choose(self, request: RequestedServer) -> ServerChoice:
        """The server that it has for a request. Raises as `choose`."""

    def data(self, requested: str, least: int = 0, most: int = 0) -> DataPlace:
        """The place for data there, as `data_place` of that host."""

    def new_pages(self, wanted_bytes: int) -> NewPages | None:
        """The cost of new memory pages there."""

    def speed(self) -> float:
        """Measures its CPUs, in pieces per ms."""

    def findings(self, plan: Plan, choices: Mapping[str, ServerChoice], data: DataPlace) -> tuple[Finding, ...]:
        """Its findings against the plan."""


def prepare_on(sweep: Sweep, results: Path, server: ServerHost, *, insecure: bool) -> Prepared:
    """Chooses servers on that host, plans and checks. insecure: a server without a password may listen beyond loopback.

    Raises UsageError or PreflightError.
    """
    refuse_elsewhere(sweep)
    sweep = with_order_seed(sweep)
    read_reference(sweep.reference)
    arms = chosen_arms(sweep, server.choose)
    for arm in arms:
        refuse_unable(arm.sweep, arm.choice)
        refuse_unprotected(arm.choice.facts, insecure=insecure)
    noise = noise_of(results, server.host, arms[0])
    arms = tuple(replace(arm, sweep=with_enough_replicates(arm.sweep, len(arms), noise)) for arm in arms)
    choices = {subject_key(arm.sweep): arm.choice for arm in arms}
    plan = planned(arms, server.host)
    refuse_wrong_specs(plan, choices)
    pages = pages_of(plan, server.new_pages)
    plan = with_data(in_cheap_pages(plan, pages, arms, server.host, server.speed), server.data)
    return replace(_with_findings(plan, choices, server, results, pages), noise=noise)


def prepare_again_on(stored: StoredRun, results: Path, server: ServerHost) -> Prepared:
    """A stored run's plan on its hosts, for `resume`. Raises PreflightError if the server's host is another one."""
    recorded = stored.manifest.get("host")
    before = recorded if isinstance(recorded, dict) else {}
    for name in ("hostname", "cpu_model", "kernel"):
        if before.get(name) != asdict(server.host)[name]:
            raise PreflightError(
                f"the run was begun on another server's host: {name} was {before.get(name)}, is "
                f"{asdict(server.host)[name]}",
                remedy="trials of two machines do not make one curve; start a new sweep",
            )
    subjects: dict[str, Subject] = {subject_key(trial.subject): trial.subject for trial in stored.plan.trials}
    choices = {key: server.choose(subject) for key, subject in subjects.items()}
    refuse_wrong_specs(stored.plan, choices)
    return _with_findings(stored.plan, choices, server, results, pages_of(stored.plan, server.new_pages))


def _with_findings(
    plan: Plan,
    choices: Mapping[str, ServerChoice],
    server: ServerHost,
    results: Path,
    pages: NewPages | None,
) -> Prepared:
    data, held = server.data(plan.sweep.data_dir), held_bytes(plan, pages)
    plan = with_unseen_disk(plan, data)
    findings = (
        *machine_findings.results_folder(results),
        *server.findings(plan, choices, data),
        *machine_findings.dear_pages(plan, pages, held),
        Finding(
            blocking=False,
            subject="network",
            sentence=f"the traffic between load and database is not encrypted ({server.described['address']})",
            remedy="use a network that you trust",
        ),
    )
    ordered = tuple(sorted(dict.fromkeys(findings), key=lambda finding: not finding.blocking))
    return Prepared(
        plan=plan,
        choices=choices,
        host=server.host,
        data_dir=data.path,
        results=results,
        ram=data.ram,
        findings=ordered,
        new_pages=pages,
        held_bytes=held,
        hosts=server.described,
    )


def refuse_elsewhere(sweep: Sweep) -> None:
    """Raises UsageError for what is measured on one machine only."""
    refused = {
        "--endpoint: the server runs already; --hosts starts one": sweep.endpoint,
        "--disk-placement stripe: an array is not made on another host yet": sweep.disk_placement == "stripe",
        "--trace: requests are not kept on another host yet": sweep.load.trace_every,
        "--load-generator: only scale's own makes a load on several hosts": not sweep.load.is_ours,
        "--generator-cpus: name them in the inventory (scale_cpus)": sweep.generator_cpus or sweep.shares_cpus,
    }
    for sentence, is_asked in refused.items():
        if is_asked:
            raise UsageError(f"--hosts beside {sentence}", remedy="leave out one of the two")


def refuse_unprotected(facts: Facts, *, insecure: bool) -> None:
    """Raises UsageError for a server that cannot leave loopback, or has no password there."""
    if not facts.beyond_loopback:
        able = ", ".join(name for name in _able() if name != facts.name)
        raise UsageError(
            f"--target {facts.name}: its server is not started beyond loopback yet, so --hosts cannot load it",
            remedy=f"one of these: {able}",
        )
    if facts.beyond_loopback == "open" and not insecure:
        raise UsageError(
            f"--target {facts.name}: its server needs no password, so anybody on the network can write to it",
            remedy="--insecure-network, on a network that you trust",
        )


def _able() -> list[str]:
    from scale_sweep.server.targets import TARGETS

    return [name for name in TARGETS.names() if load_facts(name).beyond_loopback]
