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
from scale_sweep.model.functions import FURTHER, kind_of

Default = Callable[[ResourceRange], str | None]


@dataclass(frozen=True, kw_only=True)
class Knob:
    """A setting that the target declares. Nothing is known here of other settings that it accepts (Facts.any_knob).

    name: the database's name, in lower case with underscores. kind "count": a whole number above 0. label: for a
    heading; "": made from the name. column: in points.csv; "": it is in other_knobs. default: depends on what a sweep
    gives its servers. None, or a function that returns None: the knob is set only if requested. help: a few words for
    the help of its role's flag. is_published: the published article has it as a column.
    """

    name: str
    role: KnobRole = KnobRole.OTHER
    kind: Literal["count", "text"] = "text"
    label: str = ""
    column: str = ""
    default: Default | str | None = None
    help: str = ""
    is_published: bool = False

    def value(self, resources: ResourceRange) -> str | None:
        """Its default for these resources."""
        return self.default(resources) if callable(self.default) else self.default

    @property
    def heading(self) -> str:
        """The label, or the name as words."""
        return self.label or self.name.replace("_", " ").capitalize()

    def as_column(self) -> KnobColumn:
        """The knob as plans and reports name it."""
        return KnobColumn(
            name=self.name,
            role=self.role,
            label=self.heading,
            column=self.column,
            is_published=self.is_published,
        )


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts of one target.

    name: on the command line and in results. title: for people. implementation: "module:Class" of its Target, imported
    when the target is used. methods: ways to write rows, the default first. unanswered: those of them that have no
    answers, so that nothing is acknowledged. own_ports: those that a server takes on a port of their own. runs_from:
    what a runtime must provide to run it, best first; `auto` tries them in this order. auto_rank: the lowest is tried
    first by `--target auto`; None: only if the user names it. remark: a warning that is shown if the user names it; "":
    none.

    knobs: the declared ones. any_knob: other settings of the server may be given by --knob. rows_per_core_s: an
    estimate of one core's rate, used only to estimate the duration of fixed work. overhead_s: an estimate of a
    trial's time besides its load (start, tables, flush, count, stop). warmup_s: the least and the greatest time of
    a warm-up that ends when the rate is level, on one core or more. writes_warmup_s: those of a load that writes
    rows, if they differ. ready_s: the longest time for a server's start, on the least CPU that a level gives.
    needs_root: why its server runs as root if `scale` does, as a clause; "": it runs as a user without rights.
    has_files: its server reads or writes files in its directory. stores_rows: it does; else a sweep measures the
    load generator, and no trial need be VALID. thread_names: its threads have names of their own. wait_events: it
    reports what its connections wait for. threads_per_process: how many threads of one load process the client
    library serves well; 0: any number. load_generators: load generators that can load it. queries:
    "module:function" that renders a query in its language, from (query, rows, method), and raises CannotAsk; "":
    reads cannot be measured. says: which of NEEDS it has words for. functions: which of the FURTHER ones it has.
    fills: with which of FILLS it fills stretches of time without rows. lacks: of other needs, functions and fills
    (`fill = NAME`), why it has not, as a sentence. iot_benchmark: its names in IoT-benchmark's DB_SWITCH, as NAME
    or NAME=METHOD. iot_benchmark_versions: the names of its other versions there, which are loaded in the same way.
    iot_benchmark_store: its name in TEST_DATA_PERSISTENCE, if IoT-benchmark can store results in it; "": it cannot.
    takes: which of "user", "database" and "token" can be chosen on a server that already runs. stores_tags: the
    tags of a device are stored with its rows. has_device_table: where a load reads, they are stored in a table of their
    own. own_columns: that its tables have besides those of the workload.

    sums: which figures of scale_sweep/experiment/work/sums.py it computes of the rows of a table (`Session.sums`);
    empty: none, and its rows are only counted. decimal_methods: methods that send a float as a decimal, which the
    server stores as a double.
    sums_in_doubles: it adds whole numbers as doubles. sums_share: how far a stored fraction may be from the one that
    was sent, as a part of it: the server keeps fewer digits. sums_per_core_s: values that one core adds in a second, an
    estimate.

    keeps_data: after a clean stop, a server can start again on its files, and on a copy of them in another directory,
    with the same port, host name and secret, and without the setup. at_rest: how it knows that all loaded rows are
    written, merged and noted down (`Session.settle`). log_folders: patterns of the folders of its write-ahead log,
    below the data directory; empty: its log is not known. row_overhead_bytes: an upper estimate of a row's bytes on
    disk besides its values, used only to check the space.

    by_cores: settings that follow the cores of a trial, with their values: a confound where they move along the axis.
    loading: the settings of `--settings loading`; none of them is set otherwise. vendor_defaults: values that the
    vendor's server has where a trial sets something else, by the names of `Session.effective`; in words if they depend
    on the machine.

    fsynced: knobs with which a request is answered when its rows are fsynced; empty: it always is; None: it has none.
    acknowledged: for None, where its rows are then, for people.

    beyond_loopback: what protects its server on another address than loopback: the trial's password, or nothing
    ("open"); "": it does not leave loopback.
    disk_placements: ways to put its data on several disks, best first; empty: there are none. wal_disks: where its
    write-ahead log can go in a disk sweep, the default first. image, image_version: of the official image; "": there is
    none. image_home: the server's directory in the image. image_library: the client library's path in the image, from
    which it is copied for the load generator; "": the load generator finds its own. is_image_built: its vendor has no
    image, and `image` is that of `scale images build`, which no registry has. image_java: the folder of its Java
    runtime in the image; "": it needs none. image_files: the files of an image of an installation, by their paths in
    it: where each is below the home, the first that is there; a path that ends with "/" is a folder with all that is in
    it; empty: no such image is made. image_extras: those of them that an installation may lack. image_tools: programs
    and libraries of the system that the server needs too, by their names. released: the months YYYY-MM in which
    versions came out, by version, as far as they are known. home_variable: environment variable
    that may name an installation. to_install: what to do if there is none; "": it needs nothing.
    """

    name: str
    title: str
    implementation: str
    methods: tuple[str, ...]
    unanswered: tuple[str, ...] = ()
    own_ports: tuple[str, ...] = ()
    runs_from: tuple[ServerSource, ...] = (ServerSource.INSTALLATION,)
    auto_rank: int | None = None
    remark: str = ""
    knobs: tuple[Knob, ...] = ()
    any_knob: bool = False
    rows_per_request: int = 10_000
    rows_per_core_s: float = 1e6
    overhead_s: float = 5.0
    warmup_s: tuple[float, float] = (5.0, 30.0)
    writes_warmup_s: tuple[float, float] | None = None
    ready_s: float = 60.0
    needs_root: str = ""
    has_files: bool = True
    stores_rows: bool = True
    thread_names: bool = False
    wait_events: bool = False
    threads_per_process: int = 0
    load_generators: tuple[str, ...] = ("scale",)
    queries: str = ""
    says: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    fills: tuple[str, ...] = ()
    lacks: Mapping[str, str] = field(default_factory=dict)
    iot_benchmark: tuple[str, ...] = ()
    iot_benchmark_versions: tuple[str, ...] = ()
    iot_benchmark_store: str = ""
    takes: tuple[str, ...] = ()
    stores_tags: bool = False
    has_device_table: bool = False
    own_columns: tuple[str, ...] = ()
    sums: tuple[str, ...] = ()
    decimal_methods: tuple[str, ...] = ()
    sums_in_doubles: bool = False
    sums_share: float = 0.0
    sums_per_core_s: float = 6e6
    keeps_data: bool = False
    at_rest: str = ""
    log_folders: tuple[str, ...] = ()
    row_overhead_bytes: int = 0
    by_cores: Mapping[str, Callable[[float], str]] = field(default_factory=dict)
    loading: Mapping[str, str] = field(default_factory=dict)
    vendor_defaults: Mapping[str, str] = field(default_factory=dict)
    fsynced: Mapping[str, str] | None = None
    acknowledged: str = ""
    beyond_loopback: Literal["password", "open", ""] = ""
    disk_placements: tuple[str, ...] = ()
    wal_disks: tuple[str, ...] = ()
    image: str = ""
    image_version: str = ""
    image_home: str = ""
    image_library: str = ""
    is_image_built: bool = False
    image_java: str = ""
    image_files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    image_extras: tuple[str, ...] = ()
    image_tools: tuple[str, ...] = ()
    released: Mapping[str, str] = field(default_factory=dict)
    home_variable: str = ""
    to_install: str = ""

    def default_knobs(self, resources: ResourceRange) -> dict[str, Rule]:
        """The defaults of knobs, constant along the axis."""
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
        if lacking := [words for words in query.needs if words not in self.says]:
            if query.more_functions:  # a reason that holds for one function too is the better one
                self.rendered(replace(query, more_functions=()), data, method, parts)
            raise CannotAsk(self.lacks.get(lacking[0], f"{self.title} is not asked for {lacking[0]}"))
        for kind in map(kind_of, query.functions):
            if kind in FURTHER and kind not in self.functions:
                raise CannotAsk(self.lacks.get(kind, f"{self.title} has no {kind}"))
        if query.fill and query.fill not in self.fills:
            default = f"{self.title} is not asked to fill stretches of time (fill = {query.fill})"
            raise CannotAsk(self.lacks.get(f"fill = {query.fill}", default))
        module, _, function = self.queries.partition(":")
        text: str = getattr(importlib.import_module(module), function)(replace(query, parts=parts), data, method)
        return text

    def default_image(self, version: str) -> str:
        """The official image or the built one, of the given version or of the pinned one; "" if there is none."""
        return f"{self.image}:{version or self.image_version}" if self.image else ""

    def knob_named(self, name: str) -> Knob | None:
        """The declared knob of this name, else the one with the role of this name."""
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
