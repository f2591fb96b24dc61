"""Readers of single values: text → value, or ValueError with one sentence. They name no flag and no key."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import TypeVar

from scale_sweep.base.texts import not_one_of
from scale_sweep.base.units import (
    format_bytes,
    format_number,
    parse_bytes,
    parse_cpus,
    parse_levels,
    parse_rate,
    parse_seconds,
)
from scale_sweep.model.declared_parts import Piece, Rule
from scale_sweep.model.proof import RESOURCES

RAM_BYTES_MIN = 256 * 2**20
MEMORY_BYTES_MIN = 16 * 2**20
_PIECE = re.compile(r"(\d+(?:\.\d+)?)?(\.\.)?(\d+(?:\.\d+)?)?=(.+)")
N = TypeVar("N", int, float)


class OneOf:
    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def __call__(self, text: str) -> str:
        if text not in self.choices:
            raise ValueError(not_one_of(text, self.choices))
        return text


def data_directory(text: str) -> str:
    word, colon, size = text.partition(":")
    if word != (meant := word.lower()) in ("ram", "auto"):
        raise ValueError(f"{text!r}: did you mean {meant}{colon}{size}? The directory {word} is written ./{word}")
    if word == "ram" and colon and parse_bytes(size) < RAM_BYTES_MIN:
        raise ValueError(f"{text!r} is below {format_bytes(RAM_BYTES_MIN)} for an empty server; write a unit: ram:8GiB")
    return text


def memory(text: str) -> int:
    value = parse_bytes(text)
    if value < MEMORY_BYTES_MIN:
        like = f"{text.strip()}{'GiB' if value < 64 else 'MiB'}" if text.strip().isdigit() else "4GiB"
        raise ValueError(f"{text} means {value:,} bytes; write {like} (at least {format_bytes(MEMORY_BYTES_MIN)})")
    return value


def _checked(read: Callable[[str], N], is_right: Callable[[N], bool], words: str) -> Callable[[str], N]:

    def read_right(text: str) -> N:
        value = read(text)
        if not is_right(value):
            raise ValueError(f"{text!r} {words}")
        return value

    return read_right


def at_least(low: int, read: Callable[[str], int]) -> Callable[[str], int]:
    return _checked(read, lambda value: value >= low, f"is too little: at least {low}")


def above_zero(read: Callable[[str], N]) -> Callable[[str], N]:
    return _checked(read, lambda value: value > 0, "must be above 0")


def between(low: float, high: float, read: Callable[[str], N]) -> Callable[[str], N]:
    words = f"is not between {format_number(low)} and {format_number(high)}"
    return _checked(read, lambda value: low <= value <= high, words)


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None


def percent(text: str) -> float:
    """Above 0 and at most 100."""
    try:
        value = float(text.strip().removesuffix("%").strip())
    except ValueError:
        raise ValueError(f"{text!r} is not a percentage, like 5%") from None
    if not 0 < value <= 100:
        raise ValueError(f"{text!r} is not between 0 and 100 %")
    return value


def _is_whole(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,9}", text) is not None


def command(text: str) -> tuple[str, ...]:
    """Its words, as a shell splits them."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise ValueError(f"{text!r} cannot be split into words: {str(error).lower()}") from None
    if not words:
        raise ValueError("the command is empty")
    return words


def ready(text: str) -> str:
    """When a server of a command is ready."""
    how, colon, what = text.partition(":")
    if not colon or not what or how not in ("log", "http", "command"):
        raise ValueError(f"{text!r} is not log:REGEX, http:PATH or command:CMD")
    if how == "http" and not what.startswith("/"):
        raise ValueError(f"{text!r}: a path begins with /, like http:/health")
    if how == "command":
        command(what)
    try:
        re.compile(what)
    except re.error as error:
        if how == "log":
            raise ValueError(f"{what!r} is no regular expression: {error}") from None
    return text


def port(text: str) -> int:
    if not _is_whole(text) or not 1024 <= int(text) < 65536:
        raise ValueError(f"{text!r} is not a port between 1024 and 65535")
    return int(text)


def endpoint(text: str) -> str:
    """No message repeats a password."""
    if "@" in text:
        raise ValueError("every user of this machine can read a password here; set SCALE_TARGET_PASSWORD instead")
    host, _, port = text.rpartition(":")
    if not host or not _is_whole(port) or not 0 < int(port) < 65536:
        raise ValueError(f"{text!r} is not host:port")
    return text


def rule(text: str) -> Rule:
    """ "8", or pieces like "1..4=4,5..=12"."""
    if "=" not in text:
        if not text.strip():
            raise ValueError("the value is empty")
        return Rule(pieces=(Piece(first=None, last=None, value=text.strip()),))
    return Rule(pieces=tuple(_piece(part, text) for part in text.split(",")))


