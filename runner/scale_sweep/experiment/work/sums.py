"""Sums of rows, by a database of those in a table, and by the load generator of those that it sent."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from scale_sweep.experiment.work.read import NUMBERS
from scale_sweep.model.declared import Workload
from scale_sweep.model.loads import RowsSummed, TableSums

OF_ROWS = ("rows", "first", "last", "times")
STEPS = "steps"  # of rows too, and only while a table's rows are one step apart
OF_COLUMN = ("values", "sum", "least", "greatest", "timed")
ALL = (*OF_ROWS, *OF_COLUMN)
NS_PER_MS = 1_000_000
UNREADABLE = "?"  # a figure of a database that is no number
WRONG_MAX = 3  # sentences of one trial
UNIT = 2.0**-53  # the relative error of one addition of doubles
_LEAST, _GREATEST = ("first", "least"), ("last", "greatest")  # the other figures of several tables are added
_KINDS = {**dict.fromkeys(NUMBERS, OF_COLUMN), "bool": ("values", "sum")}
_WORDS = {
    "rows": "number of rows",
    "first": "first time, in ns since the first timestamp",
    "last": "last time, in ns since the first timestamp",
    "times": "sum of the times, in ns since the first timestamp",
    STEPS: "ns in which rows follow each other by at most one step",
    "values": "number of values other than NULL",
    "sum": "sum",
    "least": "least value",
    "greatest": "greatest value",
    "timed": "sum of the values times the ms since the first timestamp",
}
Number = int | float


@dataclass(frozen=True, kw_only=True)
class RightFigures:
    figures: Mapping[str, Number | None]
    errors: Mapping[str, float]  # how far a database's may be from them


def column_types(data: Workload) -> Mapping[str, str]:
    split = (column.partition(":") for column in data.columns)
    return {name: kind.partition("(")[0] for name, _, kind in split}


def figures_of(data: Workload, computed: Sequence[str]) -> tuple[str, ...]:
    of_columns = (
        f"{name}.{what}"
        for name, kind in column_types(data).items()
        for what in _KINDS.get(kind, ("values",))
        if what in computed
    )
    of_rows = (what for what in (*OF_ROWS, STEPS) if what in computed and not (what == STEPS and data.disorder))
    return (*of_rows, *of_columns)


def steps_ns(data: Workload, runs: Sequence[Sequence[int]]) -> int:
    """runs: first table, number of tables and rows of each."""
    return sum(tables * max(0, rows - 1) for _, tables, rows in runs) * data.step_ms * NS_PER_MS


def together(by_device: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    values_of: dict[str, list[Any]] = {}
    for figures in by_device.values():
        for name, value in figures.items():
            values_of.setdefault(name, []).extend([] if value is None else [value])
    return {name: _joined(name.rpartition(".")[2], values) for name, values in values_of.items()}


def _joined(what: str, values: Sequence[Any]) -> Any:
    if not values:
        return None
    return min(values) if what in _LEAST else max(values) if what in _GREATEST else sum(values)


def right_figures(
    line: Mapping[str, Any], *, steps: int | None = None, in_doubles: bool = False, share: float = 0.0
) -> RightFigures:
    """Figures of a line of the verb `sums`. in_doubles: the database adds whole numbers as doubles too. share: how far
    a stored fraction may be from the one that was sent."""
    rows, ns = int(line["rows"]), NS_PER_MS // int(line["units_per_ms"])
    figures: dict[str, Number | None] = {"rows": rows, STEPS: steps if rows else None}
    figures |= {what: line[what] * ns if rows else None for what in ("first", "last", "times")}
    errors: dict[str, float] = {}
    for name, of in line["columns"].items():
        kind = float if "size" in of else int
        figures |= {f"{name}.{what}": None if of.get(what) is None else kind(of[what]) for what in OF_COLUMN[1:]}
        figures |= {f"{name}.values": of["values"], f"{name}.timed": of.get("timed")}
        bound = (int(of["values"]) + 2) * UNIT
        if kind is float:
            errors[f"{name}.sum"] = (bound + share) * of["size"]
            most = max(abs(of["least"]), abs(of["greatest"]))
            errors |= {f"{name}.{what}": share * most for what in ("least", "greatest")}
        elif in_doubles and of["values"]:
            size = of["values"] * max(abs(of["least"]), abs(of["greatest"]))
            errors[f"{name}.sum"] = bound * size if size >= 2**53 else 0.0
        errors[f"{name}.timed"] = (2 * bound + share) * of.get("timed_size", 0.0)
    return RightFigures(figures=figures, errors=errors)


def table_sums(
    table: int | None, name: str, names: Sequence[str], right: RightFigures, stored: Mapping[str, Any]
) -> TableSums:
    return TableSums(
        table=table,
        name=name,
        right=" ".join(_text(right.figures.get(figure)) for figure in names),
        stored=" ".join(_text(stored.get(figure)) for figure in names),
        error=" ".join(_text(right.errors.get(figure, 0.0)) for figure in names),
    )


def wrong_rows(summed: RowsSummed | None) -> tuple[str, ...]:
    """About the first figures that differ."""
    if summed is None:
        return ()
    sentences_of = [(one, tuple(_differing(summed.figures, one))) for one in summed.tables]
    differing = [(one, sentences) for one, sentences in sentences_of if sentences]
    tables = sum(one.table is not None for one, _ in differing)
    more = f" ({tables:,} of {summed.tables_compared:,} tables compared differ)" if tables else ""
    whose = ("all tables together" if one.table is None else f"device {one.name}" for one, _ in differing[:WRONG_MAX])
    figures = (
        f"{who}: {'; '.join(sentences[:2])}{more}" for who, (_, sentences) in zip(whose, differing, strict=False)
    )
    return (*figures, *summed.wrong_tags)


def wrong_tags(
    names: Sequence[str], right: Mapping[str, Sequence[str]], stored: Mapping[str, Set[Any]]
) -> Iterator[str]:
    for device, wanted in right.items():
        held = stored.get(device, frozenset())
        if held != {tuple(wanted)}:
            some = [", ".join(map("=".join, zip(names, one, strict=True))) for one in sorted(held)[:2]]
            sent = ", ".join(map("=".join, zip(names, wanted, strict=True)))
            yield f"device {device}: tags: stored {' and '.join(some) or 'none'}, sent {sent}"


def differs(figures: Sequence[str], one: TableSums) -> bool:
    return next(_differing(figures, one), "") != ""


def _differing(names: Sequence[str], one: TableSums) -> Iterator[str]:
    cells = zip(names, one.right.split(), one.stored.split(), one.error.split(), strict=True)
    for name, right, stored, error in cells:
        if not _agree(_number(right), _number(stored), float(error)):
            column, _, what = name.rpartition(".")
            words = f"{column}: {_WORDS[what]}" if column else _WORDS[what]
            yield f"{words}: stored {_shown(stored)}, sent {_shown(right)}"


def _agree(right: Number | None, stored: Number | None, error: float) -> bool:
    if right is None or stored is None:
        return right is stored
    if isinstance(right, int) and isinstance(stored, int):
        return abs(right - stored) <= error
    try:
        return right == stored or math.isclose(right, stored, rel_tol=0, abs_tol=error)
    except OverflowError:  # a whole number beyond all doubles
        return False


def _text(value: Any) -> str:
    try:
        if value is None:
            return "-"
        if isinstance(value, Decimal):
            return str(int(value)) if value == value.to_integral_value() else repr(float(value))
        return repr(value) if isinstance(value, float) else str(int(value))
    except (ValueError, TypeError, OverflowError):
        return UNREADABLE


def _number(text: str) -> Number | None:
    if text == "-":
        return None
    for read in (int, float):
        with contextlib.suppress(ValueError):
            return read(text)
    return math.nan  # which agrees with nothing


def _shown(text: str) -> str:
    number = _number(text)
    if text == UNREADABLE:
        return "no number"
    return "nothing" if number is None else f"{number:,}"
