"""Shows a running sweep: one view in a terminal, plain lines elsewhere."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence

from rich.console import Console, ConsoleDimensions, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from scale_sweep.base.units import counted, format_rate, format_seconds
from scale_sweep.cli.console import as_it_is, err
from scale_sweep.model.derived import common_marks, marks, rate_per_cpu_s, verdict_words
from scale_sweep.model.events import Event, Noted, TrialFinished
from scale_sweep.model.measured import TrialResult, VerdictKind
from scale_sweep.model.planned import Trial
from scale_sweep.plan.replicates import may_grow
from scale_sweep.watch.live.state import UNDER_LOAD, WATCHED, LiveState, Running, ceiling_of, rates, take
from scale_sweep.watch.live.time_left import progress

REFRESH_PER_S = 2.0
PLAN_ROWS = 14
LINE_MAX = 700  # characters of a line that stays: a stored run may have a reason of any length
# Lines of the view besides the plan, the operations of a mix and the disks: the heading, "points more", the words of
# every rate, the running trial, the cursor.
OTHER_LINES = 9
_SAID_BEFORE = re.compile(r"^the server used [^:]*: ")  # in the line of a trial
BAR_MIN, BAR_MAX, GAP = 5, 30, 2
_STYLES = {
    VerdictKind.VALID: "green",
    VerdictKind.SOFTWARE_BOTTLENECK: "cyan",
    VerdictKind.ABORTED: "red",
    VerdictKind.LOST_ROWS: "red",
    VerdictKind.WRONG_ROWS: "red",
    VerdictKind.WRONG_ANSWER: "red",
    VerdictKind.ERRORS: "red",
}


class LiveView:
    """A context manager and a sink."""

    def __init__(self, state: LiveState, console: Console = err) -> None:
        self._console = console
        self._lines = LinesView(state, self._keep, has_view=console.is_terminal)
        self._live = Live(
            console=console,
            refresh_per_second=REFRESH_PER_S,
            transient=True,
            get_renderable=lambda: render(self._lines.state, time.monotonic_ns(), self._console.size),
        )

    def __enter__(self) -> LiveView:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def __call__(self, event: Event) -> None:
        self._lines(event)

    def _keep(self, text: str, style: str) -> None:
        text = text if len(text) <= LINE_MAX else f"{text[:LINE_MAX]}…"
        self._console.print(Text(text, style=style), soft_wrap=as_it_is(self._console, text))


class LinesView:
    """Each note and each finished trial in one line. keep: called with a line and its style."""

    def __init__(self, state: LiveState, keep: Callable[[str, str], None], *, has_view: bool) -> None:
        self.state, self._keep, self._has_view = state, keep, has_view

    def __call__(self, event: Event) -> None:
        running = self.state.running
        self.state = take(self.state, event)
        if isinstance(event, Noted):
            self._keep(f"  {event.sentence}", "yellow")
        elif isinstance(event, TrialFinished):
            head = f"trial {running.position} of {self.state.total}: " if running else ""
            line, style = finished_line(head, event.result, self._name_width())
            self._keep(line + ("" if self._has_view else self._left()), style)

    def _left(self) -> str:
        at = progress(self.state, time.monotonic_ns())
        if at.done >= at.total:
            return "; more trials if the time allows" if may_grow(self.state.plan) else ""
        return f", about {format_seconds(at.remaining_s)} left"

    def _name_width(self) -> int:
        total = f"{self.state.total}"
        return len(f"trial {total} of {total}: ") + max(len(t.trial_id) for t in self.state.plan.trials)


def finished_line(head: str, result: TrialResult, width: int) -> tuple[str, str]:
    """The line and its style. width: of the longest heading with a name."""
    kind, m = result.verdict.kind, result.measurement
    per_cpu_s = rate_per_cpu_s(result)
    each = f" ({format_rate(per_cpu_s)} a CPU-second)" if per_cpu_s is not None else ""
    cores = "–" if m.server_cpu_cores is None else f"{m.server_cpu_cores:.2f}"
    has_reason = kind is not VerdictKind.VALID and result.verdict.reasons
    reason = f": {_SAID_BEFORE.sub('', result.verdict.reasons[0])}" if has_reason else ""
    reason += " (with twice the connections)" if result.trial.role == "check" else ""
    name = f"{head}{result.trial.trial_id}"
    line = (
        f"{name:<{width}} {format_rate(result.achieved_per_s):>8} {result.trial.work.rate_words}{_beside(result)}  "
        f"server {cores} of {counted(result.trial.cores, 'core')}{each}  {verdict_words(result)}{reason}"
    )
    return line, _STYLES.get(kind, "yellow")


def render(state: LiveState, now_ns: int, size: ConsoleDimensions) -> RenderableType:
    """size: of the terminal. The bar and the plan shrink before the running trial's lines do."""
    free = size.height - OTHER_LINES - (_own_lines(state.running) if state.running is not None else 0)
    parts: list[RenderableType] = [_head(state, now_ns, size.width), _plan(state, min(PLAN_ROWS, max(1, free)))]
    if state.running is not None:
        parts.append(_running(state, state.running, now_ns))
    return Group(*parts)


def _own_lines(running: Running) -> int:
    disks = len(running.sample.disks) if running.sample is not None else 0
    return disks + len(running.operations_per_s)


def _head(state: LiveState, now_ns: int, width: int) -> RenderableType:
    at, sweep = progress(state, now_ns), state.plan.sweep
    what = f"{sweep.name}: {sweep.target}, {sweep.runtime}"
    left = f"{at.done} of {counted(at.total, 'trial')}, about {format_seconds(at.remaining_s)} left"
    bar = max(BAR_MIN, min(BAR_MAX, width - len(what) - len(left) - 2 * GAP - 1))
    line = Table.grid(padding=(0, GAP))
    line.add_row(Text(what, style="bold"), ProgressBar(total=1.0, completed=at.done_ratio, width=bar), Text(left))
    return line


