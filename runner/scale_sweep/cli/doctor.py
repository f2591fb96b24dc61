"""The abilities of this machine, each with the packages to install if it is missing."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from dataclasses import dataclass

from scale_sweep.base.errors import PreflightError
from scale_sweep.base.texts import OLD_YEARS, age_years, released_in
from scale_sweep.base.units import counted, format_number
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.machine.host.child_programs import measure_new_pages
from scale_sweep.machine.host.host_facts import Host, read_host
from scale_sweep.machine.host.placement import cpu_order
from scale_sweep.machine.host.server_user import remedy_of, server_user, why_stuck
from scale_sweep.server.pinned import corrupt_servers, lacking, read_pins
from scale_sweep.server.runtimes.docker_engine import docker_facts, image_state
from scale_sweep.server.targets import TARGETS, Installation, Target, load_target

FIRST_SWEEP = "scale sweep cpu --quick --cores 1..all"
_LOAD_GENERATOR = "load generator"
_TOUCHED_BYTES = 4 * 2**30  # what a trial of a minute may write


@dataclass(frozen=True, kw_only=True)
class Ability:
    subject: str
    there: bool
    state: str  # how far this machine has it, in words
    remedy: str = ""


def examine() -> tuple[Ability, ...]:
    host = read_host()
    return (*_machine(host), _load_core(), _docker(), *_targets())


def examine_new_pages() -> tuple[Ability, ...]:
    """Measured, which takes some seconds; empty if it cannot be."""
    pages = measure_new_pages(_TOUCHED_BYTES)
    if pages is None:
        return ()
    remedy = "trials that write more are slowed down by it: --rows, or a machine that keeps its memory"
    dear = pages.are_dear
    return (Ability(subject="new pages", there=not dear, state=pages.sentence, remedy=remedy if dear else ""),)


def next_command(abilities: Sequence[Ability]) -> str:
    """The first sweep, or the remedy for a missing load generator: nothing else is needed."""
    core = next(a for a in abilities if a.subject == _LOAD_GENERATOR)
    return FIRST_SWEEP if core.there else core.remedy


def _machine(host: Host) -> list[Ability]:
    cores = len({(c.package, c.core) for c in host.cpus if c.id in host.allowed})
    nodes = len({c.node for c in host.cpus})
    quota = "" if host.cpus_max == len(host.allowed) else " (quota of the control group)"
    return [
        Ability(
            subject="CPUs",
            there=host.cpus_max > 1,
            state=f"{format_number(host.cpus_max)} usable of {len(host.cpus)}{quota}, {counted(cores, 'core')}, "
            f"{counted(nodes, 'NUMA node')}, "
            f"{host.cpu_model}; "
            f"order of use {','.join(map(str, cpu_order(host)))}",
            remedy="" if host.cpus_max > 1 else "with one CPU the load generator always shares it with the server",
        ),
        Ability(subject="memory", there=True, state=f"{host.memory_bytes / 1e9:.1f} GB"),
        Ability(
            subject="cgroup",
            there=host.cgroup_writable,
            state=f"{host.cgroup}, " + ("writable" if host.cgroup_writable else "not writable"),
            remedy="" if host.cgroup_writable else "fractional cores and memory limits of processes need root",
        ),
        _servers_user(),
        Ability(subject="pressure", there=bool(host.psi), state=", ".join(host.psi) or "the kernel has no PSI"),
    ]


def _servers_user() -> Ability:
    why = why_stuck()
    if why:
        return Ability(subject="user", there=False, state=why, remedy=remedy_of(why))
    user = server_user()
    sentence = f"servers run as {user.pw_name}" if user else "servers run as this user"
    return Ability(subject="user", there=True, state=sentence)


def _load_core() -> Ability:
    try:
        return Ability(subject=_LOAD_GENERATOR, there=True, state=loadgen_path())
    except PreflightError as error:
        return Ability(subject=_LOAD_GENERATOR, there=False, state=error.message, remedy=error.remedy)


def _docker() -> Ability:
    facts = docker_facts()
    if not facts.reachable:
        return Ability(subject="Docker", there=False, state=facts.why_none, remedy=facts.remedy)
    return Ability(subject="Docker", there=True, state=f"engine {facts.version}, cgroup driver {facts.cgroup_driver}")


def _targets() -> list[Ability]:
    abilities = []
    for name in TARGETS.names():
        target = load_target(name)
        if target.facts.to_install:
            abilities.append(_server(target))
        image = target.facts.default_image("")
        if image and docker_facts().reachable:
            local = image_state(image) == "local"
            abilities.append(
                Ability(
                    subject=f"{name} image",
                    there=local,
                    state=image if local else f"{image} is not here",
                    remedy="" if local else target.to_have_image(image),
                )
            )
    return abilities


def _server(target: Target) -> Ability:
    variable = target.facts.home_variable
    named = os.environ.get(variable, "") if variable else ""
    usual, there = target.find(""), target.find(named) if named else None
    words = [_installed_words(target, usual, usual.source)] if usual else []
    if named:
        words.append(_installed_words(target, there, variable) if there else f"no server in {named} ({variable})")
    root = [f"runs as root: {target.facts.needs_root}"] if words and target.facts.needs_root else []
    nothing, remedy = _why_none(target) if not usual else ("", "")
    broken = corrupt_servers([usual.home] if usual else [])
    if broken:
        return Ability(subject=target.facts.name, there=False, state=broken[0].sentence, remedy=broken[0].command)
    if there:
        remedy = f"a sweep takes that of {variable} with --home {there.home}"
    elif usual:
        remedy = _newer(target, usual)
    chosen = usual or there
    why_not, its_remedy = _unusable(target, chosen) if chosen else ("", "")
    return Ability(
        subject=target.facts.name,
        there=chosen is not None and not why_not,
        state="; ".join(filter(None, (*words, *root, why_not))) or nothing,
        remedy="; ".join(filter(None, (its_remedy, remedy))),
    )


def _why_none(target: Target) -> tuple[str, str]:
    missing = lacking(target.facts.name)
    return (missing.sentence, missing.command) if missing else ("no server", target.facts.to_install)


def _unusable(target: Target, installation: Installation) -> tuple[str, str]:
    if not installation.version:
        why = f"scale plan cpu --cores 1 --target {target.facts.name} names the reason"
        return "the program does not report its version", why
    try:
        findings = target.check_client(installation.home, installation.version)
    except PreflightError:
        return "", ""  # the load generator is missing, which has a line of its own
    return next(((finding.sentence, finding.remedy) for finding in findings if finding.blocking), ("", ""))


def _installed_words(target: Target, installation: Installation, how: str) -> str:
    month = released_in(target.facts.released, installation.version)
    age = f" of {month}, {age_years(month, _today()):.1f} years old," if month else ""
    return f"{installation.version or 'of unknown version'}{age} in {installation.home} ({how})"


def _newer(target: Target, installation: Installation) -> str:
    month = released_in(target.facts.released, installation.version)
    pinned = read_pins().servers.get(target.facts.name)
    if not month or age_years(month, _today()) < OLD_YEARS or not pinned or pinned.version == installation.version:
        return ""
    return f"scale servers install {pinned.name} brings {pinned.version}"


def _today() -> str:
    return datetime.date.today().isoformat()
