"""A stored run as OpenMetrics with its times: the events of its trials are replayed and read once a second."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from prometheus_client.utils import floatToGoString

from scale_sweep.base.errors import LoadError, StoreError
from scale_sweep.base.texts import visible
from scale_sweep.loadgen.handle import recorded_of
from scale_sweep.model.events import Event, IntervalSeen, PhaseEntered, SampleTaken, TrialFinished, TrialStarted
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.loads import Interval
from scale_sweep.model.measured import TrialResult
from scale_sweep.model.planned import Plan
from scale_sweep.model.samples import Sample
from scale_sweep.results.store.events import JOURNAL, read_line
from scale_sweep.results.store.reader import ceilings_of, folder_of, read_samples
from scale_sweep.results.store.stored import Folder, is_there, lines_of
from scale_sweep.watch.exporter.names import BY_NAME, METRICS, Metric
from scale_sweep.watch.exporter.server import common_labels
from scale_sweep.watch.exporter.values import Point, points_kept, points_now, points_phase
from scale_sweep.watch.live.state import LiveState, take


class Book:
    """The series of a run. Times must not decrease between calls of `add`; a second value of one time is dropped."""

    def __init__(self, common: Mapping[str, str]) -> None:
        self._common = "".join(f',{name}="{_escaped(value)}"' for name, value in common.items())
        self._series: dict[str, dict[tuple[str, ...], list[str]]] = {}
        self._last_ms: dict[tuple[str, tuple[str, ...]], int] = {}

    def add(self, points: Iterable[Point], unix_s: float) -> None:
        """Adds values at a time (seconds since 1970). Unknown values are left out."""
        at_ms = round(unix_s * 1000)
        stamp = f"{at_ms // 1000}.{at_ms % 1000:03d}"
        for short, values, value in points:
            if value is None or not math.isfinite(value) or self._last_ms.get((short, values), -1) >= at_ms:
                continue
            self._last_ms[short, values] = at_ms
            metric = BY_NAME[f"scale_{short}"]
            group = values[:-1] if metric.kind == "summary" else values  # quantiles of a time stay together
            lines = self._series.setdefault(short, {}).setdefault(group, [])
            lines.append(f"{metric.name}{{{self._labels(metric, values)}}} {floatToGoString(value)} {stamp}\n")

    def content(self) -> bytes:
        parts: list[str] = []
        for metric in METRICS:
            series = self._series.get(metric.name.removeprefix("scale_"))
            if series:
                parts.append(_head(metric))
                for lines in series.values():
                    parts.extend(lines)
        return ("".join(parts) + "# EOF\n").encode()

    def _labels(self, metric: Metric, values: tuple[str, ...]) -> str:
        own = "".join(
            f',{name}="{_escaped(value)}"' for name, value in zip(metric.labels, values, strict=True) if value
        )
        return (self._common + own)[1:]


def _head(metric: Metric) -> str:
    family = metric.name.removesuffix("_total").removesuffix("_info")
    return f"# HELP {family} {_escaped(metric.meaning)}\n# TYPE {family} {metric.kind}\n"


def _escaped(text: str) -> str:
    return visible(text).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


STEP_S = 1.0
KEPT_STEP_S = 15.0


@dataclass(frozen=True, kw_only=True)
class _Replay:
    """One trial: its start on both clocks, and its events, ordered by the monotonic clock."""

    start: TrialStarted
    events: Sequence[tuple[int, Event]]
    result: TrialResult

    def unix_s(self, ns: int) -> float:
        return self.start.unix_s + (ns - self.start.monotonic_ns) / 1e9

    @property
    def end_ns(self) -> int:
        last = self.events[-1][0] if self.events else self.start.monotonic_ns
        return max(last, self.start.monotonic_ns + int(self.result.wall_s * 1e9))


def openmetrics(folder: Folder, run: StoredRun) -> bytes:
    """The run's finished trials. folder: where it was read. Raises StoreError that names a file that cannot be read."""
    state = LiveState(run=folder.path.resolve().name, plan=run.plan)
    state = take(state, ceilings_of(folder))
    book = Book(common_labels(state))
    replays = sorted((_replay_of(folder, run.plan, result) for result in run.results), key=lambda t: t.start.unix_s)
    end_s = None
    for trial in replays:
        if end_s is not None:
            _keep(book, state, end_s, trial.start.unix_s)
        state = _trial(book, state, trial)
        end_s = trial.unix_s(trial.end_ns)
    if replays and end_s is not None:
        book.add(points_kept(state), end_s)
        book.add(points_now(state, replays[-1].end_ns), end_s)
    return book.content()


