"""What is asked: a sweep, its workload, its load and its knobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from runner.model.disks import DiskSource

Axis = Literal["cores", "disks"]
Origin = Literal["default", "file", "flag", "host"]


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One stretch of a rule: levels first..last (None: open) take this value."""

    first: float | None
    last: float | None
    value: str


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A knob's value along the axis: one value, or pieces such as 1..4=4,5..=12."""

    pieces: tuple[Piece, ...]


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What is written, not how hard: the shape of the rows and of the requests."""

    tables: int
    columns: tuple[str, ...]
    tags: tuple[str, ...]
    values: str
    rows_per_request: int
    interlace_rows: int
    start_ms: int
    step_ms: int
    text: str = "vocabulary"


@dataclass(frozen=True, kw_only=True)
class Load:
    """How hard, and for how long: fixed work (rows) or a window after the warm-up (duration_s); one is None.

    window_max_s: the window may grow up to this while the rate is not steady; None: it does not grow.
    """

    method: str
    rows: int | None
    duration_s: float | None
    warmup_s: float
    rate: float
    arrival: str
    window_max_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A declared experiment, resolved: every setting has a value, and `origin` says where it came from.

    levels: of the axis. In a disk sweep `cores` is what the server has throughout (None: all that the machine offers)
    and `disks` says where the disks come from; in a sweep of cores both are None. predict: levels whose rate the report
    is to say; need: rates (rows/s) whose level it is to say.
    """

    name: str
    question: str
    axis: Axis
    levels: tuple[float, ...]
    target: str
    runtime: str
    version: str
    image: str
    home: str
    endpoint: str
    port: int | None
    workload: Workload
    load: Load
    knobs: Mapping[str, Rule]
    vary: Mapping[str, tuple[str, ...]]
    replicates: int
    seed: int
    sample_hz: float
    server_cpus: tuple[int, ...]
    client_cpus: tuple[int, ...]
    memory_bytes: int | None
    data_dir: str
    loader: str
    placement: str
    reference: str
    tags: Mapping[str, str]
    origin: Mapping[str, Origin]
    cores: float | None = None
    disks: DiskSource | None = None
    disk_placement: str = "auto"
    wal_disk: str = "auto"
    disk_free_min_bytes: int = 64 * 2**20
    anchors: bool = True
    until_ci_percent: float | None = None
    replicates_max: int = 10
    bridge: bool = False
    predict: tuple[float, ...] = ()
    need: tuple[float, ...] = ()
