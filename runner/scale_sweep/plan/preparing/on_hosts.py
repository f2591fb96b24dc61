"""Plans a sweep, or a stored run again, whose server and load are on hosts of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from scale_sweep.base.errors import UsageError
from scale_sweep.model.declared import Sweep
from scale_sweep.model.fitted import StoredRun
from scale_sweep.plan.preparing import machine_findings
from scale_sweep.plan.preparing.findings import ordered
from scale_sweep.plan.preparing.machines import PlannedMachine
from scale_sweep.plan.preparing.prepared import Prepared, prepare_again_for, prepare_for
from scale_sweep.server.targets import Facts, all_facts


class ServerHost(PlannedMachine, Protocol):
    @property
    def described(self) -> Mapping[str, Any]: ...


def prepare_on(sweep: Sweep, results: Path, server: ServerHost, *, insecure: bool) -> Prepared:
    """insecure: a server without a password may listen beyond loopback. Raises UsageError or PreflightError."""
    refuse_elsewhere(sweep)
    prepared = prepare_for(sweep, results, server, lambda arm: _refuse_open(arm.choice.facts, insecure=insecure))
    return _with_network(prepared, server)


def prepare_again_on(stored: StoredRun, results: Path, server: ServerHost) -> Prepared:
    return _with_network(prepare_again_for(stored, results, server, "server's host"), server)


def _with_network(prepared: Prepared, server: ServerHost) -> Prepared:
    network = machine_findings.caution(
        "network",
        f"the traffic between load and database is not encrypted ({server.described['address']})",
        "use a network that you trust",
    )
    findings = [*machine_findings.results_folder(prepared.results), *prepared.findings, network]
    return replace(prepared, findings=ordered(findings), hosts=server.described)


def refuse_elsewhere(sweep: Sweep) -> None:
    """Raises UsageError for what is measured on one machine only."""
    refused = {
        "--endpoint: the server runs already; --hosts starts one": sweep.endpoint,
        "--disk-placement stripe: an array is not made on another host yet": sweep.disk_placement == "stripe",
        "--trace: requests are not kept on another host yet": sweep.load.trace_every,
        "--prove: the agents of hosts do not disturb a server yet": sweep.prove,
        "--load: another program makes no load on several hosts": sweep.load.command is not None,
        "--load-generator: only scale's own makes a load on several hosts": not sweep.load.is_ours,
        "--generator-cpus: name them in the inventory (scale_cpus)": sweep.generator_cpus or sweep.shares_cpus,
    }
    for sentence, is_asked in refused.items():
        if is_asked:
            raise UsageError(f"--hosts beside {sentence}", remedy="leave out one of the two")


def _refuse_open(facts: Facts, *, insecure: bool) -> None:
    if not facts.beyond_loopback:
        able = ", ".join(one.name for one in all_facts() if one.beyond_loopback and one.name != facts.name)
        raise UsageError(
            f"--target {facts.name}: its server is not started beyond loopback yet, so --hosts cannot load it",
            remedy=f"one of these: {able}",
        )
    if facts.beyond_loopback == "open" and not insecure:
        raise UsageError(
            f"--target {facts.name}: its server needs no password, so anybody on the network can write to it",
            remedy="--insecure-network, on a network that you trust",
        )
