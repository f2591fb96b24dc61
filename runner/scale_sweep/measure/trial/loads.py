"""Makes the load of a trial, and keeps its requests if the trial asks for that."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from scale_sweep.base.errors import LoadError, ScaleError
from scale_sweep.loadgen.foreign import ForeignLoad
from scale_sweep.loadgen.handle import LoadHandle
from scale_sweep.loadgen.kept_files import TRACE, left_out, parquet_of, with_files
from scale_sweep.loadgen.process import LoadProcesses
from scale_sweep.loadgen.split import begun_together, group_specs, split_spec
from scale_sweep.machine.state import scratch
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.provision import Reached
from scale_sweep.model import ArtifactMade, Event, Noted, Trial

LoadMaker = Callable[[TrialOrder, Mapping[str, str], int, Reached, str], LoadHandle]


def load_of(
    order: TrialOrder, spec: Mapping[str, str], threads_per_process: int, reached: Reached, trace_folder: str = ""
) -> LoadHandle:
    """The load of the order's trial, not started. trace_folder: for the requests that it keeps, "" if it keeps none.
    Raises TargetError if the target has no such load generator."""
    cpus, network = _cpus(order), reached.server.network_namespace
    if not order.trial.load.is_ours:
        return ForeignLoad(reached.session.genuine_load(), cpus, network)
    now_ns = time.monotonic_ns()
    groups = group_specs(spec, order.trial.work)
    specs = [part for group in groups for part in split_spec(group, threads_per_process, now_ns)]
    specs = with_files(begun_together(specs, now_ns), trace_folder)
    return LoadProcesses(order.program, specs, cpus, reached.address.secret, network)


def _cpus(order: TrialOrder) -> tuple[int, ...]:
    """The load generator's CPUs; all of this machine if the trial's own load is made elsewhere."""
    return order.trial.placement.generator_cpus or tuple(sorted(os.sched_getaffinity(0)))


@contextmanager
def trace_folder(trial: Trial) -> Iterator[str]:
    """A folder while the load runs; "" if no requests are kept."""
    if not trial.load.trace_every:
        yield ""
        return
    with scratch("trace") as folder:
        yield str(folder)


def traced(events: Iterator[Event], trial: Trial, load: LoadHandle, folder: str) -> Iterator[Event]:
    try:
        yield from events
    except ScaleError:
        yield from _kept(trial, load, folder)
        raise
    yield from _kept(trial, load, folder)


def _kept(trial: Trial, load: LoadHandle, folder: str) -> Iterator[Event]:
    summary = load.summary() if folder else None
    if summary is None:
        return
    start_ns, end_ns, every = summary.window_start_ns, summary.window_end_ns, str(trial.load.trace_every)
    about = {"scale.trial": trial.trial_id, "scale.window_start_ns": str(start_ns), "scale.one_in": every}
    try:
        content = parquet_of(folder, start_ns, end_ns, about)
    except (LoadError, OSError) as error:
        yield Noted(trial_id=trial.trial_id, sentence=f"the requests were not kept: {error}")
        return
    yield ArtifactMade(trial_id=trial.trial_id, name=TRACE, content=content)
    if missing := left_out(load.raw):
        most = f"--trace-max {trial.load.trace_max:,}"
        sentence = f"{missing:,} requests are not in {TRACE}: it has the first ones of each connection, by {most}"
        yield Noted(trial_id=trial.trial_id, sentence=sentence)
