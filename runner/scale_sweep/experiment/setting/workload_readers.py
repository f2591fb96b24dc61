"""Readers of a workload: columns, the laws of their values, operations with their weights and parameters. Pure."""

from __future__ import annotations

import re
from collections import Counter

from scale_sweep.base.texts import not_one_of
from scale_sweep.model.declared import COLUMN_TYPES

COLUMNS_MAX = 4096  # of the load generator
_SIZED = ("binary", "nchar", "varbinary", "geometry")
_COLUMN = re.compile(r"(?:([A-Za-z_]\w{0,63}):)?([a-z]+)(?:\((\d{1,5})\))?")
_MANY = re.compile(r"(\d{1,4}):([a-z]+)(\(\d{1,5}\))?")
_NAME = re.compile(r"[A-Za-z_][\w-]*")
LAWS = ("walk", "random", "constant", "line", "sine", "square", "normal")  # in the order of the load generator
SHARE_MAX = 1_000_000


def columns(text: str) -> tuple[str, ...]:
    """ "name:type" from "a:float,b:binary(24)", "10:double" (m1..m10) or "float,int" (c1, c2)."""
    names: list[str] = []
    for part in re.split(r",(?![^(]*\))", text.replace(" ", "")):
        if len(names) > COLUMNS_MAX:
            break
        many = _MANY.fullmatch(part)
        single = _COLUMN.fullmatch(part)
        kind = many.group(2) if many else single.group(2) if single else ""
        if kind not in COLUMN_TYPES:
            like = f"{part}:double" if part.isdecimal() else "name:type"
            raise ValueError(f"{part!r} is not a column; write {like} with a type of {', '.join(COLUMN_TYPES)}")
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


def laws(text: str) -> str:
    """One law, or LAW=SHARE,... with whole shares."""
    parts = [part.strip() for part in text.split(",")]
    for name in (part.partition("=")[0].strip() for part in parts):
        if name not in LAWS:
            raise ValueError(not_one_of(name, LAWS))
    if len(parts) == 1 and "=" not in parts[0]:
        return parts[0]
    shares: dict[str, int] = {}
    for part in parts:
        name, equals, share = (side.strip() for side in part.partition("="))
        if name in shares:
            raise ValueError(f"{name!r} is named twice")
        if equals and not (share.isdecimal() and int(share) <= SHARE_MAX):
            raise ValueError(f"{part!r}: a share is a whole number of 0 to {SHARE_MAX:,}")
        shares[name] = int(share) if equals else 1
    if not any(shares.values()):
        raise ValueError(f"{text!r}: all shares are 0")
    return ",".join(f"{name}={share}" for name, share in shares.items())


def weights(text: str) -> dict[str, float]:
    """NAME=WEIGHT,...; without a weight 1."""
    weight_of: dict[str, float] = {}
    for part in (part.strip() for part in text.split(",") if part.strip()):
        name, equals, weight = (side.strip() for side in part.partition("="))
        try:
            value = float(weight) if equals else 1.0
        except ValueError:
            raise ValueError(f"{part!r}: {weight!r} is not a number") from None
        if not _NAME.fullmatch(name) or not 0 <= value < float("inf"):
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
    if not equals or not dot or not _NAME.fullmatch(name) or not parameter_ or not value.strip():
        raise ValueError(f"{text!r} is not NAME.PARAMETER=VALUE, like range.span=1h")
    return (name, parameter_), value.strip()
