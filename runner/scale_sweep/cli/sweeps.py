"""`scale plan`, `sweep` and `resume`, and the sweep files of `init` and `schema`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scale_sweep.base.errors import PreflightError, UsageError
from scale_sweep.base.units import counted
from scale_sweep.cli.arguments import NEW_RESULTS, RESULTS, RUN, from_flags, quiet_s
from scale_sweep.cli.running import announce, ask_format, end_if_failed, run_and_show, start_dashboards
from scale_sweep.cli.sweep_help import Flags, SweepHelp, with_settings
from scale_sweep.cli.sweep_request import (
    DASHBOARDS,
    METRICS_PORT,
    NO_METRICS,
    RESULT_JSON,
    SKIP_UNAVAILABLE,
    WAIT_QUIET,
    WHAT,
    YES,
    FleetFlags,
    SweepRequest,
)

if TYPE_CHECKING:  # A command imports what it needs when it is called, because `--help` needs none of it.
    from scale_sweep.machine.host.host_facts import Host
    from scale_sweep.model.declared import Sweep
    from scale_sweep.model.fitted import StoredRun
    from scale_sweep.plan.power import GatePower
    from scale_sweep.plan.preparing.prepared import Prepared

Again = list[str] | None


def register(app: typer.Typer) -> None:
    app.command("sweep", cls=SweepHelp, epilog="Example: scale sweep cpu --cores 1..all --replicates 3")(
        with_settings(from_flags(sweep))
    )
    app.command("resume", epilog="Example: scale resume last")(from_flags(resume))
    app.command("plan", cls=SweepHelp, epilog="Example: scale plan cpu --cores 1..all")(with_settings(plan))


def sweep(flags: Flags, request: SweepRequest, fleet: FleetFlags) -> None:
    """Give a database 1, 2, ... N cores, disks or clients, load it at each step, and fit the curve."""
    from scale_sweep.cli import compose
    from scale_sweep.plan.preparing.prepared import prepare

    if request.machine is not None and (fleet.is_wanted or request.hosts is not None):
        raise UsageError("--machine: describes one machine, and the servers are on others", remedy="leave it out")
    if request.skip_unavailable and (fleet.is_wanted or request.hosts is not None):
        raise UsageError(
            "--skip-unavailable: looks at this machine, and the servers are elsewhere", remedy="leave it out"
        )
    wait_s = quiet_s(request.wait_quiet)
    if fleet.is_wanted:
        from scale_sweep.cli import on_hosts

        on_hosts.sweep_each(flags, request, fleet)
        return
    fleet.refuse_alone()
    if request.hosts is not None:
        from scale_sweep.cli import on_hosts

        on_hosts.sweep(flags, request, request.hosts)
        return
    resolved, described = _resolved(request.what, flags, request.machine)
    available = _available(resolved, request.skip_unavailable)
    prepared = prepare(available, request.results, described=described if request.machine is not None else None)
    prepared = replace(prepared, wait_quiet_s=wait_s)
    begin = announce(prepared, request.yes)
    start_dashboards(request.with_dashboards, request.metrics_port, request.no_metrics)
    writer = compose.new_run(prepared, ["scale", *sys.argv[1:]])
    run_and_show(prepared, writer, begin, request.as_json, 0 if request.no_metrics else request.metrics_port)


def _resolved(what: str, flags: Flags, machine: Path | None) -> tuple[Sweep, Host]:
    """With the machine whose levels it has: the server's alone, if only the load is here."""
    from scale_sweep.machine.host.host_facts import read_host
    from scale_sweep.machine.host.machine_file import read_machine
    from scale_sweep.plan.preparing.machines import is_simulated, without_load
    from scale_sweep.sweep.resolve import resolve_sweep

    host = read_host() if machine is None else read_machine(machine)
    resolved = resolve_sweep(what, flags, host)
    if not is_simulated(resolved):
        return resolved, host
    return resolve_sweep(what, flags, without_load(host)), without_load(host)


def _available(sweep: Sweep, skips: bool) -> Sweep:
    from scale_sweep.cli import console
    from scale_sweep.plan.preparing.assumed import without_unavailable

    if not skips:
        return sweep
    left, words = without_unavailable(sweep)
    if words:
        console.say(words, "yellow")
    return left


