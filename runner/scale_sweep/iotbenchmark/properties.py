"""Text of a Java properties file → keys and values. Pure. Refuses nothing: what a key means is keys.py's."""

from __future__ import annotations

import re

_LINE = re.compile(r"((?:\\.|[^\\=:\s])+)\s*[=:]?\s*(.*)", re.DOTALL)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)


def read_properties(text: str) -> dict[str, str]:
    """The last value of each key. Comments begin with # or !; a backslash at its end continues a line."""
    values: dict[str, str] = {}
    for line in _logical_lines(text):
        match = _LINE.fullmatch(line)
        if match:
            values[_plain(match.group(1))] = _plain(match.group(2)).strip()
    return values


def _logical_lines(text: str) -> list[str]:
    lines: list[str] = []
    continued = False
    for line in text.splitlines():
        part = line.lstrip()
        if not continued and (not part or part[0] in "#!"):
            continue
        ends = (len(part) - len(part.rstrip("\\"))) % 2 == 1
        part = part[:-1] if ends else part
        if continued:
            lines[-1] += part
        else:
            lines.append(part)
        continued = ends
    return lines


def _plain(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        word = match.group(1)
        if len(word) > 1:
            return chr(int(word[1:], 16))
        return _ESCAPES.get(word, word)

    return _ESCAPE.sub(one, text)
