"""An objective: what must hold at a rate so that it counts as capacity. Data only."""

from __future__ import annotations

from dataclasses import dataclass

ERRORS = "errors"  # the quantity that is a share of the requests and no time


@dataclass(frozen=True, kw_only=True)
class Clause:
    """One condition: the quantity is below the limit."""

    quantity: str  # a percentile of the response times ("p99", "p999"), or "errors"
    limit: float  # milliseconds, or of errors percent of the requests
    operation: str = ""  # "" means all of them together

    @property
    def name(self) -> str:
        """The quantity as the user wrote it: "p99", "range.p99"."""
        return f"{self.operation}.{self.quantity}" if self.operation else self.quantity

    @property
    def words(self) -> str:
        """The condition for people: "p99 < 20 ms"."""
        return f"{self.name} < {self.limit:g} {'%' if self.quantity == ERRORS else 'ms'}"


@dataclass(frozen=True, kw_only=True)
class Objective:
    """Conditions that must all hold."""

    clauses: tuple[Clause, ...]

    @property
    def words(self) -> str:
        """All conditions for people."""
        return ", ".join(clause.words for clause in self.clauses)
