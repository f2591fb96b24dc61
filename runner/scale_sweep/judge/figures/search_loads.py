"""The loads of a search: a closed loop first, then steps at offered rates."""

from __future__ import annotations

from dataclasses import replace

from scale_sweep.capacity.search import OPENING_S, WARMUP_S
from scale_sweep.model import Load, Trial


def opening_of(trial: Trial) -> Trial:
    """The trial with the closed loop that a search begins with."""
    load = replace(
        trial.load, objective=None, arrival="constant", duration_s=OPENING_S, window_max_s=None, carries_claim=False
    )
    return replace(trial, load=load)


def step_of(trial: Trial, rate: float) -> Trial:
    load: Load = replace(
        trial.load,
        rate=rate,
        warmup_s=WARMUP_S,
        warmup_least_s=None,
        window_max_s=None,
        may_discard=False,
        carries_claim=False,
        trace_every=0,
    )
    return replace(trial, load=load)
