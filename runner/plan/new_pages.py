"""How much memory a trial's server may touch for the first time: the log and data that it writes, in the page cache or
in memory. An upper estimate. Pure."""

from __future__ import annotations

from runner.model import Plan, Trial

ENOUGH_BYTES = 10**9  # less touches few pages: what they cost is lost in the noise
_PER_CORE_BYTES_PER_S = 200e6  # PostgreSQL writes 150 MB/s of log and tables for each core, others less
_PER_ROW_BYTES = 600  # PostgreSQL: table, index and log


def trial_bytes(plan: Plan) -> int:
    """The bytes of the trial of the plan that writes most; 0 if its pages are another machine's."""
    return max((_bytes(trial) for trial in plan.trials if not trial.subject.endpoint), default=0)


def _bytes(trial: Trial) -> int:
    load = trial.load
    if load.rows is not None:
        return load.rows * _PER_ROW_BYTES
    seconds = load.warmup_s + max(load.duration_s or 0.0, load.window_max_s or 0.0)
    return round(seconds * trial.cores * _PER_CORE_BYTES_PER_S)
