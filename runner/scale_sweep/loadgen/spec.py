"""The load generator's spec, made from a sweep and a trial. Pure."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

from scale_sweep.experiment.work import spec_lines
from scale_sweep.model.declared import Work
from scale_sweep.model.declared_parts import Load
from scale_sweep.model.loads import LoadSummary
from scale_sweep.model.planned import Trial

PROTOCOL = "1"
_OF_ROWS = (
    "protocol threads partitions placement seed tables columns tags tag_groups tag_prefix values period_rows decimals "
    "disorder disorder_ratio disorder_lambda disorder_max_k disorder_rows text rows_per_request requests_per_table "
    "interlace_rows start_ms step_ms"
).split()
PRELOAD_ROWS_PER_REQUEST = 10_000
SEED_END = 2**52  # the load generator takes up to 9e15
BEHIND_MAX_S = 3600.0  # the load generator's limit
BEHIND = 2  # requests: one in the server, one waits for its connection, as after an overload
CHECKED = 80.0  # answers of each operation in a window: with 60, a lie in 1 of 20 is found in 95 %
CHECKED_SHORT = 30.0  # in a window of few seconds; from 20 on nothing is cautioned
CHECKED_PER_S = 4.0  # in between


def trial_spec(trial: Trial, from_target: Mapping[str, str]) -> dict[str, str]:
    """from_target: what only it knows (driver, address, names)."""
    return {
        "protocol": PROTOCOL,
        **from_target,
        "threads": str(trial.load.connections),
        "partitions": str(trial.load.partitions),
        "placement": trial.load.table_placement,
        "seed": str(trial.seed),
        "arrival_seed": str(_drawn_seed(f"{trial.seed} arrivals {trial.order}")),
        **spec_lines(trial.work),
        **(_reads(trial) if trial.work.counts_requests else {}),
        **_load(trial.load),
        **_behind(trial),
    }


def _behind(trial: Trial) -> dict[str, str]:
    load, rows = trial.load, 1 if trial.work.counts_requests else trial.work.data.rows_per_request
    is_confirming = load.objective is not None and load.rate > 0
    return {"behind_s": f"{min(BEHIND_MAX_S, BEHIND * load.connections * rows / load.rate):g}"} if is_confirming else {}


def _reads(trial: Trial) -> dict[str, str]:
    """With the same draws in all trials, none asks for the devices that the first misses."""
    read_seed = _drawn_seed(f"{trial.seed} reads {trial.order}")
    return {"read_seed": str(read_seed), "check_per_s": f"{checks_per_s(trial.load.duration_s):g}"}


def checks_per_s(window_s: float | None) -> float:
    """None: not known before."""
    if window_s is None:
        return CHECKED_PER_S
    return min(max(CHECKED_PER_S * window_s, CHECKED_SHORT), CHECKED) / window_s


def _drawn_seed(text: str) -> int:
    return random.Random(text).randrange(1, SEED_END)


def search_spec(
    spec: Mapping[str, str], load: Load, after: LoadSummary | None = None, number: int = 0
) -> dict[str, str]:
    """The spec of another load, whose writes continue after an earlier one's. number: of the step, from 1, which has
    its own random arrivals. Only the first load's answers are checked. A request has a deadline only if the trial's
    spec has one: not every driver can end it."""
    rest = {key: value for key, value in spec.items() if key not in ("rows", "trace_every", "trace_max")}
    lines = {key: value for key, value in _load(load).items() if key != "request_timeout_s"}
    if after is None:
        return {**rest, **lines}
    quiet = {key: "0" for key in ("check_per_s", "check_every") if key in spec}
    arrivals = {"arrival_seed": str(_drawn_seed(f"{spec['arrival_seed']} step {number}"))}
    first_row = str(after.newest_row + 1) if after.newest_row is not None else ""
    if after.table_rows is not None:
        first_row = ",".join(f"{first}:{tables}:{rows}" for first, tables, rows in after.table_rows)
    return {**rest, **lines, **quiet, **arrivals, "first_row": first_row}


def preload_of(trial: Trial) -> Trial:
    data = replace(
        trial.work.data,
        rows_per_request=max(PRELOAD_ROWS_PER_REQUEST, trial.work.data.rows_per_request),
        interlace_rows=0,
        disorder="",
    )
    load: Load = replace(
        trial.load, rows=trial.work.preload_rows, duration_s=None, window_max_s=None, warmup_s=0.0, rate=0.0
    )
    return replace(trial, work=Work(data=data), load=load)


def query_lines(texts: Mapping[str, str]) -> dict[str, str]:
    return {f"ask.{name}.text": text for name, text in texts.items()}


def ceiling_spec(spec: Mapping[str, str], seconds: float) -> dict[str, str]:
    return {**_same_rows(spec, seconds), "driver": "null", "method": "discard"}


def stubbed_spec(spec: Mapping[str, str], seconds: float) -> dict[str, str]:
    """Made by the trial's driver and not sent. Names are part of a request, and may decide a table's place."""
    own = ("driver", "method", "library", "database", "table", "table_prefix", "parted", "precision")
    return {**_same_rows(spec, seconds), **{k: spec[k] for k in own if k in spec}, "sending": "stubbed"}


def _same_rows(spec: Mapping[str, str], seconds: float) -> dict[str, str]:
    return {**{k: spec[k] for k in _OF_ROWS if k in spec}, "duration_s": f"{seconds:g}", "warmup_s": "0.2"}


def _load(load: Load) -> dict[str, str]:
    longest = load.window_max_s or load.duration_s
    work = {"rows": str(load.rows)} if load.rows is not None else {"duration_s": f"{longest:g}"}
    arrival = load.arrival if load.rate or load.objective is None else "constant"  # a search begins with a closed loop
    pace = {"warmup_s": f"{load.warmup_s:g}", "rate": f"{load.rate:g}", "arrival": arrival}
    timeout = {"request_timeout_s": f"{load.request_timeout_s:g}"} if load.request_timeout_s else {}
    trace = {"trace_every": str(load.trace_every), "trace_max": str(load.trace_max)} if load.trace_every else {}
    return {**work, **pace, **timeout, **trace, "drain_s": f"{load.drain_s:g}"}


def spec_text(spec: Mapping[str, str]) -> str:
    return "".join(f"{key}={value}\n" for key, value in spec.items() if value != "")
