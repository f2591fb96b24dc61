"""What a configuration of IoT-benchmark asks for, in the words of this project. Data only."""

from __future__ import annotations

from dataclasses import dataclass

from runner.model import Work


@dataclass(frozen=True, kw_only=True)
class IotJob:
    """One load of one server.

    database: its name in the file; target: here; method: how rows are written. drops, creates: the schema before the
    load. clients: connections. work: rows and operations, without what is there before: rows_expected of each device
    are there in the end, and queries of a load that writes begin within the first within_ms of time, or with follows
    end with the newest row of their client. rows, requests: fixed work of the whole load, the other one is 0; a load
    that only reads has requests. duration_s: at most so long, 0: no limit. rate: rows or requests per second, as the
    load counts, 0: as fast as they are answered. timeout_s: for one answer, 0: none. notes: sentences about keys that
    have no effect.
    """

    database: str
    target: str
    method: str
    host: str
    port: int
    user: str
    password: str
    database_name: str
    drops: bool
    creates: bool
    clients: int
    work: Work
    rows: int
    requests: int
    duration_s: float
    rate: float
    timeout_s: float
    seed: int
    read_seed: int
    rows_expected: int
    within_ms: int
    follows: bool
    notes: tuple[str, ...] = ()

    @property
    def reads(self) -> bool:
        """Whether anything is asked."""
        return self.work.counts_requests

    @property
    def writes(self) -> bool:
        """Whether anything is written."""
        return any(operation.unit == "rows" for operation in self.work.operations)

    def sensors_of(self, kind: str) -> int:
        """How many sensors a row of an answer has, besides its time and device; an aggregate has one."""
        known = next((o.parameters for o in self.work.operations if o.kind_name == kind), {})
        return known.get("columns", "").count(",") + 1

    @property
    def values_per_row(self) -> int:
        """Points of one row: its sensors."""
        return len(self.work.data.columns)