def _piece(part: str, whole: str) -> Piece:
    match = _PIECE.fullmatch(part.strip())
    if match is None:
        raise ValueError(f"{whole!r} is not a rule; write it like '1..4=4,5..=12'")
    first, dots, last, value = match.groups()
    first_level = float(first) if first else None
    last_level = float(last) if last else None if dots else first_level
    if first_level is not None and last_level is not None and last_level < first_level:
        raise ValueError(f"{whole!r} holds {part.strip()!r}, which runs backwards")
    return Piece(first=first_level, last=last_level, value=value)


def rule_value(rule_: Rule, level: float) -> str | None:
    for piece in rule_.pieces:
        if (piece.first is None or level >= piece.first) and (piece.last is None or level <= piece.last):
            return piece.value
    return None


def rule_text(rule: Rule) -> str:

    def stretch(first: float | None, last: float | None) -> str:
        if first is not None and first == last:
            return format_number(first)
        ends = [format_number(e) if e is not None else "" for e in (first, last)]
        return "..".join(ends)

    if len(rule.pieces) == 1 and rule.pieces[0].first is None and rule.pieces[0].last is None:
        return rule.pieces[0].value
    return ",".join(f"{stretch(p.first, p.last)}={p.value}" for p in rule.pieces)


_SETTING_NAME = re.compile(r"[A-Za-z_][\w.-]*")  # such as wal_level, insert.maxQueueDuration, query.max-samples


def named_rule(text: str) -> tuple[str, Rule]:
    name, equals, value = text.partition("=")
    if not equals or not _SETTING_NAME.fullmatch(name.strip()):
        raise ValueError(f"{text!r} is not NAME=VALUE")
    return name.strip(), rule(value)


def variation(text: str) -> tuple[str, tuple[str, ...]]:
    name, equals, values = text.partition("=")
    parts = tuple(v.strip() for v in values.split(",") if v.strip())
    if not equals or not _SETTING_NAME.fullmatch(name.strip()) or not parts:
        raise ValueError(f"{text!r} is not NAME=V1,V2")
    return name.strip(), tuple(dict.fromkeys(parts))


def whole_levels(what: str) -> Callable[[str], tuple[float, ...]]:
    """The unit is `what`, plural."""

    def read(text: str) -> tuple[float, ...]:
        levels = parse_levels(text)
        if broken := [level for level in levels if level != int(level)]:
            raise ValueError(f"{text!r} holds {format_number(broken[0])}; {what} come whole")
        return levels

    return read


def rate_of_bytes(text: str) -> int:
    """ "20MiB/s", or "20MiB"."""
    try:
        return parse_bytes(text.strip().removesuffix("/s"))
    except ValueError:
        raise ValueError(f'{text!r} is not a rate; write it like "20MiB/s"') from None


def paths(text: str) -> tuple[str, ...]:
    absolute = tuple(part.strip() for part in text.split(",") if part.strip())
    relative = [p for p in absolute if not p.startswith("/")]
    if not absolute or relative:
        raise ValueError(f"{(relative or [text])[0]!r} is not an absolute path")
    doubled = sorted({p for p in absolute if absolute.count(p) > 1})
    if doubled:
        raise ValueError(f"{doubled[0]} is named twice")
    return absolute


def resources(text: str) -> tuple[str, ...]:
    """Empty: those of the axis."""
    if text == "auto":
        return ()
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in names:
        if name not in RESOURCES:
            raise ValueError(not_one_of(name, tuple(RESOURCES)))
    return names


def switch(text: str) -> bool:
    if text not in ("1", "0", "true", "false"):
        raise ValueError(f"{text!r} is neither true nor false")
    return text in ("1", "true")


def tag(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"{text!r} is not k=v")
    return name.strip(), value.strip()


def rates(text: str) -> tuple[float, ...]:
    """Ascending, from "2000000" or "2M,5M"."""
    return tuple(sorted({above_zero(parse_rate)(part) for part in text.split(",")}))


_BITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


def network_speed(text: str) -> tuple[str, float]:
    """Bits/s from "eth0=10Gbit" (of 1000, as tc writes them)."""
    interface, value = tag(text)
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]bit)(?:/s)?", value.lower())
    if match is None or not float(match.group(1)):
        raise ValueError(f"{value!r} is not a speed like 10Gbit or 100Mbit")
    return interface, float(match.group(1)) * _BITS[match.group(2)]


def time_span(text: str) -> tuple[float | None, float]:
    """The least time (`5s`: none) and the greatest, in seconds."""
    least, dots, most = text.partition("..")
    if not dots:
        return None, parse_seconds(text)
    span = parse_seconds(least), parse_seconds(most)
    if span[0] > span[1]:
        raise ValueError(f"{text!r}: the least time is above the greatest; write it like 5s..60s")
    return span


SHARED = "shared"


def cpus_or_shared(text: str) -> tuple[int, ...] | str:
    return SHARED if text.strip() == SHARED else parse_cpus(text)
