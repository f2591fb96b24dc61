"""The two forms of a report, HTML for a page and Markdown, and the parts of every page. Each escapes its texts."""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from scale_sweep.base.texts import visible
from scale_sweep.base.units import counted
from scale_sweep.model.derived import counted_verdicts
from scale_sweep.model.measured import TrialResult, VerdictKind
from scale_sweep.report.markup import VERDICT_MEANINGS, code_html, css_of, escape, safe, sentence_html, table_html
from scale_sweep.report.style import PAGE_STYLE, part
from scale_sweep.report.table import Table


@dataclass(frozen=True)
class Section:
    name: str  # of its link, one plain word
    title: str
    body: str  # in a form of forms.py; "" leaves the part out
    is_titled: bool = True  # in Markdown, where some tables say enough


def sections_html(sections: Sequence[Section], within: str = "") -> str:
    """The list of links, then the parts. within: before the names of links, for a page that has several such lists."""
    shown = [section for section in sections if section.body]
    links = "".join(f'<li><a href="#{_link(s, within)}">{escape(s.title)}</a></li>' for s in shown)
    parts = "".join(f'<section id="{_link(s, within)}"><h2>{escape(s.title)}</h2>{s.body}</section>\n' for s in shown)
    return f'<nav class="contents" aria-label="Contents"><ul>{links}</ul></nav>\n{parts}' if shown else ""


def folded(summary: str, body: str) -> str:
    return f'<details class="fold"><summary>{escape(summary)}</summary>{body}</details>' if body else ""


def listed(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{sentence_html(line)}</li>" for line in lines) + "</ul>" if lines else ""


def _link(section: Section, within: str) -> str:
    return escape(f"{within}-{section.name}" if within else section.name)


Rows = Sequence[Sequence[object]]


def figure_html(name: str, drawn: str, caption: str, rows: Rows, *, narrow: str = "", width: int = 0) -> str:
    """name: of the files that a reader saves. narrow: the same picture for a phone. rows: its data. width: in
    pixels."""
    most = f' style="max-width:{width}px"' if width else ""
    pictures = f'<div class="wide">{drawn}</div><div class="narrow">{narrow}</div>' if narrow else drawn
    data = base64.b64encode(_csv(rows).encode()).decode()
    link = f'<a download="{escape(name)}.csv" href="data:text/csv;base64,{data}">CSV</a>'
    words = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f'<figure data-name="{escape(name)}"{most}>{pictures}{words}<p class="save">{link}</p></figure>\n'


def _csv(rows: Rows) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(_cell, row) for row in rows)
    return text.getvalue()


