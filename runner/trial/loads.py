"""Chooses the load of a trial. Only this module knows the kinds of loads; all others use a LoadHandle."""

from __future__ import annotations

import time
from collections.abc import Mapping

from runner.loadgen.foreign import ForeignLoad
from runner.loadgen.groups import begun_together, group_specs
from runner.loadgen.handle import LoadHandle
from runner.loadgen.process import LoadProcesses
from runner.loadgen.split import split_spec
from runner.loadgen.trace import with_files
from runner.trial.order import TrialOrder
from runner.trial.provision import Reached


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
