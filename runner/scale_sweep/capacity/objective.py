"""Reads an objective like `p99 < 20ms, errors < 0.1%`, and says how far a step is from it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from scale_sweep.base.units import parse_percent
from scale_sweep.model.declared_parts import ERRORS, Clause, Objective

QUANTILES: Mapping[str, float] = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
ENOUGH = 10.0  # requests beyond a percentile, so that it exists: the load generator gives none with fewer
EXAMPLE = "'p99 < 20ms, errors < 0.1%'"
_UNITS_MS = {"us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3}
_CLAUSE = re.compile(r"(?:([^.<>=\s][^<>=\s]*)\.)?([a-z][a-z0-9.]*)\s*([<>=]+)\s*(.*)", re.ASCII)
_TIME = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(\S*)")


def parse_objective(text: str) -> Objective:
    """Raises ValueError that names the condition."""
    clauses = [_clause(part.strip()) for part in text.split(",")]
    names = [clause.name for clause in clauses]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ValueError(f"{twice} has two limits; give one")
    return Objective(clauses=tuple(clauses))


def _clause(text: str) -> Clause:
    match = _CLAUSE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a condition like {EXAMPLE}")
    operation, quantity, sign, limit = match.groups()
    quantity = "p999" if quantity == "p99.9" else quantity
    if quantity != ERRORS and quantity not in QUANTILES:
        known = ", ".join((*QUANTILES, ERRORS))
        raise ValueError(f"{text!r}: {quantity} is none of {known}")
    if sign != "<":
        raise ValueError(f"{text!r}: an objective is an upper limit: {quantity} < ...")
    if quantity == ERRORS and operation:
        raise ValueError(f"{text!r}: errors count over all operations together: errors < 0.1%")
    if quantity == ERRORS:
        value = parse_percent(limit) if limit.endswith("%") else math.nan
        if not 0 < value < 100:
            raise ValueError(f"{text!r}: errors are a share of the requests, like 0.1%")
    else:
        value = _milliseconds(text, limit)
    return Clause(quantity=quantity, limit=value, operation=operation or "")


def _milliseconds(text: str, limit: str) -> float:
    match = _TIME.fullmatch(limit)
    unit = _UNITS_MS.get(match.group(2)) if match else None
    if match is None or unit is None:
        raise ValueError(f"{text!r}: {limit or 'nothing'!r} is not a time with its unit, like 20ms, 500us or 1s")
    value = float(match.group(1)) * unit
    if not 0 < value < 1e7:
        raise ValueError(f"{text!r}: a response time is more than 0 and less than 10,000 s")
    return value


def requests_needed(objective: Objective) -> int:
    """The fewest in which every percentile of the objective exists."""
    quantiles = [QUANTILES[clause.quantity] for clause in objective.clauses if clause.quantity != ERRORS]
    return max((math.ceil(ENOUGH / (1 - q) - 1e-6) for q in quantiles), default=int(ENOUGH))


def excess_of(objective: Objective, values: Mapping[str, float | None]) -> float | None:
    """ln(value / limit) of the condition furthest from holding; below 0 all hold. None if a value is unknown."""
    worst = -math.inf
    for clause in objective.clauses:
        value = values.get(clause.name)
        if value is None:
            return None
        worst = max(worst, math.log(max(value, LEAST * clause.limit) / clause.limit))
    return worst


LEAST = 1e-3  # of a limit: no errors at all are as good as this share
