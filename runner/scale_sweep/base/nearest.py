"""The message about a name that does not exist: which names there are, and which one was probably meant. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_NEAR = 0.6
_SHOWN_MAX = 60


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """ "; did you mean postgres?", or nothing if no known name is near."""
    by_lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name[:_SHOWN_MAX].lower(), by_lower, n=1, cutoff=_NEAR)
    return f"; did you mean {by_lower[near[0]]}?" if near else ""


def not_one_of(name: str, known: Iterable[str]) -> str:
    """ "'x' is not one of a, b; did you mean a?" """
    names = tuple(known)
    shown = name if len(name) <= _SHOWN_MAX else f"{name[:_SHOWN_MAX]}..."
    return f"{shown!r} is not one of {', '.join(names)}{did_you_mean(name, names)}"
