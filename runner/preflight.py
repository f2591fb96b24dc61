"""What would go wrong, found before anything starts: each finding with its remedy. Only reads the machine."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

from runner.errors import PreflightError
from runner.host import Host
from runner.model import Finding, Plan
from runner.runtimes.local import UNPRIVILEGED_USER, closed_to_others
from runner.sweep.disk_axis import uneven_parts
from runner.targets import ENDPOINT_PASSWORD, Address, Installation, Surroundings, Target

FREE_BYTES_MIN = 2 * 10**9
LOAD_BUSY_SHARE = 0.3


def preflight(
    plan: Plan, host: Host, target: Target, installed: Installation, data_dir: Path, results: Path
) -> tuple[Finding, ...]:
    """All findings, blocking ones first. installed: the server's programs and its client library."""
    findings = [
        *_writable("--results", results),
        *_writable("--data-dir", data_dir),
        *_room(data_dir),
        *_enterable(plan, host, target, data_dir),
        *_port(plan),
        *_endpoint(plan, target, installed),
        *_client(plan, target, installed),
        *_installed(plan, target, installed),
        *_idle(host),
        *_cores(plan),
        *_disks(plan, data_dir),
    ]
    seen = set()
    around = Surroundings(
        memory_bytes=host.memory_bytes,
        free_bytes=shutil.disk_usage(_existing(data_dir)).free,
        explicit=frozenset(key for key, origin in plan.sweep.origin.items() if origin in ("flag", "file")),
    )
    for trial in plan.trials:
        for finding in target.check(trial, around):
            if finding.sentence not in seen:
                seen.add(finding.sentence)
                findings.append(finding)
    return tuple(sorted(findings, key=lambda f: not f.blocking))


def refuse_blocking(findings: tuple[Finding, ...]) -> None:
    """Raises PreflightError that lists every blocking finding."""
    blocking = [f for f in findings if f.blocking]
    if blocking:
        raise PreflightError(
            "\n".join(f"{f.subject}: {f.sentence}" for f in blocking),
            remedy="; ".join(dict.fromkeys(f.remedy for f in blocking if f.remedy)),
        )


def _existing(path: Path) -> Path:
    return next(p for p in (path, *path.absolute().parents) if p.exists())


def _writable(flag: str, path: Path) -> list[Finding]:
    there = _existing(path)
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK) and not os.statvfs(there).f_flag & os.ST_RDONLY:
        return []
    what = "is not a directory" if not there.is_dir() else "is not writable"
    return [
        Finding(blocking=True, subject=flag, sentence=f"{there} {what}", remedy=f"give another directory with {flag}")
    ]


def _room(data_dir: Path) -> list[Finding]:
    free = shutil.disk_usage(_existing(data_dir)).free
    if free >= FREE_BYTES_MIN:
        return []
    return [
        Finding(
            blocking=True,
            subject="--data-dir",
            sentence=f"{data_dir} has {free / 1e9:.1f} GB free, a trial wants {FREE_BYTES_MIN / 1e9:.0f} GB",
            remedy="make room, or choose another disk with --data-dir",
        )
    ]


def _enterable(plan: Plan, host: Host, target: Target, data_dir: Path) -> list[Finding]:
    closed = closed_to_others(data_dir)
    if not (host.is_root and target.facts.refuses_root and plan.sweep.runtime == "process" and closed):
        return []
    return [
        Finding(
            blocking=True,
            subject="--data-dir",
            sentence=f"{target.facts.name} will not run as root but as {UNPRIVILEGED_USER}, who may not enter {closed}",
            remedy="give a directory that everybody may enter with --data-dir, or leave it out",
        )
    ]


def _port(plan: Plan) -> list[Finding]:
    port = plan.sweep.port
    if port is None:
        return []
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            return [
                Finding(
                    blocking=True,
                    subject="--port",
                    sentence=f"port {port} on 127.0.0.1 cannot be used: {error.strerror}",
                    remedy="choose another with --port, or leave it out: a free one is taken",
                )
            ]
    return []


def _endpoint(plan: Plan, target: Target, installed: Installation) -> list[Finding]:
    if not plan.sweep.endpoint:
        return []
    host, _, port = plan.sweep.endpoint.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=3).close()
    except OSError as error:
        return [
            Finding(
                blocking=True,
                subject="--endpoint",
                sentence=f"{plan.sweep.endpoint} does not answer: {error}",
                remedy="start the server, or correct the address",
            )
        ]
    secret = os.environ.get(ENDPOINT_PASSWORD, "")
    address = Address(host=host, port=int(port), secret=secret, home=installed.home, is_ours=False)
    return list(target.check_endpoint(address, plan.trials))


def _client(plan: Plan, target: Target, installed: Installation) -> list[Finding]:
    """A container's client library is taken out of its image later, when the run starts."""
    if plan.sweep.runtime == "docker" and target.facts.image_library:
        return []
    return list(target.check_client(installed.home, installed.version))


def _installed(plan: Plan, target: Target, installed: Installation) -> list[Finding]:
    """A container's server is asked when it starts."""
    if plan.sweep.runtime != "process":
        return []
    different = {tuple(sorted(trial.knobs.items())): trial for trial in plan.trials}
    return [finding for trial in different.values() for finding in target.check_installed(installed.home, trial)]


def _idle(host: Host) -> list[Finding]:
    busy = os.getloadavg()[0] / max(1, len(host.allowed))
    if busy <= LOAD_BUSY_SHARE:
        return []
    return [
        Finding(
            blocking=False,
            subject="machine",
            sentence=f"something else runs: load average is {busy:.1f} per CPU; the figures will be lower and noisier",
            remedy="stop it, or raise --replicates",
        )
    ]


def _disks(plan: Plan, data_dir: Path) -> list[Finding]:
    sweep = plan.sweep
    if sweep.axis != "disks" or sweep.disks is None:
        return []
    from runner.disks import check_source, check_stripe  # a sweep of cores does without

    found = check_source(sweep.disks, int(max(sweep.levels)), data_dir)
    if sweep.disk_placement == "stripe":
        return [*check_stripe(sweep.disks), *found]
    return [*found, *uneven_parts(plan)]


def _cores(plan: Plan) -> list[Finding]:
    return [Finding(blocking=False, subject="plan", sentence=note) for note in plan.notes] + [
        Finding(
            blocking=False,
            subject="confound",
            sentence=c.sentence,
            remedy=f"hold {c.knob} constant to see the {plan.sweep.axis} alone",
        )
        for c in plan.confounds
    ]
