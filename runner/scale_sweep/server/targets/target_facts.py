"""The facts that a target declares, as data that needs no client library."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from scale_sweep.base.errors import CannotAsk
from scale_sweep.model.declared import Workload
from scale_sweep.model.declared_parts import LOADING, ROLES_BY_OTHER_NAME, KnobColumn, KnobRole, Piece, Rule
from scale_sweep.model.questions import FURTHER, Query, kind_of
from scale_sweep.model.resources import ResourceRange, ServerSource

Default = Callable[[ResourceRange], str | None]


@dataclass(frozen=True, kw_only=True)
class Knob:
    """A declared setting; a target may accept others (Facts.any_knob)."""

    name: str  # the database's own, in lower case with underscores
    role: KnobRole = KnobRole.OTHER
    kind: Literal["count", "text"] = "text"  # a count is a whole number above 0
    label: str = ""  # "": made from the name
    column: str = ""  # in points.csv; "": it is in other_knobs
    default: Default | str | None = None  # may follow the sweep's resources; None: set only if requested
    help: str = ""  # for its role's flag
    is_published: bool = False  # the published article has it as a column

    def value(self, resources: ResourceRange) -> str | None:
        return self.default(resources) if callable(self.default) else self.default

    @property
    def heading(self) -> str:
        return self.label or self.name.replace("_", " ").capitalize()

    def as_column(self) -> KnobColumn:
        return KnobColumn(
            name=self.name, role=self.role, label=self.heading, column=self.column, is_published=self.is_published
        )


@dataclass(frozen=True, kw_only=True)
class Facts:
    name: str  # on the command line and in results
    title: str  # for people
    implementation: str  # "module:Class" of its Target, imported when it is used
    methods: tuple[str, ...]  # ways to write rows, the default first
    unanswered: tuple[str, ...] = ()  # those without answers: nothing is acknowledged
    takes_tls: bool = False  # `Subject.tls` says how it is reached
    own_ports: tuple[str, ...] = ()  # those that have their own port
    # best first, as `auto` tries them
    runs_from: tuple[ServerSource, ...] = (ServerSource.INSTALLATION,)
    auto_rank: int | None = None  # in `--target auto`, the lowest first; None: not in it
    remark: str = ""  # a warning if the user names it
    knobs: tuple[Knob, ...] = ()
    any_knob: bool = False  # --knob takes others too
    fixed: str = ""  # a pattern of settings that a trial sets itself, such as ports and folders: a.b-c as a_b_c
    rows_per_request: int = 10_000
    rows_per_core_s: float = 1e6  # an estimate, only for the duration of fixed work
    overhead_s: float = 5.0  # an estimate of a trial's time besides its load
    warmup_s: tuple[float, float] = (5.0, 30.0)  # least and greatest, until the rate is level on one core or more
    writes_warmup_s: tuple[float, float] | None = None  # of a load that writes rows, if it differs
    ready_s: float = 60.0  # the longest start, on the least CPU of a level
    needs_root: str = ""  # why its server runs as root if `scale` does, as a clause; "": it does not
    is_simulated: bool = False  # no database: its trials are marked, and compared with none of a database
    by_command: bool = False  # a command or an image names its server, which --load must load
    has_files: bool = True  # in its directory
    stores_rows: bool = True  # else a sweep measures the load generator, and no trial need be VALID
    thread_names: bool = False  # its threads have their own
    wait_events: bool = False  # it reports what its connections wait for
    threads_per_process: int = 0  # that the client library serves well; 0: any number
    load_generators: tuple[str, ...] = ("scale",)
    # "module:function" of (query, rows, method) that renders a query or raises CannotAsk; "": no reads
    queries: str = ""
    can_query: tuple[str, ...] = ()  # which of NEEDS
    functions: tuple[str, ...] = ()  # which of FURTHER
    fills: tuple[str, ...] = ()  # which of FILLS, for stretches of time without rows
    cannot: Mapping[str, str] = field(default_factory=dict)  # why not, by need, function or `fill = NAME`
    iot_benchmark: tuple[str, ...] = ()  # in IoT-benchmark's DB_SWITCH, as NAME or NAME=METHOD
    iot_benchmark_versions: tuple[str, ...] = ()  # its other versions there, loaded in the same way
    iot_benchmark_store: str = ""  # its name in TEST_DATA_PERSISTENCE; "": it stores no results
    accepts: tuple[str, ...] = ()  # which of "user", "database", "token" can be chosen on a running server
    stores_tags: bool = False  # with the rows
    has_device_table: bool = False  # where a load reads, they have their own table
    own_columns: tuple[str, ...] = ()  # besides those of the workload
    sums: tuple[str, ...] = ()  # figures of experiment/work/sums.py (`Session.sums`); empty: rows are only counted
    decimal_methods: tuple[str, ...] = ()  # that send a float as a decimal, which the server stores as a double
    sums_in_doubles: bool = False  # it adds whole numbers as doubles
    sums_share: float = 0.0  # of a fraction, by which a stored one may differ: the server keeps fewer digits
    sums_per_core_s: float = 6e6  # values that one core adds in a second, an estimate
    # after a clean stop it can start on a copy of its files, with the same port, host name and secret, without setup
    keeps_data: bool = False
    at_rest: str = ""  # how it knows that all rows are written and merged (`Session.settle`)
    log_folders: tuple[str, ...] = ()  # patterns below the data directory, of its write-ahead log; empty: not known
    row_overhead_bytes: int = 0  # an upper estimate besides the values, only to check the space
    # settings that follow a trial's cores: a confound where they move along the axis
    by_cores: Mapping[str, Callable[[float], str]] = field(default_factory=dict)
    loading: Mapping[str, str] = field(default_factory=dict)  # the settings of `--settings loading`
    # where a trial sets something else, by the names of `Session.effective`; in words if they follow the machine
    vendor_defaults: Mapping[str, str] = field(default_factory=dict)
    fsynced: Mapping[str, str] | None = None  # knobs by which answers wait for an fsync; empty: always; None: never
    acknowledged: str = ""  # for None, where rows are when they are answered
    # what protects its server beyond loopback: the trial's password, or nothing ("open"); "": it does not leave it
    beyond_loopback: Literal["password", "open", ""] = ""
    disk_placements: tuple[str, ...] = ()  # ways to put data on several disks, best first
    wal_disks: tuple[str, ...] = ()  # places of its write-ahead log in a disk sweep, the default first
    image: str = ""  # the official one; "": there is none
    image_version: str = ""
    image_home: str = ""  # the server's directory in it
    image_library: str = ""  # the client library in it, copied for the load generator; "": that has its own
    is_image_built: bool = False  # `image` is that of `scale images build`: the vendor has none
    image_java: str = ""  # the folder of its Java runtime in it
    # for `scale images build`, by paths in the image: places below the home, the first that exists; a path with "/" at
    # its end is a whole folder
    image_files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    image_extras: tuple[str, ...] = ()  # those of them that an installation may lack
    image_tools: tuple[str, ...] = ()  # programs and libraries of the system, by name
    released: Mapping[str, str] = field(default_factory=dict)  # months YYYY-MM by version
    home_variable: str = ""  # of the environment, may name an installation
    to_install: str = ""  # what to do without one

    def default_knobs(self, resources: ResourceRange) -> dict[str, Rule]:
        values = {knob.name: knob.value(resources) for knob in self.knobs}
        return {
            name: Rule(pieces=(Piece(first=None, last=None, value=value),))
            for name, value in values.items()
            if value is not None
        }

    def set_of_settings(self, name: str) -> Mapping[str, str]:
        return self.loading if name == LOADING else {}

    def fsynced_knobs(self) -> dict[str, Rule]:
        return {
            name: Rule(pieces=(Piece(first=None, last=None, value=value),))
            for name, value in (self.fsynced or {}).items()
        }

    def rendered(self, query: Query, data: Workload, method: str, parts: int = 1) -> str:
        """With placeholders for values that each request draws. parts: the trial's partitions. Raises CannotAsk."""
        if not self.queries:
            raise CannotAsk(f"{self.title} cannot be read yet")
        if method in self.unanswered:
            raise CannotAsk(f"--method {method} has no answers", remedy=f"--method {self.methods[0]}")
        if lacking := [words for words in query.needs if words not in self.can_query]:
            if query.more_functions:  # a reason that holds for one function too is the better one
                self.rendered(replace(query, more_functions=()), data, method, parts)
            raise CannotAsk(self.cannot.get(lacking[0], f"{self.title} is not asked for {lacking[0]}"))
        for kind in map(kind_of, query.functions):
            if kind in FURTHER and kind not in self.functions:
                raise CannotAsk(self.cannot.get(kind, f"{self.title} has no {kind}"))
        if query.fill and query.fill not in self.fills:
            default = f"{self.title} is not asked to fill stretches of time (fill = {query.fill})"
            raise CannotAsk(self.cannot.get(f"fill = {query.fill}", default))
        module, _, function = self.queries.partition(":")
        text: str = getattr(importlib.import_module(module), function)(replace(query, parts=parts), data, method)
        return text

    def default_image(self, version: str) -> str:
        return f"{self.image}:{version or self.image_version}" if self.image else ""

    def knob_named(self, name: str) -> Knob | None:
        named = (k for k in self.knobs if k.name == name)
        role = ROLES_BY_OTHER_NAME.get(name, name)
        return next(named, None) or next((k for k in self.role_knobs if k.role == role), None)

    def fixes(self, name: str) -> bool:
        return re.fullmatch(self.fixed, re.sub("[.-]", "_", name.lower())) is not None

    @property
    def role_knobs(self) -> tuple[Knob, ...]:
        """Those that have their own flag."""
        return tuple(k for k in self.knobs if k.role is not KnobRole.OTHER)


def columns_of(targets: Iterable[Facts]) -> tuple[KnobColumn, ...]:
    """Each name once, in the declared order."""
    columns: dict[str, KnobColumn] = {}
    for facts in targets:
        for knob in facts.knobs:
            if knob.role is not KnobRole.OTHER or knob.column:
                columns.setdefault(knob.name, knob.as_column())
    return tuple(columns.values())
