"""Loads the rows that a trial's reads find. They are at rest and counted before the measurement, outside of its
rate."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from scale_sweep.base.errors import LoadError
from scale_sweep.base.interrupts import Stop
from scale_sweep.experiment.work import row_logical_bytes
from scale_sweep.loadgen.features import kept_by
from scale_sweep.loadgen.spec import preload_of, trial_spec
from scale_sweep.measure.trial.asking import asked, count_s, flush_s
from scale_sweep.measure.trial.loads import load_of
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.placed import bytes_at_rest
from scale_sweep.measure.trial.provision import Reached
from scale_sweep.measure.trial.rest import idle_cores
from scale_sweep.measure.trial.waiting import answer_within
from scale_sweep.model import Preloaded
from scale_sweep.server.targets import Facts

LEAST_S = 300.0
ROWS_PER_S_SLOWEST = 2000.0
SIZE_S = 10.0


def preload(order: TrialOrder, reached: Reached, facts: Facts, stop: Stop) -> Preloaded:
    """Loads and waits. Raises LoadError if rows are missing, TargetError, Stopped."""
    work, begun = order.trial.work, time.monotonic()
    before = _sizes(reached, facts.log_folders)
    writing = replace(order, trial=preload_of(order.trial))
    spec = kept_by(order.program, trial_spec(writing.trial, reached.session.load_spec()))
    load = load_of(writing, spec, facts.threads_per_process, reached)
    try:
        load.start()
        for _ in load.lines(LEAST_S + work.preload_rows / ROWS_PER_S_SLOWEST):
            stop.look()
            if not reached.server.alive():
                raise LoadError("the server ended while rows were loaded for the reads")
    finally:
        load.stop()
    summary = load.summary()
    acknowledged = summary.rows_acked if summary else 0
    if acknowledged != work.preload_rows:
        told = "; ".join(f"{trouble.code}: {trouble.message}" for trouble in load.troubles)
        some = f"{acknowledged:,} of {work.preload_rows:,} rows"
        raise LoadError(f"{some} were loaded before the reads: {told or 'no word'}")
    asked(reached, reached.session.settle, flush_s(work.preload_rows * row_logical_bytes(work)), order.disks)
    used = idle_cores(reached, stop) if reached.address.is_ours else None
    counted = asked(reached, reached.session.count, count_s(work.preload_rows))
    if counted is not None and counted.rows != work.preload_rows:
        raise LoadError(f"{work.preload_rows:,} rows were loaded before the reads, the server counts {counted.rows:,}")
    after = _sizes(reached, facts.log_folders)
    grown, log = (a - b if a is not None and b is not None else None for a, b in zip(after, before, strict=True))
    seconds = time.monotonic() - begun
    return Preloaded(rows=work.preload_rows, data_bytes=grown, seconds=seconds, idle_cores=used, log_bytes=log)


def _sizes(reached: Reached, log_folders: Sequence[str]) -> tuple[int | None, int | None]:
    """Bytes of the server's files, and of those in its log; None if they are not visible."""
    folders = [folder for folder in (reached.address.data_dir, *reached.address.disks) if folder]
    logs = [str(path) for folder in folders for pattern in log_folders for path in Path(folder).glob(pattern)]
    return (
        answer_within(SIZE_S, lambda: bytes_at_rest(folders)),
        answer_within(SIZE_S, lambda: bytes_at_rest(logs)) if logs else None,
    )
