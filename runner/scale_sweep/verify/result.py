"""The result of checking a stored run, as data."""

from __future__ import annotations

from dataclasses import dataclass


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
    """What another method made, which is not a fault: compared verdicts, fits and texts, and how many of them today's
    method would make differently."""

    compared: int = 0
    differ: int = 0

    def __add__(self, other: OtherMethod) -> OtherMethod:
        return OtherMethod(compared=self.compared + other.compared, differ=self.differ + other.differ)


@dataclass(frozen=True, kw_only=True)
class Verification:
    """files: compared with their digests. trials: made again from raw files. figures: compared one by one.

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
