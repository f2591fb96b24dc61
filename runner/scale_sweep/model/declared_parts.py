"""The load of a sweep, what it is to hold, and the knobs of a server."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

CLAIM_S = 40.0  # seconds; a shorter window cannot tell a random walk from noise (docs/evidence.md)
CLAIM_EDGE_S = 1.0
STEP_S = 10.0  # of a search, whose interval comes from the steps
CONFIRM_S, CONFIRM_STEPS = 60.0, 3.0  # of the window that confirms a capacity: seconds, steps


@dataclass(frozen=True, kw_only=True)
class LoadCommand:
    """Another program as the load generator. argv and the other commands may have placeholders."""

    argv: tuple[str, ...]
    rate_from: str = ""  # a regular expression of its rate; "": by the row of its name, if there is one
    prepare: tuple[str, ...] = ()  # runs before it, once a trial
    count: tuple[str, ...] = ()  # prints how many things are stored, before and after it


@dataclass(frozen=True, kw_only=True)
class Load:
    """Fixed work (rows), or a window after the warm-up (duration_s)."""

    rows: int | None
    duration_s: float | None
    warmup_s: float
    rate: float
    arrival: str
    window_max_s: float | None = None  # while the rate is not steady; None: it does not grow
    generator: str = "scale"
    table_placement: str = "owned"  # owned, stock
    connections: int = 0  # connections, partitions: of a trial, from its knobs; 0 in a sweep
    partitions: int = 0
    warmup_least_s: float | None = None  # the warm-up may end from here on, if level; None: at warmup_s
    may_discard: bool = True  # seconds in which the rate had not settled
    request_timeout_s: float = 0.0  # 0: none
    drain_s: float = 10.0  # for unanswered requests
    rows_by_level: bool = False  # rows are for each unit of the level
    soak: bool = False
    carries_claim: bool = False  # the rules for long windows apply
    trace_every: int = 0  # one in so many requests is kept, 0: none
    trace_max: int = 1_000_000
    objective: Objective | None = None  # without a rate, the trial searches the highest rate that holds it
    command: LoadCommand | None = None  # in place of a generator

    def is_long(self, window_s: float) -> bool:
        """Whether a window claims the long-run rate: planned for CLAIM_S (a search's steps for STEP_S), and as long."""
        if self.objective is not None:
            return (self.duration_s or 0.0) >= (STEP_S if self.searches else CONFIRM_S)
        planned = self.duration_s is None or self.duration_s >= CLAIM_S
        return planned and window_s >= CLAIM_S - CLAIM_EDGE_S

    @property
    def is_sparse(self) -> bool:
        """Below one a second is offered: seconds without any say nothing."""
        return 0 < self.rate < 1

    @property
    def searches(self) -> bool:
        return self.objective is not None and not self.rate

    @property
    def is_ours(self) -> bool:
        return self.generator == "scale" and self.command is None


ERRORS = "errors"  # a share of the requests, no time


def _unit(name: str) -> str:
    return "%" if name == ERRORS else "ms"


def value_words(name: str, value: float) -> str:
    """Writes a clause's value: "p99 2,580 ms", "errors 0.2 %"."""
    return f"{name} {f'{value:.3g}' if value < 999.5 else f'{value:,.0f}'} {_unit(name)}"


@dataclass(frozen=True, kw_only=True)
class Clause:
    quantity: str  # a percentile of the response times ("p99"), or "errors"
    limit: float  # milliseconds, or percent of the requests
    operation: str = ""  # "": all together

    @property
    def name(self) -> str:
        """As the user wrote it: "p99", "range.p99"."""
        return f"{self.operation}.{self.quantity}" if self.operation else self.quantity

    @property
    def words(self) -> str:
        """ "p99 < 20 ms"."""
        return f"{self.name} < {self.limit:g} {_unit(self.quantity)}"


@dataclass(frozen=True, kw_only=True)
class Objective:
    clauses: tuple[Clause, ...]

    @property
    def words(self) -> str:
        return ", ".join(clause.words for clause in self.clauses)


LOADING = "loading"
"""The settings of a target that make loading fast."""
DEFAULTS = "defaults"
"""The durability and the maintenance that the vendor gives the server."""


class KnobRole(StrEnum):
    """The purpose of a knob; the value is its name in sweeps and flags."""

    PARTITIONS = "partitions"
    CONNECTIONS = "connections"
    COMMIT_THREADS = "commit_threads"
    OTHER = "other"


ROLES_BY_OTHER_NAME = {"write_threads": KnobRole.CONNECTIONS}
"""Names that published plans use for a role: -T of taosBenchmark."""


@dataclass(frozen=True, kw_only=True)
class KnobColumn:
    name: str
    role: KnobRole
    label: str
    column: str = ""  # in points.csv; "": it is in other_knobs
    is_published: bool = False  # the published article has it as a column


@dataclass(frozen=True, kw_only=True)
class Piece:
    """The value for levels first..last (None: open)."""

    first: float | None
    last: float | None
    value: str


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A knob's value along the axis, such as 1..4=4,5..=12."""

    pieces: tuple[Piece, ...]
