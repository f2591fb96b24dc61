"""Data sets: trials with the same rows before their load share one prepared data directory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, replace

from scale_sweep.experiment.work import row_logical_bytes, stores
from scale_sweep.model import KnobRole, Trial
from scale_sweep.server.targets import load_facts

_NOT_IN_THE_DATA = (KnobRole.CONNECTIONS, KnobRole.COMMIT_THREADS)


def data_key(trial: Trial) -> str:
    """The same for trials whose rows and files are the same; "" where each trial loads its own, or none.

    Every knob counts but those that say how many threads work: of the others nobody here knows what they do to files.
    """
    subject = trial.subject
    if not trial.work.preload_rows or trial.resources.disks or subject.endpoint:
        return ""
    facts = load_facts(subject.target)
    if not facts.keeps_data:
        return ""
    threads = {knob.name for knob in facts.role_knobs if knob.role in _NOT_IN_THE_DATA}
    knobs = {name: value for name, value in trial.knobs.items() if name not in threads}
    rows = replace(trial.work.data, rows_per_request=0, interlace_rows=0, requests_per_table=1)
    same = [subject.server, subject.method, asdict(rows), trial.work.preload_rows, knobs, trial.seed]
    return hashlib.sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()[:10]


def makers(trials: Iterable[Trial]) -> dict[str, Trial]:
    """The trial on whose server each data set is loaded: one with the most cores and connections, so that neither
    the order of the trials nor a low level decides how long it takes."""
    chosen: dict[str, Trial] = {}
    for trial in trials:
        key = data_key(trial)
        if key and (key not in chosen or _means(trial) > _means(chosen[key])):
            chosen[key] = trial
    return chosen


def _means(trial: Trial) -> tuple[float, int]:
    return trial.cores, trial.load.connections


def bytes_needed(trials: Iterable[Trial]) -> int:
    """An estimate of the disk space: every data set, and a copy of the largest one for the trial that runs."""
    sizes = [_bytes(trial) for trial in makers(trials).values()]
    return sum(sizes) + max(sizes, default=0)


def stored_row_bytes(trial: Trial) -> int:
    """Bytes of one row on disk, without its log: an upper estimate from the facts of the trial's target."""
    return row_logical_bytes(trial.work) + load_facts(trial.subject.target).row_overhead_bytes


def rows_written(trial: Trial, *, most: bool) -> int:
    """The rows that the load of a trial writes: those of its setting, or its time with the rate that is assumed for its
    target. most: the longest warm-up and window; else the shortest."""
    load = trial.load
    if not stores(trial.work):
        return 0
    if load.rows is not None:
        return load.rows
    warmup_s, window_s = load.warmup_least_s or load.warmup_s, load.duration_s or 0.0
    if most:
        warmup_s, window_s = load.warmup_s, max(window_s, load.window_max_s or 0.0)
    return round((warmup_s + window_s) * trial.cores * load_facts(trial.subject.target).rows_per_core_s)


def bytes_written(trial: Trial, *, most: bool) -> int:
    """The space of a trial's rows, without those of a data set that it shares."""
    own = 0 if data_key(trial) else trial.work.preload_rows
    return (own + rows_written(trial, most=most)) * stored_row_bytes(trial)


def _bytes(trial: Trial) -> int:
    return trial.work.preload_rows * stored_row_bytes(trial)
