"""taosBenchmark's `sample_file` and `tags_file`, CSV files → what the load generator reads."""

from __future__ import annotations

import math
import os
import re
import stat
import struct
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from scale_sweep.base.errors import UsageError
from scale_sweep.base.input_file import open_input
from scale_sweep.base.texts import odd_character, shortened
from scale_sweep.server.targets.tdengine.dialect import UNITS_PER_MS
from scale_sweep.taosbenchmark.job import SampleRows, TableColumn

FILE_BYTES_MAX = 256 * 2**20
BYTES_MAX = 256 * 2**20  # of the rows as the load generator takes them
LITERAL_BYTES_MAX = 500  # of a tag, with its quotes
TAG_SEPARATOR = "\x1f"
_FIELD = re.compile(r"""\s*('(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|[^,'"][^,]*|)\s*(,|$)""")
_WHOLE = re.compile(r"[+-]?[0-9]{1,20}")
_NUMBER = re.compile(r"[+-]?([0-9]{1,400}(\.[0-9]{0,400})?|\.[0-9]{1,400})([eE][+-]?[0-9]{1,3})?")
_CODES = {"tinyint": "b", "smallint": "h", "int": "i", "bigint": "q", "timestamp": "q", "bool": "b"}
_CODES |= {"utinyint": "B", "usmallint": "H", "uint": "I", "ubigint": "Q", "float": "f", "double": "d"}
_TRUTHS = {"true": 1, "false": 0, "1": 1, "0": 0}
_TEXTS = ("binary", "nchar")
NCHAR_BYTES = 4  # of a character, at most
_TIME = TableColumn(name="the time", kind="timestamp")


def read_rows_file(path: str) -> bytes:
    """Only a regular one. Raises UsageError."""
    with open_input(path, "") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UsageError(f"{path}: is not a regular file")
        raw = file.read(FILE_BYTES_MAX + 1)
    if len(raw) > FILE_BYTES_MAX:
        raise UsageError(f"{path}: has more than {FILE_BYTES_MAX:,} bytes")
    return raw


def batch_columns(columns: Sequence[TableColumn]) -> tuple[TableColumn, ...]:
    """With the bytes that the load generator keeps for each: NCHAR counts characters."""
    return tuple(replace(c, length=c.length * NCHAR_BYTES) if c.kind == "nchar" else c for c in columns)


def read_sample(
    raw: bytes, columns: Sequence[TableColumn], precision: str, prepared: int, *, has_times: bool
) -> SampleRows:
    """The first `prepared` rows. Raises ValueError with one sentence."""
    for column in columns:
        if column.kind not in _CODES and column.kind not in _TEXTS:
            raise ValueError(f"{column.name}: values of type {column.kind.upper()} cannot come from a file")
    lines = _lines(raw)
    taken = lines[:prepared]
    kept = batch_columns(columns)
    row_bytes = 8 + sum(c.length + 5 if c.length else 9 for c in kept)
    if not taken:
        raise ValueError("has no row")
    if row_bytes * len(taken) > BYTES_MAX:
        raise ValueError(f"{len(taken):,} rows of {row_bytes:,} bytes are more than {BYTES_MAX:,} bytes")
    wanted = (*((_TIME,) if has_times else ()), *columns)
    cells = [list(_cells(number, line, wanted, precision)) for number, line in taken]
    times = array("q")
    for (number, _), row in zip(taken, cells if has_times else (), strict=False):
        if (time := row.pop(0)) is None:
            raise ValueError(f"line {number}: a row has a time")
        times.append(int(str(time)))
    parts = [times.tobytes(), *(_part(column, [row[i] for row in cells]) for i, column in enumerate(kept))]
    return SampleRows(content=b"".join(parts), rows=len(taken), period=prepared, lines=len(lines), has_times=has_times)


def read_tags(raw: bytes, tags: Sequence[TableColumn], precision: str) -> bytes:
    """A line of SQL literals for each line. Raises ValueError with one sentence."""
    for tag in tags:
        if tag.kind not in _CODES and tag.kind not in (*_TEXTS, "json"):
            raise ValueError(f"{tag.name}: values of type {tag.kind.upper()} cannot come from a file")
    lines = []
    for number, line in _lines(raw):
        literals = [
            _literal(number, tag, value) for tag, value in zip(tags, _cells(number, line, tags, precision), strict=True)
        ]
        lines.append(TAG_SEPARATOR.join(literals) + "\n")
    if not lines:
        raise ValueError("has no line")
    return "".join(lines).encode()


