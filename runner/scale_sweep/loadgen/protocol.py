"""JSON lines of the load generator → model objects."""

from __future__ import annotations

import functools
import json
import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from scale_sweep.base.errors import LoadError
from scale_sweep.model.loads import Interval, Latency, LoadSummary, OperationSummary


@dataclass(frozen=True, kw_only=True)
class Hello:
    """The load generator's first line."""

    protocol: int | None = None  # the version of the protocol; None in lines without it
    version: str
    driver: str
    method: str
    library: str = ""
    library_version: str = ""
    tables_per_partition: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Phase:
    phase: str
    monotonic_ns: int


@dataclass(frozen=True, kw_only=True)
class Trouble:
    code: str
    message: str
    count: int  # errors of the code so far. It is reported again with the load's total


@dataclass(frozen=True, kw_only=True)
class ReportedAnswer:
    operation: str
    worker: int
    request: int  # its number within the worker. Times and value: as drawn; None if the request has none
    devices: tuple[int, ...]
    from_ms: int | None = None
    to_ms: int | None = None
    value: float | None = None
    rows: int  # of the answer
    in_window: bool = False
    # in its parts as JSON, lists of rows or pieces of the text that the server wrote; empty if it is not known
    content: Sequence[str] = ()
    parts: int = 0  # of the content, before the last one


@dataclass(frozen=True, kw_only=True)
class ContentPart:
    """As JSON. The other parts follow, then the answer itself."""

    worker: int
    request: int
    part: int
    content: str


Line = Hello | ReportedAnswer | ContentPart | Phase | Interval | Trouble | LoadSummary


def split_content(text: str) -> tuple[str, str]:
    """The line without the content of an answer, which may be long and is read after the load."""
    if not text.startswith(('{"event":"asked"', '{"event":"content"')):
        return text, ""
    head, key, content = text.rstrip().partition(',"content":')
    return (head + "}\n", content.removesuffix("}").removesuffix("null")) if key else (text, "")


def parse_line(text: str) -> Line | None:
    """One line; None for an unknown event. Raises LoadError for a line that is not the protocol."""
    try:
        head, content = split_content(text)
        raw = json.loads(head)
        reader = _READERS.get(raw["event"])
        line = reader({**raw, "content": content} if content else raw) if reader else None
        if line is not None and (why := misfit(line)):
            raise ValueError(why)
        return line
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise LoadError(
            f"the load generator said something that is not its protocol: {text[:200]!r} ({error})",
            remedy="is scale-loadgen of the same version as scale? (scale doctor)",
        ) from None


T = TypeVar("T")


@functools.cache
def _names(kind: Any) -> tuple[tuple[str, bool], ...]:
    """The fields, and whether one has no default: an older load generator did not report the others."""
    return tuple((one.name, one.default is MISSING and one.default_factory is MISSING) for one in fields(kind))


def _of(kind: type[T], raw: Mapping[str, Any], **own: Any) -> T:
    some: Any = kind
    for name, is_needed in _names(some):
        if name not in own and (is_needed or raw.get(name) is not None):
            own[name] = raw[name]
    return kind(**own)


def _latency(raw: Mapping[str, Any] | None) -> Latency | None:
    return _of(Latency, raw) if raw else None


def _hello(raw: Mapping[str, Any]) -> Hello:
    return _of(Hello, raw, tables_per_partition=tuple(raw.get("tables_per_partition") or ()))


def _interval(raw: Mapping[str, Any]) -> Interval:
    hdr = {name: (raw[name],) if raw.get(name) else () for name in ("response_hdr", "service_hdr")}
    return _of(Interval, raw, **hdr)


def _trouble(raw: Mapping[str, Any]) -> Trouble:
    return Trouble(code=str(raw["code"]), message=str(raw["message"]), count=int(raw.get("count") or 1))


def _summary(raw: Mapping[str, Any]) -> LoadSummary:
    workers, runs, window_s = raw["workers"], raw.get("table_rows"), raw["window_s"]
    cpu = [w["cpu_s"] for w in workers if w.get("cpu_s") is not None]
    operations = (
        _of(
            OperationSummary,
            one,
            window_s=window_s,
            response=_latency(one.get("response")),
            service=_latency(one.get("service")),
        )
        for one in raw.get("operations") or ()
    )
    return _of(
        LoadSummary,
        raw,
        threads=len(workers),
        send_s=sum(w["send_s"] for w in workers),
        make_s=sum(w["make_s"] for w in workers),
        response=_of(Latency, raw["response"]),
        service=_of(Latency, raw["service"]),
        partitions=tuple(int(p["rows_acked"]) for p in raw.get("partitions") or ()),
        table_rows=None if runs is None else tuple((int(first), int(n), int(rows)) for first, n, rows in runs),
        operations=tuple(operations),
        late=_latency(raw.get("late")),
        # None if one of the workers does not report it, or there was no window
        worker_cores=sum(cpu) / window_s if cpu and len(cpu) == len(workers) and window_s > 0 else None,
    )


@dataclass(frozen=True, kw_only=True)
class WorkerAnswers:
    worker: int
    answers: int
    rows: int


def answers_of_workers(lines: Sequence[str]) -> tuple[WorkerAnswers, ...]:
    answers = [
        WorkerAnswers(worker=int(one["worker"]), answers=int(one["answers"]), rows=int(one["rows_read"]))
        for line in lines
        if '"summary"' in line[:40]
        for one in json.loads(line)["workers"]
    ]
    return tuple(sorted(answers, key=lambda one: one.worker))


def _answer(raw: Mapping[str, Any]) -> ReportedAnswer:
    value, content = raw.get("value"), raw.get("content")
    return _of(
        ReportedAnswer,
        raw,
        devices=tuple(int(device) for device in raw["devices"]),
        value=None if value is None else float(value),
        content=(str(content),) if content else (),
    )


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Line]] = {
    "hello": _hello,
    "phase": lambda raw: _of(Phase, raw),
    "interval": _interval,
    "error": _trouble,
    "asked": _answer,
    "content": lambda raw: _of(ContentPart, raw),
    "summary": _summary,
}

INTEGER_MAX = 1 << 64


def misfit(value: Any) -> str:
    """The first field with another type than declared, with its value."""
    kind: Any = type(value)
    hints = _hints(kind)
    for field in fields(value):
        has = getattr(value, field.name)
        if not fits(has, hints[field.name]):
            return f"{field.name} is {str(has)[:60]!r}"
    return ""


def fits(value: Any, kind: Any) -> bool:
    """For the types that lines of the load generator have."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in inner)
    if origin is not None and issubclass(origin, Sequence):
        return isinstance(value, origin) and all(fits(one, inner[0]) for one in value)
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(fits(k, inner[0]) and fits(v, inner[1]) for k, v in value.items())
    if is_dataclass(kind):
        return type(value) is kind and not misfit(value)
    if kind in (int, float):
        is_number = isinstance(value, int if kind is int else (int, float)) and not isinstance(value, bool)
        return is_number and math.isfinite(value) and abs(value) <= INTEGER_MAX
    return value is None if kind is types.NoneType else isinstance(value, kind)


@functools.cache
def _hints(kind: Any) -> Mapping[str, Any]:
    return get_type_hints(kind)
