"""JSON lines of the load generator → model objects."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen.shape import misfit
from scale_sweep.model import Interval, Latency, LoadSummary, OperationSummary


@dataclass(frozen=True, kw_only=True)
class Hello:
    """The load generator's first line: its version, the client library that it opened, the distribution of tables over
    partitions."""

    protocol: int | None  # the version of the protocol; None in lines without it
    version: str
    driver: str
    method: str
    library: str
    library_version: str
    tables_per_partition: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Phase:
    """The load generator entered warmup, measure or drain."""

    phase: str
    monotonic_ns: int


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """The first error of a code."""

    code: str
    message: str
    count: int  # errors of the code so far. It is reported again with the load's total


@dataclass(frozen=True, kw_only=True)
class ReportedAnswer:
    """One of many answers, as the load generator reports it."""

    operation: str
    worker: int
    request: int  # its number within the worker. Times and value: as drawn; None if the request has none
    devices: tuple[int, ...]
    from_ms: int | None
    to_ms: int | None
    value: float | None
    rows: int  # of the answer
    in_window: bool
    # in its parts as JSON, lists of rows or pieces of the text that the server wrote; empty if it is not known
    content: Sequence[str] = ()
    parts: int = 0  # of the content, before the last one


@dataclass(frozen=True, kw_only=True)
class ContentPart:
    """A part of a long answer's content, as JSON. The other parts follow, then the answer itself."""

    worker: int
    request: int
    part: int
    content: str


Line = Hello | ReportedAnswer | ContentPart | Phase | Interval | Trouble | LoadSummary


def split_content(text: str) -> tuple[str, str]:
    """The line without the content of an answer, and that content, which may be long and is read after the load."""
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


def _hello(raw: Mapping[str, Any]) -> Hello:
    return Hello(
        protocol=None if raw.get("protocol") is None else int(raw["protocol"]),
        version=str(raw["version"]),
        driver=str(raw["driver"]),
        method=str(raw["method"]),
        library=str(raw.get("library") or ""),
        library_version=str(raw.get("library_version") or ""),
        tables_per_partition=tuple(raw.get("tables_per_partition") or ()),
    )


def _phase(raw: Mapping[str, Any]) -> Phase:
    return Phase(phase=raw["phase"], monotonic_ns=int(raw["monotonic_ns"]))


def _interval(raw: Mapping[str, Any]) -> Interval:
    hdr: dict[str, Any] = {name: (raw[name],) if raw.get(name) else () for name in ("response_hdr", "service_hdr")}
    each: dict[str, Any] = {name: dict(raw.get(name) or {}) for name in ("operations", "operations_p99_us")}
    names = [name for name in Interval.__dataclass_fields__ if name not in hdr and name not in each]
    later = ("service_", "cpu_s")  # an older load generator did not report them
    plain: dict[str, Any] = {name: raw.get(name) if name.startswith(later) else raw[name] for name in names}
    return Interval(**plain, **hdr, **each)


def _trouble(raw: Mapping[str, Any]) -> Trouble:
    return Trouble(code=str(raw["code"]), message=str(raw["message"]), count=int(raw.get("count") or 1))


def _latency(raw: Mapping[str, Any]) -> Latency:
    later = ("p10_us", "p25_us", "p75_us")  # an older load generator did not report them
    values: dict[str, Any] = {n: raw.get(n) if n in later else raw[n] for n in Latency.__dataclass_fields__}
    return Latency(**values)


def _operation(raw: Mapping[str, Any], window_s: float) -> OperationSummary:
    times: dict[str, Any] = {name: _latency(raw[name]) if raw.get(name) else None for name in ("response", "service")}
    plain = [name for name in OperationSummary.__dataclass_fields__ if name not in times and name != "window_s"]
    later = (
        "rows_window",
        "values_window",
        "bytes_window",
        "empty_window",
        "slowest_worker_s",
        "failed",
        "check_cpu_s",
    )
    values: dict[str, Any] = {n: raw.get(n) if n in later else raw[n] for n in plain}
    return OperationSummary(**values, window_s=window_s, **times)


def _summary(raw: Mapping[str, Any]) -> LoadSummary:
    workers, partitions = raw["workers"], raw.get("partitions") or ()
    plain = (
        "outcome",
        "window_s",
        "window_start_ns",
        "window_end_ns",
        "last_ack_ns",
        "rows_window",
        "rows_per_s",
        "rows_acked",
        "rows_failed",
        "requests",
        "errors",
        "retries",
        "cpu_window_s",
        "offered_rows_per_s",
    )
    return LoadSummary(
        **{name: raw[name] for name in plain},
        threads=len(workers),
        send_s=sum(w["send_s"] for w in workers),
        make_s=sum(w["make_s"] for w in workers),
        response=_latency(raw["response"]),
        service=_latency(raw["service"]),
        partitions=tuple(int(p["rows_acked"]) for p in partitions),
        rows_distinct=None if raw.get("rows_distinct") is None else int(raw["rows_distinct"]),
        table_rows=_table_rows(raw.get("table_rows")),
        rows_unanswered=int(raw.get("rows_unanswered") or 0),  # an older load generator did not report these two
        operations=tuple(_operation(o, raw["window_s"]) for o in raw.get("operations") or ()),
        late=_latency(raw["late"]) if raw.get("late") else None,
        newest_row=None if raw.get("newest_row") is None else int(raw["newest_row"]),
        overdue=None if raw.get("overdue") is None else int(raw["overdue"]),
        is_answered=bool(raw.get("is_answered", True)),
        worker_cores=_worker_cores(workers, raw["window_s"]),
    )


def _table_rows(runs: Sequence[Sequence[Any]] | None) -> tuple[tuple[int, ...], ...] | None:
    return None if runs is None else tuple((int(first), int(tables), int(rows)) for first, tables, rows in runs)


@dataclass(frozen=True, kw_only=True)
class WorkerAnswers:
    """The counts of one worker in the window: answers, or messages of a subscription, and the rows in them."""

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


def _worker_cores(workers: Sequence[Mapping[str, Any]], window_s: float) -> float | None:
    """Cores used by the workers; None if one of them does not report it, or there was no window."""
    known = [w["cpu_s"] for w in workers if w.get("cpu_s") is not None]
    return sum(known) / window_s if known and len(known) == len(workers) and window_s > 0 else None


def _answer(raw: Mapping[str, Any]) -> ReportedAnswer:
    def whole(name: str) -> int | None:
        return None if raw.get(name) is None else int(raw[name])

    return ReportedAnswer(
        operation=str(raw["operation"]),
        worker=int(raw["worker"]),
        request=int(raw["request"]),
        devices=tuple(int(device) for device in raw["devices"]),
        from_ms=whole("from_ms"),
        to_ms=whole("to_ms"),
        value=None if raw.get("value") is None else float(raw["value"]),
        rows=int(raw["rows"]),
        in_window=bool(raw.get("in_window")),
        content=(str(raw["content"]),) if raw.get("content") else (),
        parts=int(raw.get("parts") or 0),
    )


def _part(raw: Mapping[str, Any]) -> ContentPart:
    return ContentPart(
        worker=int(raw["worker"]), request=int(raw["request"]), part=int(raw["part"]), content=str(raw["content"])
    )


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Line]] = {
    "hello": _hello,
    "phase": _phase,
    "interval": _interval,
    "error": _trouble,
    "asked": _answer,
    "content": _part,
    "summary": _summary,
}
