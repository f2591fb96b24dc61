"""Reads a CSV file of any program into rows of level and rate, by group."""

from __future__ import annotations

import csv
import math
import re
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from scale_sweep.analysis.fit.models import Floats

ROWS_MAX = 20_000_000  # 16 bytes each, and the same again for sorting
LINE_BYTES_MAX = 2**20
LEVELS_MAX = 10_000
LEAST, MOST = 1e-100, 1e100  # squares of it are still finite
SPAN_MAX = 1e12  # of a column, so that sums of squares keep its smallest value
_SEPARATORS = (",", ";", "\t")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}([,'_ \u00a0\u202f]\d{3})+(\.\d*)?")
_COMMA = re.compile(r"[+-]?\d*,\d+")
_SHOWN_MAX = 40
_LEVEL_DIGITS = 9  # 0.1 + 0.2 and 0.3 are one level


@dataclass(frozen=True, kw_only=True)
class CsvColumns:
    n: str
    x: str
    group: str | None = None  # None means that all rows are one curve

    @property
    def names(self) -> list[str]:
        return [name for name in (self.n, self.x, self.group) if name is not None]


def read_table(stream: BinaryIO, columns: CsvColumns) -> Mapping[str, Floats]:
    """(rows, 2): level and rate, by group. Raises ValueError that begins with the line."""
    lines = _lines(stream)
    at, text = next(((n, line) for n, line in enumerate(lines, 1) if _is_row(line)), (1, ""))
    separator = _separator(text, columns)
    header = next((cells for _, cells in _rows(iter([text]), at, separator)), None)
    if header is None:
        raise ValueError("line 1: the file is empty; it needs a header and a row for each measurement")
    places = [_place(at, header, name) for name in columns.names]
    tables: dict[str, array[float]] = {}
    ends = [((math.inf, 0), (0.0, 0)), ((math.inf, 0), (0.0, 0))]  # least and most of a column, with lines
    for number, (line, cells) in enumerate(_rows(lines, at + 1, separator), 1):
        if number > ROWS_MAX:
            raise ValueError(f"line {line}: more than {ROWS_MAX:,} rows")
        if len(cells) != len(header):
            many = f"{len(cells)} cell{'' if len(cells) == 1 else 's'}"
            raise ValueError(f"line {line}: {many}, but the header has {len(header)}")
        level, rate = (_number(line, header[place], cells[place]) for place in places[:2])
        for column, value in enumerate((level, rate)):
            least, most = ends[column]
            if not least[0] <= value <= most[0]:
                ends[column] = min(least, (value, line)), max(most, (value, line))
        group = cells[places[2]] if columns.group is not None else ""
        tables.setdefault(group, array("d")).extend((float(f"{level:.{_LEVEL_DIGITS}g}"), rate))
    if not tables:
        raise ValueError(f"line {at}: no row follows the header")
    for name, ((low, of_low), (high, of_high)) in zip((columns.n, columns.x), ends, strict=True):
        if high > SPAN_MAX * low:
            one, other = sorted((of_low, of_high))
            why = f"differs from line {one} by more than {SPAN_MAX:g} times; no curve holds both"
            raise ValueError(f"line {other}: {name} {why}")
    by_group = {group: np.frombuffer(table).reshape(-1, 2) for group, table in tables.items()}
    for group, table in by_group.items():
        if (levels := len(np.unique(table[:, 0]))) > LEVELS_MAX:
            where = f" in {group}" if group else ""
            raise ValueError(f"{levels:,} different values of {columns.n}{where}; {LEVELS_MAX:,} at most")
    return by_group


def _lines(stream: BinaryIO) -> Iterator[str]:
    number = 1
    while content := stream.readline(LINE_BYTES_MAX + 1):
        if len(content) > LINE_BYTES_MAX:
            raise ValueError(f"line {number}: longer than {LINE_BYTES_MAX:,} bytes")
        try:
            text = content.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"line {number}: not UTF-8 text (byte {content[error.start]:#04x})") from None
        for line in text.splitlines(keepends=True):
            if "\0" in line:
                raise ValueError(f"line {number}: holds a NUL byte; this is not text")
            number += 1
            yield line


def _is_row(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _separator(header: str, columns: CsvColumns) -> str:
    for separator in _SEPARATORS:
        try:
            cells = {cell.strip() for cell in next(csv.reader([header], delimiter=separator), [])}
        except csv.Error:
            continue
        if cells.issuperset(columns.names):
            return separator
    return next((s for s in _SEPARATORS if s in header), ",")


def _rows(lines: Iterator[str], first: int, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Each with the line on which it begins."""
    reader = csv.reader((line if _is_row(line) else "\n" for line in lines), delimiter=separator, strict=True)
    begin = first
    try:
        for cells in reader:
            stripped = [cell.strip() for cell in cells]
            if any(stripped):
                yield begin, stripped
            begin = first + reader.line_num
    except csv.Error as error:
        raise ValueError(f"line {begin}: {error}") from None


def _place(line: int, header: list[str], name: str) -> int:
    if header.count(name) > 1:
        raise ValueError(f"line {line}: the header has {header.count(name)} columns {name!r}; one is needed")
    if name not in header:
        raise ValueError(f"line {line}: no column {name!r}; the header has {', '.join(map(_short, header[:20]))}")
    return header.index(name)


def _number(line: int, column: str, cell: str) -> float:
    value = float(cell) if _NUMBER.fullmatch(cell) else math.nan
    if LEAST <= value <= MOST:
        return value
    shown = _short(cell)
    if not cell:
        why = "empty; leave out rows that were not measured"
    elif not math.isfinite(value):
        hint = "; leave out separators of thousands" if _THOUSANDS.fullmatch(cell) else ""
        hint = hint or ("; write a point before the decimals" if _COMMA.fullmatch(cell) else "")
        why = f"{shown!r}, which is not a number{hint}"
    else:
        why = f"{shown}; it must be {'above 0' if value <= 0 else f'between {LEAST:g} and {MOST:g}'}"
    raise ValueError(f"line {line}: {column} is {why}")


def _short(cell: str) -> str:
    shown = "".join(c if c.isprintable() else "?" for c in cell[:_SHOWN_MAX])
    return shown + ("…" if len(cell) > _SHOWN_MAX else "")
