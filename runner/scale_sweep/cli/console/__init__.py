"""The only package that prints: progress and messages on standard error, results on standard output."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Literal

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table

from scale_sweep.base.errors import ScaleError
from scale_sweep.base.output import shows_all
from scale_sweep.base.texts import visible, visible_json
from scale_sweep.model.planned import Finding

WIDTH_IN_FILES = 200
PARTS = 4096  # of a JSON document, written at once


class OwnConsole(Console):
    """It commands the terminal itself, and no text does."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for part in super().render(renderable, options):
            yield part if part.control else part._replace(text=visible(part.text))


out = OwnConsole(highlight=False, emoji=False, soft_wrap=True, width=None if sys.stdout.isatty() else WIDTH_IN_FILES)
err = OwnConsole(
    stderr=True, highlight=False, emoji=False, soft_wrap=True, width=None if sys.stderr.isatty() else WIDTH_IN_FILES
)


def as_it_is(console: Console, text: str) -> bool:
    """Whether the terminal wraps: in a file, and for a word longer than a line, which people copy."""
    return not console.is_terminal or any(len(word) > console.width for word in text.split())


def say(sentence: str, style: str = "") -> None:
    _print(err, sentence, style)


def show_error(error: ScaleError) -> None:
    err.print(f"[bold red]scale:[/] {escape(error.message)}")
    if remedy := error.remedy or error.usual_remedy:
        err.print(f"  → {escape(remedy)}")


def show_findings(findings: Sequence[Finding]) -> None:
    for f in findings:
        text = escape(f.sentence) + (f" → {escape(f.remedy)}" if f.remedy else "")
        colour = "red" if f.blocking else "yellow"
        err.print(f"[{colour}]{escape(f.subject)}:[/] {text}", soft_wrap=as_it_is(err, text))


def show_obstacles(findings: Sequence[Finding]) -> None:
    for f in findings:
        text = f"{escape(f.subject)}: {escape(f.sentence)}" + (f" → {escape(f.remedy)}" if f.remedy else "")
        err.print(f"[bold red]Cannot start:[/] {text}", soft_wrap=as_it_is(err, text))


def show_json(document: Any) -> None:
    """In parts: a document may be large, and is not in memory as a whole."""
    parts = json.JSONEncoder(indent=1, ensure_ascii=not shows_all(sys.stdout), default=_plain).iterencode(document)
    while some := "".join(itertools.islice(parts, PARTS)):
        out.file.write(visible_json(some))
    out.file.write("\n")
    out.file.flush()


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return str(value)


def show_bytes(content: bytes) -> None:
    """Unchanged."""
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def show_line(text: str, style: str = "") -> None:
    _print(out, text, style)


def _print(console: Console, text: str, style: str) -> None:
    if "\t" in text:  # print would put blanks in its place
        console.file.write(visible(text) + "\n")
    else:
        console.print(escape(text), style=style or None, soft_wrap=as_it_is(console, text))


def show_table(
    title: str, headers: Sequence[str], rows: Sequence[Sequence[str]], essential: Sequence[int] = ()
) -> None:
    """essential: the columns to keep if there is no room for all; else row by row."""
    kept = fitting(headers, rows, essential, out.width)
    shown, cells = [headers[i] for i in kept], [[row[i] for i in kept] for row in rows]
    if is_narrow(shown, cells, out.width):
        if title:
            show_line(title, "bold")
        for row in cells:
            for line in record(shown, row):
                show_line(line)
    else:
        out.print(table_of(title, shown, cells, out.width))
    if left_out := [header for i, header in enumerate(headers) if i not in kept]:
        show_line(f"In a wider terminal: {', '.join(left_out)}.", "dim")


def show_report_table(table: Any, indent: str = "") -> None:
    """Nothing without rows. indent: of the notes."""
    if table.rows:
        show_table(table.title, table.headers, table.rows, table.essential)
        for note in table.notes:
            show_line(f"{indent}{note}", "dim")


NAME_CHARACTERS = 48  # of the longest name that stays on one line
GAP = 2
_WHOLE = 28  # characters of a cell that stay on one line if a table has essential columns
Rows = Sequence[Sequence[str]]


def fitting(headers: Sequence[str], rows: Rows, essential: Sequence[int], width: int) -> list[int]:
    """The columns to show: all if they have room side by side, else the essential ones (none: all are)."""
    columns = list(range(len(headers)))
    whole = [max(len(headers[i]), *(min(len(row[i]), _WHOLE) for row in rows), 0) for i in columns]
    return columns if not essential or sum(whole) + GAP * (len(whole) - 1) <= width else list(essential)


def is_narrow(headers: Sequence[str], rows: Rows, width: int) -> bool:
    least = [_least(headers, rows, i) for i in range(len(headers))]
    return sum(least) + GAP * (len(least) - 1) > width


def record(headers: Sequence[str], row: Sequence[str]) -> list[str]:
    """As lines: the first two cells, then each further cell with its heading."""
    further = [f"    {header}: {cell}" for header, cell in zip(headers[2:], row[2:], strict=True) if cell]
    return ["  ".join(cell for cell in row[:2] if cell), *further]


def table_of(title: str, headers: Sequence[str], rows: Rows, width: int) -> Table:
    """Names in the first column stay on one line, so that they can be copied."""
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
    """Room for the longest word, and a part of the spare width, columns of numbers first."""
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
    cells = [row[index] for row in rows]
    words = [word for cell in (headers[index], *cells) for word in cell.split()]
    return max(len(text) for text in (*words, *(cells if _is_name(rows, index) else ()), ""))


def _is_name(rows: Rows, index: int) -> bool:
    return index == 0 and all(len(row[0]) <= NAME_CHARACTERS for row in rows)


def _is_numeric(rows: Rows, index: int) -> bool:
    return bool(rows) and all(_numeric(row[index]) for row in rows)


def _numeric(cell: str) -> bool:
    return bool(cell) and cell[0] in "0123456789–-+≥" or cell == ""
