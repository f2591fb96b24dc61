"""One test for a rule about many files or texts: it fails with every offender on a line of its own."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def assert_none(offenders: Iterable[str], rule: str = "") -> None:
    """Fails if there are offenders. rule: what they offend against, for the first line."""
    lines = list(offenders)
    if lines:
        pytest.fail("\n".join([f"{len(lines)} offenders{': ' if rule else ''}{rule}", *lines]), pytrace=False)
