"""Knobs of a server as a plan names them: their roles, and their columns in results."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

LOADING = "loading"
"""The settings of a target that make loading fast."""
DEFAULTS = "defaults"
"""The durability and the maintenance that the vendor gives the server."""


class KnobRole(StrEnum):
    """The purpose of a knob, whatever its name in a database. The value is the role's name in sweeps and flags.

    PARTITIONS: parts into which the data is split. CONNECTIONS: connections of the load generator, one thread each.
    COMMIT_THREADS: threads of the server that write data to disk. OTHER: any other setting of the server.
    """

    PARTITIONS = "partitions"
    CONNECTIONS = "connections"
    COMMIT_THREADS = "commit_threads"
    OTHER = "other"


ROLES_BY_OTHER_NAME = {"write_threads": KnobRole.CONNECTIONS}
"""Names that published plans use for a role: -T of taosBenchmark."""


@dataclass(frozen=True, kw_only=True)
class KnobColumn:
    """One knob of a plan."""

    name: str  # as in the database
    role: KnobRole
    label: str  # for a heading
    column: str = ""  # its own column in points.csv; "": it is in other_knobs
    # the published article has it as a column, so that the report of a run with it has the article's table
    is_published: bool = False


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One part of a rule: the value for levels first..last (None: open)."""

    first: float | None
    last: float | None
    value: str


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A knob's value along the axis: one value, or pieces such as 1..4=4,5..=12."""

    pieces: tuple[Piece, ...]
