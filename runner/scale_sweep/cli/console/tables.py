"""How a table fits into a terminal: which columns, how wide, and row by row if words would break. Prints nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.markup import escape
from rich.table import Table

NAME_CHARACTERS = 48  # of the longest name that stays on one line
GAP = 2
_WHOLE = 28  # characters of a cell that stay on one line if a table has essential columns
Rows = Sequence[Sequence[str]]


def fitting(headers: Sequence[str], rows: Rows, essential: Sequence[int], width: int) -> list[int]:
    """The indices of the columns to show: all if they have room side by side, else the essential ones. (): all are."""
    columns = list(range(len(headers)))
    whole = [max(len(headers[i]), *(min(len(row[i]), _WHOLE) for row in rows), 0) for i in columns]
    return columns if not essential or sum(whole) + GAP * (len(whole) - 1) <= width else list(essential)


def is_narrow(headers: Sequence[str], rows: Rows, width: int) -> bool:
    """Whether words would have to break."""
    least = [_least(headers, rows, i) for i in range(len(headers))]
    return sum(least) + GAP * (len(least) - 1) > width


def record(headers: Sequence[str], row: Sequence[str]) -> list[str]:
    """A row as lines: the first two cells, then each further cell with its heading."""
    further = [f"    {header}: {cell}" for header, cell in zip(headers[2:], row[2:], strict=True) if cell]
    return ["  ".join(cell for cell in row[:2] if cell), *further]


def table_of(title: str, headers: Sequence[str], rows: Rows, width: int) -> Table:
    """A table of this width at most. Numbers are right-aligned. Names in the first column stay on one line, so that
    they can be copied."""
    table = Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        header_style="bold",
        box=None,
        pad_edge=False,
        padding=(0, GAP, 0, 0),
    )
    for index, wide in enumerate(_widths(headers, rows, width)):
        justify: Literal["right", "left"] = "right" if _is_numeric(rows, index) else "left"
        table.add_column(headers[index], justify=justify, overflow="fold", width=wide)
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    return table


def _widths(headers: Sequence[str], rows: Rows, width: int) -> list[int]:
    """The width of each column: room for its longest word, and a part of the spare width, columns of numbers first."""
    columns = range(len(headers))
    widths = [_least(headers, rows, i) for i in columns]
    spare = width - sum(widths) - GAP * (len(widths) - 1)
    for i in sorted(columns, key=lambda i: not _is_numeric(rows, i)):
        whole = max(len(text) for text in (headers[i], *(row[i] for row in rows)))
        more = max(min(whole - widths[i], spare), 0)
        widths[i] += more
        spare -= more
    return widths


def _least(headers: Sequence[str], rows: Rows, index: int) -> int:
    """The width of a column in which no word breaks, and no name."""
    cells = [row[index] for row in rows]
    words = [word for cell in (headers[index], *cells) for word in cell.split()]
    return max(len(text) for text in (*words, *(cells if _is_name(rows, index) else ()), ""))


def _is_name(rows: Rows, index: int) -> bool:
    return index == 0 and all(len(row[0]) <= NAME_CHARACTERS for row in rows)


def _is_numeric(rows: Rows, index: int) -> bool:
    return bool(rows) and all(_numeric(row[index]) for row in rows)


def _numeric(cell: str) -> bool:
    return bool(cell) and cell[0] in "0123456789–-+≥" or cell == ""
