"""The only room that prints: progress and words on standard error, results on standard output.

Computes nothing: it is handed events, tables and sentences.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from runner.errors import ScaleError
from runner.model import (
    Event,
    Finding,
    IntervalSeen,
    Noted,
    PhaseEntered,
    Plan,
    TrialFinished,
    TrialStarted,
    VerdictKind,
)
from runner.units import format_number, format_rate, format_seconds

WIDTH_IN_FILES = 200
out = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else WIDTH_IN_FILES)
err = Console(stderr=True, highlight=False, soft_wrap=True, width=None if sys.stderr.isatty() else WIDTH_IN_FILES)
_STYLES = {
    VerdictKind.VALID: "green",
    VerdictKind.ABORTED: "red",
    VerdictKind.LOST_ROWS: "red",
    VerdictKind.ERRORS: "red",
}


def say(sentence: str, style: str = "") -> None:
    """A sentence for people, on standard error."""
    err.print(escape(sentence), style=style or None)


def show_error(error: ScaleError) -> None:
    """What happened and what to do."""
    err.print(f"[bold red]scale:[/] {escape(error.message)}")
    if error.remedy:
        err.print(f"  → {escape(error.remedy)}")


def show_findings(findings: Sequence[Finding]) -> None:
    """Each finding on a line."""
    for f in findings:
        err.print(
            f"[{'red' if f.blocking else 'yellow'}]{escape(f.subject)}:[/] {escape(f.sentence)}"
            + (f" → {escape(f.remedy)}" if f.remedy else "")
        )


def show_json(document: Any) -> None:
    """One JSON document on standard output."""
    out.print(json.dumps(document, indent=1, ensure_ascii=False, default=str), markup=False, soft_wrap=True)


def show_bytes(content: bytes) -> None:
    """A file's content on standard output, as it is."""
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def show_line(text: str, style: str = "") -> None:
    """A line of the result, on standard output."""
    out.print(escape(text), style=style or None)


def show_table(title: str, headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on standard output; numbers are right-aligned."""
    table = Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        header_style="bold",
        box=None,
        pad_edge=False,
        padding=(0, 2),
    )
    for index, header in enumerate(headers):
        numeric = all(_numeric(row[index]) for row in rows) and bool(rows)
        table.add_column(header, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    out.print(table)


def _numeric(cell: str) -> bool:
    return bool(cell) and cell[0] in "0123456789–-+≥" or cell == ""


class Progress:
    """A sink: one live line for the running trial, one kept line for each finished one, with the time left."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._began, self._done = plan, time.monotonic(), 0
        self._head, self._phase, self._rate = "", "", ""
        self._live = Live(console=err, refresh_per_second=4, transient=True)

    def __enter__(self) -> Progress:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __call__(self, event: Event) -> None:
        if isinstance(event, TrialStarted):
            self._head = f"trial {event.position} of {event.total}: {event.trial.trial_id}"
            self._rate = ""
        elif isinstance(event, PhaseEntered):
            self._phase = event.phase
        elif isinstance(event, IntervalSeen):
            self._rate = f"{format_rate(event.interval.rows)} rows/s"
        elif isinstance(event, Noted):
            self._keep(f"  {event.sentence}", "yellow")
        elif isinstance(event, TrialFinished):
            self._finished(event)
        self._live.update(Text(f"{self._head}  {self._phase}  {self._rate}  {self._left()}"))

    def _finished(self, event: TrialFinished) -> None:
        self._done += 1
        result = event.result
        kind, m = result.verdict.kind, result.measurement
        cores = "–" if m.server_cpu_cores is None else f"{m.server_cpu_cores:.2f}"
        told = kind is not VerdictKind.VALID and result.verdict.reasons
        reason = f": {result.verdict.reasons[0]}" if told else ""
        self._keep(
            f"{self._head:<34} {format_rate(m.rows_per_s):>8} rows/s  server {cores} of "
            f"{format_number(result.trial.cores)} cores  {kind.value}{reason}",
            _STYLES.get(kind, "yellow"),
        )

    def _keep(self, text: str, style: str) -> None:
        err.print(Text(text, style=style))

    def _left(self) -> str:
        total = len(self._plan.trials)
        if self._done:
            left = (time.monotonic() - self._began) / self._done * (total - self._done)
        else:
            left = max(0.0, self._plan.seconds_estimated - (time.monotonic() - self._began))
        return f"about {format_seconds(left)} left"
