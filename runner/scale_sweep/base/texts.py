"""Texts: checked or written out for people, the nearest known name, alike sentences, equal settings, ages of
versions."""

from __future__ import annotations

import difflib
import re
import shlex
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

CHARACTERS_MAX = 512 * 1024
_SHOWN_MAX = 700
_REFUSED = {"Cc": "a control character", "Cs": "a byte that is not UTF-8"}


def plain_text(text: str) -> str:
    """Raises ValueError for a text that cannot be stored or shown."""
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
    """Each group of sentences that differ only in numbers: their count and one sentence for all, the largest first."""
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


_WORDS = {"on": "on", "true": "on", "yes": "on", "off": "off", "false": "off", "no": "off"}
_SIZES = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_OWN_BYTES = {f"{unit}b": size for unit, size in _SIZES.items()}  # as servers with such units read them
_BYTES = {"b": 1, **_SIZES, **{f"{unit}ib": size for unit, size in _SIZES.items()}}
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)")
_DURATION = re.compile(rf"(?:{_AMOUNT.pattern})+")


def is_same_value(one: str, other: str) -> bool:
    """Whether two spellings of a setting are equal: 1GB and 1024MB, 5min and 300s, on and true, 4 and 4.000000."""
    a, b = (_plain(text) for text in (one, other))
    return a == b or any(x == y for x, y in zip(_readings(a), _readings(b), strict=True) if x is not None)


def are_same_values(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return one.keys() == other.keys() and all(is_same_value(one[name], other[name]) for name in one)


def _plain(text: str) -> str:
    text = text.strip().strip("'").lower()
    return _WORDS.get(text, text)


def _readings(text: str) -> tuple[float | None, float | None, float | None]:
    """In bytes of any database, in bytes of its own units, and in seconds; None where it is no such amount."""
    try:
        number = float(text)
    except ValueError:
        return _size(text, _BYTES), _size(text, {**_BYTES, **_OWN_BYTES}), _seconds(text)
    zero = 0.0 if number == 0 else None
    return number, zero, zero


def _size(text: str, units: Mapping[str, int]) -> float | None:
    match = _AMOUNT.fullmatch(text)
    return float(match[1]) * units[match[2]] if match and match[2] in units else None


def _seconds(text: str) -> float | None:
    """168h0m0s too."""
    parts = _AMOUNT.findall(text) if _DURATION.fullmatch(text) else []
    known = parts and all(unit in _SECONDS for _, unit in parts)
    return round(sum(float(number) * _SECONDS[unit] for number, unit in parts), 9) if known else None


OLD_YEARS = 2.0


def released_in(months: Mapping[str, str], version: str) -> str:
    """The month YYYY-MM of the version; "" if not known. months: by version, or by the start of several."""
    known = [one for one in months if version.startswith(one) and not version[len(one) : len(one) + 1].isdigit()]
    return months[max(known, key=len)] if known else ""


def age_years(month: str, now: str) -> float:
    """Years between two months. now: a date that begins as YYYY-MM. Raises ValueError."""
    (year, number), (this_year, this_number) = (map(int, text[:7].split("-")) for text in (month, now))
    return max(0.0, this_year - year + (this_number - number) / 12)


def command_text(words: Sequence[str]) -> str:
    """As a user types it; a shell leaves {port} as it is."""
    return " ".join(word if re.fullmatch(r"(?:[\w@%+=:,./-]|\{\w+\})+", word) else shlex.quote(word) for word in words)
