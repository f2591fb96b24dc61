"""Chooses the load of a trial. Only this module knows the kinds of loads; all others use a LoadHandle."""

from __future__ import annotations

import time
from collections.abc import Mapping

from scale_sweep.loadgen.foreign import ForeignLoad
from scale_sweep.loadgen.groups import begun_together, group_specs
from scale_sweep.loadgen.handle import LoadHandle
from scale_sweep.loadgen.process import LoadProcesses
from scale_sweep.loadgen.split import split_spec
from scale_sweep.loadgen.trace import with_files
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.provision import Reached


def load_of(
    order: TrialOrder, spec: Mapping[str, str], threads_per_process: int, reached: Reached, trace_folder: str = ""
) -> LoadHandle:
    """The load of the order's trial, not started. trace_folder: for the requests that it keeps, "" if it keeps none.
    Raises TargetError if the target has no such load generator."""
    cpus, network = order.trial.placement.generator_cpus, reached.server.network_namespace
    if not order.trial.load.is_ours:
        return ForeignLoad(reached.session.genuine_load(), cpus, network)
    now_ns = time.monotonic_ns()
    groups = group_specs(spec, order.trial.work)
    specs = [part for group in groups for part in split_spec(group, threads_per_process, now_ns)]
    specs = with_files(begun_together(specs, now_ns), trace_folder)
    return LoadProcesses(order.program, specs, cpus, reached.address.secret, network)
