"""The cost of a new memory page on this machine, first and later. Data only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class NewPages:
    """CPU time of one new page of 4 KiB, user and system, in microseconds."""

    first_us: float  # of the first pages
    again_us: float  # of the same pages, freed and touched again at once
    last_us: float  # of the last ones that were touched
    touched_bytes: int  # all that was touched
    # bytes after which pages cost at least twice as much as cheap ones, 0: from the first on; None: they did not within
    # touched_bytes
    cheap_bytes: int | None
    available_bytes: int  # of memory, for new pages

    @property
    def are_dear(self) -> bool:
        """Whether pages are dear, or became so while the memory was touched."""
        return self.cheap_bytes is not None

    @property
    def sentence(self) -> str:
        """The figures for people."""
        if self.cheap_bytes is None:
            return f"a new memory page costs {self.last_us:.1f} µs of CPU time, also after {_gb(self.touched_bytes)}"
        if self.cheap_bytes == 0:
            return (
                f"a new memory page costs {self.last_us:.1f} µs of CPU time, and {self.again_us:.1f} µs "
                "if it was freed just before"
            )
        return (
            f"a new memory page costs {self.first_us:.1f} µs of CPU time, and {self.last_us:.1f} µs "
            f"after {_gb(self.cheap_bytes)}"
        )


def _gb(count: int) -> str:
    return f"{count / 1e9:.1f} GB"