def _lines(raw: bytes) -> list[tuple[int, str]]:
    """Numbered from 1 on, without empty ones."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"is no UTF-8 text: line {raw.count(bytes([10]), 0, error.start) + 1}") from None
    return [(i, line) for i, part in enumerate(text.split("\n"), 1) if (line := part.rstrip("\r"))]


def _cells(number: int, line: str, columns: Sequence[TableColumn], precision: str) -> Iterator[object]:
    """None for NULL. Raises ValueError."""
    fields = list(_fields(number, line))
    if len(fields) != len(columns):
        raise ValueError(f"line {number} has {len(fields)} values for {len(columns)} columns")
    for text, column in zip(fields, columns, strict=True):
        if text.upper() == "NULL":
            yield None
            continue
        try:
            yield _value(text, column, precision)
        except (ValueError, KeyError, OverflowError, struct.error):
            kind = column.kind.upper() + (f"({column.length})" if column.length and column.kind != "json" else "")
            raise ValueError(f"line {number}: {column.name}: {shortened(repr(text))} is not {kind}") from None


def _fields(number: int, line: str) -> Iterator[str]:
    at = 0
    if what := odd_character(line, "\t"):
        raise ValueError(f"line {number} has {what}")
    while True:
        match = _FIELD.match(line, at)
        if match is None:
            raise ValueError(f"line {number}: {shortened(repr(line[at:]))} has a quote that does not end a value")
        yield match.group(1).rstrip()
        at = match.end()
        if not match.group(2):
            return


def _value(text: str, column: TableColumn, precision: str) -> object:
    kind = column.kind
    if kind in (*_TEXTS, "json"):
        plain = _unquoted(text)
        size = len(plain) if kind == "nchar" else len(plain.encode())
        if size > column.length and kind != "json":
            raise ValueError
        return plain
    if kind == "bool":
        return _TRUTHS[_unquoted(text).lower()]
    if kind == "timestamp":
        return _moment(_unquoted(text), precision)
    code = _CODES[kind]
    if not (_NUMBER if code in "fd" else _WHOLE).fullmatch(text):
        raise ValueError
    number = float(text) if code in "fd" else int(text)
    if not math.isfinite(number):
        raise ValueError
    return struct.unpack(code, struct.pack(code, number))[0]


def _unquoted(text: str) -> str:
    if len(text) < 2 or text[0] not in "'\"":
        return text
    quote = text[0]
    return re.sub(rf"\\(.)|{quote}{quote}", lambda match: match.group(1) or quote, text[1:-1])


def _moment(text: str, precision: str) -> int:
    """A whole number of units, or a date in local time."""
    if _WHOLE.fullmatch(text):
        struct.pack("q", int(text))
        return int(text)
    moment = datetime.fromisoformat(text)
    whole = int(moment.replace(microsecond=0).timestamp()) * 1000 * UNITS_PER_MS[precision]
    return whole + moment.microsecond * UNITS_PER_MS[precision] // 1000


def _part(column: TableColumn, values: list[object]) -> bytes:
    nulls = _padded(bytes(value is None for value in values))
    if column.kind not in _TEXTS:
        packed = struct.pack(f"={len(values)}{_CODES[column.kind]}", *(0 if v is None else v for v in values))
        return _padded(packed) + nulls
    texts = [b"" if value is None else str(value).encode() for value in values]
    wide = b"".join(text.ljust(column.length, b"\0") for text in texts)
    return _padded(wide) + _padded(array("i", [len(text) for text in texts]).tobytes()) + nulls


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 8)


def _literal(number: int, tag: TableColumn, value: object) -> str:
    if value is None:
        return "NULL"
    if tag.kind == "bool":
        return "true" if value else "false"
    if tag.kind not in (*_TEXTS, "json"):
        return repr(value)
    escaped = str(value).replace("\\", "\\\\").replace("'", "\\'")
    if len(escaped.encode()) + 2 > LITERAL_BYTES_MAX:
        raise ValueError(f"line {number}: {tag.name}: is longer than {LITERAL_BYTES_MAX} bytes")
    return f"'{escaped}'"
