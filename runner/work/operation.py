"""What every kind of operation can be asked. A base whose defaults do nothing; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runner.model import Operation, Query, Work


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A quantity of a trial. field: of Measurement; words: its unit, for people."""

    field: str
    words: str


class OperationKind:
    """One kind of operation. name: in sweeps and events; unit: what one request is counted in, plural."""

    name: str
    unit: str
    title: str = ""

    @property
    def parameters(self) -> Mapping[str, str]:
        """What a sweep may say of it: each name with what it is, for people."""
        return {}

    def told(self, work: Work, operation: Operation) -> dict[str, str]:
        """Lines of the load generator's spec."""
        return dict(operation.parameters)

    def query(self, work: Work, operation: Operation) -> Query | None:
        """What is asked of the database; None: nothing is. Raises ValueError with one sentence for a parameter that
        does not fit the rows."""
        return None

    def rate(self, *, durable: bool) -> Rate:
        """What is fitted where this is the only kind; durable: counted to the end of flush and sync."""
        raise NotImplementedError

    def logical_bytes(self, work: Work) -> int:
        """Bytes that one unit stores without any overhead; 0: it stores nothing."""
        return 0

    def miscounted(self, acknowledged: int, counted: int) -> str:
        """Why a count of the database's denies what was acknowledged; "" where it does not."""
        return ""
