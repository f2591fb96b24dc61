"""Readers of single values: text → value, or ValueError with one sentence. Pure; they name no flag and no key."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from scale_sweep.base.texts import not_one_of
from scale_sweep.base.units import format_bytes, format_number, parse_bytes, parse_count
from scale_sweep.model import COLUMN_TYPES, Piece, Rule

RAM_BYTES_MIN = 256 * 2**20
MEMORY_BYTES_MIN = 16 * 2**20
COLUMNS_MAX = 4096  # of the load generator
_SIZED = ("binary", "nchar", "varbinary", "geometry")
_COLUMN = re.compile(r"(?:([A-Za-z_]\w{0,63}):)?([a-z]+)(?:\((\d{1,5})\))?")
_MANY = re.compile(r"(\d{1,4}):([a-z]+)(\(\d{1,5}\))?")
_PIECE = re.compile(r"(\d+(?:\.\d+)?)?(\.\.)?(\d+(?:\.\d+)?)?=(.+)")


class OneOf:
    """A reader for a closed set of words."""

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def __call__(self, text: str) -> str:
        """The word. Raises ValueError that lists the choices."""
        if text not in self.choices:
            raise ValueError(not_one_of(text, self.choices))
        return text


def data_directory(text: str) -> str:
    """A directory, memory ("ram", "ram:8GiB"), or "auto"."""
    word, colon, size = text.partition(":")
    if word != (meant := word.lower()) in ("ram", "auto"):
        raise ValueError(f"{text!r}: did you mean {meant}{colon}{size}? The directory {word} is written ./{word}")
    if word == "ram" and colon and parse_bytes(size) < RAM_BYTES_MIN:
        raise ValueError(f"{text!r} is below {format_bytes(RAM_BYTES_MIN)} for an empty server; write a unit: ram:8GiB")
    return text


def memory(text: str) -> int:
    """Bytes that a server may use; no server starts in less than the smallest limit."""
    value = parse_bytes(text)
    if value < MEMORY_BYTES_MIN:
        raise ValueError(f"{text} means {value:,} bytes; write {format_bytes(MEMORY_BYTES_MIN)} or more, like 4GiB")
    return value


def at_least(low: int, read_number: Callable[[str], int]) -> Callable[[str], int]:
    """A reader for a whole number not below `low`."""

    def read(text: str) -> int:
        value = read_number(text)
        if value < low:
            raise ValueError(f"{text!r} is below {low}")
        return value

    return read


def above_zero(read_number: Callable[[str], float]) -> Callable[[str], float]:

    def read(text: str) -> float:
        value = read_number(text)
        if value <= 0:
            raise ValueError(f"{text!r} must be above 0")
        return value

    return read


def percent(text: str) -> float:
    """ "5%" or "5" → 5.0; above 0 and at most 100."""
    try:
        value = float(text.strip().removesuffix("%").strip())
    except ValueError:
        raise ValueError(f"{text!r} is not a percentage, like 5%") from None
    if not 0 < value <= 100:
        raise ValueError(f"{text!r} is not between 0 and 100 %")
    return value


def between(low: float, high: float) -> Callable[[str], float]:
    """A reader for a number within bounds."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise ValueError(f"{text!r} is not a number") from None
        if not low <= value <= high:
            raise ValueError(f"{text!r} is not between {format_number(low)} and {format_number(high)}")
        return value

    return read


def _is_whole(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,9}", text) is not None


def port(text: str) -> int:
    """A TCP port that an ordinary user may bind."""
    if not _is_whole(text) or not 1024 <= int(text) < 65536:
        raise ValueError(f"{text!r} is not a port between 1024 and 65535")
    return int(text)


def endpoint(text: str) -> str:
    """host:port, checked but kept as text. No message repeats a password."""
    if "@" in text:
        raise ValueError("every user of this machine can read a password here; set SCALE_TARGET_PASSWORD instead")
    host, _, port = text.rpartition(":")
    if not host or not _is_whole(port) or not 0 < int(port) < 65536:
        raise ValueError(f"{text!r} is not host:port")
    return text


def _split(text: str) -> list[str]:
    return re.split(r",(?![^(]*\))", text.replace(" ", ""))


def columns(text: str) -> tuple[str, ...]:
    """Columns as "name:type" from "a:float,b:binary(24)", "10:double" (m1..m10) or "float,int" (c1, c2)."""
    names: list[str] = []
    for part in _split(text):
        if len(names) > COLUMNS_MAX:
            break
        many = _MANY.fullmatch(part)
        single = _COLUMN.fullmatch(part)
        kind = many.group(2) if many else single.group(2) if single else ""
        if kind not in COLUMN_TYPES:
            raise ValueError(f"{part!r} is not a column; write name:type with a type of {', '.join(COLUMN_TYPES)}")
        if kind in _SIZED and "(" not in part:
            raise ValueError(f"{part!r} needs a length, like {kind}(24)")
        if many:
            names.extend(f"m{i + 1}:{kind}{many.group(3) or ''}" for i in range(int(many.group(1))))
        else:
            names.append(part if ":" in part else f"c{len(names) + 1}:{part}")
    if len(names) > COLUMNS_MAX:
        raise ValueError(f"{len(names):,} columns or more; {COLUMNS_MAX:,} at most")
    doubled = [name for name, count in Counter(c.partition(":")[0] for c in names).items() if count > 1]
    if doubled:
        raise ValueError(f"column {doubled[0]!r} is named twice")
    return tuple(names)


