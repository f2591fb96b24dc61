"""A task on a host of a Dask cluster: it describes the host, plans or runs a sweep there, and packs the run."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from scale_sweep.base.errors import EXIT_INTERRUPTED, EXIT_TRIALS_FAILED
from scale_sweep.base.spawning import run_within
from scale_sweep.machine.host.host_facts import read_host
from scale_sweep.machine.host.processes import machine_identity
from scale_sweep.machine.state.places import folder
from scale_sweep.results.identity import identity
from scale_sweep.verify.archive import packed

LEASE_S = 60.0
BEAT_S = 5.0  # between renewals
LOOK_S = 2.0
PLAN_S = 300.0
TOKEN_AGE_S = 86_400.0
KEPT = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "PYTHONPATH", "TMPDIR", "TZ", "USER", "VIRTUAL_ENV")
OURS = "SCALE_"
WORDS_MAX = 4000  # characters of standard error that are kept
_FOLDER = "fleet"

Line = Callable[[str], None]


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of a sweep started by hand: none of Dask's, none for its workers' libraries."""
    return {key: value for key, value in environment.items() if key in KEPT or key.startswith(OURS)}


def described() -> bytes:
    """The host and the tool there, and how Dask's worker is set."""
    from dask import config

    memory = {key: config.get(f"distributed.worker.memory.{key}", False) for key in ("target", "pause", "terminate")}
    about = {"host": asdict(read_host()), "machine": machine_identity(), "identity": identity(), "memory": memory}
    return json.dumps(about).encode()


def of_scheduler() -> bytes:
    """How Dask's scheduler is set."""
    from dask import config

    keys = ("distributed.scheduler.allowed-failures", "distributed.scheduler.work-stealing")
    return json.dumps({key: config.get(key, None) for key in keys}).encode()


def planned(words: Sequence[str], files: Mapping[str, str]) -> bytes:
    """`scale plan` of a sweep on this host: its exit code, its document, and its last words."""
    with _written(files) as there:
        argv = [sys.executable, "-P", "-m", "scale_sweep", "plan", *words, "--json"]
        try:
            done = run_within(PLAN_S, argv, env=clean_environment(os.environ), cwd=there)
        except (OSError, subprocess.TimeoutExpired) as error:
            return json.dumps({"code": 4, "plan": "", "words": str(error)}).encode()
    return json.dumps({"code": done.returncode, "plan": done.stdout, "words": done.stderr[-WORDS_MAX:]}).encode()


def swept(token: str, words: Sequence[str], files: Mapping[str, str], delay_s: float) -> tuple[bytes, bytes]:
    """Runs a sweep to its end. Returns JSON with its exit code and last words, and the archive of its run or b""."""
    from distributed import Variable, get_worker

    if not _claim(token):
        return _ended(4, "this task was started here before: a second start is refused"), b""
    worker = get_worker()
    variable = Variable(token, client=worker._get_client())

    def read() -> int | None:
        try:
            return int(variable.get(timeout=BEAT_S))
        except Exception:  # the scheduler or the client is gone, or busy: the lease runs on
            return None

    numbers = iter(range(sys.maxsize))

    def line(text: str) -> None:
        worker.log_event(token, {"number": next(numbers), "line": text})

    with _written(files) as there:
        return _run(words, there, line, Lease(read), delay_s)


class Lease:
    """The right to run, which the client renews. read: its number now, negative to end it; None if nobody answers."""

    def __init__(self, read: Callable[[], int | None]) -> None:
        self._read, self._number, self._renewed = read, 0, time.monotonic()

    def look(self) -> bool:
        number = self._read()
        if number is None or number == self._number:
            return False
        self._number, self._renewed = number, time.monotonic()
        return True

    @property
    def is_over(self) -> bool:
        return self._number < 0 or time.monotonic() - self._renewed > LEASE_S


def _run(words: Sequence[str], there: Path, line: Line, lease: Lease, delay_s: float) -> tuple[bytes, bytes]:
    results = there / "results"
    ours = (sys.executable, "-P", "-m")
    argv = [*ours, "scale_sweep.fleet.leased", f"{LEASE_S:g}", *ours, "scale_sweep", "sweep"]
    argv += [*words, "--results", str(results), "--no-metrics", "-y"]
    if not _waited(delay_s, lease):
        return _ended(EXIT_INTERRUPTED, "stopped"), b""
    process = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        env=clean_environment(os.environ),
        cwd=there,
        start_new_session=True,
    )
    threading.Thread(target=_renew, args=(process, lease), name="lease", daemon=True).start()
    last: list[str] = []
    assert process.stderr is not None
    for text in process.stderr:
        last = [*last[-20:], text.rstrip()]
        line(text.rstrip())
    code = process.wait(timeout=LEASE_S)
    runs = sorted(results.iterdir()) if results.is_dir() else []
    is_whole = bool(runs) and code in (0, EXIT_TRIALS_FAILED)
    return _ended(code, "\n".join(last)[-WORDS_MAX:]), packed(runs[0]) if is_whole else b""


def _waited(delay_s: float, lease: Lease) -> bool:
    deadline = time.monotonic() + delay_s
    while (left := deadline - time.monotonic()) > 0 and not lease.is_over:
        time.sleep(min(left, LOOK_S))
        lease.look()
    return not lease.is_over


def _renew(process: subprocess.Popen[str], lease: Lease) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError, ValueError):
        while process.poll() is None and not lease.is_over:
            if lease.look():
                process.stdin.write("\n")
                process.stdin.flush()
            time.sleep(LOOK_S)
        process.stdin.close()


def _claim(token: str) -> bool:
    tokens = folder(_FOLDER)
    for old in tokens.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - old.stat().st_mtime > TOKEN_AGE_S:
                old.unlink()
    try:
        os.close(os.open(tokens / f"{token}.started", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    return True


@contextlib.contextmanager
def _written(files: Mapping[str, str]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="scale-fleet-") as made:
        for name, text in files.items():
            (Path(made) / Path(name).name).write_text(text, encoding="utf-8")
        yield Path(made)


def _ended(code: int, words: str) -> bytes:
    return json.dumps({"code": code, "words": words}).encode()
