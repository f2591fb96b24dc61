"""A server that was started for some trial, brought to where rows can be written: ready, pinned, its schema there."""

from __future__ import annotations

from scale_sweep.base.interrupts import Stop
from scale_sweep.measure.trial.asking import SCHEMA_S, TABLES_S, asked, until_ready
from scale_sweep.measure.trial.provision import Reached, prove_pinning
from scale_sweep.measure.trial.waiting import wait_for
from scale_sweep.model import Placement


def wait_until_ready(reached: Reached, placement: Placement, within_s: float, stop: Stop) -> None:
    """Raises ProvisionError, also where it is not on its CPUs, and Stopped."""
    pending = until_ready(reached, reached.session.not_ready)
    wait_for(reached.server, pending, "the server was not ready", stop, within_s)
    prove_pinning(reached.server, placement)


def wait_for_schema(reached: Reached, stop: Stop) -> None:
    """Makes it, unless the files of the server hold it; then its tables likewise. Raises TargetError, Stopped."""
    session, is_there = reached.session, reached.address.holds_data
    if not is_there:
        asked(reached, session.create_schema, SCHEMA_S)
    wait_for(reached.server, until_ready(reached, session.schema_pending), "the schema was not ready", stop)
    if not is_there:
        asked(reached, session.create_tables, TABLES_S)
