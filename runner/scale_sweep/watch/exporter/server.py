"""The exporter: a sink of events that serves them as metrics in the text format 0.0.4."""

from __future__ import annotations

import math
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample
from prometheus_client.utils import floatToGoString

from scale_sweep.base.errors import PreflightError
from scale_sweep.base.texts import visible
from scale_sweep.model.events import CeilingsMeasured, Event, PhaseEntered, TrialFinished, TrialStarted
from scale_sweep.watch.exporter.names import BY_NAME, COMMON
from scale_sweep.watch.exporter.values import Point, points_kept, points_now, points_phase
from scale_sweep.watch.live.state import LiveState, take

LOOPBACK = "127.0.0.1"
PATH = "/metrics"
_IDLE_S = 60.0
_POLL_S = 0.5
_END_S = 5.0


class MetricsServer:
    """Listens until `stop`, on a free port if its own is in use or not permitted. page: called by a thread of the
    server. Raises PreflightError if no port is free."""

    def __init__(self, port: int, page: Callable[[], bytes]) -> None:
        self.scrapes = 0
        self._readers: dict[int, float] = {}  # open connections, with the time of each one's last request
        self._read = threading.Condition()
        self._marked = self._last_read = 0.0
        self._server = _listen(port, self._handler(page))
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": _POLL_S}, name="metrics", daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}{PATH}"

    def mark(self) -> None:
        self._marked = time.monotonic()

    def linger(self, seconds: float) -> None:
        """Waits until every open connection has read the page since `mark`, or for the time; not if nobody ever read
        it."""
        if self.scrapes:
            with self._read:
                self._read.wait_for(self._all_have_read, seconds)

    def _all_have_read(self) -> bool:
        return min((self._last_read, *self._readers.values())) >= self._marked

    def _note(self, connection: int) -> None:
        with self._read:
            self.scrapes += 1
            self._last_read = self._readers[connection] = time.monotonic()
            self._read.notify_all()

    def _forget(self, connection: int) -> None:
        with self._read:
            self._readers.pop(connection, None)
            self._read.notify_all()

    def stop(self) -> None:
        threading.Thread(target=self._server.shutdown, name="metrics-end", daemon=True).start()
        self._thread.join(_END_S)
        self._server.server_close()

    def _handler(self, page: Callable[[], bytes]) -> type[BaseHTTPRequestHandler]:
        served = self

        class Handler(_Handler):
            def do_GET(self) -> None:
                if self.path.partition("?")[0] != PATH:
                    self.send_error(HTTPStatus.NOT_FOUND, "only /metrics is here")
                    return
                body = page()
                self.send_response(HTTPStatus.OK)
                self.send_header("Content-Type", CONTENT_TYPE)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                served._note(id(self))

            def finish(self) -> None:
                served._forget(id(self))
                super().finish()

        return Handler


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_S
    wbufsize = -1  # headers and body leave in one packet
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing, because only the console prints."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def server_bind(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = LOOPBACK, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores readers that disconnect."""


def _listen(port: int, handler: type[BaseHTTPRequestHandler]) -> _Server:
    try:
        return _Server((LOOPBACK, port), handler)
    except OSError:  # in use, or below 1024 and not permitted
        pass
    try:
        return _Server((LOOPBACK, 0), handler)
    except OSError as error:
        raise PreflightError(
            f"no port for the metrics can be opened on {LOOPBACK}: {error.strerror}", remedy="give --no-metrics"
        ) from None


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
        state, kept, phase = self._shown
        return kept + phase + self._writer.write(points_now(state, time.monotonic_ns()))


CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def common_labels(state: LiveState) -> dict[str, str]:
    return dict(zip(COMMON, (state.run, state.plan.sweep.name), strict=True))


def families(points: Iterable[Point], common: Mapping[str, str]) -> list[Metric]:
    """Unknown values have no sample. Empty labels are left out."""
    made: dict[str, Metric] = {}
    for short, values, value in points:
        if value is None or not math.isfinite(value):
            continue
        declared = BY_NAME[f"scale_{short}"]
        family = made.get(short)
        if family is None:
            kind = "gauge" if declared.kind == "info" else declared.kind
            family = made[short] = Metric(declared.name.removesuffix("_total"), declared.meaning, kind)
        own = {k: visible(v) for k, v in zip(declared.labels, values, strict=True) if v}
        labels = {**{k: visible(v) for k, v in common.items()}, **own}
        family.samples.append(Sample(declared.name, labels, float(value)))
    return list(made.values())


def text(points: Iterable[Point], common: Mapping[str, str]) -> bytes:
    """The text format, from a registry of its own, so that only metrics of our list are served."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Once(families(points, common)))
    return generate_latest(registry)


class LineWriter:
    """Writes the same bytes as `text`, but makes the names and labels of a series once: prometheus-client needs 10 µs a
    line."""

    def __init__(self, common: Mapping[str, str]) -> None:
        self._common = dict(common)
        self._heads: dict[str, str] = {}
        self._names: dict[tuple[str, tuple[str, ...]], str] = {}

    def write(self, points: Iterable[Point]) -> bytes:
        families: dict[str, list[str]] = {}
        for short, values, value in points:
            if value is None or not math.isfinite(value):
                continue
            lines = families.get(short)
            if lines is None:
                lines = families[short] = [self._heads.get(short) or self._head(short)]
            name = self._names.get((short, values)) or self._name(short, values)
            lines.append(f"{name} {floatToGoString(value)}\n")
        return "".join(line for lines in families.values() for line in lines).encode()

    def _head(self, short: str) -> str:
        made = generate_text([(short, ("x",) * len(BY_NAME[f"scale_{short}"].labels), 0.0)], {})
        head = self._heads[short] = made[: made.rindex("\n", 0, -1) + 1]
        return head

    def _name(self, short: str, values: tuple[str, ...]) -> str:
        made = generate_text([(short, values, 0.0)], self._common).splitlines()[-1]
        name = self._names[short, values] = made.rpartition(" ")[0]
        return name


def generate_text(points: Iterable[Point], common: Mapping[str, str]) -> str:
    return text(points, common).decode()


class _Once(Collector):
    def __init__(self, made: list[Metric]) -> None:
        self._made = made

    def collect(self) -> Iterable[Metric]:
        return self._made
