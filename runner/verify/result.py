"""What a check of a stored run found, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """A file, and where one can be named the figure in it, that is not what it should be."""

    file: str
    sentence: str
    figure: str = ""
    stored: str = ""
    recomputed: str = ""


@dataclass(frozen=True, kw_only=True)
class OtherMethod:
    """What another method made, which is no fault: verdicts, fits and texts that were compared, and how many of them
    today's method would make otherwise."""

    compared: int = 0
    differ: int = 0

    def __add__(self, other: OtherMethod) -> OtherMethod:
        return OtherMethod(compared=self.compared + other.compared, differ=self.differ + other.differ)


@dataclass(frozen=True, kw_only=True)
class Verification:
    """files: checked against their digests. trials: made again from raw files. figures: compared one by one.

    fingerprint: SHA-256 of the list of digests, which stands for the whole run.
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
        """Whether nothing disagrees."""
        return not self.disagreements