def _plan(state: LiveState, rows_max: int) -> RenderableType:
    common = common_marks(state.results)
    done = {r.trial.trial_id: r for r in state.results}
    running = state.running.trial if state.running else None
    rows: dict[str, list[Text]] = {}
    for trial in sorted(state.plan.trials, key=lambda t: (t.level, t.point_id, t.role == "drift_check", t.replicate)):
        is_running = running is not None and trial.trial_id == running.trial_id
        rows.setdefault(trial.point_id, []).append(_cell(trial, done.get(trial.trial_id), is_running, common))
    table = Table.grid(padding=(0, 2))
    shown = _window(list(rows.items()), running.point_id if running else "", rows_max)
    for name, cells in shown:
        table.add_row(Text(name, style="dim"), *cells)
    if len(shown) < len(rows):
        table.add_row(Text(f"and {counted(len(rows) - len(shown), 'point')} more", style="dim"))
    return Group(table, Text(f"every rate: {', '.join(common)}", style="dim")) if common else table


def _window(rows: Sequence[tuple[str, list[Text]]], point_id: str, rows_max: int) -> Sequence[tuple[str, list[Text]]]:
    at = next((i for i, (name, _) in enumerate(rows) if name == point_id), 0)
    first = min(max(0, at - rows_max // 2), max(0, len(rows) - rows_max))
    return rows[first : first + rows_max]


def _cell(trial: Trial, result: TrialResult | None, is_running: bool, common: Sequence[str]) -> Text:
    mark = "drift check " if trial.role == "drift_check" else ""
    if result is None:
        return Text(f"{mark}running", style="bold") if is_running else Text(f"{mark}·", style="dim")
    kind = result.verdict.kind
    number = f"{format_rate(result.achieved_per_s)}{_beside(result, common)}"
    return Text(f"{mark}{number} {kind.value}", style=_STYLES.get(kind, "yellow"), overflow="fold")


def _beside(result: TrialResult, elsewhere: Sequence[str] = ()) -> str:
    words = ", ".join(word for word in marks(result) if word not in elsewhere) if result.achieved_per_s else ""
    return f" {words}" if words else ""


def _running(state: LiveState, running: Running, now_ns: int) -> RenderableType:
    trial, used = running.trial, rates(running)
    since = format_seconds(max(0.0, (now_ns - running.phase_ns) / 1e9)) if running.phase else ""
    knobs = ", ".join(f"{knob} {value}" for knob, value in trial.knobs.items())
    table = Table.grid(padding=(0, 2))
    table.add_row(Text(trial.trial_id, style="bold"), Text(f"{running.phase} {since}   {knobs}"))
    if running.interval is not None and running.phase in UNDER_LOAD:
        table.add_row(trial.work.rate_words, _rate_text(state, running))
        for name, rate in running.operations_per_s.items():
            slow = _ms(running.operations_p99_us.get(name))
            table.add_row(name, f"{format_rate(rate)} requests/s   p99 {slow}")
        p99 = running.interval.response_us_p99
        p50 = running.interval.response_us_p50
        table.add_row("response", f"p50 {_ms(p50)}   p99 {_ms(p99)}   {counted(running.errors, 'error')}")
        if running.trial.load.searches:
            table.add_row("search", _search_text(running))
    if running.phase not in WATCHED:
        return table
    clients = len(trial.placement.generator_cpus)
    server, generator = _cores(used.server_cores, trial.cores), _cores(used.generator_cores, clients)
    table.add_row("CPU", f"server {server}   load generator {generator}")
    for name, disk in used.disks.items():
        written = "–" if disk.write_bytes_per_s is None else f"{disk.write_bytes_per_s / 1e6:.1f} MB/s"
        busy = "–" if disk.busy_ratio is None else f"{100 * disk.busy_ratio:.0f} % busy"
        queue = "–" if disk.queue is None else f"{disk.queue:.1f} requests"
        table.add_row(f"disk {name}", f"{written}   {busy}   queue {queue}")
    return table


def _rate_text(state: LiveState, running: Running) -> str:
    offered, ceiling = running.offered or state.plan.sweep.load.rate, ceiling_of(state, running.trial)
    text = format_rate(running.rate_per_s)
    text += f" of {format_rate(offered)} offered" if offered else ""
    return text + (f"   the load generator alone makes {format_rate(ceiling)}" if ceiling else "")


def _search_text(running: Running) -> str:
    objective, unit = running.trial.load.objective, running.trial.work.rate_words
    left_out = sum(not step.usable for step in running.steps)
    limit = [objective.words] if objective is not None else []
    if running.held is not None:
        limit.append(f"holds at {format_rate(running.held)} {unit}")
    if running.failed is not None:
        limit.append(f"does not hold at {format_rate(running.failed)} {unit}")
    step = f"step {len(running.steps) + 1}" if running.offered else "closed loop"
    return "   ".join([step, *limit, *([f"{counted(left_out, 'step')} left out"] if left_out else [])])


def _ms(us: float | None) -> str:
    """A response time with three digits: 2.58 s, 12.3 ms, 850 µs."""
    if us is None:
        return "–"
    size, unit = next(((s, u) for s, u in ((1e6, "s"), (1e3, "ms")) if us >= 0.9995 * s), (1.0, "µs"))
    return f"{us / size:.3g} {unit}" if us < 999.5 * size else f"{us / size:,.0f} {unit}"


def _cores(used: float | None, granted: float) -> str:
    return f"{'–' if used is None else f'{used:.2f}'} of {counted(granted, 'core')}"
