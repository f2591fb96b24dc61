"""Fills the placeholders of a rendered text with one draw's values, as the load generator's drivers do. Pure.

Refuses to format a time: the target does that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from runner.model import Drawn

_MARK = re.compile(r"\{\{|\}\}|\{(device|from|to|at|value)\}")
_BRACES = {"{{": "{", "}}": "}"}


def filled(text: str, drawn: Drawn, names: Sequence[str], time: Callable[[int], str]) -> str:
    """The statement of one request. names: of all tables, as the driver writes them. time: formats ms as the target
    does. Each {device} is another of the drawn devices."""
    devices = iter(drawn.devices)
    values = {
        "from": lambda: time(drawn.from_ms),
        "to": lambda: time(drawn.to_ms),
        "at": lambda: time(drawn.from_ms),
        "value": lambda: repr(drawn.value),
        "device": lambda: names[next(devices)],
    }

    def one(found: re.Match[str]) -> str:
        return _BRACES[found.group(0)] if found.group(0) in _BRACES else values[found.group(1)]()

    return _MARK.sub(one, text)
