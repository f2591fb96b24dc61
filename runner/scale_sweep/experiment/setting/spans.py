"""The length of a warm-up: a time, or a least and a greatest time. Refuses a span that ends before it begins."""

from __future__ import annotations

from scale_sweep.base.units import parse_seconds

HELP = (
    "Length of the warm-up, which is discarded. 5s..30s: until the rate is level, at least 5 s and at most 30 s, or "
    "30 s divided by the cores of a level below one core. Servers in Java have 10s..60s by default. 5s: always 5 s."
)


def time_span(text: str) -> tuple[float | None, float]:
    """`5s`: no least time, and 5 seconds. `5s..60s`: the least and the greatest time in seconds."""
    least, dots, most = text.partition("..")
    if not dots:
        return None, parse_seconds(text)
    span = parse_seconds(least), parse_seconds(most)
    if span[0] > span[1]:
        raise ValueError(f"{text!r}: the least time is above the greatest; write it like 5s..60s")
    return span
