"""Texts, tables and the names of verdicts as HTML, and texts as Markdown: the only way of a text into a report."""

from __future__ import annotations

import html
import re

from scale_sweep.base.texts import visible
from scale_sweep.model.derived import SHORT
from scale_sweep.model.measured import VerdictKind
from scale_sweep.report.table import Table

_SPECIAL = re.compile(r"([\\`*\[\]|#~]|(?<!\w)_|_(?!\w))")  # an underscore inside a word is not markup


def escape(text: str) -> str:
    return html.escape(visible(text))


def safe(text: str) -> str:
    """The text as Markdown, on one line. Entities, because some programs take a backslash before a tag for text."""
    return _SPECIAL.sub(r"\\\1", html.escape(visible(" ".join(text.split())), quote=False))


VERDICT_MEANINGS = {
    "VALID": "the rate is the server's in this trial; replicates can differ more: see the interval of the level",
    "SOFTWARE_BOTTLENECK": "the server does not use its resources, for a reason inside it; the rate is the server's",
    "UNSTEADY": "the rate drifted or varied too much inside the window",
    "GENERATOR_BOUND": "the load generator was the bottleneck, or too near to it",
    "RESOURCE_NOT_SATURATED": (
        "the server used too little of its cores: another resource limited it, or other programs took the CPU time"
    ),
    "OFFERED_NOT_MET": "the offered rate was not reached",
    "THROTTLED": "a CPU quota limited the server",
    "ERRORS": "requests failed, or the server did not have the planned settings",
    "LOST_ROWS": "the database lacks rows that it acknowledged",
    "WRONG_ROWS": "the database holds times or values that differ from those sent",
    "WRONG_ANSWER": "a query had a wrong answer",
    "ABORTED": "the trial did not run to its end",
}
SHORT_MEANING = "the window is too short to claim the long-run rate"

_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")
_VERDICT = re.compile(rf"\b(?:{'|'.join(VERDICT_MEANINGS)})\b")
_MARKED = re.compile(r"([\d.,]+)( [a-z][a-z, ]+)")  # 127,900 quick, buffered rate
_CSS = {"VALID": "ok", "SOFTWARE_BOTTLENECK": "own"}  # of the verdicts that count; every other verdict is bad


def meaning_of(words: str) -> str:
    kind, is_short, _ = words.partition(" (")
    return f"{VERDICT_MEANINGS[kind]}; {SHORT_MEANING}" if is_short else VERDICT_MEANINGS[kind]


def broken(words: str) -> str:
    marked = escape(words).replace(f" ({SHORT})", f" ({SHORT})".replace(" ", "&nbsp;"))
    return _VERDICT.sub(lambda name: name[0].replace("_", "_<wbr>"), marked)


def _cell(words: str) -> str:
    if words.count(" / ") > 1:
        return f'<span class="after">{escape(words).replace(" / ", "&nbsp;/ ")}</span>'
    marked = _MARKED.fullmatch(words)
    return f'{marked[1]}<span class="after">{escape(marked[2])}</span>' if marked else broken(words)


def code_html(words: str) -> str:
    parts = escape(words).split("`")
    if len(parts) % 2 == 0:
        return escape(words)
    return "".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts))


def sentence_html(words: str) -> str:
    return _FLAG.sub(lambda flag: f'<code class="flag">{flag[0]}</code>', escape(words))


def css_of(kind: VerdictKind) -> str:
    return _CSS.get(kind.value, "bad")


def table_html(table: Table, *, dense: bool = False) -> str:
    """A row's note is a second line below it. A table wider than the page can be scrolled by keyboard."""
    head = "".join(f'<th scope="col"{_word(table, i)}>{escape(h)}</th>' for i, h in enumerate(table.headers))
    body = []
    for at, row in enumerate(table.rows):
        why = table.row_notes[at] if at < len(table.row_notes) else ""
        first = "".join(f'<th scope="row"{_word(table, 0, cell)}>{broken(cell)}</th>' for cell in row[:1])
        cells = first + "".join(f"<td{_word(table, i, c)}>{_cell(c)}</td>" for i, c in enumerate(row) if i)
        key = f' id="{escape(table.keys[at])}"' if at < len(table.keys) else ""
        body.append(f'<tr{key} class="has-why">{cells}</tr>' if why else f"<tr{key}>{cells}</tr>")
        if why:
            css = "why" if not _CSS.keys().isdisjoint(row) else "why bad"
            body.append(f'<tr><td class="{css}" colspan="{len(row)}"><span>{sentence_html(why)}</span></td></tr>')
    notes = "".join(f'<p class="note">{sentence_html(note)}</p>' for note in table.notes)
    css = ' class="dense"' if dense else ""
    name = escape(table.title)
    rows = f"<caption>{name}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody>"
    area = f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">'
    return f"{area}<table{css}>{rows}</table></div>{notes}"


def _word(table: Table, column: int, cell: str = "") -> str:
    css = ["w"] if column in table.words else []
    if cell in VERDICT_MEANINGS:
        css.append(_CSS.get(cell, "bad"))
    return f' class="{" ".join(css)}"' if css else ""
