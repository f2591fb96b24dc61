"""Databases with the rows of all devices in one table, and their tags in another."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work.sums import ALL, figures_of
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.spec import trial_spec
from scale_sweep.loadgen.verbs import Tables, tables_of
from scale_sweep.model.declared import Work
from scale_sweep.model.planned import Trial
from scale_sweep.model.questions import Query
from scale_sweep.server.targets import series
from scale_sweep.server.targets.base import Session
from scale_sweep.server.targets.records import Counted, tags_of
from scale_sweep.server.targets.sql_dialect import Dialect, listed, where

TABLE, DEVICES = "measurement", "device"
JOINED = f"{TABLE} JOIN {DEVICES} USING (device_id)"
Filled = Callable[[Query, str], str]
Newest = Callable[[Query, str, str], str]  # query, cells, conditions


@dataclass(frozen=True, kw_only=True)
class DeviceTable:
    """A language for both tables."""

    title: str  # of the database
    sql: Dialect
    newest: Newest  # the last row of each device
    filled: Filled | None = None  # aggregates also of stretches of time without rows
    joined: str = JOINED  # rows with tags
    group: str = "{value}"
    by_tag: str = "1"  # order and groups of aggregates by a tag {0}
    by_time: str = "{0} ORDER BY time"  # of a set {0}
    union: str = "UNION"

    def rendered(self, query: Query) -> str:
        """With placeholders for values that each request draws. Raises CannotAsk."""
        if query.text:
            return query.text
        if unknown := [function for function in query.functions if not self.sql.has(function)]:
            raise CannotAsk(f"{self.title} has no aggregate for {unknown[0]}", remedy="function = max")
        if query.sets:
            return self._set(query)
        tag = self.sql.column.format(query.tag)
        if query.by_tag:
            groups, order = listed((tag, *self.sql.values(query))), self.by_tag.format(tag)
            return f"SELECT {groups} FROM {self.joined}{where(self._groups(query))} GROUP BY {order} ORDER BY {order}"
        chosen = where(self._chosen(query))
        if query.fill:
            if self.filled is None:
                raise CannotAsk(f"{self.title} is not asked to fill stretches of time")
            return self.filled(query, chosen)
        if query.function:
            return self.sql.aggregated(query, f"{self.joined if query.each_tag else TABLE}{chosen}", "device_id")
        device = ("device_id",) if query.tells_device else ()
        cells = listed(("time", *device, *self.sql.columns(query)))
        if query.latest and query.devices == 1:
            return f"SELECT {cells} FROM {TABLE}{chosen} ORDER BY time DESC LIMIT 1"
        if query.latest:
            return self.newest(query, cells, chosen)
        order = "" if query.is_unordered else self.sql.ordered(query)
        return f"SELECT {cells} FROM {TABLE}{chosen}{order}"

    def _set(self, query: Query) -> str:
        one, other = self.sql.two_ranges(query)
        each = (["device_id = {device}", *one], ["device_id = {again}", *other])
        selected = f"SELECT {listed(('time', *self.sql.columns(query)))} FROM {TABLE}"
        word = self.union if query.sets == "union" else query.sets.upper()
        rows = f" {word} ".join(f"{selected}{where(these)}" for these in each)
        return self.by_time.replace("{0}", rows)  # which has placeholders of its own

    def _groups(self, query: Query) -> list[str]:
        tag, first = self.sql.column.format(query.tag), self.group
        if query.groups > 1:
            return [f"{tag} >= {first}", f"{tag} < {first} + {query.groups}"]
        return [f"{tag} = {first}"] if query.groups else []

    def _chosen(self, query: Query) -> list[str]:
        devices = f"device_id IN (SELECT device_id FROM {DEVICES}"
        if query.tag:
            groups = where(self._groups(query))
            return [f"{devices}{groups})"] if groups else []
        marks = listed(["{device}"] * query.devices)
        named = [f"device_id = {marks}" if query.devices == 1 else f"device_id IN ({marks})"] if query.devices else []
        if query.with_tag:
            named = [f"{devices}{where(self.sql.one_tag(query))})"]
        return named + self.sql.conditions(query)


class DeviceTableSession(Session):
    sql: Dialect
    types: Mapping[str, str]  # {0}: a length
    types_of_tags: Mapping[str, str] | None = None  # if fewer
    figures: Sequence[str] = ALL  # of `sums`
    is_distinct = False  # a row replaces that of the same device and time

    @abstractmethod
    def _rows(self, sql: str) -> Sequence[Sequence[Any]]: ...

    def _columns_sql(self) -> str:
        """Behind others in CREATE TABLE."""
        return self._defined(self._trial.work.data.columns, self.types)

    def _defined(self, listing: Sequence[str], types: Mapping[str, str]) -> str:
        split = [(name, *kind.partition("(")[::2]) for name, _, kind in (one.partition(":") for one in listing)]
        return "".join(
            f", {self.sql.column.format(name)} {types[kind].format(length.rstrip(')') or '64')}"
            for name, kind, length in split
        )

    def create_tables(self) -> None:
        """The tags of devices, where reads may ask for them."""
        if not self._trial.work.counts_requests or self._address.holds_data:
            return
        types = self.types_of_tags or self.types
        tags = [tag for tag in self._trial.work.data.tags if tag.partition(":")[2].partition("(")[0] in types]
        names = [tag.partition(":")[0] for tag in tags]
        tables = tables_of_load(self._trial, self.load_spec(), self._address.secret)
        rows = zip(tables.names, *(tables.tags[name] for name in names), strict=True)
        self._make_devices(self._defined(tags, types), ("device_id", *names), list(rows))

    def _make_devices(self, columns: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """columns: behind device_id. names: of cells."""
        raise NotImplementedError

    def count(self) -> Counted | None:
        """By device, as `series.counted`."""
        rows = self._rows(f"SELECT device_id, count(*), min(time), max(time) FROM {TABLE} GROUP BY device_id")
        by_device = {f"d{device}": (int(n), float(first), float(last)) for device, n, first, last in rows}
        return series.counted(by_device, self._trial.work.data, is_distinct=self.is_distinct)

    def stored_tags(self, names: Sequence[str]) -> Mapping[str, Set[tuple[str, ...]]] | None:
        return tags_in_table(self._trial.work.data.tags, self._rows, self.sql.column)

    def sums(self, devices: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        names = figures_of(self._trial.work.data, self.figures)
        rows = self._rows(self._sums_statement(devices))
        return {str(device): self.sql.in_ns(names, figures) for device, *figures in rows}

    def _sums_statement(self, devices: Sequence[str]) -> str:
        """One pass over the table. Without devices of all rows, with "" as the device."""
        data, sql = self._trial.work.data, self.sql
        expressions = sql.expressions(data, self.figures).values()
        only = f" WHERE device_id IN ({listed(devices)})" if devices and len(devices) < data.tables else ""
        whose, grouped = ("device_id", " GROUP BY device_id") if devices else ("''", "")
        stored = f"(SELECT *, {sql.named_since(data)} FROM {TABLE}{only}) stored"
        return f"SELECT {whose}, {listed(expressions)} FROM {stored}{grouped}"

    def drop_schema(self) -> None:
        for table in (TABLE, DEVICES):
            self._rows(f"DROP TABLE IF EXISTS {table}")


def tags_in_table(
    tags: Sequence[str], ask: Callable[[str], Iterable[Sequence[Any]]], column: str = '"{0}"'
) -> Mapping[str, Set[tuple[str, ...]]] | None:
    """As `Session.stored_tags`: None if the value of a tag has several texts, like 0.50 and 0.5. tags: as name:type.
    ask: returns rows."""
    kinds = {name: kind.partition("(")[0] for name, _, kind in (tag.partition(":") for tag in tags)}
    if any("int" not in kind and kind not in ("binary", "nchar") for kind in kinds.values()):
        return None
    return tags_of(ask(f"SELECT {listed(('device_id', *map(column.format, kinds)))} FROM {DEVICES}"))


def tables_of_load(trial: Trial, from_target: Mapping[str, str], secret: str = "") -> Tables:
    """As the driver numbers them, with tags. Raises LoadError, TargetError."""
    writing = replace(trial, work=Work(data=trial.work.data))
    return tables_of(loadgen_path(), trial_spec(writing, from_target), secret)
