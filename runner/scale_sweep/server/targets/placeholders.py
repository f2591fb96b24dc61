"""Placeholders of rendered texts: put into JSON, and filled with one draw's values as the drivers do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from scale_sweep.model.questions import Drawn

_MARK = re.compile(r"\{\{|\}\}|\{(device|from|to|until|at|value|again|part)\}")
_BRACES = {"{{": "{", "}}": "}"}
_SIGN = re.compile(r'"<(from|to|until|at|number)>"|<(device|value)>')


def marked(request: Any, devices: int) -> str:
    """In JSON the texts <from>, <to>, <until>, <at> and <number> (the drawn value) stand for numbers; within a text
    <value> is the same, and <device> the next of so many devices, then the last one again."""
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
    """names: of all tables, as the driver writes them; time: of ms; part: the partition of a device. Each {device} is
    another one of the drawn, {again} the last one; {part} that of the next one, or of the last if none follows."""
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
