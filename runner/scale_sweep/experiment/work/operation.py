"""The base class of kinds of operations. The defaults do nothing. Pure."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

from scale_sweep.model import Operation, Query, Work


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A quantity of a trial."""

    field: str  # of Measurement
    words: str  # its unit, for people


class OperationKind(ABC):
    name: str  # in sweeps and events
    unit: str  # what one request counts, plural
    title: str = ""
    # whether they are compared with the right ones; "": it reads nothing
    answers: Literal["", "checked", "unchecked"] = ""
    parameters: Mapping[str, str] = MappingProxyType({})  # that a sweep may give: each with its meaning, for people

    def spec_lines(self, work: Work, operation: Operation) -> dict[str, str]:
        return dict(operation.parameters)

    def query(self, work: Work, operation: Operation) -> Query | None:
        """The query; None if the operation does not read. Raises ValueError with one sentence for a parameter that does
        not fit the rows."""
        return None

    @abstractmethod
    def rate(self, *, durable: bool) -> Rate:
        """The fitted rate if this is the only kind. durable: counted to the end of flush and sync."""

    def logical_bytes(self, work: Work) -> int:
        """Bytes that one unit stores, without overhead; 0: it stores nothing."""
        return 0

    def miscounted(self, acknowledged: int, counted: int) -> str:
        return ""


WEIGHT_MAX = 1_000_000  # loadgen/operations.c


def whole(weights: Sequence[float]) -> tuple[int, ...]:
    """The weights as whole numbers of 1..WEIGHT_MAX in the same proportion; whole weights stay as they are.

    Raises ValueError if there are no such numbers, as for 1 and 0.00000001.
    """
    exact = [Fraction(str(weight)) for weight in weights]
    common = math.lcm(*(part.denominator for part in exact))
    numbers = tuple(int(part * common) for part in exact)
    if max(numbers, default=0) > WEIGHT_MAX:
        raise ValueError(f"weights of {min(weights):g} and {max(weights):g} are too far apart, or have too many digits")
    return numbers
