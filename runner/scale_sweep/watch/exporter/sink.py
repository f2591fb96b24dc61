"""The exporter: a sink of events that serves them as metrics.

It keeps one immutable state and makes the page when it is read. The text of values that change only with a trial or its
phase is made at that change, not at every scrape. So a scrape at the last trial costs as much as one at the first.
"""

from __future__ import annotations

import time

from scale_sweep.model import CeilingsMeasured, Event, PhaseEntered, TrialFinished, TrialStarted
from scale_sweep.watch.exporter.exposition import LineWriter, common_labels, text
from scale_sweep.watch.exporter.server import MetricsServer
from scale_sweep.watch.exporter.values import points_kept, points_now, points_phase
from scale_sweep.watch.live import LiveState, take

LINGER_S = 2.0


class Exporter:
    """A context manager and a sink. The port is open from its construction until the block is left."""

    def __init__(self, state: LiveState, port: int) -> None:
        self._common = common_labels(state)
        kept, phase = text(points_kept(state), self._common), text(points_phase(state), self._common)
        self._shown = (state, kept, phase)
        self._writer = LineWriter(self._common)
        self._server = MetricsServer(port, self.page)
        self.url, self.port = self._server.url, self._server.port

    def __enter__(self) -> Exporter:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """After a complete run the port stays open until it was read once more; after an error or Ctrl-C it closes at
        once."""
        if kind is None:
            self._server.linger(LINGER_S)
        self._server.stop()

    def __call__(self, event: Event) -> None:
        state, kept, phase = self._shown
        state = take(state, event)
        if isinstance(event, (CeilingsMeasured, TrialStarted, TrialFinished)):
            kept = text(points_kept(state), self._common)
            self._server.mark()
        if isinstance(event, (TrialStarted, PhaseEntered, TrialFinished)):
            phase = text(points_phase(state), self._common)
        self._shown = (state, kept, phase)

    def page(self) -> bytes:
        """The current metrics in Prometheus' text format."""
        state, kept, phase = self._shown
        return kept + phase + self._writer.write(points_now(state, time.monotonic_ns()))
