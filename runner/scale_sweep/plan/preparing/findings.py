"""Finds what would go wrong before anything starts; each finding has a remedy. Only reads the machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from scale_sweep.base.errors import PreflightError
from scale_sweep.experiment.axes import axis_of
from scale_sweep.machine.host import Host
from scale_sweep.machine.host.block_devices import RamDirectory, is_ram
from scale_sweep.model import Finding, Plan, Trial
from scale_sweep.plan.data_sets import bytes_needed, bytes_written
from scale_sweep.plan.objective import search_bytes
from scale_sweep.plan.preparing import machine_findings, server_findings
from scale_sweep.plan.preparing.assumed import not_found
from scale_sweep.plan.preparing.choice import ServerChoice, subject_key
from scale_sweep.plan.preparing.data_place import sized_to
from scale_sweep.server.targets import Surroundings, load_facts


def preflight(
    plan: Plan, host: Host, choices: Mapping[str, ServerChoice], data: Path | RamDirectory, results: Path
) -> tuple[Finding, ...]:
    """All findings, blocking ones first, each once. choices: of every subject in the plan, by `subject_key`.

    data: the place of the servers' data, on a disk or in memory.
    """
    data_dir = data.path if isinstance(data, RamDirectory) else data
    around = Surroundings(
        memory_bytes=host.memory_bytes,
        free_bytes=data.size_bytes if isinstance(data, RamDirectory) else machine_findings.free(data_dir),
        explicit=frozenset(key for key, origin in plan.sweep.origin.items() if origin in ("flag", "file")),
    )
    trials: dict[str, list[Trial]] = {}
    for trial in plan.trials:
        trials.setdefault(subject_key(trial.subject), []).append(trial)
    subjects = [(choices[key], of_subject) for key, of_subject in trials.items()]
    findings = [
        *not_found((of_subject[0].subject, choice) for choice, of_subject in subjects),
        *machine_findings.results_folder(results),
        *machine_findings.trusted(data_dir),
        *machine_findings.writable_data(data_dir),
        *(
            machine_findings.in_memory(data)
            if isinstance(data, RamDirectory)
            else machine_findings.on_disk(plan.sweep.data_dir, data)
        ),
        *rows_space(plan, around.free_bytes),
        *search_space(plan, around.free_bytes),
        *cold_data(plan, in_memory=isinstance(data, RamDirectory)),
        *(f for choice, _ in subjects for f in server_findings.without_root(choice, host, data_dir)),
        *machine_findings.few_open_files(plan.trials),
        *machine_findings.port_free(plan.sweep.port),
        *machine_findings.profiling(plan.sweep.profile),
        *machine_findings.interfaces(plan.sweep.network_bits_per_s),
        *(f for choice, of_subject in subjects if not choice.missing for f in _of_server(choice, of_subject)),
        *machine_findings.beside(),
        *machine_findings.idle(host),
        *_of_plan(plan),
        *_unequal_runtimes(plan),
        *_disks(plan, data_dir),
        *axis_of(plan.sweep.axis).findings(plan),
        *(f for choice, of_subject in subjects for f in server_findings.refused(choice, of_subject, around)),
    ]
    return tuple(sorted(dict.fromkeys(findings), key=lambda f: not f.blocking))


def findings_elsewhere(plan: Plan, host: Host, choices: Mapping[str, ServerChoice]) -> tuple[Finding, ...]:
    """The findings of a plan for a machine that is not here: those that the plan alone shows."""
    around = Surroundings(memory_bytes=host.memory_bytes, free_bytes=sys.maxsize)
    first = {subject_key(trial.subject): trial.subject for trial in plan.trials}
    findings = [
        *not_found((subject, choices[key]) for key, subject in first.items()),
        *_of_plan(plan),
        *_unequal_runtimes(plan),
        *axis_of(plan.sweep.axis).findings(plan),
        *(
            finding
            for key in first
            for finding in server_findings.refused(
                choices[key], [trial for trial in plan.trials if subject_key(trial.subject) == key], around
            )
        ),
    ]
    return tuple(sorted(dict.fromkeys(findings), key=lambda f: not f.blocking))


def _of_server(choice: ServerChoice, trials: list[Trial]) -> Iterator[Finding]:
    yield from server_findings.endpoint(choice, trials)
    yield from server_findings.client(choice)
    yield from server_findings.uncorrupted(choice, trials)
    yield from server_findings.installed(choice, trials)


def refuse_blocking(findings: tuple[Finding, ...]) -> None:
    """Raises PreflightError with every blocking finding."""
    blocking = [f for f in findings if f.blocking]
    if blocking:
        raise PreflightError(
            "\n".join(f"{f.subject}: {f.sentence}" for f in blocking),
            remedy="; ".join(dict.fromkeys(f.remedy for f in blocking if f.remedy)),
        )


def _disks(plan: Plan, data_dir: Path) -> list[Finding]:
    sweep = plan.sweep
    if sweep.disks is None:
        return []
    from scale_sweep.machine.disks import check_source, check_stripe, too_small  # a sweep of cores does not need it

    needed = {t.disks: bytes_written(t, most=False) for t in plan.trials if t.load.rows is not None}
    findings = check_source(sweep.disks, max(trial.disks for trial in plan.trials), data_dir)
    findings += too_small(sweep.disks, needed)
    if sweep.disk_placement == "stripe":
        return [*check_stripe(sweep.disks), *findings]
    return list(findings)


def _unequal_runtimes(plan: Plan) -> list[Finding]:
    runtimes = {trial.subject.target: trial.subject.runtime for trial in plan.trials}
    if len(set(runtimes.values())) < 2:
        return []
    each = ", ".join(f"{target} by {runtime}" for target, runtime in sorted(runtimes.items()))
    sentence = f"the databases do not run in the same kind of runtime ({each}): a difference may be the runtime's"
    return [Finding(blocking=False, subject="runtime", sentence=sentence, remedy="--runtime process, or docker")]


def _of_plan(plan: Plan) -> list[Finding]:
    return [Finding(blocking=False, subject="plan", sentence=note) for note in plan.notes] + [
        Finding(
            blocking=False,
            subject="confound",
            sentence=c.sentence,
            remedy=c.remedy or f"hold {c.knob} constant to see the {plan.sweep.axis} alone",
        )
        for c in plan.confounds
    ]


def rows_space(plan: Plan, free_bytes: int) -> list[Finding]:
    """A finding if the rows of --preload and --rows, and the reserve, do not fit into the place of the data."""
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
    return [Finding(blocking=True, subject="--data-dir", sentence=sentence, remedy=remedy)]


def search_space(plan: Plan, free_bytes: int) -> list[Finding]:
    """A finding if the rows of a capacity search may fill the place of the data before its last step: all steps write
    into one server."""
    estimates = (search_bytes(trial, load_facts(trial.subject.target)) for trial in plan.trials)
    needed, words = max(estimates, default=(0, ""))
    if needed + plan.sweep.disk_free_min_bytes <= free_bytes:
        return []
    sentence = (
        f"a search writes up to about {needed / 1e9:.1f} GB ({words}), and {free_bytes / 1e9:.1f} GB are there: its "
        "last steps may find no space"
    )
    remedy = "a shorter --duration, or more space with --data-dir"
    return [Finding(blocking=False, subject="--slo", sentence=sentence, remedy=remedy)]


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
    return [Finding(blocking=True, subject="--cache", sentence=sentence, remedy=remedy) for sentence in reasons]
