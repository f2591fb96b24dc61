"""Tests of a real server that take so long that they run by hand only: SCALE_SLOW_TESTS=1.

A mark on a test that several databases share would hold for all of them, so a module says it (`skipped`), and
conftest.py asks before it starts what the test stands on."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection

import pytest


def by_hand(reason: str, *, only: Collection[str] = (), but: Collection[str] = ()) -> Callable[[str], None]:
    """Skips a test of these names, or of all but those; reason: what they take."""

    def skipped(name: str) -> None:
        if (name in only if only else name not in but) and not os.environ.get("SCALE_SLOW_TESTS"):
            pytest.skip(f"{reason}: SCALE_SLOW_TESTS=1")

    return skipped