def _again(flag: str, what: str) -> Any:
    return typer.Option(flag, metavar="VALUE", help=f"{what}; repeatable.", rich_help_panel="A run of somebody else")


@dataclass(frozen=True, kw_only=True)
class RepeatedFlags:
    """The things that a run of somebody else names, as the user wrote them again."""

    home: Annotated[Again, _again("--home", "Its installation of a server")] = None
    image: Annotated[Again, _again("--image", "Its Docker image")] = None
    endpoint: Annotated[Again, _again("--endpoint", "Its running server")] = None
    sslrootcert: Annotated[Again, _again("--sslrootcert", "Its certificates of authorities")] = None
    data_dir: Annotated[Again, _again("--data-dir", "Its directory for data")] = None
    dir: Annotated[Again, _again("--dir", "Its mount for a disk")] = None
    device: Annotated[Again, _again("--device", "Its block device")] = None
    hosts: Annotated[Again, _again("--hosts", "Its inventory")] = None
    knob: Annotated[Again, _again("--knob", "Its setting of the server")] = None
    text: Annotated[Again, _again("--text", "Its statement for the database")] = None
    server: Annotated[Again, _again("--server", "Its command that starts a server")] = None
    ready: Annotated[Again, _again("--ready", "Its way to see that the server is ready")] = None
    load: Annotated[Again, _again("--load", "Its program that loads the server")] = None
    prepare: Annotated[Again, _again("--prepare", "Its command before the load")] = None
    count: Annotated[Again, _again("--count", "Its command that counts stored things")] = None

    def by_flag(self) -> Mapping[str, Sequence[str]]:
        return {"--" + name.replace("_", "-"): values or () for name, values in vars(self).items()}


@dataclass(frozen=True, kw_only=True)
class ResumeRequest:
    run: RUN
    results: RESULTS = Path("results")
    as_json: RESULT_JSON = False
    yes: YES = False
    metrics_port: METRICS_PORT = 9464
    no_metrics: NO_METRICS = False
    with_dashboards: DASHBOARDS = False
    wait_quiet: WAIT_QUIET = None


def resume(request: ResumeRequest, confirmed: RepeatedFlags) -> None:
    """Continue an interrupted run: keep the finished trials, and measure the others."""
    from scale_sweep.cli import compose, console, views
    from scale_sweep.plan.preparing.findings import refuse_blocking
    from scale_sweep.plan.preparing.own_runs import refuse_strange
    from scale_sweep.plan.preparing.prepared import prepare_again
    from scale_sweep.results.store.reader import find_run, read_run
    from scale_sweep.results.store.run_lock import RunLock
    from scale_sweep.results.store.stored import own_folder
    from scale_sweep.verify.digests import is_finished

    # RunLock before it is read: another process may add trials until then.
    wait_s = quiet_s(request.wait_quiet)
    held = RunLock(find_run(request.results, request.run, own_folder))
    stored = read_run(held.run)
    if "redacted" in stored.manifest:
        raise UsageError(f"{request.run}: an imported run cannot be continued", remedy="measure again: scale sweep")
    missing = len(stored.plan.trials) - len(stored.results)
    if not missing and is_finished(held.run):  # nothing changes, nor a fingerprint that was published
        console.say(f"all trials are done; scale report {request.run} makes the fit and the reports again")
        views.show(held.run, stored, as_json=request.as_json)
        end_if_failed(stored)
        return
    refuse_strange(stored, confirmed.by_flag())
    _without_password(stored)
    port = 0 if request.no_metrics else request.metrics_port
    if isinstance(stored.manifest.get("hosts"), dict):
        from scale_sweep.cli import on_hosts

        on_hosts.resume(stored, held, request.as_json, port, wait_s)
        return
    prepared = replace(prepare_again(stored, held.run.path.parent), wait_quiet_s=wait_s)
    refuse_blocking(prepared.findings)
    console.show_findings([finding for finding in prepared.findings if finding.remedy])
    ask_format(stored.plan.sweep, request.yes)
    start_dashboards(request.with_dashboards, request.metrics_port, request.no_metrics)
    writer = compose.reopen_run(stored, held)
    more = "; --quick may add replicates" if stored.plan.sweep.origin.get("method.replicates") == "time" else ""
    begin = f"{missing} of {counted(len(stored.plan.trials), 'trial')} to go{more}"
    run_and_show(prepared, writer, begin, request.as_json, port)


