"""Reads a CSV file of any program into rows of level and rate, by group."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, BinaryIO, overload

import numpy as np
from numpy.typing import NDArray

ROWS_MAX = 20_000_000  # 16 bytes each, and the same again for sorting
LINE_BYTES_MAX = 2**20
_BLOCK_BYTES, _STRETCH_LINES = 2**20, 50_000
_SEPARATORS = (",", ";", "\t")
_PLAIN = re.compile(r"[0-9.eE+\- ]*")
LEVELS_MAX = 10_000
LEAST, MOST = 1e-100, 1e100  # squares of it are still finite
SPAN_MAX = 1e12  # of a column, so that sums of squares keep its smallest value
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_SHOWN_MAX = 40
_LEVEL_DIGITS = 9  # 0.1 + 0.2 and 0.3 are one level
_THOUSANDS = re.compile(r"[+-]?\d{1,3}([,'_ \u00a0\u202f]\d{3})+(\.\d*)?")
_COMMA = re.compile(r"[+-]?\d*,\d+")

Line = tuple[int, list[str]]
Place = tuple[float, int]  # a value and its line


class RowTable(Sequence[tuple[float, float]]):
    """(level, rate) of many rows, stored as numbers: 16 bytes for a row."""

    def __init__(self, stretches: Iterable[NDArray[np.float64]]) -> None:
        self._table = np.concatenate(list(stretches))

    def __len__(self) -> int:
        return len(self._table)

    @overload
    def __getitem__(self, index: int) -> tuple[float, float]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[float, float]]: ...
    def __getitem__(self, index: int | slice) -> tuple[float, float] | Sequence[tuple[float, float]]:
        if isinstance(index, slice):
            return [(float(level), float(rate)) for level, rate in self._table[index]]
        level, rate = self._table[index]
        return float(level), float(rate)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.float64]:
        return np.array(self._table, dtype=dtype) if copy else np.asarray(self._table, dtype=dtype)


RowsByGroup = Mapping[str, Sequence[tuple[float, float]]]


@dataclass(frozen=True, kw_only=True)
class CsvColumns:
    """Which columns to read."""

    n: str
    x: str
    group: str | None = None  # None means that all rows are one curve

    @property
    def names(self) -> list[str]:
        return [name for name in (self.n, self.x, self.group) if name is not None]


@dataclass(kw_only=True)
class _Parsed:
    """The rows read so far: blocks by group, and each column's smallest and largest value."""

    header: list[str]
    wanted: list[int]
    columns: CsvColumns
    stretches: dict[str, list[NDArray[np.float64]]] = field(default_factory=dict)
    ends: list[tuple[Place, Place]] = field(default_factory=lambda: [((math.inf, 0), (0.0, 0))] * 2)
    rows: int = 0

    def add(self, group: str, table: NDArray[np.float64]) -> None:
        self.stretches.setdefault(group, []).append(table)

    def seen(self, column: int, least: Place, most: Place) -> None:
        """Updates the range of a column: 0 is the level, 1 the rate."""
        was = self.ends[column]
        self.ends[column] = (min(was[0], least), max(was[1], most))


def parse_table(content: bytes, columns: CsvColumns) -> RowsByGroup:
    return read_table(io.BytesIO(content), columns)


def read_table(stream: BinaryIO, columns: CsvColumns) -> RowsByGroup:
    """Reads a stream in blocks, so that it is never in memory as a whole. Else as parse_table."""
    lines = _lines(stream)
    head = list(_until_header(lines))
    number = len(head)
    separator = _separator(head[-1] if head else "", columns)
    first = next(_cells_of(iter(head), 1, separator), None)
    if first is None:
        raise ValueError("line 1: the file is empty; it needs a header and a row for each measurement")
    at, header = first
    parsed = _Parsed(header=header, wanted=[_place(at, header, name) for name in columns.names], columns=columns)
    while stretch := list(islice(lines, _STRETCH_LINES)):
        if any('"' in line for line in stretch):  # a cell may continue over lines and blocks
            _read_rows(_cells_of(chain(stretch, lines), number + 1, separator), parsed)
            break
        if not _read_numbers(stretch, number + 1, separator, parsed):
            _read_rows(_cells_of(iter(stretch), number + 1, separator), parsed)
        number += len(stretch)
        if parsed.rows > ROWS_MAX:
            raise ValueError(f"line {number}: more than {ROWS_MAX:,} rows")
    return _checked(parsed, at)


