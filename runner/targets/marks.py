"""Fills the placeholders of a rendered text with one draw's values, as the load generator's drivers do. Pure.

Refuses to format a time: the target does that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from runner.model import Drawn

_MARK = re.compile(r"\{\{|\}\}|\{(device|from|to|at|value|again)\}")
_BRACES = {"{{": "{", "}}": "}"}


def filled(text: str, drawn: Drawn, names: Sequence[str], time: Callable[[int], str]) -> str:
    """The statement of one request. names: of all tables, as the driver writes them; time: of ms, in the target's
    words. Each {device} is another one of the drawn, {again} the last one again."""
    devices = iter(drawn.devices)
    last = ""
    values = {
        "from": lambda: time(drawn.from_ms),
        "to": lambda: time(drawn.to_ms),
        "at": lambda: time(drawn.from_ms),
        "value": lambda: repr(drawn.value),
        "device": lambda: names[next(devices)],
        "again": lambda: last,
    }

    def one(found: re.Match[str]) -> str:
        nonlocal last
        if found.group(1) == "device":
            last = values["device"]()
            return last
        return _BRACES[found.group(0)] if found.group(0) in _BRACES else values[found.group(1)]()

    return _MARK.sub(one, text)
