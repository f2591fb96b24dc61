"""Whom to watch: processes by their ids or by the port where they listen; and the plan that sinks of a sweep expect."""

from __future__ import annotations

from collections.abc import Sequence

import psutil

from scale_sweep.base.errors import UsageError
from scale_sweep.model import Accounting, Placement, Plan, Subject, Trial, on_cores
from scale_sweep.sweep.resolve import resolve_sweep

TRIAL = "observe"
PID_MAX = 2**22  # of Linux


def accounting_of(pids: Sequence[int], ports: Sequence[int]) -> Accounting | None:
    """Of the processes and all that they start; None where none is named: then only the machine is watched.

    Raises UsageError for a process that is not there, and for a port where nobody whom we may see listens.
    """
    found = list(pids)
    for pid in pids:
        if not 0 < pid <= PID_MAX or not psutil.pid_exists(pid):
            raise UsageError(f"--pid {pid}: there is no such process")
    for port in ports:
        found += _listeners(port)
    return Accounting(kind="processes", root_pids=tuple(dict.fromkeys(found))) if found else None


def _listeners(port: int) -> list[int]:
    try:
        connections = psutil.net_connections("tcp")
    except psutil.AccessDenied:
        connections = []
    here = [c for c in connections if c.status == psutil.CONN_LISTEN and c.laddr.port == port]
    pids = sorted({c.pid for c in here if c.pid})
    if not pids:
        who = "who listens there belongs to another user" if here else "nobody listens there"
        raise UsageError(f"--port {port}: {who}", remedy="give --pid, or run as root")
    return pids


def plan_of(cpus: Sequence[int], seconds: float) -> Plan:
    """One trial without a load, on all of the machine, as the exporter shows trials."""
    sweep = resolve_sweep("cpu", {"target.name": "null", "axis.cores": str(len(cpus))})
    placement = Placement(server_cpus=tuple(cpus), generator_cpus=())
    trial = Trial(
        trial_id=TRIAL,
        point_id=TRIAL,
        order=1,
        level=len(cpus),
        replicate=1,
        resources=on_cores(len(cpus), placement),
        work=sweep.work,
        load=sweep.load,
        subject=Subject(target=sweep.target, runtime="endpoint", method=""),
        knobs={},
        seed=0,
    )
    return Plan(sweep=sweep, trials=(trial,), confounds=(), notes=(), seconds_estimated=seconds)
