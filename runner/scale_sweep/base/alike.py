"""Sentences that differ only in their numbers, as one sentence with a range for each number. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

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