def _checked(parsed: _Parsed, at: int) -> RowsByGroup:
    if not parsed.stretches:
        raise ValueError(f"line {at}: no row follows the header")
    for column, (least, most) in zip((parsed.columns.n, parsed.columns.x), parsed.ends, strict=True):
        if most[0] > SPAN_MAX * least[0]:
            one, other = sorted((least[1], most[1]))
            raise ValueError(
                f"line {other}: {column} differs from line {one} by more than {SPAN_MAX:g} times; no curve holds both"
            )
    for group, stretches in parsed.stretches.items():
        levels = len(np.unique(np.concatenate([np.unique(table[:, 0]) for table in stretches])))
        if levels > LEVELS_MAX:
            raise ValueError(
                f"{levels:,} different values of {parsed.columns.n}{f' in {group}' if group else ''}; "
                f"{LEVELS_MAX:,} at most"
            )
    return {group: RowTable(stretches) for group, stretches in parsed.stretches.items()}


def _lines(stream: BinaryIO) -> Iterator[str]:
    """The text by lines. Raises ValueError with the line for a byte that is not text."""
    rest, number, begin = b"", 0, True
    while True:
        block = stream.read(_BLOCK_BYTES)
        cut = block.rfind(b"\n") + 1 if block else 0
        content, rest = (rest + block[:cut], block[cut:]) if cut else (b"", rest + block) if block else (rest, b"")
        if len(rest) > LINE_BYTES_MAX:
            at = number + content.count(b"\n") + 1
            raise ValueError(f"line {at}: longer than {LINE_BYTES_MAX:,} bytes")
        for line in _text(content, number, begin).splitlines(keepends=True):
            number += 1
            yield line
        begin = begin and not content
        if not block:
            return


