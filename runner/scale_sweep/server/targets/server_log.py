"""Lines of a server's log that make a trial's number doubtful. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LINES_MAX, _LENGTH_MAX = 20, 300


def lines_with(pattern: re.Pattern[str], log: str) -> tuple[str, ...]:
    """The first lines in which the pattern is found, each once and cut to 300 characters; at most 20."""
    return first_of(line for line in log.splitlines() if pattern.search(line))


def first_of(lines: Iterable[str]) -> tuple[str, ...]:
    """The first 20 different lines, each cut to 300 characters."""
    return tuple(dict.fromkeys(line.strip()[:_LENGTH_MAX] for line in lines))[:_LINES_MAX]
