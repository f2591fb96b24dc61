"""The parts of a page under their headings, with a list of links to them. Refuses a heading over nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scale_sweep.report.markup import escape, sentence_html


@dataclass(frozen=True, kw_only=True)
class Section:
    """One part of a page."""

    name: str  # of its link, one plain word
    title: str
    body: str  # HTML; "" leaves the part out


def sections_html(sections: Sequence[Section], within: str = "") -> str:
    """The list of links, then the parts. within: before the names of links, for a page that has several such lists."""
    shown = [section for section in sections if section.body]
    links = "".join(f'<li><a href="#{_link(s, within)}">{escape(s.title)}</a></li>' for s in shown)
    parts = "".join(f'<section id="{_link(s, within)}"><h2>{escape(s.title)}</h2>{s.body}</section>\n' for s in shown)
    return f'<nav class="contents" aria-label="Contents"><ul>{links}</ul></nav>\n{parts}' if shown else ""


def folded(summary: str, body: str) -> str:
    """A part that a reader opens; on paper it is open. "" without a body."""
    return f'<details class="fold"><summary>{escape(summary)}</summary>{body}</details>' if body else ""


def listed(lines: Sequence[str]) -> str:
    """A list of sentences; "" without any."""
    return "<ul>" + "".join(f"<li>{sentence_html(line)}</li>" for line in lines) + "</ul>" if lines else ""


def _link(section: Section, within: str) -> str:
    return escape(f"{within}-{section.name}" if within else section.name)
