"""The memory that a trial's server may touch for the first time: the log and data that it writes, in the page cache or
in memory."""

from __future__ import annotations

from dataclasses import replace

from scale_sweep.base.units import format_rate
from scale_sweep.experiment.work import stores
from scale_sweep.model import NewPages, Plan, Sweep, Trial
from scale_sweep.plan.data_sets import rows_written, stored_row_bytes
from scale_sweep.server.targets import load_facts

ENOUGH_BYTES = 10**9  # less touches few pages: what they cost is lost in the noise
_WRITTEN_TIMES = 3  # a row in its table, and in a log that may hold it with twice as many bytes


def trial_bytes(plan: Plan) -> int:
    """The bytes of the trial that writes most; 0 if its pages are another machine's, or if nothing is stored."""
    return max((_bytes(trial) for trial in plan.trials if not trial.subject.endpoint), default=0)


def _bytes(trial: Trial) -> int:
    if not load_facts(trial.subject.target).stores_rows:
        return 0
    rows = rows_written(trial, most=True) if stores(trial.work) else trial.work.preload_rows
    return rows * _row_bytes(trial)


def _row_bytes(trial: Trial) -> int:
    return _WRITTEN_TIMES * stored_row_bytes(trial)


_PAGE_BYTES = 4096
_HOLD_S = 20.0  # of CPU time that a run pays for the pages that it holds, at least
_HOLD_RUN_SHARE = 0.03  # of the time of its windows and warm-ups, if that is more
_HOLD_SHARE = 0.5  # of the available memory: the server takes it over, and the rest is for the page cache and others
_QUICK_BYTES = 3 * 10**9  # of a trial of --quick: more makes it longer, and its figure hardly better


def held_bytes(plan: Plan, pages: NewPages | None) -> int:
    """The memory that is held for a trial of the plan: as much as it may use, or less if that cannot be held. 0 if
    pages cost the same."""
    return min(trial_bytes(plan), _may_hold(plan, pages)) if pages is not None and pages.are_dear else 0


def _may_hold(plan: Plan, pages: NewPages) -> int:
    loaded_s = sum(trial.load.warmup_s + (trial.load.duration_s or 0.0) for trial in plan.trials)
    bought = max(_HOLD_S, _HOLD_RUN_SHARE * loaded_s) / (pages.last_us * 1e-6) * _PAGE_BYTES
    return min(int((pages.cheap_bytes or 0) + bought), int(_HOLD_SHARE * pages.available_bytes))


def held_sentence(plan: Plan, held: int) -> str:
    """A sentence about memory that is held because pages are dear."""
    begin = f"scale pre-warms {held / 1e9:.1f} GB of memory for the server"
    if trial_bytes(plan) <= held:
        return f"{begin}; without it, rates would be lower"
    return f"{begin}; a trial that takes more than that is slower"


_CHEAP_SHARE = 0.8  # of the cheap pages that a trial may use: the probe is not exact
_ROWS_STEP = 100_000
_WARMUP_MOST_S = 5.0  # a server that needs more (Java) is slow in its first rows, and equal rows have no warm-up
_SECONDS_MIN = 4.0  # rows that are written faster give no rate
_SECONDS_ENOUGH = 8.0  # at the level with the fewest cores: more makes the run longer, and its figure hardly better


def rows_in_cheap_pages(plan: Plan, pages: NewPages | None, rows_per_core_s: float) -> int | None:
    """The rows that each level of --quick writes without reaching dear pages; None if all pages cost the same, the work
    was given, the load is the timed steps of a search, the server needs a long warm-up, no level writes as many in its
    window, or one writes them too fast.

    rows_per_core_s: the target's own estimate, at the speed of this machine's CPUs.
    """
    sweep = plan.sweep
    is_asked = sweep.is_quick and len(sweep.levels) > 1
    was_given = any(sweep.origin.get(key, "default") != "default" for key in ("load.duration", "load.warmup"))
    load = sweep.load
    is_plain = load.rows is None and not load.rate and load.objective is None and not sweep.work.counts_requests
    starts_slowly = any((trial.load.warmup_least_s or 0.0) > _WARMUP_MOST_S for trial in plan.trials)
    if pages is None or pages.cheap_bytes is None or not is_asked or was_given or not is_plain or starts_slowly:
        return None
    row_bytes = max(map(_row_bytes, plan.trials))
    cheap_bytes = max(pages.cheap_bytes, min(_QUICK_BYTES, _may_hold(plan, pages)))
    cores = [trial.cores for trial in plan.trials]
    slowest, fastest = rows_per_core_s * min(cores), rows_per_core_s * max(cores)
    enough = max(_SECONDS_ENOUGH * slowest, _SECONDS_MIN * fastest)
    cheap_rows = _CHEAP_SHARE * cheap_bytes / row_bytes
    rows = _in_steps(min(cheap_rows, enough))
    most = fastest * (load.warmup_s + (load.window_max_s or load.duration_s or 0.0))
    return rows if cheap_rows < most and rows >= _in_steps(fastest * _SECONDS_MIN) else None


def _in_steps(rows: float) -> int:
    return int(rows) // _ROWS_STEP * _ROWS_STEP


def with_equal_rows(sweep: Sweep, rows: int) -> Sweep:
    work = replace(sweep.load, rows=rows, duration_s=None, window_max_s=None, carries_claim=True)
    load = replace(work, warmup_s=0.0, warmup_least_s=None)
    return replace(sweep, load=load, origin={**sweep.origin, "load.rows": "host"})


def equal_rows_sentence(rows: int) -> str:
    """The reason why all levels write the same rows."""
    return f"fresh memory is slow on this machine, so each trial stops after {format_rate(rows)} rows"
