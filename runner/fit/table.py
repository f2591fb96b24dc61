"""Anybody's data: the text of a CSV file into rows of level and rate, by group.

Raises ValueError with one sentence that names the line. Refuses to guess: a value that is no number, missing, or not
above 0 is an error, never left out silently. Blank lines and lines that begin with # are skipped.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

ROWS_MAX = 1_000_000
LEVELS_MAX = 10_000
LEAST, MOST = 1e-100, 1e100  # squares of it are still numbers
SPAN_MAX = 1e12  # of a column, so that sums of squares keep the smallest of it
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_SHOWN_MAX = 40
_LEVEL_DIGITS = 9  # 0.1 + 0.2 and 0.3 are one level
_THOUSANDS = re.compile(r"[+-]?\d{1,3}([,'_ \u00a0\u202f]\d{3})+(\.\d*)?")
_COMMA = re.compile(r"[+-]?\d*,\d+")

RowsByGroup = Mapping[str, Sequence[tuple[float, float]]]
Line = tuple[int, list[str]]


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which columns to read; group None: all rows are one curve."""

    n: str
    x: str
    group: str | None = None


def parse_table(content: bytes, columns: Columns) -> RowsByGroup:
    """(level, rate) of every row, by group in the order of the file. The header names the columns."""
    lines = _lines(_text(content))
    first = next(lines, None)
    if first is None:
        raise ValueError("line 1: the file is empty; it needs a header and a row for each measurement")
    at, header = first
    wanted = [_place(at, header, name) for name in (columns.n, columns.x, columns.group) if name is not None]
    found: dict[str, list[tuple[float, float]]] = {}
    ends = [((math.inf, 0), (0.0, 0)), ((math.inf, 0), (0.0, 0))]  # of each column: smallest and largest, with its line
    for count, (number, cells) in enumerate(lines):
        if len(cells) != len(header):
            raise ValueError(f"line {number}: {_cells(len(cells))} where the header has {len(header)}")
        if count >= ROWS_MAX:
            raise ValueError(f"line {number}: more than {ROWS_MAX:,} rows")
        level, rate = (_number(number, header[i], cells[i]) for i in wanted[:2])
        level = float(f"{level:.{_LEVEL_DIGITS}g}")
        for i, value in enumerate((level, rate)):
            ends[i] = (min(ends[i][0], (value, number)), max(ends[i][1], (value, number)))
        group = cells[wanted[2]].strip() if columns.group is not None else ""
        found.setdefault(group, []).append((level, rate))
    if not found:
        raise ValueError(f"line {at}: no row follows the header")
    for column, (least, most) in zip((columns.n, columns.x), ends, strict=True):
        if most[0] > SPAN_MAX * least[0]:
            first, last = sorted((least[1], most[1]))
            raise ValueError(f"line {last}: {column} differs from line {first} by more than {SPAN_MAX:g} times; "
                             "no curve holds both")  # fmt: skip
    for group, rows in found.items():
        levels = len({level for level, _ in rows})
        if levels > LEVELS_MAX:
            raise ValueError(f"{levels:,} different values of {columns.n}{f' in {group}' if group else ''}; "
                             f"{LEVELS_MAX:,} at most")  # fmt: skip
    return found


def _text(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {number}: not UTF-8 text (byte {content[error.start]:#04x})") from None
    if "\0" in text:
        raise ValueError(f"line {text.count(chr(10), 0, text.index(chr(0))) + 1}: holds a NUL byte; this is not text")
    return text


def _lines(text: str) -> Iterator[Line]:
    """Rows with the number of the line that each begins on."""
    raw = text.splitlines(keepends=True)
    head = next((line for line in raw if line.strip() and not line.lstrip().startswith("#")), "")
    separator = next((s for s in (",", ";", "\t") if s in head), ",")
    kept = (line if not line.lstrip().startswith("#") else "\n" for line in raw)
    reader = csv.reader(kept, delimiter=separator, strict=True)
    begin = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield begin, [cell.strip() for cell in cells]
            begin = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(f"line {begin}: {error}") from None


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
        return "; leave out what separates thousands"
    return "; write a point before the decimals" if _COMMA.fullmatch(cell) else ""


def _short(cell: str) -> str:
    shown = "".join(c if c.isprintable() else "?" for c in cell[:_SHOWN_MAX])
    return shown + ("…" if len(cell) > _SHOWN_MAX else "")


def _cells(count: int) -> str:
    return f"{count} cell{'' if count == 1 else 's'}"
