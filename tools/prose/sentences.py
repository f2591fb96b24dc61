"""Sentences of a Markdown page or of a message. Code and links' targets are left out.

Text between backticks becomes one word, because it is a name. A cell of a table, an item of a list and a heading are
texts of their own: none continues the one before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

NAME = "`x`"
_FENCE = re.compile(r"^(?:> ?)? *```.*?^(?:> ?)? *```", re.MULTILINE | re.DOTALL)
_HTML = re.compile(r"<!--.*?-->|<[a-z/][^>]*>", re.DOTALL)
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")
_END = re.compile(r"(?<=[.!?])[)\"”*]*\s+(?=\S)")
_ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|cf|vs|etc|No)\.$")


def sentences(page: str) -> Iterator[tuple[int, str]]:
    """Line and text of each sentence of a Markdown page."""
    for line, text in _texts(_without_code(page)):
        for sentence in split(text):
            yield line, sentence


def split(text: str) -> list[str]:
    """The sentences of one text. An abbreviation ends none."""
    found: list[str] = []
    for part in _END.split(" ".join(text.split())):
        if found and _ABBREVIATED.search(found[-1]):
            found[-1] += f" {part}"
        elif part:
            found.append(part)
    return found


def plain(text: str) -> str:
    """Names between backticks, links' targets and marks of Markdown do not count as words."""
    text = re.sub(r"`[^`]*`", NAME, text)
    text = re.sub(r"!\[[^]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    return text.replace("**", "")


def _without_code(page: str) -> str:
    for pattern in (_FENCE, _HTML):
        page = pattern.sub(lambda found: "\n" * found.group().count("\n"), page)
    return page


def _texts(page: str) -> Iterator[tuple[int, str]]:
    """Line and text of each paragraph, heading, item and cell."""
    begin, lines = 1, list[str]()
    for number, raw in enumerate([*page.splitlines(), ""], start=1):
        line = re.sub(r"^> ?", "", raw)
        is_alone = line.startswith(("|", "#"))
        if (is_alone or not line.strip() or _ITEM.match(line)) and lines:
            yield begin, plain("\n".join(lines))
            lines = []
        if line.startswith("|"):
            yield from ((number, plain(cell)) for cell in line.strip(" |").split(" | "))
        elif line.startswith("#"):
            yield number, plain(line.lstrip("# "))
        elif line.strip():
            begin = begin if lines else number
            lines.append(_ITEM.sub("", line))
