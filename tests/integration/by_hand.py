"""Tests of a real server that take so long that they run by hand only: SCALE_SLOW_TESTS=1.

A mark on a test that several databases share would hold for all of them, so this is a fixture of the database's module.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection

import pytest


def by_hand(reason: str, *, only: Collection[str] = (), but: Collection[str] = ()) -> Callable[..., None]:
    """The fixture for a module, which skips these tests, or all but those; reason: what they take."""

    @pytest.fixture(autouse=True)
    def skipped(request: pytest.FixtureRequest) -> None:
        name = request.function.__name__
        is_slow = name in only if only else name not in but
        if is_slow and not os.environ.get("SCALE_SLOW_TESTS"):
            pytest.skip(f"{reason}: SCALE_SLOW_TESTS=1")

    return skipped
