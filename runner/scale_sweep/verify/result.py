"""The result of checking a stored run, as data, and the comparison of two JSON values figure by figure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """A file that is not what it should be, with the figure in it if one can be named."""

    file: str
    sentence: str
    figure: str = ""
    stored: str = ""
    recomputed: str = ""


@dataclass(frozen=True, kw_only=True)
class OtherMethod:
    """Results of another method, which are not faults: compared verdicts, fits and texts, and how many of them today's
    method would make differently."""

    compared: int = 0
    differ: int = 0

    def __add__(self, other: OtherMethod) -> OtherMethod:
        return OtherMethod(compared=self.compared + other.compared, differ=self.differ + other.differ)


@dataclass(frozen=True, kw_only=True)
class Verification:
    """files: compared with their digests. trials: recomputed from raw files. figures: compared one by one.

    fingerprint: SHA-256 of the list of digests, which represents the whole run.
    """

    run: str
    fingerprint: str
    files: int
    trials: int
    figures: int
    disagreements: tuple[Disagreement, ...]
    notes: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether there is no disagreement."""
        return not self.disagreements


RELATIVE = 1e-6
SHOWN = 120
Difference = tuple[str, str, str]


def differences(stored: Any, made: Any, name: str = "") -> Iterator[Difference]:
    """(figure, stored, recomputed) for every leaf that differs. Lists are compared by index, objects by key."""
    if isinstance(stored, Mapping) and isinstance(made, Mapping):
        for key in dict.fromkeys([*stored, *made]):
            inner = f"{name}.{key}" if name else str(key)
            if key not in stored or key not in made:
                yield (inner, show(stored.get(key, "absent")), show(made.get(key, "absent")))
            else:
                yield from differences(stored[key], made[key], inner)
    elif _listed(stored) and _listed(made) and len(stored) == len(made):
        for index, (a, b) in enumerate(zip(stored, made, strict=True)):
            yield from differences(a, b, f"{name}[{index}]")
    elif not same(stored, made):
        yield (name, show(stored), show(made))


def leaves(value: Any) -> int:
    if isinstance(value, Mapping):
        return sum(map(leaves, value.values()))
    return sum(map(leaves, value)) if _listed(value) else 1


def same(stored: Any, made: Any) -> bool:
    """Whether both are equal, or are two numbers that differ only by rounding."""
    if isinstance(stored, bool) or isinstance(made, bool) or not (_number(stored) and _number(made)):
        return bool(stored == made)
    return math.isclose(stored, made, rel_tol=RELATIVE, abs_tol=1e-12) or (stored != stored and made != made)


def show(value: Any) -> str:
    text = f"{value:.10g}" if isinstance(value, float) else str(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _listed(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
