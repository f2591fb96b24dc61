"""How much data trials write: shared data sets, space on disk, memory that is touched for the first time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, replace

from scale_sweep.base.units import format_number, format_rate
from scale_sweep.capacity.search import OPENING_S, PROBES, WARMUP_S
from scale_sweep.experiment.work import row_logical_bytes, stores
from scale_sweep.model.declared import Sweep
from scale_sweep.model.declared_parts import KnobRole
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.model.resources import NewPages
from scale_sweep.server.targets import load_facts

_NOT_IN_THE_DATA = (KnobRole.CONNECTIONS, KnobRole.COMMIT_THREADS)


def data_key(trial: Trial) -> str:
    """The same for trials whose rows and files are the same; "" where each loads its own, or none. Knobs of threads do
    not count: nobody knows what the others do to files."""
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
    """That loads each data set: one with the most cores and connections, in any order."""

    def means(trial: Trial) -> tuple[float, int]:
        return trial.cores, trial.load.connections

    chosen: dict[str, Trial] = {}
    for trial in trials:
        key = data_key(trial)
        if key and (key not in chosen or means(trial) > means(chosen[key])):
            chosen[key] = trial
    return chosen


def bytes_needed(trials: Iterable[Trial]) -> int:
    """Every data set, and a copy of the largest for the trial that runs; an estimate."""
    sizes = [trial.work.preload_rows * _stored_row_bytes(trial) for trial in makers(trials).values()]
    return sum(sizes) + max(sizes, default=0)


def _stored_row_bytes(trial: Trial) -> int:
    return row_logical_bytes(trial.work) + load_facts(trial.subject.target).row_overhead_bytes


def _rows_written(trial: Trial, *, most: bool) -> int:
    """An estimate, by the rate that is assumed for the target. most: of the longest times; else the shortest."""
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
    """Without the rows of a data set that it shares."""
    own = 0 if data_key(trial) else trial.work.preload_rows
    return (own + _rows_written(trial, most=most)) * _stored_row_bytes(trial)


def search_bytes(trial: Trial) -> tuple[int, str]:
    """An estimate, and how it was made; 0 and "" for other trials, reads, and requests."""
    load, work = trial.load, trial.work
    if load.objective is None or trial.subject.endpoint or not stores(work) or work.counts_requests:
        return 0, ""
    seconds = load.warmup_s + OPENING_S + PROBES * (WARMUP_S + (load.duration_s or 0.0))
    rows_per_s, row_bytes = load_facts(trial.subject.target).rows_per_core_s * trial.cores, _stored_row_bytes(trial)
    words = f"{rows_per_s:,.0f} rows/s, assumed, in {format_number(seconds)} s, {row_bytes} bytes a row"
    return round(rows_per_s * seconds * row_bytes), words


ENOUGH_BYTES = 10**9  # of memory: less touches few pages, whose cost is lost in the noise
_WRITTEN_TIMES = 3  # a row in its table, and in a log that may hold it with twice as many bytes


def trial_bytes(plan: Plan) -> int:
    """The bytes of the trial that writes most; 0 if its pages are another machine's, or nothing is stored."""
    local = (t for t in plan.trials if not t.subject.endpoint and load_facts(t.subject.target).stores_rows)
    rows = ((_rows_written(t, most=True) if stores(t.work) else t.work.preload_rows, t) for t in local)
    return max((count * _WRITTEN_TIMES * _stored_row_bytes(trial) for count, trial in rows), default=0)


_PAGE_BYTES = 4096
_HOLD_S = 20.0  # of CPU time that a run pays for held pages, at least
_HOLD_RUN_SHARE = 0.03  # of the time of its windows and warm-ups, if that is more
_HOLD_SHARE = 0.5  # of the available memory; the rest is for the page cache and others
_QUICK_BYTES = 3 * 10**9  # of a trial of --quick: more hardly makes its figure better


def held_bytes(plan: Plan, pages: NewPages | None) -> int:
    """As much as a trial may use, or as can be held; 0 if pages cost the same."""
    return min(trial_bytes(plan), _may_hold(plan, pages)) if pages is not None and pages.are_dear else 0


def _may_hold(plan: Plan, pages: NewPages) -> int:
    loaded_s = sum(trial.load.warmup_s + (trial.load.duration_s or 0.0) for trial in plan.trials)
    bought = max(_HOLD_S, _HOLD_RUN_SHARE * loaded_s) / (pages.last_us * 1e-6) * _PAGE_BYTES
    return min(int((pages.cheap_bytes or 0) + bought), int(_HOLD_SHARE * pages.available_bytes))


def held_sentence(plan: Plan, held: int) -> str:
    if not held:
        return ""
    begin = f"scale pre-warms {held / 1e9:.1f} GB of memory for the server"
    if trial_bytes(plan) <= held:
        return f"{begin}; without it, rates would be lower"
    return f"{begin}; a trial that takes more than that is slower"


_CHEAP_SHARE = 0.8  # of the cheap pages that a trial may use: the probe is not exact
_ROWS_STEP = 100_000
_WARMUP_MOST_S = 5.0  # a server that needs more (Java) is slow at first, and equal rows have no warm-up
_SECONDS_MIN = 4.0  # faster gives no rate
_SECONDS_ENOUGH = 8.0  # at the fewest cores


def rows_in_cheap_pages(plan: Plan, pages: NewPages | None, rows_per_core_s: float) -> int | None:
    """That each level of --quick writes without dear pages; None: the plan stays. rows_per_core_s: the target's
    estimate, at the speed of these CPUs."""
    sweep, load = plan.sweep, plan.sweep.load
    is_asked = sweep.is_quick and len(sweep.levels) > 1
    was_given = any(sweep.origin.get(key, "default") != "default" for key in ("load.duration", "load.warmup"))
    is_plain = load.rows is None and not load.rate and load.objective is None and not sweep.work.counts_requests
    starts_slowly = any((trial.load.warmup_least_s or 0.0) > _WARMUP_MOST_S for trial in plan.trials)
    if pages is None or pages.cheap_bytes is None or not is_asked or was_given or not is_plain or starts_slowly:
        return None
    row_bytes = max(_WRITTEN_TIMES * _stored_row_bytes(trial) for trial in plan.trials)
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
    return f"fresh memory is slow on this machine, so each trial stops after {format_rate(rows)} rows"
