"""An objective in a plan: requests small enough for its percentiles, connections, the time of a search."""

from __future__ import annotations

import math
from collections.abc import Mapping

from scale_sweep.base.units import counted, format_number
from scale_sweep.capacity.objective import requests_needed
from scale_sweep.capacity.search import BETWEEN_S, OPENING_S, PROBES, WARMUP_S
from scale_sweep.experiment.work import stores
from scale_sweep.model import KnobRole, Load, Piece, ResourceRange, Rule, Sweep, Trial
from scale_sweep.plan.data_sets import stored_row_bytes
from scale_sweep.server.targets import Facts

CONNECTIONS_OF_CORE, CONNECTIONS_LEAST = 32, 64  # fewer, and the wait for a connection hides the server's capacity
SPARE = 4.0  # times the requests that the percentiles need
CAPACITY_SHARE = 0.5  # of the estimated rate: an objective holds at less than the highest rate
ROWS_LEAST = 10


def rows_for(sweep: Sweep, facts: Facts, resources: ResourceRange) -> int:
    """The rows of a request, if the user names none."""
    objective, usual = sweep.load.objective, facts.rows_per_request
    if objective is None or sweep.work.counts_requests:
        return usual
    in_step = CAPACITY_SHARE * facts.rows_per_core_s * _least_cores(resources) * (sweep.load.duration_s or 0.0)
    most = in_step / (SPARE * requests_needed(objective))
    if most >= usual:
        return usual
    magnitude = 10 ** math.floor(math.log10(max(most, ROWS_LEAST)))
    return max(
        ROWS_LEAST, int(magnitude * next(part for part in (5, 2, 1) if part * magnitude <= max(most, magnitude)))
    )


def _least_cores(resources: ResourceRange) -> float:
    return min(resources.cores, default=1.0)


def objective_mistakes(sweep: Sweep, facts: Facts, method: str, resources: ResourceRange) -> list[str]:
    """Settings that make a search for the objective impossible, each by its flag; none without an objective."""
    objective, rows = sweep.load.objective, sweep.work.data.rows_per_request
    if objective is None:
        return []
    if method in facts.unanswered:
        return [f"--slo: --method {method} of {facts.name} has no answers, and so no response times"]
    if not rows or sweep.work.counts_requests:
        return []
    seconds, needed, cores = sweep.load.duration_s or 0.0, requests_needed(objective), _least_cores(resources)
    in_step = facts.rows_per_core_s * cores * seconds
    if in_step / rows >= needed:
        return []
    fewer, longer = max(1, int(in_step / needed)), math.ceil(seconds * needed * rows / in_step)
    sentence = (
        f"--slo: {objective.words} needs {needed:,} requests in a step, and about {in_step / rows:,.0f} of "
        f"{counted(rows, 'row')} fit into {seconds:g} s with {counted(cores, 'core')}: "
        f"--rows-per-request {format_number(fewer)} or fewer, or --duration {longer}s or longer"
    )
    return [sentence]


def connections_for(sweep: Sweep, facts: Facts, resources: ResourceRange) -> Mapping[str, Rule]:
    """The number of connections of a search as a rule, by the knob's name; empty without an objective."""
    if sweep.load.objective is None or resources.connections:
        return {}
    count = max(CONNECTIONS_LEAST, math.ceil(CONNECTIONS_OF_CORE * max(resources.cores, default=1.0)))
    if sweep.origin.get("workload.tables", "default") != "default":
        count = min(count, sweep.work.data.tables)
    rule = Rule(pieces=(Piece(first=None, last=None, value=str(count)),))
    return {knob.name: rule for knob in facts.knobs if knob.role is KnobRole.CONNECTIONS}


def search_bytes(trial: Trial, facts: Facts) -> tuple[int, str]:
    """The bytes that a search of the trial writes, an estimate, and how it was made; 0 and "" if it is no search, if it
    reads, or if the estimate is in requests."""
    load, work = trial.load, trial.work
    if load.objective is None or trial.subject.endpoint or not stores(work) or work.counts_requests:
        return 0, ""
    seconds = load.warmup_s + OPENING_S + PROBES * (WARMUP_S + (load.duration_s or 0.0))
    rows_per_s, row_bytes = facts.rows_per_core_s * trial.cores, stored_row_bytes(trial)
    words = f"{rows_per_s:,.0f} rows/s, assumed, in {format_number(seconds)} s, {row_bytes} bytes a row"
    return round(rows_per_s * seconds * row_bytes), words


def search_seconds(load: Load, begin_s: float) -> float:
    """The time of the loads of a search besides the warm-up of the closed loop, in seconds, an estimate. begin_s: from
    the start of a step's processes until they begin together, in seconds."""
    return OPENING_S + PROBES * (begin_s + WARMUP_S + (load.duration_s or 0.0) + BETWEEN_S)
