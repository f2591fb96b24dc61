"""The facts that a target declares about itself, as data: light enough for a help text, without its client library."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from scale_sweep.base.errors import CannotAsk
from scale_sweep.model import (
    LOADING,
    ROLES_BY_OTHER_NAME,
    KnobColumn,
    KnobRole,
    Piece,
    Query,
    ResourceRange,
    Rule,
    ServerSource,
    Workload,
)
from scale_sweep.model.questions import FURTHER, kind_of

Default = Callable[[ResourceRange], str | None]


@dataclass(frozen=True, kw_only=True)
class Knob:
    """A setting that the target declares. Nothing is known here of other settings that it accepts (Facts.any_knob)."""

    name: str  # the database's name, in lower case with underscores. kind "count": a whole number above 0
    role: KnobRole = KnobRole.OTHER
    kind: Literal["count", "text"] = "text"
    label: str = ""  # for a heading; "": made from the name
    column: str = ""  # in points.csv; "": it is in other_knobs
    # depends on what a sweep gives its servers. None, or a function that returns None: the knob is set only if
    # requested
    default: Default | str | None = None
    help: str = ""  # a few words for the help of its role's flag
    is_published: bool = False  # the published article has it as a column

    def value(self, resources: ResourceRange) -> str | None:
        return self.default(resources) if callable(self.default) else self.default

    @property
    def heading(self) -> str:
        """The label, or the name as words."""
        return self.label or self.name.replace("_", " ").capitalize()

    def as_column(self) -> KnobColumn:
        return KnobColumn(
            name=self.name, role=self.role, label=self.heading, column=self.column, is_published=self.is_published
        )


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts of one target."""

    name: str  # on the command line and in results
    title: str  # for people
    implementation: str  # "module:Class" of its Target, imported when the target is used
    methods: tuple[str, ...]  # ways to write rows, the default first
    unanswered: tuple[str, ...] = ()  # those of them that have no answers, so that nothing is acknowledged
    own_ports: tuple[str, ...] = ()  # those that a server takes on a port of their own
    # what a runtime must provide to run it, best first; `auto` tries them in this order
    runs_from: tuple[ServerSource, ...] = (ServerSource.INSTALLATION,)
    auto_rank: int | None = None  # the lowest is tried first by `--target auto`; None: only if the user names it
    remark: str = ""  # a warning that is shown if the user names it; "": none
    knobs: tuple[Knob, ...] = ()  # the declared ones
    any_knob: bool = False  # other settings of the server may be given by --knob
    rows_per_request: int = 10_000
    rows_per_core_s: float = 1e6  # an estimate of one core's rate, used only to estimate the duration of fixed work
    overhead_s: float = 5.0  # an estimate of a trial's time besides its load (start, tables, flush, count, stop)
    # the least and the greatest time of a warm-up that ends when the rate is level, on one core or more
    warmup_s: tuple[float, float] = (5.0, 30.0)
    writes_warmup_s: tuple[float, float] | None = None  # those of a load that writes rows, if they differ
    ready_s: float = 60.0  # the longest time for a server's start, on the least CPU that a level gives
    # why its server runs as root if `scale` does, as a clause; "": it runs as a user without rights
    needs_root: str = ""
    has_files: bool = True  # its server reads or writes files in its directory
    stores_rows: bool = True  # it does; else a sweep measures the load generator, and no trial need be VALID
    thread_names: bool = False  # its threads have names of their own
    wait_events: bool = False  # it reports what its connections wait for
    threads_per_process: int = 0  # how many threads of one load process the client library serves well; 0: any number
    load_generators: tuple[str, ...] = ("scale",)  # load generators that can load it
    # "module:function" that renders a query in its language, from (query, rows, method), and raises CannotAsk; "":
    # reads cannot be measured
    queries: str = ""
    can_query: tuple[str, ...] = ()  # which of NEEDS it has words for
    functions: tuple[str, ...] = ()  # which of the FURTHER ones it has
    fills: tuple[str, ...] = ()  # with which of FILLS it fills stretches of time without rows
    # of other needs, functions and fills (`fill = NAME`), why it has not, as a sentence
    cannot: Mapping[str, str] = field(default_factory=dict)
    iot_benchmark: tuple[str, ...] = ()  # its names in IoT-benchmark's DB_SWITCH, as NAME or NAME=METHOD
    # the names of its other versions there, which are loaded in the same way
    iot_benchmark_versions: tuple[str, ...] = ()
    # its name in TEST_DATA_PERSISTENCE, if IoT-benchmark can store results in it; "": it cannot
    iot_benchmark_store: str = ""
    accepts: tuple[str, ...] = ()  # which of "user", "database" and "token" can be chosen on a server that already runs
    stores_tags: bool = False  # the tags of a device are stored with its rows
    has_device_table: bool = False  # where a load reads, they are stored in a table of their own
    own_columns: tuple[str, ...] = ()  # that its tables have besides those of the workload
    # which figures of scale_sweep/experiment/work/sums.py it computes of the rows of a table (`Session.sums`); empty:
    # none, and its rows are only counted
    sums: tuple[str, ...] = ()
    decimal_methods: tuple[str, ...] = ()  # methods that send a float as a decimal, which the server stores as a double
    sums_in_doubles: bool = False  # it adds whole numbers as doubles
    # how far a stored fraction may be from the one that was sent, as a part of it: the server keeps fewer digits
    sums_share: float = 0.0
    sums_per_core_s: float = 6e6  # values that one core adds in a second, an estimate
    # after a clean stop, a server can start again on its files, and on a copy of them in another directory, with the
    # same port, host name and secret, and without the setup
    keeps_data: bool = False
    at_rest: str = ""  # how it knows that all loaded rows are written, merged and noted down (`Session.settle`)
    # patterns of the folders of its write-ahead log, below the data directory; empty: its log is not known
    log_folders: tuple[str, ...] = ()
    # an upper estimate of a row's bytes on disk besides its values, used only to check the space
    row_overhead_bytes: int = 0
    # settings that follow the cores of a trial, with their values: a confound where they move along the axis
    by_cores: Mapping[str, Callable[[float], str]] = field(default_factory=dict)
    # the settings of `--settings loading`; none of them is set otherwise
    loading: Mapping[str, str] = field(default_factory=dict)
    # values that the vendor's server has where a trial sets something else, by the names of `Session.effective`; in
    # words if they depend on the machine
    vendor_defaults: Mapping[str, str] = field(default_factory=dict)
    # knobs with which a request is answered when its rows are fsynced; empty: it always is; None: it has none
    fsynced: Mapping[str, str] | None = None
    acknowledged: str = ""  # for None, where its rows are then, for people
    # what protects its server on another address than loopback: the trial's password, or nothing ("open"); "": it does
    # not leave loopback
    beyond_loopback: Literal["password", "open", ""] = ""
    disk_placements: tuple[str, ...] = ()  # ways to put its data on several disks, best first; empty: there are none
    wal_disks: tuple[str, ...] = ()  # where its write-ahead log can go in a disk sweep, the default first
    # image, image_version: of the official image; "": there is none
    image: str = ""
    image_version: str = ""
    image_home: str = ""  # the server's directory in the image
    # the client library's path in the image, from which it is copied for the load generator; "": the load generator
    # finds its own
    image_library: str = ""
    # its vendor has no image, and `image` is that of `scale images build`, which no registry has
    is_image_built: bool = False
    image_java: str = ""  # the folder of its Java runtime in the image; "": it needs none
    # the files of an image of an installation, by their paths in it: where each is below the home, the first that is
    # there; a path that ends with "/" is a folder with all that is in it; empty: no such image is made
    image_files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    image_extras: tuple[str, ...] = ()  # those of them that an installation may lack
    image_tools: tuple[str, ...] = ()  # programs and libraries of the system that the server needs too, by their names
    # the months YYYY-MM in which versions came out, by version, as far as they are known
    released: Mapping[str, str] = field(default_factory=dict)
    home_variable: str = ""  # environment variable that may name an installation
    to_install: str = ""  # what to do if there is none; "": it needs nothing

    def default_knobs(self, resources: ResourceRange) -> dict[str, Rule]:
        values = {knob.name: knob.value(resources) for knob in self.knobs}
        return {
            name: Rule(pieces=(Piece(first=None, last=None, value=value),))
            for name, value in values.items()
            if value is not None
        }

    def set_of_settings(self, name: str) -> Mapping[str, str]:
        """The settings of the set that a trial names; the vendor's defaults are none."""
        return self.loading if name == LOADING else {}

    def fsynced_knobs(self) -> dict[str, Rule]:
        """`fsynced` as rules, constant along the axis; empty for None."""
        return {
            name: Rule(pieces=(Piece(first=None, last=None, value=value),))
            for name, value in (self.fsynced or {}).items()
        }

    def rendered(self, query: Query, data: Workload, method: str, parts: int = 1) -> str:
        """The query in the target's language, with placeholders for values that each request draws. parts: the trial's
        partitions. Raises CannotAsk."""
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
        """The official image or the built one, of the given version or of the pinned one; "" if there is none."""
        return f"{self.image}:{version or self.image_version}" if self.image else ""

    def knob_named(self, name: str) -> Knob | None:
        named = (k for k in self.knobs if k.name == name)
        role = ROLES_BY_OTHER_NAME.get(name, name)
        return next(named, None) or next((k for k in self.role_knobs if k.role == role), None)

    @property
    def role_knobs(self) -> tuple[Knob, ...]:
        """The declared knobs that have a flag of their own."""
        return tuple(k for k in self.knobs if k.role is not KnobRole.OTHER)


def columns_of(targets: Iterable[Facts]) -> tuple[KnobColumn, ...]:
    """The knobs of a plan that measures these targets: each name once, in the declared order."""
    columns: dict[str, KnobColumn] = {}
    for facts in targets:
        for knob in facts.knobs:
            if knob.role is not KnobRole.OTHER or knob.column:
                columns.setdefault(knob.name, knob.as_column())
    return tuple(columns.values())