def _keep(book: Book, state: LiveState, start_s: float, end_s: float) -> None:
    at, kept = start_s, list(points_kept(state))
    while at < end_s:
        book.add(kept, at)
        at += KEPT_STEP_S


def _trial(book: Book, state: LiveState, replay: _Replay) -> LiveState:
    state = take(state, replay.start)
    kept = list(points_kept(state))
    waiting = list(reversed(replay.events))
    at_ns, kept_at_s = replay.start.monotonic_ns, None
    while at_ns < replay.end_ns:
        while waiting and waiting[-1][0] <= at_ns:
            state = take(state, waiting.pop()[1])
        at_s = replay.unix_s(at_ns)
        book.add(points_now(state, at_ns), at_s)
        book.add(points_phase(state), at_s)
        if kept_at_s is None or at_s >= kept_at_s + KEPT_STEP_S:
            book.add(kept, at_s)
            kept_at_s = at_s
        at_ns += int(STEP_S * 1e9)
    for _, event in reversed(waiting):
        state = take(state, event)
    book.add(points_now(state, replay.end_ns), replay.unix_s(replay.end_ns))
    book.add(points_phase(state), replay.unix_s(replay.end_ns))
    return take(state, TrialFinished(result=replay.result))


def _replay_of(run: Folder, plan: Plan, result: TrialResult) -> _Replay:
    trial = result.trial
    folder, samples = folder_of(trial), read_samples(run, trial)
    timed: list[tuple[int, Event]] = [(s.monotonic_ns, SampleTaken(trial_id=trial.trial_id, sample=s)) for s in samples]
    if trial.load.is_ours:
        intervals = _intervals(run, f"{folder}/loadgen.jsonl")
        timed += [(i.monotonic_ns, IntervalSeen(trial_id=trial.trial_id, interval=i)) for i in intervals]
    start = None
    name = f"{folder}/{JOURNAL}"
    for event in (read_line(line, trial, run / name) for line in (lines_of(run, name) if is_there(run, name) else ())):
        if isinstance(event, TrialStarted):
            start = event
        elif isinstance(event, PhaseEntered):
            timed.append((event.monotonic_ns, event))
    start = start or _guessed(result, samples)
    return _Replay(start=start, events=sorted(timed, key=lambda e: e[0]), result=result)


def _intervals(run: Folder, name: str) -> Sequence[Interval]:
    try:
        return recorded_of(lines_of(run, name), with_times=False).intervals
    except LoadError as error:
        raise StoreError(f"{run / name}: {error.message}") from None


def _guessed(result: TrialResult, samples: Sequence[Sample]) -> TrialStarted:
    """The start of a trial whose journal a power cut lost: its samples are centred in its time."""
    first, last = (samples[0].monotonic_ns, samples[-1].monotonic_ns) if samples else (0, 0)
    slack_ns = max(0, int(result.wall_s * 1e9) - (last - first)) // 2
    began = datetime.datetime.fromisoformat(result.started_utc).timestamp() if result.started_utc else 0.0
    return TrialStarted(trial=result.trial, position=0, total=0, unix_s=began, monotonic_ns=first - slack_ns)
