"""The CPUs of a load generator: a list, or the word for those of the server at each level."""

from __future__ import annotations

from scale_sweep.base.units import parse_cpus

SHARED = "shared"
GENERATOR_CPUS = "CPUs for the load generator: 6-7. shared: those of the server at each level."


def cpus_or_shared(text: str) -> tuple[int, ...] | str:
    return SHARED if text.strip() == SHARED else parse_cpus(text)
