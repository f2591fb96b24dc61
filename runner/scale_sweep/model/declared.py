"""A declared sweep, its workload and its operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from scale_sweep.model.declared_parts import DEFAULTS, Load, Rule
from scale_sweep.model.samples import DiskSource

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
)  # as the load generator has them


@dataclass(frozen=True, kw_only=True)
class Workload:
    """The shape of rows and requests, not how hard they load."""

    tables: int
    columns: tuple[str, ...]
    tags: tuple[str, ...]
    values: str  # a law, or shares of several as LAW=SHARE,...
    rows_per_request: int
    interlace_rows: int
    start_ms: int
    step_ms: int
    text: str = "vocabulary"
    requests_per_table: int = 1  # in a row
    period_rows: int = 100  # of the laws that repeat
    decimals: int | None = None  # of values with a fraction, None: as each law has it
    disorder: str = ""  # "": in order
    disorder_percent: float = 10.0
    disorder_lambda: float = 2200.0
    disorder_max_k: int = 170_000
    disorder_rows: int = 1000
    # NAME:COUNT of values, each tag_prefix and a number; each combination has as many tables
    tag_groups: tuple[str, ...] = ()
    tag_prefix: str = ""


@dataclass(frozen=True, kw_only=True)
class Operation:
    name: str = "write"
    weight: float = 1.0  # relative to the sum of all weights
    unit: str = "rows"  # what one request counts
    parameters: Mapping[str, str] = field(default_factory=dict)  # as the user wrote them
    kind: str = ""  # "": the name
    connections: int = 0  # of its own, 0: the trial's
    # offered, in units/s; it then has connections of its own, and its weight does not count; 0: closed loop
    rate: float = 0.0

    @property
    def kind_name(self) -> str:
        return self.kind or self.name

    @property
    def is_apart(self) -> bool:
        return bool(self.connections or self.rate)


@dataclass(frozen=True, kw_only=True)
class Work:
    """The operations by weight, on rows of this shape."""

    data: Workload
    operations: tuple[Operation, ...] = (Operation(),)
    preload_rows: int = 0  # in all tables together, before the load
    cache: str = "as-is"  # of their files before the load: "warm", "cold" or "as-is"

    @property
    def unit(self) -> str:
        """That of all operations if it is the same, else requests."""
        units = {operation.unit for operation in self.operations}
        return units.pop() if len(units) == 1 else "requests"

    @property
    def counts_requests(self) -> bool:
        return self.unit == "requests"

    @property
    def writes(self) -> bool:
        return any(operation.unit != "requests" for operation in self.operations)

    @property
    def rate_counts(self) -> str:
        return "requests" if self.counts_requests else "rows"

    @property
    def rate_column(self) -> str:
        return f"{self.rate_counts}_per_s"

    @property
    def rate_words(self) -> str:
        return f"{self.unit}/s"

    @property
    def rows_present(self) -> int:
        """Rows of each table."""
        return self.preload_rows // self.data.tables

    @property
    def groups(self) -> tuple[tuple[Operation, ...], ...]:
        """Operations that share connections: the mix, then each one apart."""
        mixed = tuple(operation for operation in self.operations if not operation.is_apart)
        apart = tuple((operation,) for operation in self.operations if operation.is_apart)
        return (mixed, *apart) if mixed else apart

    def connections(self, of_trial: int) -> int:
        """of_trial: of the mix, and of each group without a number of its own."""
        return sum(group[0].connections or of_trial for group in self.groups)

    @property
    def paced(self) -> tuple[Operation, ...]:
        """Those with a rate of their own beside others in a closed loop."""
        paced = tuple(operation for operation in self.operations if operation.rate)
        return paced if len(paced) < len(self.operations) else ()


@dataclass(frozen=True, kw_only=True)
class Tls:
    """The encryption of connections to a server that runs already, in libpq's words."""

    sslmode: str
    sslrootcert: str = ""  # path of the authorities' certificates; "": the server's is not checked
    sha256: str = ""  # of their content


@dataclass(frozen=True, kw_only=True)
class Subject:
    target: str
    runtime: str
    method: str
    version: str = ""
    image: str = ""
    home: str = ""
    endpoint: str = ""  # host:port of a server that runs already
    command: str = ""  # that starts any server, as a user types it, with placeholders; "": the target's or the image's
    ready: str = ""  # when that server is ready: log:REGEX, http:PATH, command:CMD; "": its port answers
    tls: Tls | None = None  # None: the driver's default
    variant: Mapping[str, str] = field(default_factory=dict)  # the combination of --vary, as the user wrote it

    @property
    def server(self) -> tuple[str, ...]:
        return (
            *(self.target, self.runtime, self.version, self.image, self.home, self.endpoint),
            self.command,
            self.ready,
        )


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A declared experiment in which every setting has a value."""

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
    constants: Mapping[str, float] = field(default_factory=dict)  # the one level of other axes
    disks: DiskSource | None = None  # None: the data is in data_dir
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
    prove: tuple[str, ...] = ()  # resources; empty: none
    predict: tuple[float, ...] = ()  # levels whose rate is predicted
    need: tuple[float, ...] = ()  # rates whose level is predicted
    order_seed: int | None = None  # of the trials; None: seed
    variants_ab: Mapping[str, str] = field(default_factory=dict)  # of `scale ab`: what A and B are, in words
    looks_ab: tuple[int, ...] = ()  # numbers of blocks after which it may end
    detect_percent: float | None = None  # the difference for which replicates were chosen
    network_bits_per_s: Mapping[str, float] = field(default_factory=dict)  # where the kernel does not know the speed
    equal_durability: bool = False
    command: str = ""  # command, ready: of any server, as in Subject
    ready: str = ""
    settings: str = DEFAULTS
    workload: str = ""  # whose settings are the defaults
    tls: Tls | None = None

    @property
    def is_quick(self) -> bool:
        return self.origin.get("load.quick", "default") != "default"

    @property
    def seed_of_order(self) -> int:
        return self.seed if self.order_seed is None else self.order_seed