def rule(text: str) -> Rule:
    """A knob's rule: "8", or pieces over the axis "1..4=4,5..=12", "1=2,2=4"."""
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
    """The rule's value at a level; None if no part covers it."""
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
    """NAME=VALUE or NAME=RULE of any server setting."""
    name, equals, value = text.partition("=")
    if not equals or not _SETTING_NAME.fullmatch(name.strip()):
        raise ValueError(f"{text!r} is not NAME=VALUE")
    return name.strip(), rule(value)


def variation(text: str) -> tuple[str, tuple[str, ...]]:
    """NAME=V1,V2,..."""
    name, equals, values = text.partition("=")
    parts = tuple(v.strip() for v in values.split(",") if v.strip())
    if not equals or not _SETTING_NAME.fullmatch(name.strip()) or not parts:
        raise ValueError(f"{text!r} is not NAME=V1,V2")
    return name.strip(), tuple(dict.fromkeys(parts))


def whole_levels(read_levels: Callable[[str], tuple[float, ...]], what: str) -> Callable[[str], tuple[float, ...]]:
    """A reader for levels that are whole numbers: there is no half disk. what: their unit, plural."""

    def read(text: str) -> tuple[float, ...]:
        levels = read_levels(text)
        if broken := [level for level in levels if level != int(level)]:
            raise ValueError(f"{text!r} holds {format_number(broken[0])}; {what} come whole")
        return levels

    return read


def rate_of_bytes(read_bytes: Callable[[str], int]) -> Callable[[str], int]:
    """A reader for bytes per second: "20MiB/s", or "20MiB"."""

    def read(text: str) -> int:
        try:
            value = read_bytes(text.strip().removesuffix("/s"))
        except ValueError:
            raise ValueError(f'{text!r} is not a rate; write it like "20MiB/s"') from None
        if value <= 0:
            raise ValueError(f"{text!r} must be above 0")
        return value

    return read


def paths(text: str) -> tuple[str, ...]:
    """Absolute paths, each once: "/mnt/a,/mnt/b"."""
    absolute = tuple(part.strip() for part in text.split(",") if part.strip())
    relative = [p for p in absolute if not p.startswith("/")]
    if not absolute or relative:
        raise ValueError(f"{(relative or [text])[0]!r} is not an absolute path")
    doubled = sorted({p for p in absolute if absolute.count(p) > 1})
    if doubled:
        raise ValueError(f"{doubled[0]} is named twice")
    return absolute


def switch(text: str) -> bool:
    """On or off, as a flag or a TOML true or false."""
    if text not in ("1", "0", "true", "false"):
        raise ValueError(f"{text!r} is neither true nor false")
    return text in ("1", "true")


def tag(text: str) -> tuple[str, str]:
    """k=v."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"{text!r} is not k=v")
    return name.strip(), value.strip()


def rates(text: str) -> tuple[float, ...]:
    """Rates above 0, ascending, from "2000000" or "2M,5M"."""
    return tuple(float(v) for v in sorted({above_zero(parse_count)(part) for part in text.split(",")}))


def weights(text: str) -> dict[str, float]:
    """NAME=WEIGHT,...; without a weight 1."""
    weight_of: dict[str, float] = {}
    for part in (part.strip() for part in text.split(",") if part.strip()):
        name, equals, weight = (side.strip() for side in part.partition("="))
        try:
            value = float(weight) if equals else 1.0
        except ValueError:
            raise ValueError(f"{part!r}: {weight!r} is not a number") from None
        if not re.fullmatch(r"[A-Za-z_][\w-]*", name) or not 0 <= value < float("inf"):
            raise ValueError(f"{part!r} is not NAME=WEIGHT with a weight of 0 or more")
        if name in weight_of:
            raise ValueError(f"{name!r} is named twice")
        weight_of[name] = value
    if not weight_of:
        raise ValueError("no operation is named; write it like write=9,range=1")
    return weight_of


def parameter(text: str) -> tuple[tuple[str, str], str]:
    key, equals, value = text.partition("=")
    name, dot, parameter_ = key.strip().partition(".")
    if not equals or not dot or not re.fullmatch(r"[A-Za-z_][\w-]*", name) or not parameter_ or not value.strip():
        raise ValueError(f"{text!r} is not NAME.PARAMETER=VALUE, like range.span=1h")
    return (name, parameter_), value.strip()