def _cell(value: object) -> str:
    """A number with nine digits: `scale verify` may compute a whole number, or another last bit."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:.9g}"
    return "" if value is None else visible(str(value))


def shell(title: str, body: str) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title>\n<style>{PAGE_STYLE}</style></head>\n'
        f"<body><main>\n{body}</main>\n<script>{part('page.js')}</script></body></html>\n"
    )


Tile = tuple[str, str]
CAUTIONS = "Before you believe it"
SHOWN = 2  # cautions that are not folded
_INTERVAL = r"\([\d.,+-]+ to [\d.,+-]+(?: [kMG%])?\)"


@dataclass(frozen=True, kw_only=True)
class Headline:
    title: str  # the result
    above: str  # the small line over it
    question: str
    answer: Sequence[str]  # sentences of the result; the part before the first colon of the first one is its verdict
    tiles: Sequence[Tile]  # figures, each with words
    note: str
    cautions: Sequence[str]  # what weakens it


def headline_html(headline: Headline, results: Sequence[TrialResult]) -> str:
    """results: whose verdicts are counted."""
    tiles = "".join(f'<div class="tile"><b>{_unbroken(v, _INTERVAL)}</b><span>{escape(w)}</span></div>'
                    for v, w in headline.tiles)  # fmt: skip
    answers = "".join(f'<p class="answer">{_answer(words)}</p>' for words in headline.answer)
    parts = (
        f'<p class="eyebrow">{escape(headline.above)}</p><h1>{escape(headline.title)}</h1>',
        f'<p class="question">{escape(headline.question)}</p>' if headline.question else "",
        f'{answers}\n<div class="tiles">{tiles}</div>\n',
        f'<div class="chips">{_chips(results)}<span class="note">{escape(headline.note)}</span></div>\n',
        _cautions(headline.cautions),
    )
    return "".join(parts)


def _cautions(cautions: Sequence[str]) -> str:
    """The first ones, then the others, folded: the curve begins on the first screen."""
    if not cautions:
        return ""
    more = folded(f"{len(cautions) - SHOWN} more", listed(cautions[SHOWN:])) if len(cautions) > SHOWN else ""
    return f'<div class="cautions"><b>{CAUTIONS}</b>{listed(cautions[:SHOWN])}{more}</div>\n'


def valid_tile(results: Sequence[TrialResult], planned: int) -> Tile:
    """planned: trials that the run was to have."""
    valid = sum(1 for r in results if r.verdict.kind is VerdictKind.VALID)
    bound = sum(1 for r in results if r.verdict.kind is VerdictKind.SOFTWARE_BOTTLENECK)
    missing = f", {planned - len(results)} not run" if planned > len(results) else ""
    too = f", {bound} more with a software bottleneck" if bound else ""
    return f"{valid} of {len(results)}", f"valid trials{too}{missing}"


def valid_words(named: Iterable[tuple[str, Sequence[TrialResult]]]) -> str:
    """ "5 of 6 trials are VALID: questdb 3 of 3, postgres 2 of 3."."""
    groups = [(name, sum(r.verdict.kind is VerdictKind.VALID for r in some), len(some)) for name, some in named]
    total, of = sum(valid for _, valid, _ in groups), sum(many for *_, many in groups)
    each = ", ".join(f"{name} {valid} of {many}" for name, valid, many in groups)
    return f"{total} of {counted(of, 'trial')} {'is' if total == 1 else 'are'} VALID: {each}."


def _chips(results: Sequence[TrialResult]) -> str:
    parts = []
    for kind in VerdictKind:
        if some := [r for r in results if r.verdict.kind is kind]:
            meaning = escape(VERDICT_MEANINGS[kind.value])
            parts.append(f'<span class="chip {css_of(kind)}" title="{meaning}">{counted_verdicts(some)}</span>')
    return "".join(parts)


def _answer(words: str) -> str:
    verdict, colon, rest = words.partition(": ")
    return f"<b>{_unbroken(verdict)}:</b> {_unbroken(rest)}" if colon else f"<b>{_unbroken(words)}</b>"


def _unbroken(words: str, pattern: str = rf"[\d.,]+ (?:[kMG%] )?{_INTERVAL}|[\d.]+ [kMG]\b") -> str:
    return re.sub(pattern, lambda number: number[0].replace(" ", "&nbsp;"), escape(words))


class Page:
    is_page = True

    def joined(self, *parts: str) -> str:
        return "".join(parts)

    def table(self, table: Table, *, dense: bool = False) -> str:
        return table_html(table, dense=dense) if table.rows else ""

    def bullets(self, lines: Sequence[str], *, code: bool = False) -> str:
        """code: what is between two backticks."""
        if not code:
            return listed(lines)
        return f"<ul>{''.join(f'<li>{code_html(line)}</li>' for line in lines)}</ul>" if lines else ""

    def words(self, words: str, *, note: bool = False) -> str:
        return f'<p class="note">{escape(words)}</p>' if note else f"<p>{escape(words)}</p>"

    def under(self, title: str, body: str) -> str:
        return f"<h3>{escape(title)}</h3>{body}" if body else ""

    def folded(self, summary: str, body: str) -> str:
        return folded(summary, body)

    def on_page(self, drawn: Callable[[], str]) -> str:
        return drawn()

    def command(self, command: str) -> str:
        return f"<h3>To repeat it</h3><pre>{escape(command)}</pre>" if command else ""

    def links(self, names: Sequence[tuple[str, str]]) -> str:
        """names: short ones, and in words."""
        items = "".join(f'<li><a href="#{escape(name)}">{escape(words)}</a></li>' for name, words in names)
        return f"<ul>{items}</ul>"

    def body(self, headline: Headline, results: Sequence[TrialResult], sections: Sequence[Section], within: str) -> str:
        """within: before the names of links, on a page with several bodies."""
        return headline_html(headline, results) + sections_html(sections, within)

    def document(self, headline: Headline, body: str) -> str:
        return shell(headline.title, body)


class Markdown:
    is_page = False

    def joined(self, *parts: str) -> str:
        return "\n\n".join(filter(None, parts))

    def table(self, table: Table, *, dense: bool = False) -> str:
        if not table.rows:
            return ""
        headers, words, rows = table.headers, table.words, table.rows
        if table.row_notes:
            words, headers = (*words, len(headers)), (*headers, "Reasons")
            rows = tuple((*row, why) for row, why in zip(rows, table.row_notes, strict=True))
        align = " | ".join("---" if i in words else "---:" for i in range(len(headers)))
        lines = [" | ".join(map(safe, row)) for row in (headers, *rows)]
        piped = "\n".join(f"| {line} |" for line in (lines[0], align, *lines[1:]))
        return self.joined(piped, *map(safe, table.notes))

    def bullets(self, lines: Sequence[str], *, code: bool = False) -> str:
        return "\n".join(f"- {safe(line)}" for line in lines)

    def words(self, words: str, *, note: bool = False) -> str:
        return safe(words)

    def under(self, title: str, body: str) -> str:
        return f"## {title}\n\n{body}" if body else ""

    def folded(self, summary: str, body: str) -> str:
        return body

    def on_page(self, drawn: Callable[[], str]) -> str:
        return ""

    def command(self, command: str) -> str:
        return f"To repeat it:\n\n    {visible(' '.join(command.splitlines()))}" if command else ""

    def links(self, names: Sequence[tuple[str, str]]) -> str:
        return "\n".join(f"- [{safe(words)}](report-{name}.md)" for name, words in names)

    def body(self, headline: Headline, results: Sequence[TrialResult], sections: Sequence[Section], within: str) -> str:
        """A section whose body begins with a heading needs none of its own."""
        parts = [
            one.body if not one.is_titled or one.body.startswith("## ") else self.under(one.title, one.body)
            for one in sections
        ]
        return self.joined(
            f"# {safe(headline.title)}",
            safe(headline.above),
            safe(headline.question),
            *(f"**{safe(words)}**" for words in headline.answer),
            f"Verdicts: {safe(counted_verdicts(results) or 'no trial')}.",
            headline.note,
            self.under(CAUTIONS, self.bullets(headline.cautions)),
            *parts,
        )

    def document(self, headline: Headline, body: str) -> str:
        return f"{body}\n"


Form = Page | Markdown
