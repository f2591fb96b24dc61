"""Why a trial failed: a full disk or a dead server is the cause, what a client saw of it is the symptom."""

from __future__ import annotations

import time

from runner.errors import LoadError, ProvisionError, ScaleError, TargetError
from runner.runtimes import Server
from runner.trial.order import TrialOrder
from runner.trial.placed import full_disk
from runner.trial.waiting import answer_within, last_words

FULL_S = 10.0  # to look how full the disks are
ENDING_S = 1.0  # a server that dies closes its connections before it is gone


def with_cause(error: ScaleError, server: Server, order: TrialOrder) -> ScaleError:
    """The error to report in place of this one."""
    if not isinstance(error, (LoadError, TargetError)):
        return error
    if full := answer_within(FULL_S, lambda: full_disk(order.disks, order.disk_free_min_bytes)) or "":
        return error if "about to fill" in error.message else LoadError(f"{full} ({error.message})")
    deadline = time.monotonic() + ENDING_S
    while server.alive() and time.monotonic() < deadline:
        time.sleep(0.05)
    if not server.alive():
        return ProvisionError(f"the server ended during the trial: {last_words(server)} ({error.message})")
    return error
