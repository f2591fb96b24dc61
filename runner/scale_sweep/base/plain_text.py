"""Checks the characters of a text that a user gave, before it is read, and shortens messages that repeat it. Pure."""

from __future__ import annotations

import unicodedata

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
