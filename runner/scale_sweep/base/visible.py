"""Texts from outside (names, tags, a server's words) with every character that would command a terminal written out."""

from __future__ import annotations

import re

# Control characters except tab and newline (with those of 8 bits, such as CSI), marks that reverse the direction of a
# text, separators of lines, and the halves of a character that is no UTF-8.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""The text for people: ESC as \x1b, an override of the direction as \u202e, ends of lines as newlines."""
    return _COMMANDS.sub(_written, text.replace("\r\n", "\n"))


def visible_json(text: str) -> str:
    """A JSON document with the same data, in which such characters are escaped as JSON escapes them."""
    return _COMMANDS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _written(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
