"""Sums of the stored rows as statements of CQL, for each device; those of all together are added by the caller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scale_sweep.experiment.work.sums import ALL, NS_PER_MS, column_types, figures_of
from scale_sweep.model import Workload
from scale_sweep.server.targets.cassandra.queries import TABLE

SUMS = ALL
FIGURES_MAX = 30  # of one statement
DEVICES_MAX = 200  # that a statement names
_OF_ROWS = {"rows": "count(ts)", "first": "min(ts)", "last": "max(ts)", "times": "sum({since})"}
_OF_COLUMN = {
    "values": 'count("{name}")',
    "sum": 'sum(CAST("{name}" AS {added}))',
    "least": 'min("{name}")',
    "greatest": 'max("{name}")',
    "timed": 'sum(CAST("{name}" AS double) * ({since}))',
}
_AS_BIGINT = ("tinyint", "smallint", "int", "utinyint", "usmallint", "uint")


def statements(data: Workload, devices: Sequence[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Figures, and the statement that returns them behind each device: all, if devices are none or more than
    DEVICES_MAX."""
    kinds = column_types(data)
    trues = {f"{name}.sum": name for name, kind in kinds.items() if kind == "bool"}
    names = [name for name in figures_of(data, SUMS) if name not in trues]
    quoted = ", ".join(f"'{device}'" for device in devices)
    chosen = [f"device IN ({quoted})"] if 0 < len(devices) <= DEVICES_MAX else []
    for at in range(0, len(names), FIGURES_MAX):
        some = tuple(names[at : at + FIGURES_MAX])
        yield some, _select([_expression(name, kinds, data) for name in some], chosen)
    for figure, name in trues.items():
        true = _select([f'count("{name}")'], [*chosen, f'"{name}" = true'])
        yield (figure,), f"{true} ALLOW FILTERING"


def figures_found(names: Sequence[str], row: Sequence[Any], data: Workload) -> dict[str, Any]:
    figures = dict(zip(names, row, strict=True))
    for name in ("first", "last"):
        if figures.get(name) is not None:
            figures[name] = (figures[name] - data.start_ms) * NS_PER_MS
    if figures.get("times") is not None:
        figures["times"] *= NS_PER_MS
    return figures


def _select(figures: Sequence[str], conditions: Sequence[str]) -> str:
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT device, {', '.join(figures)} FROM {TABLE}{where} GROUP BY device"


def _expression(figure: str, kinds: Mapping[str, str], data: Workload) -> str:
    name, _, what = figure.rpartition(".")
    since = f"to_unix_timestamp(ts) - {data.start_ms}"
    if not name:
        return _OF_ROWS[what].format(since=since)
    return _OF_COLUMN[what].format(name=name, since=since, added="bigint" if kinds[name] in _AS_BIGINT else "double")
