"""The two forms of a report: HTML for a page, Markdown for terminals and wikis. Each escapes its texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scale_sweep.base.texts import visible
from scale_sweep.model import TrialResult, counted_verdicts
from scale_sweep.report.markup import code_html, escape, safe, table_html
from scale_sweep.report.page_parts import (
    CAUTIONS,
    Headline,
    Section,
    folded,
    headline_html,
    listed,
    sections_html,
    shell,
)
from scale_sweep.report.table import Table


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
        """A part of a section under its own heading; "" without a body."""
        return f"<h3>{escape(title)}</h3>{body}" if body else ""

    def folded(self, summary: str, body: str) -> str:
        return folded(summary, body)

    def on_page(self, drawn: Callable[[], str]) -> str:
        return drawn()

    def command(self, command: str) -> str:
        return f"<h3>To repeat it</h3><pre>{escape(command)}</pre>" if command else ""

    def links(self, names: Sequence[tuple[str, str]]) -> str:
        """The reports of variants: the short name of each, and its words."""
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
        """A pipe table with its notes. Notes of rows are a column."""
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
