"""Findings that one chosen server would stop its trials: of its target and, if the server runs already, of the
server."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path

from scale_sweep.machine.host import Host
from scale_sweep.machine.host.server_user import NO_SETPRIV, closed_to_others, remedy_of, server_user, why_stuck
from scale_sweep.machine.state import reachable
from scale_sweep.model import Finding, ServerSource, Trial
from scale_sweep.plan.preparing.choice import ServerChoice
from scale_sweep.server.pinned import corrupt_servers
from scale_sweep.server.targets import ENDPOINT_PASSWORD, ENDPOINT_USER, Address, Surroundings


def without_root(choice: ServerChoice, host: Host, data_dir: Path) -> Iterator[Finding]:
    """Findings if no server can be started without rights. If `scale` runs as root, also if its server cannot run as
    another user or cannot reach its data then."""
    facts = choice.facts
    if choice.can.source is ServerSource.INSTALLATION and (why := why_stuck()) == NO_SETPRIV:
        yield Finding(blocking=True, subject="user", sentence=why, remedy=remedy_of(why))
        return
    if not (host.is_root and choice.can.owns_server):
        return
    if facts.needs_root:
        yield Finding(
            blocking=False, subject="user", sentence=f"{facts.name} runs as root: {facts.needs_root}", remedy=""
        )
    elif choice.can.source is ServerSource.INSTALLATION and (why := why_stuck()):
        yield Finding(
            blocking=True,
            subject="user",
            sentence=f"this root cannot start a server as another user: {why}",
            remedy=remedy_of(why),
        )
    elif facts.has_files and _installed_here(choice) and (closed := closed_to_others(data_dir)):
        user = server_user()
        name = user.pw_name if user else "another user"
        yield Finding(
            blocking=True,
            subject="--data-dir",
            sentence=f"{facts.name} does not run as root but as {name}, who may not enter {closed}",
            remedy="give a directory that everybody may enter with --data-dir, or leave it out",
        )


def _installed_here(choice: ServerChoice) -> bool:
    return choice.can.is_local and choice.can.source is ServerSource.INSTALLATION


def endpoint(choice: ServerChoice, trials: Sequence[Trial]) -> Iterator[Finding]:
    """Findings if a server that already runs does not answer, refuses the login, or lacks capacity for the trials."""
    address = trials[0].subject.endpoint
    if not address:
        return
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=3).close()
    except OSError as error:
        yield Finding(
            blocking=True,
            subject="--endpoint",
            sentence=f"{address} does not answer: {error}",
            remedy="start the server, or correct the address",
        )
        return
    user, secret = os.environ.get(ENDPOINT_USER, ""), os.environ.get(ENDPOINT_PASSWORD, "")
    running = Address(host=host, port=int(port), user=user, secret=secret, home=choice.home, is_ours=False)
    yield from choice.target.check_endpoint(running, trials)


def client(choice: ServerChoice) -> Iterator[Finding]:
    """Findings about the client library. A container's library is copied out of its image when the run starts."""
    if not (choice.can.has_images and choice.facts.image_library):
        yield from choice.target.check_client(choice.home, choice.version)


def uncorrupted(choice: ServerChoice, trials: Sequence[Trial]) -> Iterator[Finding]:
    """A finding for each installed server whose files are not those that were installed: the chosen one, and those
    that it starts beside itself."""
    if not _installed_here(choice):
        return
    different = {tuple(sorted(trial.knobs.items())): trial for trial in trials}
    homes = [choice.home, *(one for trial in different.values() for one in choice.target.programs(trial, choice.home))]
    for wrong in corrupt_servers(homes):
        yield Finding(blocking=True, subject=wrong.name, sentence=wrong.sentence, remedy=wrong.command)


def installed(choice: ServerChoice, trials: Sequence[Trial]) -> Iterator[Finding]:
    """Findings of the installed server about settings. A container's server is checked when it starts. Of a home that
    only root may enter, the copy is asked, which the trials run too."""
    if _installed_here(choice):
        home = reachable(choice.home)
        different = {tuple(sorted(trial.knobs.items())): trial for trial in trials}
        for trial in different.values():
            yield from choice.target.check_installed(home, trial)


def refused(choice: ServerChoice, trials: Sequence[Trial], around: Surroundings) -> Iterator[Finding]:
    """Findings about settings that the server would refuse or silently change, each sentence once."""
    seen = set()
    for trial in trials:
        for finding in choice.target.check(trial, around):
            if finding.sentence not in seen:
                seen.add(finding.sentence)
                yield finding
