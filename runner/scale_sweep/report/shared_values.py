"""Says once what rows of a table share, and sentences that differ only in numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from scale_sweep.base.units import part_of
from scale_sweep.report.table import ABSENT, Table, only_columns

_NUMBER = r"[+-]?\d+(?:,\d{3})*(?:\.\d+)?"
_RANGE = re.compile(rf"(?<![\w.,-])(up to )?({_NUMBER})(?: to ({_NUMBER}))?(?![\w-])")
_OFTEN = 3  # trials: a remark of so many is said once


def once(table: Table, kept: Collection[int] = (0,)) -> Table:
    """Without the columns that have one value in all rows. kept: columns that stay."""
    if len(table.rows) < 2:
        return table
    columns = range(len(table.headers))
    same = [i for i in columns if i not in kept and len({row[i] for row in table.rows}) == 1]
    left = [i for i in columns if i not in same]
    values = {table.headers[i]: table.rows[0][i] for i in same}
    present = "; ".join(f"{name}: {value}" for name, value in values.items() if value != ABSENT)
    absent = ", ".join(name for name, value in values.items() if value == ABSENT)
    notes = [
        f"In every row: {present}." if present else "",
        f"Not measured in any row: {absent}." if absent else "",
    ]
    return replace(only_columns(table, left), notes=(*filter(None, notes), *table.notes))


@dataclass(frozen=True, kw_only=True)
class Remark:
    words: str
    is_cause: bool  # the trial is not fitted because of it, so that it stays with it


def shared_remarks(of_trials: Sequence[Sequence[Remark]], places: Sequence[str]) -> tuple[list[str], list[str]]:
    """The remarks that stay with each trial, and a sentence for each of three trials or more. places: of the trials."""
    by_shape: dict[str, dict[int, str]] = {}
    causes = {_kind(r.words) for remarks in of_trials for r in remarks if r.is_cause}
    for at, remarks in enumerate(of_trials):
        for remark in remarks:
            by_shape.setdefault(_kind(remark.words), {})[at] = remark.words
    often = {shape: words for shape, words in by_shape.items() if len(words) >= _OFTEN and shape not in causes}
    stays = ["; ".join(r.words for r in remarks if _kind(r.words) not in often) for remarks in of_trials]
    sentences = [
        f"{_named([places[at] for at in words], places)}: {_joined([*words.values()])}." for words in often.values()
    ]
    return stays, sentences


def _named(some: Sequence[str], places: Sequence[str]) -> str:
    is_one_level = len(set(some)) == 1 and len(some) < len(places)
    return part_of(len(some), len(places), "trial").capitalize() + (f", all at {some[0]}" if is_one_level else "")


_SUBJECT = "target "  # before the name of a database, if the databases are what is compared


def joined_cautions(cautions_of: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
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
    """From the least to the greatest number at each place."""
    places = iter(zip(*(_RANGE.findall(sentence) for sentence in sentences), strict=True))
    return _RANGE.sub(lambda _: _span(next(places)), sentences[0])


def _span(numbers_of: Sequence[tuple[str, str, str]]) -> str:
    numbers = [number for _, low, high in numbers_of for number in (low, high) if number]
    least, most = min(numbers, key=_value), max(numbers, key=_value)
    before = numbers_of[0][0]
    return f"{before}{most}" if before or _value(least) == _value(most) else f"{least} to {most}"


def _value(number: str) -> float:
    return float(number.replace(",", ""))
