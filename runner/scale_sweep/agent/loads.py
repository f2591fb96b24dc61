"""Runs one process of the load generator for a controller: lines out, signals in."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from typing import Any

from scale_sweep.agent.lines import Talk
from scale_sweep.base.spawning import spawn
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.process import HURRY_S, STOP_S
from scale_sweep.loadgen.remote import written
from scale_sweep.loadgen.spec import spec_text
from scale_sweep.machine.state.records import scratch

ERRORS_MAX = 4000  # characters of standard error that are kept
_ALLOWED = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGKILL)


def load(talk: Talk, line: Mapping[str, Any]) -> dict[str, Any]:
    """Runs the process to its end. Returns its exit code and the end of its standard error."""
    spec = {str(key): str(value) for key, value in dict(line["spec"]).items()}
    if not os.path.exists(spec.get("library", "")):
        spec.pop("library", None)  # the load generator then looks for this host's own
    cpus = tuple(int(cpu) for cpu in line["cpus"]) or tuple(sorted(os.sched_getaffinity(0)))
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TAOS_")}
    environment["SCALE_PASSWORD"] = str(line["secret"])
    with scratch("load") as folder, tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        spec = written(spec, dict(line["folders"]), folder)
        with tempfile.TemporaryFile("w+", encoding="utf-8") as spec_file:
            spec_file.write(spec_text(spec))
            spec_file.seek(0)
            process = spawn(
                (loadgen_path(), "load", "-"),
                cpus,
                stdin=spec_file,
                stdout=subprocess.PIPE,
                stderr=errors,
                encoding="utf-8",
                errors="replace",
                env=environment,
                start_new_session=True,
            )
        talk.on_line = lambda heard: _signalled(process, heard)
        if talk.stop.requested():  # before there was a process to end
            process.kill()
        try:
            assert process.stdout is not None
            for text in process.stdout:
                talk.put(text=text)
            code = process.wait(timeout=STOP_S)
            errors.seek(0)
            return {"code": code, "errors": errors.read()[-ERRORS_MAX:]}
        finally:
            _end(process)


def _signalled(process: subprocess.Popen[str], heard: Mapping[str, Any]) -> None:
    if process.poll() is not None:
        return
    if "closed" in heard:  # nobody reads what it would still do, and its server may be out of reach
        process.kill()
    elif int(heard.get("signal") or 0) in _ALLOWED:
        process.send_signal(int(heard["signal"]))


def _end(process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + HURRY_S
    while process.poll() is None and time.monotonic() < deadline:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.2)
    if process.poll() is None:
        process.kill()


REQUESTS = {"load": load}
