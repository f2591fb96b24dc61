"""A service as a process of an installed program, with the declared command, settings and files."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.spawning import run_within
from scale_sweep.machine.host.processes import alive, started_ticks
from scale_sweep.server.runtimes.local import tail
from scale_sweep.watch.dashboards.state_directory import Service, StartedService, StateDirectory

HOME_VARIABLE = "SCALE_GRAFANA_HOME"
_HOMES = ("/usr/share/grafana", "/usr/local/share/grafana", "/opt/grafana")
STOP_S = 10.0
BESIDE_S = 600.0  # promtool, for the samples of a long run
_PROBE_S = 10.0
_FIRST_CLOSED = 'while [ $# -gt 0 ]; do test "$1" "$2" || { echo "$2"; exit; }; shift 2; done'


def find_program(name: str) -> str:
    if name == "grafana" and (home := os.environ.get(HOME_VARIABLE, "")):
        program = Path(home) / "bin" / "grafana"
        return str(program) if os.access(program, os.X_OK) else ""
    if name == "grafana" and not grafana_home():
        return ""
    return shutil.which(name) or ""


def grafana_home() -> str:
    homes = (os.environ.get(HOME_VARIABLE, ""), *_HOMES)
    return next((home for home in homes if home and (Path(home) / "public").is_dir()), "")


def start(service: Service, port: int, state: StateDirectory) -> StartedService:
    """In the background. Raises ProvisionError."""
    program = find_program(service.argv[0])
    owner = state.owner if os.geteuid() == 0 else None
    _refuse_closed(service.argv[0], program, state.owner)
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(state.path), **service.environment}
    try:
        with state.log(service.name).open("ab") as log:
            process = subprocess.Popen(
                [program, *service.argv[1:]],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=state.path,
                env=environment,
                start_new_session=True,
                user=owner.pw_uid if owner else None,
                group=owner.pw_gid if owner else None,
                extra_groups=[] if owner else None,
            )
    except OSError as error:
        raise ProvisionError(f"{program} did not start as {state.owner.pw_name}: {error}") from None
    pid = process.pid
    return StartedService(
        name=service.name, how="process", port=port, pid=pid, ticks=started_ticks(pid), program=program
    )


def _refuse_closed(name: str, program: str, owner: pwd.struct_passwd) -> None:
    """Raises ProvisionError with the path if the user that runs the program may not read what root may read."""
    if os.geteuid() != 0 or not program:
        return
    home = Path(grafana_home()).absolute() if name == "grafana" else None
    pages = [p for p in (home / "public", home / "conf" / "defaults.ini") if p.exists()] if home else []
    wanted = [("-x", Path(program).absolute()), *(("-r", p) for p in pages), *(("-x", p) for p in pages if p.is_dir())]
    ways = [("-x", folder) for _, path in wanted for folder in reversed(path.parents)]
    closed = _first_closed([*dict.fromkeys(ways), *wanted], owner)
    if closed:
        raise ProvisionError(
            f"{name} runs as {owner.pw_name}, who may not read {closed}",
            remedy=f"install it in a directory that {owner.pw_name} may read"
            + (f", and set {HOME_VARIABLE} to that directory" if home else ""),
        )


def _first_closed(wanted: Sequence[tuple[str, Path]], owner: pwd.struct_passwd) -> str:
    words = [word for test, path in wanted for word in (test, str(path))]
    as_owner = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
    try:
        done = run_within(_PROBE_S, ["/bin/sh", "-c", _FIRST_CLOSED, "probe", *words], cwd="/", **as_owner)
    except subprocess.TimeoutExpired:
        raise ProvisionError(
            f"no answer within {_PROBE_S:.0f} s whether {owner.pw_name} may read {wanted[-1][1]}"
        ) from None
    return done.stdout.strip()


def lives(started: StartedService) -> bool:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(started.pid, os.WNOHANG)
    return alive(started.pid, started.ticks)


def last_words(started: StartedService, state: StateDirectory) -> str:
    return tail([state.log(started.name)], 5)


def stop(started: StartedService) -> None:
    for number, seconds in ((signal.SIGTERM, STOP_S), (signal.SIGKILL, 2.0)):
        if not lives(started):
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(started.pid, number)
        deadline = time.monotonic() + seconds
        while lives(started) and time.monotonic() < deadline:
            time.sleep(0.05)


def run_beside(state: StateDirectory, argv: Sequence[str]) -> tuple[int, str]:
    """Exit code and output of a command as the owner; 124 if it does not end in time, 127 if it cannot start."""
    owner = state.owner if os.geteuid() == 0 else None
    try:
        done = run_within(
            BESIDE_S,
            argv,
            cwd=state.path,
            user=owner.pw_uid if owner else None,
            group=owner.pw_gid if owner else None,
            extra_groups=[] if owner else None,
        )
    except subprocess.TimeoutExpired:
        return 124, f"it did not end within {BESIDE_S:.0f} s"
    except OSError as error:
        return 127, str(error)
    return done.returncode, done.stdout + done.stderr
