"""What a new memory page costs on this machine, first and later. Data only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class NewPages:
    """CPU time of one new page of 4 KiB, user and system, in microseconds.

    first_us: of the first pages. last_us: of the last ones that were touched. touched_bytes: all that was touched.
    cheap_bytes: bytes after which pages cost at least twice as much; None: they did not within touched_bytes.
    """

    first_us: float
    last_us: float
    touched_bytes: int
    cheap_bytes: int | None

    @property
    def is_dear_later(self) -> bool:
        """Whether pages became dear while the memory was touched."""
        return self.cheap_bytes is not None

    @property
    def sentence(self) -> str:
        """The figures for people."""
        if self.cheap_bytes is None:
            return f"a new memory page costs {self.last_us:.1f} µs of CPU time, also after {_gb(self.touched_bytes)}"
        return (
            f"a new memory page costs {self.first_us:.1f} µs of CPU time, and {self.last_us:.1f} µs "
            f"after {_gb(self.cheap_bytes)}"
        )


def _gb(count: int) -> str:
    return f"{count / 1e9:.1f} GB"
