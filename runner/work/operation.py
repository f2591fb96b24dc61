"""What every kind of operation can be asked. A base whose defaults do nothing; pure."""

from __future__ import annotations

from dataclasses import dataclass

from runner.model import Operation, Work


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A quantity of a trial. field: of Measurement; words: its unit, for people."""

    field: str
    words: str


class OperationKind:
    """One kind of operation. name: in sweeps and events; unit: what one request is counted in, plural."""

    name: str
    unit: str

    def told(self, work: Work, operation: Operation) -> dict[str, str]:
        """Lines of the load generator's spec."""
        return dict(operation.parameters)

    def rate(self, *, durable: bool) -> Rate:
        """What is fitted where this is the only kind; durable: counted to the end of flush and sync."""
        raise NotImplementedError

    def logical_bytes(self, work: Work) -> int:
        """Bytes that one unit stores without any overhead; 0: it stores nothing."""
        return 0

    def miscounted(self, acknowledged: int, counted: int) -> str:
        """Why a count of the database's denies what was acknowledged; "" where it does not."""
        return ""
