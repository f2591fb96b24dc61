"""What is asked: a sweep, its workload, its load and its knobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from runner.model.disk_facts import DiskSource

Origin = Literal["default", "file", "flag", "host"]
COLUMN_TYPES = (
    "bool",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "utinyint",
    "usmallint",
    "uint",
    "ubigint",
    "float",
    "double",
    "timestamp",
    "binary",
    "nchar",
    "varbinary",
    "geometry",
    "json",
)  # of a column or a tag, as the load generator has them
CLAIM_S = 40.0  # seconds of a window below which nobody can tell a random walk from noise (docs/method.md)
CLAIM_EDGE_S = 1.0  # a window begins and ends with an interval of the load generator


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
    """What is written, not how hard: the shape of the rows and of the requests.

    requests_per_table: so many requests of a table come before the next one's.
    """

    tables: int
    columns: tuple[str, ...]
    tags: tuple[str, ...]
    values: str
    rows_per_request: int
    interlace_rows: int
    start_ms: int
    step_ms: int
    text: str = "vocabulary"
    requests_per_table: int = 1


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One kind of request in a load. weight: its share of the requests, against the sum of all weights.

    name: in the mix and in results. kind: of the operation, "" where the name says it. unit: what one request is
    counted in. parameters: what only this operation has, as the user wrote it.
    """

    name: str = "write"
    weight: float = 1.0
    unit: str = "rows"
    parameters: Mapping[str, str] = field(default_factory=dict)
    kind: str = ""

    @property
    def kind_name(self) -> str:
        """Of its module in runner/work/."""
        return self.kind or self.name


@dataclass(frozen=True, kw_only=True)
class Work:
    """What is done to the database: operations by weight, on rows of this shape. runner/work/ says what follows.

    preload_rows: of all tables together, written before the load begins, the same number in each.
    """

    data: Workload
    operations: tuple[Operation, ...] = (Operation(),)
    preload_rows: int = 0

    @property
    def unit(self) -> str:
        """What the rate counts: the unit that all operations share, else requests."""
        units = {operation.unit for operation in self.operations}
        return units.pop() if len(units) == 1 else "requests"

    @property
    def counts_requests(self) -> bool:
        """Whether the rate is requests/s: whether anything but rows is asked of the database."""
        return self.unit == "requests"

    @property
    def rate_words(self) -> str:
        """The unit of the rate, for people."""
        return f"{self.unit}/s"

    @property
    def rows_present(self) -> int:
        """Rows of each table before the load begins."""
        return self.preload_rows // self.data.tables


@dataclass(frozen=True, kw_only=True)
class Load:
    """How hard, and for how long: fixed work (rows) or a window after the warm-up (duration_s); one is None.

    window_max_s: the window may grow up to this while the rate is not steady; None: it does not grow. generator: which
    load generator. table_placement: which connection writes which tables (owned, stock). connections, partitions: of
    one trial, from its knobs; 0 in a sweep. may_discard: seconds after the warm-up in which the rate had not settled
    may be left out of the window. request_timeout_s: for the answer to one request, where the driver can end one, 0:
    none; drain_s: for what is in flight when the window ends, or when the load breaks off.
    rows_by_level: of a sweep, whose rows are then for each unit of the level; those of a trial are all of its own.
    soak: one long trial, whose rate over time is the answer.
    carries_claim: a window that is long enough is looked at, cut and judged by the rules for such (False also in runs
    from before there were any, which keep their reading).
    """

    rows: int | None
    duration_s: float | None
    warmup_s: float
    rate: float
    arrival: str
    window_max_s: float | None = None
    generator: str = "scale"
    table_placement: str = "owned"
    connections: int = 0
    partitions: int = 0
    may_discard: bool = True
    request_timeout_s: float = 0.0
    drain_s: float = 10.0
    rows_by_level: bool = False
    soak: bool = False
    carries_claim: bool = False

    def is_long(self, window_s: float) -> bool:
        """Whether a window of this load is long enough to carry the claim that its rate is the long-run one: it was to
        be at least CLAIM_S long, and is (of fixed work, whose window has no planned length: it is)."""
        planned = self.duration_s is None or self.duration_s >= CLAIM_S
        return planned and window_s >= CLAIM_S - CLAIM_EDGE_S

    @property
    def is_ours(self) -> bool:
        """Whether our own load generator makes the load."""
        return self.generator == "scale"


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What is measured at a point besides the level: a database, its version, how it is written to.

    image: of a container; home: an installation; endpoint: host:port of a server that runs already. Two builds differ
    in image or home. variant: the arm of --vary that this is, by name, as the user wrote it.
    """

    target: str
    runtime: str
    method: str
    version: str = ""
    image: str = ""
    home: str = ""
    endpoint: str = ""
    variant: Mapping[str, str] = field(default_factory=dict)

    @property
    def server(self) -> tuple[str, ...]:
        """The same for all subjects that are measured on the same installation of the same database."""
        return self.target, self.runtime, self.version, self.image, self.home, self.endpoint


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A declared experiment, resolved: every setting has a value, and `origin` says where it came from.

    levels: of the axis. constants: the one level of other axes, by their names. disks: where prepared disks come from;
    None: the data lie where data_dir is. predict: levels whose rate the report is to say; need: rates (rows/s) whose
    level it is to say. seed: of the data. order_seed: of the order of the trials; None: the seed's, as in runs of
    before it had one. variants_ab: of `scale ab`, what A and B are, in words; then the trials are in ABBA blocks.
    detect_percent: the difference that the replicates were chosen for. network_bits_per_s: what interfaces can take, by
    name, where the kernel does not say it.
    """

    name: str
    question: str
    axis: str
    levels: tuple[float, ...]
    target: str
    runtime: str
    version: str
    image: str
    home: str
    endpoint: str
    port: int | None
    method: str
    work: Work
    load: Load
    knobs: Mapping[str, Rule]
    vary: Mapping[str, tuple[str, ...]]
    replicates: int
    seed: int
    sample_hz: float
    server_cpus: tuple[int, ...]
    generator_cpus: tuple[int, ...]
    memory_bytes: int | None
    data_dir: str
    reference: str
    tags: Mapping[str, str]
    origin: Mapping[str, Origin]
    constants: Mapping[str, float] = field(default_factory=dict)
    disks: DiskSource | None = None
    disk_placement: str = "auto"
    wal_disk: str = "auto"
    disk_free_min_bytes: int = 64 * 2**20
    drift_check: bool = True
    until_ci_percent: float | None = None
    replicates_max: int = 10
    ablation: bool = False
    connections_check: bool = False
    profile: bool = False
    predict: tuple[float, ...] = ()
    need: tuple[float, ...] = ()
    order_seed: int | None = None
    variants_ab: Mapping[str, str] = field(default_factory=dict)
    detect_percent: float | None = None
    network_bits_per_s: Mapping[str, float] = field(default_factory=dict)

    @property
    def seed_of_order(self) -> int:
        """What the order of the trials is drawn from."""
        return self.seed if self.order_seed is None else self.order_seed
