"""Finds what would go wrong before anything starts; each finding has a remedy. Only reads the machine."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from scale_sweep.base.errors import PreflightError, UsageError
from scale_sweep.experiment.axes import axis_of
from scale_sweep.machine.host.block_devices import RamDirectory, is_ram
from scale_sweep.machine.host.host_facts import Host
from scale_sweep.machine.host.server_user import NO_SETPRIV, closed_to_others, remedy_of, server_user, why_stuck
from scale_sweep.machine.state.copies import reachable
from scale_sweep.model.planned import Finding, Plan, Trial
from scale_sweep.model.resources import ServerSource
from scale_sweep.plan.data_sets import bytes_needed, bytes_written, search_bytes
from scale_sweep.plan.preparing import machine_findings
from scale_sweep.plan.preparing.assumed import not_found
from scale_sweep.plan.preparing.choice import ServerChoice, subject_key
from scale_sweep.plan.preparing.data_place import sized_to
from scale_sweep.plan.preparing.machine_findings import caution, stop
from scale_sweep.server.pinned import corrupt_servers
from scale_sweep.server.targets import ENDPOINT_PASSWORD, ENDPOINT_USER, Address, Surroundings, load_facts

Subjects = Sequence[tuple[ServerChoice, Sequence[Trial]]]  # each server with its trials


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(dict.fromkeys(findings), key=lambda finding: not finding.blocking))


def refuse_blocking(findings: Sequence[Finding]) -> None:
    if blocking := [f for f in findings if f.blocking]:
        kind = UsageError if any(f.is_input for f in blocking) else PreflightError
        raise kind(
            "\n".join(f"{f.subject}: {f.sentence}" for f in blocking),
            remedy="; ".join(dict.fromkeys(f.remedy for f in blocking if f.remedy)),
        )


def preflight(
    plan: Plan, host: Host, choices: Mapping[str, ServerChoice], data: Path | RamDirectory, results: Path
) -> tuple[Finding, ...]:
    """All findings. choices: by `subject_key`."""
    data_dir = data.path if isinstance(data, RamDirectory) else data
    around = Surroundings(
        memory_bytes=host.memory_bytes,
        free_bytes=data.size_bytes if isinstance(data, RamDirectory) else machine_findings.free(data_dir),
        explicit=frozenset(key for key, origin in plan.sweep.origin.items() if origin in ("flag", "file")),
    )
    subjects = _subjects(plan, choices)
    in_memory = isinstance(data, RamDirectory)
    findings = [
        *not_found((trials[0].subject, choice) for choice, trials in subjects),
        *machine_findings.results_folder(results),
        *machine_findings.trusted(data_dir),
        *machine_findings.writable_data(data_dir),
        *(
            machine_findings.in_memory(data)
            if isinstance(data, RamDirectory)
            else machine_findings.on_disk(plan.sweep.data_dir, data)
        ),
        *rows_space(plan, around.free_bytes),
        *_search_space(plan, around.free_bytes),
        *cold_data(plan, in_memory=in_memory),
        *(f for choice, _ in subjects for f in without_root(choice, host, data_dir)),
        *machine_findings.few_open_files(plan.trials),
        *machine_findings.port_free(plan.sweep.port),
        *machine_findings.profiling(plan.sweep.profile),
        *machine_findings.proving(plan, data_dir, in_memory=in_memory),
        *machine_findings.interfaces(plan.sweep.network_bits_per_s),
        *(f for choice, trials in subjects if not choice.missing for f in _of_server(choice, trials)),
        *machine_findings.beside(),
        *machine_findings.idle(host),
        *_of_plan(plan, subjects, around, data_dir),
    ]
    return ordered(findings)


def findings_elsewhere(plan: Plan, host: Host, choices: Mapping[str, ServerChoice]) -> tuple[Finding, ...]:
    around = Surroundings(memory_bytes=host.memory_bytes, free_bytes=sys.maxsize)
    subjects = _subjects(plan, choices)
    assumed = not_found((trials[0].subject, choice) for choice, trials in subjects)
    return ordered([*assumed, *_of_plan(plan, subjects, around, None)])


def _subjects(plan: Plan, choices: Mapping[str, ServerChoice]) -> Subjects:
    trials: dict[str, list[Trial]] = {}
    for trial in plan.trials:
        trials.setdefault(subject_key(trial.subject), []).append(trial)
    return [(choices[key], of_subject) for key, of_subject in trials.items()]


def _of_plan(plan: Plan, subjects: Subjects, around: Surroundings, data_dir: Path | None) -> Iterator[Finding]:
    for note in plan.notes:
        yield caution("plan", note)
    for c in plan.confounds:
        yield caution("confound", c.sentence, c.remedy or f"hold {c.knob} constant to see the {plan.sweep.axis} alone")
    yield from unequal_runtimes(plan)
    if data_dir is not None:
        yield from _disks(plan, data_dir)
    yield from axis_of(plan.sweep.axis).findings(plan)
    for choice, trials in subjects:
        refused: dict[str, Finding] = {}
        for finding in (f for trial in trials for f in choice.target.check(trial, around)):
            refused.setdefault(finding.sentence, finding)
        yield from refused.values()


def unequal_runtimes(plan: Plan) -> list[Finding]:
    runtimes = {trial.subject.target: trial.subject.runtime for trial in plan.trials}
    if len(set(runtimes.values())) < 2:
        return []
    each = ", ".join(f"{target} by {runtime}" for target, runtime in sorted(runtimes.items()))
    sentence = f"the databases do not run in the same kind of runtime ({each}): a difference may be the runtime's"
    return [caution("runtime", sentence, "--runtime process, or docker")]


def _disks(plan: Plan, data_dir: Path) -> list[Finding]:
    sweep = plan.sweep
    if sweep.disks is None:
        return []
    from scale_sweep.machine.disks.prepare import check_stripe  # a sweep of cores does not need it
    from scale_sweep.machine.disks.source import check_source, too_small

    needed = {t.disks: bytes_written(t, most=False) for t in plan.trials if t.load.rows is not None}
    findings = check_source(sweep.disks, max(trial.disks for trial in plan.trials), data_dir)
    stripe = check_stripe(sweep.disks) if sweep.disk_placement == "stripe" else []
    loads = [trial.load for trial in plan.trials if trial.load.rows is None]
    timed_s = max(((load.warmup_least_s or load.warmup_s) + (load.duration_s or 0.0) for load in loads), default=0.0)
    return [*stripe, *findings, *too_small(sweep.disks, needed, timed_s)]


def rows_space(plan: Plan, free_bytes: int) -> list[Finding]:
    """If they and the reserve do not fit."""
    local = [trial for trial in plan.trials if not trial.subject.endpoint and not trial.resources.disks]
    counted = (bytes_written(trial, most=False) for trial in local if trial.load.rows is not None)
    sets, own, reserve = bytes_needed(local), max(counted, default=0), plan.sweep.disk_free_min_bytes
    needed = sets + own
    if needed + reserve <= free_bytes:
        return []
    flags = [flag for flag, size in (("--preload", sets), ("--rows", own)) if size or not needed]
    sentence = (
        f"the rows of {' and '.join(flags)} take about {needed / 1e6:,.0f} MB, with the copies for a trial, and "
        f"{reserve / 1e6:,.0f} MB must stay free; {free_bytes / 1e6:,.0f} MB are free"
    )
    in_memory = f"--data-dir {sized_to(needed + reserve)}, " if is_ram(plan.sweep.data_dir) else ""
    remedy = f"free some space, choose {in_memory}another disk with --data-dir, or lower {' or '.join(flags)}"
    return [stop("--data-dir", sentence, remedy)]


def _search_space(plan: Plan, free_bytes: int) -> list[Finding]:
    """All steps of a search write into one server."""
    needed, words = max(map(search_bytes, plan.trials), default=(0, ""))
    if needed + plan.sweep.disk_free_min_bytes <= free_bytes:
        return []
    sentence = (
        f"a search writes up to about {needed / 1e9:.1f} GB ({words}), and {free_bytes / 1e9:.1f} GB are there: its "
        "last steps may find no space"
    )
    return [caution("--slo", sentence, "a shorter --duration, or more space with --data-dir")]


def cold_data(plan: Plan, *, in_memory: bool) -> list[Finding]:
    reasons = []
    for subject in {t.subject.server: t.subject for t in plan.trials if t.work.cache == "cold"}.values():
        facts = load_facts(subject.target)
        if subject.endpoint:
            reasons.append("a server that already runs is not started again")
        elif not facts.keeps_data:
            reasons.append(f"{facts.title} cannot be started again on its files yet")
        elif in_memory:
            reasons.append("data in memory are never cold")
    remedy = "--cache as-is, or a --data-dir on a disk" if in_memory else "--cache as-is"
    return [stop("--cache", sentence, remedy) for sentence in reasons]


def without_root(choice: ServerChoice, host: Host, data_dir: Path) -> Iterator[Finding]:
    """If no server can be started without rights, or root's cannot run as another user or reach its data."""
    facts = choice.facts
    is_installed = choice.can.source is ServerSource.INSTALLATION
    if is_installed and (why := why_stuck()) == NO_SETPRIV:
        yield stop("user", why, remedy_of(why))
    elif not (host.is_root and choice.can.owns_server):
        return
    elif facts.needs_root:
        yield caution("user", f"{facts.name} runs as root: {facts.needs_root}")
    elif is_installed and (why := why_stuck()):
        yield stop("user", f"this root cannot start a server as another user: {why}", remedy_of(why))
    elif facts.has_files and _installed_here(choice) and (closed := closed_to_others(data_dir)):
        user = server_user()
        name = user.pw_name if user else "another user"
        yield stop(
            "--data-dir",
            f"{facts.name} does not run as root but as {name}, who may not enter {closed}",
            "give a directory that everybody may enter with --data-dir, or leave it out",
        )


