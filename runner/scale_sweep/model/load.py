"""The load of a sweep or of a trial: how intense, how long, and what it is to hold. Data only."""

from __future__ import annotations

from dataclasses import dataclass

from scale_sweep.model.objective import Objective

CLAIM_S = 40.0  # seconds; in a shorter window a random walk cannot be distinguished from noise (docs/evidence.md)
CLAIM_EDGE_S = 1.0  # a window begins and ends with an interval of the load generator
STEP_S = 10.0  # of a search: its interval comes from the steps, so that a drift between them is part of it
CONFIRM_S, CONFIRM_STEPS = 60.0, 3.0  # the window that confirms a capacity: so long, and at least so many steps


@dataclass(frozen=True, kw_only=True)
class Load:
    """The intensity and duration of a load: fixed work (rows), or a window after the warm-up (duration_s). One is
    None."""

    rows: int | None
    duration_s: float | None
    warmup_s: float
    rate: float
    arrival: str
    # the window may grow up to this while the rate is not steady; None: it does not grow
    window_max_s: float | None = None
    generator: str = "scale"  # the load generator's name
    table_placement: str = "owned"  # which connection writes which tables (owned, stock)
    # connections, partitions: of one trial, from its knobs; 0 in a sweep
    connections: int = 0
    partitions: int = 0
    # the warm-up ends when the rate is level, after at least this time and at most warmup_s; None: it takes warmup_s
    warmup_least_s: float | None = None
    # seconds after the warm-up in which the rate had not settled may be left out of the window
    may_discard: bool = True
    request_timeout_s: float = 0.0  # for the answer to one request, if the driver can end one; 0: none
    drain_s: float = 10.0  # for unanswered requests when the window ends, or when the load is interrupted
    rows_by_level: bool = False  # the sweep's rows are for each unit of the level; a trial's rows are a total
    soak: bool = False  # one long trial, whose rate over time is the answer
    carries_claim: bool = False  # a window that is long enough is checked, cut and judged by the rules for long windows
    trace_every: int = 0  # one in so many requests of each connection is kept, 0: none
    trace_max: int = 1_000_000  # the most of a trial
    # what a rate must hold. Without a rate the trial then searches the highest such rate, in steps of duration_s; with
    # one it is judged by the objective at that rate. None: it measures one rate
    objective: Objective | None = None

    def is_long(self, window_s: float) -> bool:
        """Whether a window of this load is long enough to claim the long-run rate: it was planned for at least CLAIM_S,
        and has that length. Of fixed work, which has no planned length, only the latter. With an objective, whether the
        steps were planned for at least STEP_S; the window of a search is that of its closed loop."""
        if self.objective is not None:
            return (self.duration_s or 0.0) >= (STEP_S if self.searches else CONFIRM_S)
        planned = self.duration_s is None or self.duration_s >= CLAIM_S
        return planned and window_s >= CLAIM_S - CLAIM_EDGE_S

    @property
    def searches(self) -> bool:
        return self.objective is not None and not self.rate

    @property
    def is_ours(self) -> bool:
        """Whether our own load generator makes the load."""
        return self.generator == "scale"
