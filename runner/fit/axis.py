"""Which rate a curve is made of. In a disk sweep the durable one: acknowledged rows may still be in memory."""

from __future__ import annotations


def rate_of(axis: str) -> str:
    """The field of Measurement that is fitted along this axis."""
    return "durable_rows_per_s" if axis == "disks" else "rows_per_s"
