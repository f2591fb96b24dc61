"""Keeps the requests of a trial, if its load asks for it: a folder for the load processes, and the file made of it.

Refuses to fail a trial whose requests cannot be read: a note says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from scale_sweep.base.errors import LoadError, ScaleError
from scale_sweep.loadgen.handle import LoadHandle
from scale_sweep.loadgen.trace import TRACE, left_out, parquet_of
from scale_sweep.machine.state import scratch
from scale_sweep.model import ArtifactMade, Event, Noted, Trial


@contextmanager
def trace_folder(trial: Trial) -> Iterator[str]:
    """A folder while the load runs; "" if no requests are kept."""
    if not trial.load.trace_every:
        yield ""
        return
    with scratch("trace") as folder:
        yield str(folder)


def traced(events: Iterator[Event], trial: Trial, load: LoadHandle, folder: str) -> Iterator[Event]:
    """The events of a load, then the file of its requests, also of a load that fails and has a summary."""
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
