"""Why a trial failed: a full disk, a lack of memory or a dead server is the cause, what a client saw is the symptom."""

from __future__ import annotations

import time

from scale_sweep.base.errors import LoadError, ProvisionError, ScaleError, TargetError
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.placed import full_disk
from scale_sweep.measure.trial.waiting import answer_within, last_words
from scale_sweep.server.runtimes import Server
from scale_sweep.server.runtimes.out_of_memory import out_of_memory_words

FULL_S = 10.0  # to look how full the disks are
ENDING_S = 1.0  # a server that dies closes its connections before it is gone


def with_cause(error: ScaleError, server: Server, order: TrialOrder) -> ScaleError:
    """The error to report in place of this one."""
    if killed := killed_for_memory(server, order):
        return ProvisionError(f"{killed} ({error.message})")
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


def killed_for_memory(server: Server, order: TrialOrder) -> str:
    """That the kernel killed processes of the server for want of memory, at which level; "" if it did not."""
    return out_of_memory_words(server.out_of_memory(), order.trial.resources.memory_bytes, order.level_words)
