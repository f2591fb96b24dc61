"""The job of a configuration of IoT-benchmark, in the words of this project. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scale_sweep.model import Work


@dataclass(frozen=True, kw_only=True)
class ResultStore:
    """The SQL database that gets the configuration and the results. url: without a password. project: the name of this
    load there. settings: keys of the file with their values, without passwords."""

    url: str
    password: str = field(repr=False)
    project: str
    settings: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class IotJob:
    """One load of one server.

    database: its name in the file; target: here; method: how rows are written. drops, creates: the schema before the
    load. clients: connections. work: rows and operations, without what is there before: rows_expected of each device
    are there in the end, and queries of a load that writes begin within the first within_ms of time, or with follows
    end with the newest row of their client. rows, requests: fixed work of the whole load, the other one is 0; a load
    that only reads has requests. duration_s: at most so long, 0: no limit. rate: rows or requests per second, as the
    load counts, 0: as fast as they are answered. timeout_s: for one answer, 0: none. sensors: those of each kind of
    query. time_function: the aggregate of all, if it is one of times. store: where the results are
    stored besides, None: nowhere. notes: sentences about keys that have no effect.
    """

    database: str
    target: str
    method: str
    host: str
    port: int
    user: str
    password: str = field(repr=False)
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
    sensors: Mapping[str, tuple[str, ...]]
    time_function: str = ""
    store: ResultStore | None = None
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
        """How many sensors a row of an answer has, besides its time and device."""
        return len(self.sensors.get(kind, ())) or 1

    @property
    def values_per_row(self) -> int:
        """Points of one row: its sensors."""
        return len(self.work.data.columns)
