"""Queries of databases that have the rows of all devices in one table, and the tags of each device in another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from scale_sweep.base.errors import CannotAsk
from scale_sweep.model import Query, Trial
from scale_sweep.server.targets.records import tags_of
from scale_sweep.server.targets.sql_dialect import Dialect, SumsDialect, expressions, listed, where

TABLE, DEVICES = "measurement", "device"
JOINED = f"{TABLE} JOIN {DEVICES} USING (device_id)"
Filled = Callable[[Query, str], str]
Newest = Callable[[Query, str, str], str]  # query, cells, the clause with the conditions


def tags_in_table(
    tags: Sequence[str], ask: Callable[[str], Iterable[Sequence[Any]]], column: str = '"{0}"'
) -> Mapping[str, Set[tuple[str, ...]]] | None:
    """Those of `Session.stored_tags`, of this table. None if the value of a tag has several texts, like 0.50 and 0.5.
    tags: each as name:type. ask: returns the rows of a statement. column: the spelling of a column {0}."""
    kinds = {name: kind.partition("(")[0] for name, _, kind in (tag.partition(":") for tag in tags)}
    if any("int" not in kind and kind not in ("binary", "nchar") for kind in kinds.values()):
        return None
    return tags_of(ask(f"SELECT {listed(('device_id', *map(column.format, kinds)))} FROM {DEVICES}"))


@dataclass(frozen=True, kw_only=True)
class DeviceTable:
    """A language for these two tables."""

    title: str  # of the database
    sql: Dialect
    newest: Newest  # the last row of each of several devices
    # the aggregates of each stretch of time, also of those without rows; None: it is not asked for them
    filled: Filled | None = None
    joined: str = JOINED  # the rows with the tags of their devices
    group: str = "{value}"  # a group, of its mark {value}
    by_tag: str = "1"  # the order and the groups of aggregates by a tag {0}
    by_time: str = "{0} ORDER BY time"  # the rows of a set {0} in the order of time
    union: str = "UNION"  # the word of a union, if not its name

    def rendered(self, query: Query) -> str:
        """One statement, with placeholders for the values that each request draws. Raises CannotAsk."""
        if query.text:
            return query.text
        if unknown := [function for function in query.functions if not self.sql.has(function)]:
            raise CannotAsk(f"{self.title} has no aggregate for {unknown[0]}", remedy="function = max")
        if query.sets:
            return self._set(query)
        if query.by_tag:
            groups, order = listed((self._tag(query), *self.sql.values(query))), self.by_tag.format(self._tag(query))
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

    def _tag(self, query: Query) -> str:
        return self.sql.column.format(query.tag)

    def _groups(self, query: Query) -> list[str]:
        if not query.groups:
            return []
        tag, first = self._tag(query), self.group
        return [f"{tag} = {first}"] if query.groups == 1 else [f"{tag} >= {first}", f"{tag} < {first} + {query.groups}"]

    def _chosen(self, query: Query) -> list[str]:
        if query.tag:
            groups = where(self._groups(query))
            return [f"device_id IN (SELECT device_id FROM {DEVICES}{groups})"] if groups else []
        marks = listed(["{device}"] * query.devices)
        named = [f"device_id = {marks}" if query.devices == 1 else f"device_id IN ({marks})"] if query.devices else []
        if query.with_tag:
            named = [f"device_id IN (SELECT device_id FROM {DEVICES}{where(self.sql.one_tag(query))})"]
        return named + self.sql.conditions(query)


def of_device_table(trial: Trial, devices: Sequence[str], computed: Sequence[str], dialect: SumsDialect) -> str:
    """One statement over the table that has the rows of all devices, with times in ms: the device and its figures for
    each of these devices; of all rows together, with "" as the device, if there are none."""
    data = trial.work.data
    figures = ", ".join(expressions(data, computed, dialect).values())
    since = f"time - {data.start_ms} AS {dialect.since}"
    only = f" WHERE device_id IN ({', '.join(devices)})" if devices and len(devices) < data.tables else ""
    whose, grouped = ("device_id", " GROUP BY device_id") if devices else ("''", "")
    return f"SELECT {whose}, {figures} FROM (SELECT *, {since} FROM {TABLE}{only}) stored{grouped}"
