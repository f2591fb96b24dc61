"""The response times of a stored run as a log of HdrHistogram, which its own tools read and merge."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass

from hdrh.histogram import HdrHistogram

from scale_sweep.base.errors import LoadError, StoreError, UsageError
from scale_sweep.judge.figures.trial_facts import STEP_LINES, TrialFacts
from scale_sweep.judge.figures.window_bounds import with_summary
from scale_sweep.loadgen.handle import recorded_of
from scale_sweep.model.events import TrialStarted
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.loads import Latency, LoadSummary
from scale_sweep.model.measured import TrialResult
from scale_sweep.results.store.events import JOURNAL, read_line
from scale_sweep.results.store.reader import folder_of
from scale_sweep.results.store.stored import Folder, is_there, lines_of

HIGHEST_NS, DIGITS = 3_600_000_000_000, 3
_MS = 1_000_000  # ns; the log has the greatest value of a line in ms
_LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'


@dataclass(frozen=True, kw_only=True)
class _Window:
    """The window of a load: its times in seconds since 1970, and its histogram in ns."""

    tag: str
    start_s: float
    seconds: float
    histogram: HdrHistogram

    def line(self, base_s: float) -> str:
        most = self.histogram.get_max_value() / _MS
        payload = self.histogram.encode().decode("ascii")
        return f"Tag={self.tag},{self.start_s - base_s:.3f},{self.seconds:.3f},{most:.3f},{payload}"


def histogram_log(folder: Folder, run: StoredRun) -> bytes:
    """A line for each measuring window, with its trial, its operation and the kind of times as the tag. Raises
    StoreError that names a file that cannot be read, and UsageError if no trial has response times."""
    by_trial = {result.trial.trial_id: list(_windows(folder, result)) for result in run.results}
    windows = sorted((one for ones in by_trial.values() for one in ones), key=lambda one: one.start_s)
    if not windows:
        raise UsageError(f"{folder.path.name} has no response times", remedy="export a run with finished trials")
    base_s = windows[0].start_s
    began = datetime.datetime.fromtimestamp(base_s, datetime.UTC)
    lines = [
        "#[Histogram log format version 1.3]",
        f"#[scale run {folder.path.resolve().name}; times in ns]",
        *(f"#[{r.trial.trial_id}: {r.verdict.kind.value}]" for r in run.results if by_trial[r.trial.trial_id]),
        f"#[BaseTime: {base_s:.3f} (seconds since epoch)]",
        f"#[StartTime: {base_s:.3f} (seconds since epoch), {began:%a %b %d %H:%M:%S} UTC {began.year}]",
        _LEGEND,
        *(one.line(base_s) for one in windows),
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _windows(run: Folder, result: TrialResult) -> Iterator[_Window]:
    trial, folder = result.trial, folder_of(result.trial)
    if not trial.load.is_ours or not is_there(run, f"{folder}/loadgen.jsonl"):
        return
    first = _facts(run, f"{folder}/loadgen.jsonl")
    if not trial.load.searches:
        first = with_summary(first, first.summary, trial.load, trial.work)
    loads = [("closed-loop" if trial.load.searches else "", first.summary)]
    while trial.load.searches and is_there(run, name := f"{folder}/{STEP_LINES.format(len(loads))}"):
        loads.append((name.rpartition("/")[2].removesuffix(".jsonl"), _facts(run, name).summary))
    start_s, start_ns = _started(run, result, first)
    for step, summary in loads:
        if summary is None or not summary.is_answered:
            continue
        for words, latency in _latencies(summary):
            if latency.count and latency.hdr:
                parts = (trial.trial_id, step, words)
                yield _Window(
                    tag=".".join(filter(None, parts)).replace(",", ";"),  # a comma ends a tag
                    start_s=start_s + (summary.window_start_ns - start_ns) / 1e9,
                    seconds=summary.window_s,
                    histogram=_in_ns(latency),
                )


def _facts(run: Folder, name: str) -> TrialFacts:
    try:
        recorded = recorded_of(lines_of(run, name))
    except LoadError as error:
        raise StoreError(f"{run / name}: {error.message}") from None
    return TrialFacts(intervals=recorded.intervals, summary=recorded.summary)


def _started(run: Folder, result: TrialResult, facts: TrialFacts) -> tuple[float, int]:
    """One moment on both clocks. Without a journal, which a power cut may lose, it is exact to some seconds."""
    name = f"{folder_of(result.trial)}/{JOURNAL}"
    for line in lines_of(run, name) if is_there(run, name) else ():
        if isinstance(event := read_line(line, result.trial, run / name), TrialStarted):
            return event.unix_s, event.monotonic_ns
    began = datetime.datetime.fromisoformat(result.started_utc).timestamp() if result.started_utc else 0.0
    return began, facts.intervals[0].monotonic_ns if facts.intervals else 0


def _latencies(summary: LoadSummary) -> Iterator[tuple[str, Latency]]:
    """In a closed loop, where both are the same, without service times. A single operation is the whole."""
    several = summary.operations if len(summary.operations) > 1 else ()
    own = [(f"{one.name}.", one.response, one.service) for one in several]
    for name, response, service in (("", summary.response, summary.service), *own):
        if response is not None:
            yield f"{name}response", response
        if service is not None and (response is None or service.hdr != response.hdr):
            yield f"{name}service", service


def _in_ns(latency: Latency) -> HdrHistogram:
    """Runs of earlier versions have microseconds."""
    histogram = HdrHistogram.decode(latency.hdr)
    if histogram.get_max_value() > 10 * (latency.max_us or 0.0):
        return histogram
    in_ns = HdrHistogram(1, HIGHEST_NS, DIGITS)
    for item in histogram.get_recorded_iterator():
        in_ns.record_value(item.value_iterated_to * 1000, item.count_at_value_iterated_to)
    return in_ns