def _text(content: bytes, before: int, begin: bool) -> str:
    try:
        text = content.decode("utf-8-sig" if begin else "utf-8")
    except UnicodeDecodeError as error:
        number = before + content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {number}: not UTF-8 text (byte {content[error.start]:#04x})") from None
    if "\0" in text:
        number = before + text.count("\n", 0, text.index("\0")) + 1
        raise ValueError(f"line {number}: holds a NUL byte; this is not text")
    return text


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _until_header(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line
        if line.strip() and not _is_comment(line):
            return


def _separator(header: str, columns: CsvColumns) -> str:
    for separator in _SEPARATORS:
        try:
            cells = {cell.strip() for cell in next(csv.reader([header], delimiter=separator), [])}
        except csv.Error:
            continue
        if cells.issuperset(columns.names):
            return separator
    return next((s for s in _SEPARATORS if s in header), ",")


def _cells_of(lines: Iterator[str], first: int, separator: str) -> Iterator[Line]:
    reader = csv.reader((line if not _is_comment(line) else "\n" for line in lines), delimiter=separator, strict=True)
    begin = first
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield begin, [cell.strip() for cell in cells]
            begin = first + reader.line_num
    except csv.Error as error:
        raise ValueError(f"line {begin}: {error}") from None


def _read_rows(lines: Iterator[Line], parsed: _Parsed) -> None:
    """Reads the rows one by one into `found`."""
    groups: dict[str, list[tuple[float, float]]] = {}
    for number, cells in lines:
        if len(cells) != len(parsed.header):
            raise ValueError(f"line {number}: {_cells(len(cells))}, but the header has {len(parsed.header)}")
        level, rate = (_number(number, parsed.header[i], cells[i]) for i in parsed.wanted[:2])
        parsed.seen(0, (level, number), (level, number))
        parsed.seen(1, (rate, number), (rate, number))
        group = cells[parsed.wanted[2]] if parsed.columns.group is not None else ""
        groups.setdefault(group, []).append((_rounded(level), rate))
        parsed.rows += 1
        if parsed.rows > ROWS_MAX:
            raise ValueError(f"line {number}: more than {ROWS_MAX:,} rows")
    for group, rows in groups.items():
        parsed.add(group, np.array(rows))


def _read_numbers(stretch: Sequence[str], first: int, separator: str, parsed: _Parsed) -> bool:
    """Reads a block of rows without quotes at once. False, without reading, if a row has quotes."""
    rows = [line.split(separator) for line in stretch]
    if any(len(cells) != len(parsed.header) for cells in rows):
        return False
    level_cells, rate_cells = ([cells[i].strip() for cells in rows] for i in parsed.wanted[:2])
    if not (_PLAIN.fullmatch("".join(level_cells)) and _PLAIN.fullmatch("".join(rate_cells))):
        return False
    try:
        both = np.array([list(map(float, level_cells)), list(map(float, rate_cells))])
    except ValueError:
        return False
    if not np.all((both >= LEAST) & (both <= MOST)) or rows[0][0].lstrip().startswith("#"):
        return False
    for column, values in enumerate(both):
        least, most = int(np.argmin(values)), int(np.argmax(values))
        parsed.seen(column, (float(values[least]), first + least), (float(values[most]), first + most))
    distinct, back = np.unique(both[0], return_inverse=True)
    table = np.column_stack([np.array([_rounded(v) for v in distinct])[back], both[1]])
    names = [cells[parsed.wanted[2]].strip() for cells in rows] if parsed.columns.group is not None else []
    order = {name: i for i, name in enumerate(dict.fromkeys(names))}
    codes = np.array([order[name] for name in names])
    for name, code in order.items():
        parsed.add(name, table[codes == code])
    if not order:
        parsed.add("", table)
    parsed.rows += len(rows)
    return True


def _rounded(level: float) -> float:
    return float(f"{level:.{_LEVEL_DIGITS}g}")


def _place(line: int, header: Sequence[str], name: str) -> int:
    places = [i for i, column in enumerate(header) if column == name]
    if len(places) == 1:
        return places[0]
    if places:
        raise ValueError(f"line {line}: the header has {len(places)} columns {name!r}; one is needed")
    raise ValueError(f"line {line}: no column {name!r}; the header has {', '.join(map(_short, header[:20]))}")


def _number(line: int, column: str, cell: str) -> float:
    if not cell:
        raise ValueError(f"line {line}: {column} is empty; leave out rows that were not measured")
    value = float(cell) if _NUMBER.fullmatch(cell) else math.nan
    if not math.isfinite(value):
        raise ValueError(f"line {line}: {column} is {_short(cell)!r}, which is not a number{_hint(cell)}")
    if value <= 0:
        raise ValueError(f"line {line}: {column} is {_short(cell)}; it must be above 0")
    if not LEAST <= value <= MOST:
        raise ValueError(f"line {line}: {column} is {_short(cell)}; it must be between {LEAST:g} and {MOST:g}")
    return value


def _hint(cell: str) -> str:
    if _THOUSANDS.fullmatch(cell):
        return "; leave out separators of thousands"
    return "; write a point before the decimals" if _COMMA.fullmatch(cell) else ""


def _short(cell: str) -> str:
    shown = "".join(c if c.isprintable() else "?" for c in cell[:_SHOWN_MAX])
    return shown + ("…" if len(cell) > _SHOWN_MAX else "")


def _cells(count: int) -> str:
    return f"{count} cell{'' if count == 1 else 's'}"
