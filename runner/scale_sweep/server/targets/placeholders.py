"""Fills the placeholders of a rendered text with one draw's values, as the load generator's drivers do; puts them into
a query that is JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from scale_sweep.model import Drawn

_MARK = re.compile(r"\{\{|\}\}|\{(device|from|to|until|at|value|again|part)\}")
_BRACES = {"{{": "{", "}}": "}"}
_SIGN = re.compile(r'"<(from|to|until|at|number)>"|<(device|value)>')


def marked(request: Any, devices: int) -> str:
    """A query in JSON with placeholders. Its texts <from>, <to>, <until>, <at> and <number> stand for numbers, <number>
    for the drawn value; <value> within a text stands for the same, and <device> for the next of so many devices, then
    for the last one again."""
    taken = 0

    def one(match: re.Match[str]) -> str:
        nonlocal taken
        name = match.group(1) or match.group(2)
        if name == "device":
            taken += 1
            return "{device}" if taken <= devices else "{again}"
        return "{value}" if name == "number" else f"{{{name}}}"

    plain = json.dumps(request, separators=(",", ":"))
    return _SIGN.sub(one, plain.replace("{", "{{").replace("}", "}}"))


def filled(
    text: str,
    drawn: Drawn,
    names: Sequence[str],
    time: Callable[[int], str],
    part: Callable[[int], int] = lambda device: 0,
) -> str:
    """The statement of one request. names: of all tables, as the driver writes them; time: of ms, in the target's
    words; part: of a device, the number of its partition. Each {device} is another one of the drawn, {again} the last
    one again; {part} is that of the next one, or of the last one if none follows."""
    taken = 0

    def one(match: re.Match[str]) -> str:
        nonlocal taken
        if match.group(0) in _BRACES:
            return _BRACES[match.group(0)]
        name = match.group(1)
        if name == "device":
            taken += 1
        if name in ("device", "again"):
            return names[drawn.devices[taken - 1]]
        if name == "part":
            return str(part(drawn.devices[min(taken, len(drawn.devices) - 1)]))
        if name == "value":
            return repr(drawn.value).removesuffix(".0")  # a whole number without a fraction, as drivers do
        if name == "until":
            return time(drawn.to_ms - 1)
        return time(drawn.to_ms if name == "to" else drawn.from_ms)

    return _MARK.sub(one, text)
