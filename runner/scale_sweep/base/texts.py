"""Texts: those from outside are checked or written out, names get the nearest known one, sentences become one."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Sequence

CHARACTERS_MAX = 512 * 1024
_SHOWN_MAX = 700
_REFUSED = {"Cc": "a control character", "Cs": "a byte that is not UTF-8"}


def plain_text(text: str) -> str:
    """The text, if it has characters that can be stored and shown. Raises ValueError for an empty text, a control
    character, a character that UTF-8 does not have, or a text that is too long."""
    if not text.strip():
        raise ValueError("the value is empty")
    if len(text) > CHARACTERS_MAX:
        raise ValueError(f"the value has {len(text):,} characters; {CHARACTERS_MAX:,} at most")
    if what := odd_character(text):
        raise ValueError(f"{shortened(repr(text))} has {what}")
    return text


def odd_character(text: str, allowed: str = "") -> str:
    """A character that cannot be stored or shown, in words; "" if there is none."""
    if text.isprintable():
        return ""
    kinds = (unicodedata.category(character) for character in text if character not in allowed)
    return next((_REFUSED[kind] for kind in kinds if kind in _REFUSED), "")


def shortened(message: str) -> str:
    """A message of at most some hundred characters: it may repeat a long text of the user."""
    if len(message) <= _SHOWN_MAX:
        return message
    half = _SHOWN_MAX // 2
    return f"{message[:half]} ... {message[-half:]}"


# Control characters except tab and newline (with those of 8 bits, such as CSI), marks that reverse the direction of a
# text, separators of lines, and the halves of a character that is no UTF-8.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""The text for people: ESC as \x1b, an override of the direction as \u202e, ends of lines as newlines."""
    return _COMMANDS.sub(_written, text.replace("\r\n", "\n"))


def visible_json(text: str) -> str:
    return _COMMANDS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _written(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


_NEAR = 0.6
_NAMES_MAX = 60


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """ "; did you mean postgres?", or nothing if no known name is near."""
    by_lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name[:_NAMES_MAX].lower(), by_lower, n=1, cutoff=_NEAR)
    return f"; did you mean {by_lower[near[0]]}?" if near else ""


def not_one_of(name: str, known: Iterable[str]) -> str:
    """ "'x' is not one of a, b; did you mean a?" """
    names = tuple(known)
    shown = name if len(name) <= _NAMES_MAX else f"{name[:_SHOWN_MAX]}..."
    return f"{shown!r} is not one of {', '.join(names)}{did_you_mean(name, names)}"


_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def alike(sentences: Iterable[str]) -> list[tuple[int, str]]:
    """Each group of sentences with the same words: their number and one sentence for all, the largest group first."""
    groups: dict[str, list[str]] = {}
    for sentence in sentences:
        groups.setdefault(_NUMBER.sub("#", sentence), []).append(sentence)
    counted = [(len(group), _one(group)) for group in groups.values()]
    return sorted(counted, key=lambda one: -one[0])


def _one(group: Sequence[str]) -> str:
    columns = iter(zip(*(_NUMBER.findall(sentence) for sentence in group), strict=True))
    return _NUMBER.sub(lambda _: _range(next(columns)), group[0])


def _range(numbers: Sequence[str]) -> str:
    ordered = sorted(set(numbers), key=_value)
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"


def _value(number: str) -> tuple[float, str]:
    """The value of a number with separators of thousands, and the text itself for what is no number, as 1.2.3."""
    bare = number.replace(",", "")
    return (float(bare) if bare.count(".") < 2 else 0.0), number
