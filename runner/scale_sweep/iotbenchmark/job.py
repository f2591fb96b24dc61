"""The job of a configuration of IoT-benchmark, in the words of this project. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scale_sweep.model import Work


@dataclass(frozen=True, kw_only=True)
class ResultStore:
    """The SQL database that gets the configuration and the results."""

    url: str  # without a password
    password: str = field(repr=False)
    project: str  # the name of this load there
    settings: Mapping[str, str]  # keys of the file with their values, without passwords


@dataclass(frozen=True, kw_only=True)
class IotJob:
    """One load of one server."""

    database: str  # its name in the file
    target: str  # here
    method: str  # how rows are written
    host: str
    port: int
    user: str
    password: str = field(repr=False)
    database_name: str
    # drops, creates: the schema before the load
    drops: bool
    creates: bool
    clients: int  # connections
    # rows and operations, without what is there before: rows_expected of each device are there in the end, and queries
    # of a load that writes begin within the first within_ms of time, or with follows end with the newest row of their
    # client
    work: Work
    # rows, requests: fixed work of the whole load, the other one is 0; a load that only reads has requests
    rows: int
    requests: int
    duration_s: float  # at most so long, 0: no limit
    rate: float  # rows or requests per second, as the load counts, 0: as fast as they are answered
    timeout_s: float  # for one answer, 0: none
    seed: int
    read_seed: int
    rows_expected: int
    within_ms: int
    follows: bool
    sensors: Mapping[str, tuple[str, ...]]  # those of each kind of query
    time_function: str = ""  # the aggregate of all, if it is one of times
    store: ResultStore | None = None  # where the results are stored besides, None: nowhere
    notes: tuple[str, ...] = ()  # sentences about keys that have no effect

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
