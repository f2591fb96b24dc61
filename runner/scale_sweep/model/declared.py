"""The declared experiment: a sweep, its workload, its load and its knobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from scale_sweep.model.disk_facts import DiskSource
from scale_sweep.model.knobs import DEFAULTS, Rule
from scale_sweep.model.load import Load

Origin = Literal["default", "file", "flag", "host", "detect", "time"]
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


@dataclass(frozen=True, kw_only=True)
class Workload:
    """The shape of rows and requests, not how hard they load."""

    tables: int
    columns: tuple[str, ...]
    tags: tuple[str, ...]
    values: str  # the law of the columns' values, or the shares of several laws, as LAW=SHARE,...
    rows_per_request: int
    interlace_rows: int
    start_ms: int
    step_ms: int
    text: str = "vocabulary"
    requests_per_table: int = 1  # the number of consecutive requests to one table
    period_rows: int = 100  # of the laws that repeat
    decimals: int | None = None  # to which values with a fraction are rounded, None: as each law has it
    disorder: str = ""  # how rows come out of order, "": in order
    disorder_percent: float = 10.0  # of the rows. The other fields are parameters of its modes
    disorder_lambda: float = 2200.0
    disorder_max_k: int = 170_000
    disorder_rows: int = 1000
    # tags that have so many values, as NAME:COUNT; each value is tag_prefix and a number, and each combination has as
    # many tables
    tag_groups: tuple[str, ...] = ()
    tag_prefix: str = ""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One kind of request in a load."""

    name: str = "write"  # in the mix and in results
    weight: float = 1.0  # its share of the requests, relative to the sum of all weights
    unit: str = "rows"  # what one request counts
    parameters: Mapping[str, str] = field(default_factory=dict)  # those of this operation, as the user wrote them
    kind: str = ""  # of the operation; "" if it is the name
    connections: int = 0  # that do nothing but this operation, 0: as many as the trial has
    # offered, in units per second, 0: closed loop. With one of the two, the operation has connections of its own, and
    # its weight does not count
    rate: float = 0.0

    @property
    def kind_name(self) -> str:
        """The name of its module in scale_sweep/experiment/work/."""
        return self.kind or self.name

    @property
    def is_apart(self) -> bool:
        """Whether it has connections of its own."""
        return bool(self.connections or self.rate)


@dataclass(frozen=True, kw_only=True)
class Work:
    """The operations by weight, on rows of this shape. scale_sweep/experiment/work/ has their rules."""

    data: Workload
    operations: tuple[Operation, ...] = (Operation(),)
    preload_rows: int = 0  # the rows of all tables together that are written before the load, the same number in each
    # what happens to their files before the load: read ("warm"), removed from the page cache ("cold"), or nothing ("as-
    # is")
    cache: str = "as-is"

    @property
    def unit(self) -> str:
        """The unit that the rate counts: that of all operations if it is the same, else requests."""
        units = {operation.unit for operation in self.operations}
        return units.pop() if len(units) == 1 else "requests"

    @property
    def counts_requests(self) -> bool:
        """Whether the rate is requests/s: any operation other than writing rows."""
        return self.unit == "requests"

    @property
    def writes(self) -> bool:
        """Whether any operation counts more than requests: the rows that it writes."""
        return any(operation.unit != "requests" for operation in self.operations)

    @property
    def rate_counts(self) -> str:
        """The unit that the load generator counts for the rate: "requests" or "rows"."""
        return "requests" if self.counts_requests else "rows"

    @property
    def rate_column(self) -> str:
        return f"{self.rate_counts}_per_s"

    @property
    def rate_words(self) -> str:
        """The unit of the rate, for people."""
        return f"{self.unit}/s"

    @property
    def rows_present(self) -> int:
        """Rows of each table before the load begins."""
        return self.preload_rows // self.data.tables

    @property
    def groups(self) -> tuple[tuple[Operation, ...], ...]:
        """Operations that share connections: the mix, then each one with connections of its own."""
        mixed = tuple(operation for operation in self.operations if not operation.is_apart)
        apart = tuple((operation,) for operation in self.operations if operation.is_apart)
        return (mixed, *apart) if mixed else apart

    def connections(self, of_trial: int) -> int:
        """Connections of all groups together. of_trial: of the mix, and of each group without a number of its own."""
        return sum(group[0].connections or of_trial for group in self.groups)

    @property
    def paced(self) -> tuple[Operation, ...]:
        """The operations with a rate of their own beside others in a closed loop; none if every operation has one,
        because the whole load is then an open loop."""
        paced = tuple(operation for operation in self.operations if operation.rate)
        return paced if len(paced) < len(self.operations) else ()


@dataclass(frozen=True, kw_only=True)
class Subject:
    """The subject of a point, besides its level: a database, its version, the method of writing."""

    target: str
    runtime: str
    method: str
    version: str = ""
    image: str = ""  # of a container
    home: str = ""  # an installation
    endpoint: str = ""  # host:port of a server that runs already. Two builds differ in image or home
    variant: Mapping[str, str] = field(default_factory=dict)  # the combination of --vary, by name, as the user wrote it

    @property
    def server(self) -> tuple[str, ...]:
        """Equal for all subjects that use the same installation of the same database."""
        return self.target, self.runtime, self.version, self.image, self.home, self.endpoint


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A declared experiment in which every setting has a value. `origin` says where each value comes from."""

    name: str
    question: str
    axis: str
    levels: tuple[float, ...]  # of the axis
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
    seed: int  # of the data
    sample_hz: float
    server_cpus: tuple[int, ...]
    generator_cpus: tuple[int, ...]
    memory_bytes: int | None
    data_dir: str
    reference: str
    tags: Mapping[str, str]
    origin: Mapping[str, Origin]
    constants: Mapping[str, float] = field(default_factory=dict)  # the one level of other axes, by their names
    disks: DiskSource | None = None  # the source of prepared disks; None: the data is in data_dir
    disk_placement: str = "auto"
    wal_disk: str = "auto"
    disk_free_min_bytes: int = 64 * 2**20
    drift_check: bool = True
    sentinel: bool = False
    shares_cpus: bool = False
    until_ci_percent: float | None = None
    replicates_max: int = 10
    ablation: bool = False
    connections_check: bool = False
    confirms: bool = False
    profile: bool = False
    predict: tuple[float, ...] = ()  # levels whose rate the report predicts
    need: tuple[float, ...] = ()  # rates (rows/s) whose level it predicts
    order_seed: int | None = None  # of the order of the trials; None: the same as seed, as in older runs
    # of `scale ab`, what A and B are, in words; the trials are then in ABBA blocks
    variants_ab: Mapping[str, str] = field(default_factory=dict)
    looks_ab: tuple[int, ...] = ()  # the numbers of blocks after which it may end, if there are several
    detect_percent: float | None = None  # the difference for which replicates were chosen
    # the speed of interfaces by name, if the kernel does not know it
    network_bits_per_s: Mapping[str, float] = field(default_factory=dict)
    equal_durability: bool = False
    settings: str = DEFAULTS
    workload: str = ""  # the name of the workload whose settings are the defaults, "" if none was named

    @property
    def is_quick(self) -> bool:
        """Whether short windows were asked for as such (--quick)."""
        return self.origin.get("load.quick", "default") != "default"

    @property
    def seed_of_order(self) -> int:
        return self.seed if self.order_seed is None else self.order_seed
