"""Puts cautions of several databases that differ only in their numbers into one sentence with the range of each number.

The report of each database has its own sentences. Refuses to join sentences that differ in a word or in a unit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_NUMBER = r"[+-]?\d[\d,]*(?:\.\d+)?"
_RANGE = re.compile(rf"(?<![\w.,-])(up to )?({_NUMBER})(?: to ({_NUMBER}))?(?![\w-])")
_SUBJECT = "target "  # before the name of a database, if the databases are what is compared


def joined_cautions(cautions_of: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """One sentence for each kind of caution, in the order of its first one, with the names of those that have it if
    not all have. cautions_of: by the names of databases or variants."""
    by_kind: dict[str, dict[str, list[str]]] = {}
    for name, cautions in cautions_of.items():
        for caution in cautions:
            by_kind.setdefault(_kind(caution), {}).setdefault(name, []).append(caution)
    return tuple(_sentence(of_name, len(cautions_of)) for of_name in by_kind.values())


def unsaid(cautions: Sequence[str], above: Sequence[str]) -> tuple[str, ...]:
    """The cautions of one database that a page does not have above, for several of them. above: the joined ones."""
    kinds = [_kind(one) for one in above]
    return tuple(c for c in cautions if not any(kind.endswith(_kind(c)) for kind in kinds))


def _kind(caution: str) -> str:
    return _RANGE.sub("#", caution)


def _sentence(of_name: Mapping[str, Sequence[str]], of_all: int) -> str:
    joined = _joined([caution for cautions in of_name.values() for caution in cautions])
    if len(of_name) == of_all:
        return joined
    return f"{', '.join(name.removeprefix(_SUBJECT) for name in of_name)}: {joined}"


def _joined(sentences: Sequence[str]) -> str:
    """The sentences, which differ only in numbers, as one: from the least to the greatest number at each place."""
    places = iter(zip(*(_RANGE.findall(sentence) for sentence in sentences), strict=True))
    return _RANGE.sub(lambda _: _span(next(places)), sentences[0])


def _span(numbers_of: Sequence[tuple[str, str, str]]) -> str:
    """ "5 to 8" of "5" and "6 to 8"; "up to 8" of "up to 5" and "up to 8"."""
    numbers = [number for _, low, high in numbers_of for number in (low, high) if number]
    least, most = min(numbers, key=_value), max(numbers, key=_value)
    before = numbers_of[0][0]
    return f"{before}{most}" if before or _value(least) == _value(most) else f"{least} to {most}"


def _value(number: str) -> float:
    return float(number.replace(",", ""))
