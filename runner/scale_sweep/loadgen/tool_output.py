"""The output of another program as a load's intervals and summary, while it runs and from a stored run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from scale_sweep.loadgen.readers import Reader, ToolResult, progress_of, result_of
from scale_sweep.model.loads import Interval, Latency, LoadProgram, LoadSummary

SECOND_S = 0.95  # shorter steps of progress are put together
STEP_S = 1.5  # longer ones are no seconds: of them nobody can say whether the rate was steady
LAST_LINES = 3
WARMUP, MEASURE = "warmup", "measure"


@dataclass(frozen=True, kw_only=True)
class ToolLine:
    monotonic_ns: int  # of its arrival
    text: str


def line_text(line: ToolLine) -> str:
    return json.dumps({"monotonic_ns": line.monotonic_ns, "text": line.text}, ensure_ascii=False) + "\n"


def lines_from(stored: Iterable[str]) -> Iterator[ToolLine]:
    """Raises ValueError for what is no such line."""
    for text in stored:
        try:
            known = json.loads(text)
            yield ToolLine(monotonic_ns=int(known["monotonic_ns"]), text=str(known["text"]))
        except (TypeError, KeyError) as error:
            raise ValueError(f"a line has no {error}") from None


def last_words(lines: Sequence[ToolLine]) -> str:
    return " | ".join(line.text.strip() for line in lines[-LAST_LINES:])


@dataclass(frozen=True, kw_only=True)
class ToolRun:
    """When it ran, by whose row it is read, and with what."""

    reader: Reader | None  # None: no rate is known
    program: LoadProgram
    started_ns: int
    ended_ns: int
    cpu_s: float  # of the program and of what it waited for
    code: int
    clients: int
    writes_rows: bool = False


class ToolSeconds:
    """Puts lines of progress together to intervals of about a second."""

    def __init__(self, reader: Reader | None, started_ns: int) -> None:
        self._reader, self._started_ns = reader, started_ns
        self._t_s = self._last_s = 0.0  # of the line before, of the last interval
        self._count = self._total = 0.0
        self._errors = 0
        self._all = 0

    def take(self, line: ToolLine, phase: str) -> Interval | None:
        step = progress_of(self._reader, line.text) if self._reader is not None else None
        if step is None:
            return None
        now_s = (line.monotonic_ns - self._started_ns) / 1e9 if step.t_s is None else step.t_s
        passed_s, self._t_s = now_s - self._t_s, now_s
        grown = (step.rate or 0.0) * passed_s if step.count is None else step.count - self._total
        self._total = self._total + grown if step.count is None else step.count
        self._count, self._errors = self._count + max(0.0, grown), self._errors + step.errors
        if now_s - self._last_s < SECOND_S:
            return None
        done = round(self._count)
        self._all += done
        made = Interval(
            monotonic_ns=line.monotonic_ns,
            t_s=now_s,
            phase=phase,
            rows=done,
            rows_total=self._all,
            requests=done,
            errors=self._errors,
            retries=0,
            response_us_p50=None,
            response_us_p99=None,
            response_us_max=None,
            backlog_rows=None,
        )
        self._last_s, self._count, self._errors = now_s, 0.0, 0
        return made


def intervals_of(run: ToolRun, lines: Sequence[ToolLine], measure_start_ns: int | None = None) -> tuple[Interval, ...]:
    """Empty if the program reports no progress second by second. Their ends are those of its own clock: a pipe may hand
    over several lines at once. measure_start_ns: the end of the warm-up, None: there is none."""
    seconds = ToolSeconds(run.reader, run.started_ns)
    every = [made for line in lines if (made := seconds.take(line, MEASURE)) is not None]
    steps = [new.t_s - old.t_s for old, new in zip(every, every[1:], strict=False)]
    if len(every) < 2 or sorted(steps)[len(steps) // 2] > STEP_S:
        return ()
    begin_ns = min(one.monotonic_ns - round(one.t_s * 1e9) for one in every)
    placed = []
    for one in every:
        end_ns = begin_ns + round(one.t_s * 1e9)
        is_before = measure_start_ns is not None and one.monotonic_ns <= measure_start_ns
        placed.append(replace(one, monotonic_ns=end_ns, phase=WARMUP if is_before else MEASURE))
    return tuple(placed)


def summary_of(run: ToolRun, lines: Sequence[ToolLine], intervals: Sequence[Interval]) -> LoadSummary:
    """With a warm-up the figures are of the seconds after it, else what the program reports."""
    result = result_of(run.reader, "\n".join(line.text for line in lines)) if run.reader is not None else None
    start_ns, end_ns, count = _window(run, result, intervals)
    window_s = (end_ns - start_ns) / 1e9
    ran_s = max((run.ended_ns - run.started_ns) / 1e9, 1e-9)
    counted = round(count or 0)
    done = round(result.count or counted) if result else counted
    counted = done if run.writes_rows else counted
    is_rows = run.writes_rows or (result is not None and result.rows is not None)
    requests = 0 if run.writes_rows else done  # it reports no requests then
    latency = _latency(result, 0 if run.writes_rows else counted)
    return LoadSummary(
        outcome="ok" if run.code == 0 else f"code {run.code}",
        window_s=window_s,
        window_start_ns=start_ns,
        window_end_ns=end_ns,
        last_ack_ns=run.ended_ns,
        rows_window=counted if run.writes_rows else 0,
        rows_per_s=(count or 0.0) / window_s if run.writes_rows and window_s > 0 else None,
        rows_acked=done if is_rows else 0,
        rows_failed=0,
        requests=requests,
        errors=result.errors if result else sum(one.errors for one in intervals),
        retries=0,
        cpu_window_s=run.cpu_s * min(1.0, window_s / ran_s),
        offered_rows_per_s=None,
        threads=run.clients,
        send_s=0.0,
        make_s=0.0,
        response=latency,
        service=latency,
        program=run.program,
        requests_per_s=count / window_s if count is not None and window_s > 0 and not run.writes_rows else None,
        is_counted=count is not None,
    )


def _window(run: ToolRun, result: ToolResult | None, intervals: Sequence[Interval]) -> tuple[int, int, float | None]:
    inside = [one for one in intervals if one.phase == MEASURE]
    before = [one for one in intervals if one.phase == WARMUP]
    if inside and (before or result is None):
        start_ns = before[-1].monotonic_ns if before else inside[0].monotonic_ns - round(inside[0].t_s * 1e9)
        return start_ns, inside[-1].monotonic_ns, float(sum(one.requests for one in inside))
    if result is None:
        return run.started_ns, run.ended_ns, None
    seconds = result.seconds or (result.count / result.rate if result.count and result.rate else 0.0)
    seconds = min(seconds or 1e9, (run.ended_ns - run.started_ns) / 1e9)
    length_ns = round(seconds * 1e9)
    start_ns = run.ended_ns - length_ns
    if inside:
        start_ns = inside[0].monotonic_ns - round(inside[0].t_s * 1e9)
    return start_ns, start_ns + length_ns, result.rate * seconds


def _latency(result: ToolResult | None, count: int) -> Latency:
    us = {name: value * 1000 for name, value in (result.ms if result else {}).items()}
    return Latency(
        count=count,
        min_us=us.get("min"),
        mean_us=us.get("mean"),
        p50_us=us.get("p50"),
        p90_us=us.get("p90"),
        p95_us=us.get("p95"),
        p99_us=us.get("p99"),
        p999_us=us.get("p999"),
        max_us=us.get("max"),
        hdr="",
    )