def _installed_here(choice: ServerChoice) -> bool:
    return choice.can.is_local and choice.can.source is ServerSource.INSTALLATION


def _of_server(choice: ServerChoice, trials: Sequence[Trial]) -> Iterator[Finding]:
    yield from _endpoint(choice, trials)
    yield from client(choice)
    if _installed_here(choice):
        different = {tuple(sorted(trial.knobs.items())): trial for trial in trials}.values()
        programs = (one for trial in different for one in choice.target.programs(trial, choice.home))
        for wrong in corrupt_servers([choice.home, *programs]):  # files that are not those that were installed
            yield stop(wrong.name, wrong.sentence, wrong.command)
        home = reachable(choice.home)  # a copy, which the trials run too, of a home that only root may enter
        for trial in different:
            yield from choice.target.check_installed(home, trial)


def _endpoint(choice: ServerChoice, trials: Sequence[Trial]) -> Iterator[Finding]:
    address = trials[0].subject.endpoint
    if not address:
        return
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=3).close()
    except OSError as error:
        yield stop("--endpoint", f"{address} does not answer: {error}", "start the server, or correct the address")
        return
    user, secret = os.environ.get(ENDPOINT_USER, ""), os.environ.get(ENDPOINT_PASSWORD, "")
    running = Address(host=host, port=int(port), user=user, secret=secret, home=choice.home, is_ours=False)
    for tls in dict.fromkeys(trial.subject.tls for trial in trials):
        yield from choice.target.check_endpoint(running, [trial for trial in trials if trial.subject.tls == tls])


def client(choice: ServerChoice) -> Iterator[Finding]:
    """A container's library is copied out of its image later."""
    if not (choice.can.has_images and choice.facts.image_library):
        yield from choice.target.check_client(choice.home, choice.version)
