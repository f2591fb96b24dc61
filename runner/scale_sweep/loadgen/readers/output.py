"""Reads progress and the result from a tool's output."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from scale_sweep.loadgen.readers.reader import TIMES, Reader, ToolProgress, ToolResult

_NUMBER = re.compile(r"(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([a-zA-Zµ]*)")
_COLOURS = re.compile("\x1b\\[[\\d;]*m")
_THOUSANDS = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
_MS = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "usec": 1e-3, "ms": 1.0, "msec": 1.0}
_MS |= {"s": 1e3, "sec": 1e3, "secs": 1e3, "seconds": 1e3, "m": 60e3, "h": 3600e3}
_UNITS = {
    **dict.fromkeys(("rate", "count", "each", "errors"), _THOUSANDS),
    **dict.fromkeys((*TIMES, "t", "seconds"), _MS),
}
_USUAL_UNITS = {**dict.fromkeys(TIMES, "ms"), "t": "s", "seconds": "s"}

Values = Mapping[str, float]  # by the name of a group; times in ms


def progress_of(reader: Reader, line: str) -> ToolProgress | None:
    """A line ends at a newline or at a carriage return."""
    if not reader.progress or not (match := re.search(reader.progress, _plain(line))):
        return None
    values = _values(match)
    rate, count = values.get("rate"), values.get("count")
    return ToolProgress(t_s=_seconds(values, "t"), rate=rate, count=count, errors=_errors((values,)))


def result_of(reader: Reader, text: str) -> ToolResult | None:
    """None: there is no complete report in the output."""
    text = _plain(text)
    formats = (list(re.finditer(pattern, text, re.MULTILINE)) for pattern in reader.result)
    reports = next((matches for matches in formats if matches), [])
    if not reports:
        return None
    report = text[reports[-1].start() :] if reader.repeated == "last" else text
    details = [match for pattern in reader.details for match in re.finditer(pattern, report, re.MULTILINE)]
    whole = _WHOLES[reader.repeated]([_values(match) for match in reports])
    every = (*map(_values, details), whole)
    known = {name: value for values in every for name, value in values.items()}
    count, seconds = known.get("count"), _seconds(known, "seconds")
    rate = known.get("rate", count / seconds if count is not None and seconds else None)
    units = [match["unit"] for match in (*reports, *details) if match.groupdict().get("unit")]
    unit = units[-1] if units else reader.unit
    if rate is None:
        return None
    return ToolResult(
        rate=rate,
        unit=unit,
        count=count,
        seconds=seconds,
        errors=_errors(every),
        rows=round(count) if unit == "rows" and count is not None else None,
        ms={name: known[name] for name in TIMES if name in known},
    )


def _plain(text: str) -> str:
    """The text without colours, as lines that end at newlines only."""
    return _COLOURS.sub("", text).replace("\r", "\n")


def _seconds(values: Values, name: str) -> float | None:
    return values[name] / 1e3 if name in values else None


def _errors(values: Sequence[Values]) -> int:
    return round(sum(one.get("errors", 0) for one in values))


def _in_turn(reports: Sequence[Values]) -> Values:
    """Tests one after another. Where they say no time, they did equally many things each."""
    summed = _summed(reports, ("count", "seconds", "errors"))
    rates = [one.get("rate", 0) for one in reports]
    rate = len(rates) / sum(1 / rate for rate in rates) if all(rates) else 0.0
    return summed if "seconds" in summed else {**summed, "rate": rate}


def _at_once(reports: Sequence[Values]) -> Values:
    """Operations side by side, for as long as the longest."""
    longest = {"seconds": max(one["seconds"] for one in reports)} if "seconds" in reports[0] else {}
    return {**_summed(reports, ("rate", "count", "errors")), **longest}


def _summed(reports: Sequence[Values], names: Sequence[str]) -> Values:
    """With the extremes of the times: other percentiles of the whole are not known."""
    functions: dict[str, Callable[[Iterable[float]], float]] = {**dict.fromkeys(names, sum), "min": min, "max": max}
    return {name: f(one[name] for one in reports) for name, f in functions.items() if all(name in r for r in reports)}


_WHOLES: Mapping[str, Callable[[Sequence[Values]], Values]] = {
    "last": lambda reports: reports[-1],
    "after": lambda reports: _in_turn(reports) if len(reports) > 1 else reports[0],
    "beside": lambda reports: _at_once(reports) if len(reports) > 1 else reports[0],
}


def _values(match: re.Match[str]) -> Values:
    values: dict[str, float] = {}
    for group, text in _groups(match):
        name, _, unit = group.partition("_")
        amounts = _amounts(text, _UNITS.get(name, {}), unit or _USUAL_UNITS.get(name, ""))
        if name == "errors":
            values[name] = values.get(name, 0) + (amounts[0] if amounts else 1)
        elif name in _UNITS and amounts:
            # A time may be 1m2.5s; of anything else the first number counts.
            values[name] = values.get(name, 0) + (sum(amounts) if _UNITS[name] is _MS else amounts[0])
    if "each" in values and "count" in values:
        values["count"] *= values["each"]
    return values


def _groups(match: re.Match[str]) -> Iterator[tuple[str, str]]:
    """The names and texts of the groups that matched. The name of `at` is that of its percentile."""
    groups = match.groupdict() if match.re.groupindex else {"rate": match[1]}
    percentile = "p" + f"{float(groups.get('percent') or 0):g}".replace(".", "")
    for name, text in groups.items():
        if text:
            yield name.replace("at", percentile) if name.split("_")[0] == "at" else name, text


def _amounts(text: str, units: Mapping[str, float], usual: str) -> list[float]:
    numbers = _NUMBER.findall(text.replace(",", ""))
    return [float(number) * units.get(unit, units.get(usual, 1.0)) for number, unit in numbers]