def _without_password(stored: StoredRun) -> None:
    """If somebody else chose the endpoint that would get it."""
    from scale_sweep.cli import console
    from scale_sweep.plan.preparing.own_runs import is_own, named
    from scale_sweep.server.targets import ENDPOINT_PASSWORD

    if "--endpoint" in named(stored) and not is_own(stored) and os.environ.pop(ENDPOINT_PASSWORD, None) is not None:
        console.say(f"another user chose the endpoint of this run, so {ENDPOINT_PASSWORD} is not sent there", "yellow")


MACHINE = Annotated[
    Path | None,
    typer.Option(
        "--machine",
        metavar="FILE",
        help="Plan for the machine that this file describes, such as sweeps/machines/*.toml.",
    ),
]


def plan(
    flags: Flags,
    what: WHAT,
    results: NEW_RESULTS = Path("results"),
    as_json: RESULT_JSON = False,
    machine: MACHINE = None,
    skip_unavailable: SKIP_UNAVAILABLE = False,
) -> None:
    """Show the trials, their knobs, the origin of each setting, and the duration; start nothing.

    It needs no server: one that is not installed is assumed, and the plan names it. The exit code is 3 if the sweep
    could not start for another reason.
    """
    from scale_sweep.plan.preparing.machines import is_simulated
    from scale_sweep.plan.preparing.prepared import prepare_elsewhere, prepare_plan

    resolved, host = _resolved(what, flags, machine)
    described = host if machine is not None else None
    if described is None or is_simulated(resolved):
        prepared = prepare_plan(_available(resolved, skip_unavailable), results, described)
    else:
        prepared = prepare_elsewhere(resolved, host, results)
    show_whole_plan(prepared, as_json=as_json)


def show_whole_plan(prepared: Prepared, gate: GatePower | None = None, *, as_json: bool = False) -> None:
    """gate: of `scale ab`. Ends the process with code 3 if it could not start. Raises UsageError for wrong input."""
    from scale_sweep.cli import console, plan_views
    from scale_sweep.plan.preparing.findings import refuse_blocking

    refuse_blocking([finding for finding in prepared.findings if finding.is_input])
    obstacles = [finding for finding in prepared.findings if finding.blocking]
    console.show_obstacles(obstacles)
    if as_json:
        console.show_json(plan_views.plan_document(prepared, gate))
    else:
        _show_plan(prepared, gate)
    if obstacles:
        sys.exit(PreflightError.exit_code)


def _show_plan(prepared: Prepared, gate: GatePower | None) -> None:
    from scale_sweep.cli import console, plan_views
    from scale_sweep.plan import planner_of
    from scale_sweep.plan.power import gate_sentence, power_details, power_of, power_sentence
    from scale_sweep.plan.summary import bound_sentence, plan_sentence, rate_sentence

    if prepared.elsewhere:
        console.show_line(prepared.elsewhere)
    for choice in prepared.choices.values():
        console.show_line(choice.sentence)
    console.show_line(plan_sentence(prepared.plan))
    if words := rate_sentence(prepared.plan):
        console.show_line(words)
    power = power_of(prepared.plan, prepared.noise)
    for words in (power_sentence(prepared.plan, power), *power_details(prepared.plan, power)):
        console.show_line(words)
    if gate is not None:
        console.show_line(gate_sentence(gate))
    if grown := bound_sentence(prepared.plan, planner_of(prepared.plan).bound()):
        console.show_line(grown)
    console.show_table("Trials", *plan_views.plan_rows(prepared.plan))
    console.show_table("Server", *plan_views.set_rows(prepared))
    console.show_table(plan_views.settings_title(prepared.plan), *plan_views.setting_rows(prepared.plan.sweep))
    console.show_findings([finding for finding in prepared.findings if not finding.blocking])
