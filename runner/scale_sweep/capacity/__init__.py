"""The highest rate that holds an objective: the objective's text, the search by steps, and its answer with an
interval."""

from scale_sweep.capacity.objective import EXAMPLE, excess_of, parse_objective, requests_needed
from scale_sweep.capacity.search import (
    PROBES,
    PROBES_MAX,
    Capacity,
    Crossing,
    Probe,
    answer_of,
    capped,
    confirmed,
    crossing,
    held_words,
    next_rate,
    next_window,
)

__all__ = [
    "EXAMPLE",
    "PROBES",
    "PROBES_MAX",
    "Capacity",
    "Crossing",
    "Probe",
    "answer_of",
    "capped",
    "confirmed",
    "crossing",
    "excess_of",
    "held_words",
    "next_rate",
    "next_window",
    "parse_objective",
    "requests_needed",
]
