"""Does the server support several data directories? Tried once before a disk sweep.

It starts a server with one data directory on each disk, creates a database, and reads back the place of every part.
Refuses to trust a version or an edition.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from scale_sweep.base.errors import ScaleError
from scale_sweep.base.interrupts import Stop
from scale_sweep.measure.trial.asking import ANSWER_S, SCHEMA_S, asked, closed_at_last, until_ready
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.placed import check_placement
from scale_sweep.measure.trial.provision import provision, reached_by
from scale_sweep.measure.trial.waiting import wait_for
from scale_sweep.server.runtimes import load_runtime
from scale_sweep.server.targets import load_target


def supports_tiers(order: TrialOrder, stop: Stop) -> tuple[bool, str]:
    """Whether every disk of the trial got parts of a database, and what was seen. Leaves nothing.

    Raises Stopped.
    """
    try:
        with stop.here(), ExitStack() as cleanup:
            counts = _try(replace(order, disk_placement="tiers"), stop, cleanup)
    except ScaleError as error:
        return False, f"the server did not show that it supports several data directories: {error.message}"
    told = f"several data directories: they got {', '.join(map(str, counts))} parts of the database"
    if len(counts) == len(order.disks) and all(counts):
        return True, f"the server supports {told}"
    return False, f"the server does not support {told}"


def _try(order: TrialOrder, stop: Stop, cleanup: ExitStack) -> list[int]:
    subject = order.trial.subject
    target = load_target(subject.target)
    reached = reached_by(target, order.trial, provision(order, target, load_runtime(subject.runtime), "probe", cleanup))
    server, address, session = reached.server, reached.address, reached.session
    with closed_at_last(reached):
        wait_for(server, until_ready(reached, session.not_ready), "the server was not ready", stop)
        asked(reached, session.create_schema, SCHEMA_S)
        wait_for(server, until_ready(reached, session.schema_pending), "the schema was not ready", stop)
        told = check_placement(asked(reached, session.parts, ANSWER_S), order.disks, address.disks)
    return [int(n) for n in told.get("parts_per_disk", "").split(",") if n]
