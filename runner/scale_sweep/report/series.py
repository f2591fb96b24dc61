"""The time series of every trial as small panels, second by second."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scale_sweep.base.units import format_number
from scale_sweep.model.declared import Work
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult
from scale_sweep.report.figures import by_run_order, cores_given
from scale_sweep.report.markup import escape
from scale_sweep.report.svg import Frame, Points, across, drawing, line, rate_scale, text, ticks
from scale_sweep.report.table import known

Series = Sequence[tuple[float, Mapping[str, float | None]]]
Window = tuple[float, float]
WIDTH, HEIGHT = 208, 98
_POINTS_MAX, _POINTS_LEAST = 240, 40
_POINTS_OF_PAGE = 4000  # of each metric: more would make the page of a hundred trials too large to mail
_LABEL_HALF = 14  # of a time under a panel, in pixels
_GAP = 3.5  # times the usual step; a longer gap breaks the line


@dataclass(frozen=True, kw_only=True)
class PanelMetric:
    name: str
    title: str
    css: str
    unit: str = ""  # of a figure that may be thousands or millions; "": none


_USES = (
    PanelMetric(name="server_cpu_cores", title="server CPU, cores", css="s-server"),
    PanelMetric(name="server_page_faults_per_s", title="page faults", css="s-server", unit="faults/s"),
    PanelMetric(name="generator_cpu_cores", title="load generator CPU, cores", css="s-client"),
    PanelMetric(name="disk_write_mb_per_s", title="disk written, MB/s", css="s-disk"),
)


def metrics_of(work: Work) -> tuple[PanelMetric, ...]:
    return (PanelMetric(name=work.rate_column, title="rate", css="s-rate", unit=work.rate_words), *_USES)


def measured_metrics(run: StoredRun) -> tuple[PanelMetric, ...]:
    return tuple(m for m in metrics_of(run.plan.sweep.work) if any(pick(s, m.name) for s in run.timeseries.values()))


def pick(series: Series, name: str, most: int = _POINTS_MAX) -> list[tuple[float, float]]:
    points = [(t, v) for t, values in series if known(v := values.get(name)) and v is not None and known(t)]
    if len(points) <= most:
        return points
    size = -(-2 * len(points) // most)
    kept: list[tuple[float, float]] = []
    for at in range(0, len(points), size):
        bucket = points[at : at + size]
        ends = {min(bucket, key=lambda p: p[1]), max(bucket, key=lambda p: p[1])}
        kept += sorted(ends)
    return kept


def runs_of(points: Points) -> list[list[tuple[float, float]]]:
    if len(points) < 3:
        return [list(points)]
    usual = statistics.median(b[0] - a[0] for a, b in itertools.pairwise(points))
    stretches = [[points[0]]]
    for before, point in itertools.pairwise(points):
        if point[0] - before[0] > _GAP * max(usual, 1e-9):
            stretches.append([])
        stretches[-1].append(point)
    return stretches


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The ranges that the trials of a level share, and how many points each line of them has at most."""

    t_min: float
    t_max: float
    y_max: Mapping[str, float]
    points_max: int = _POINTS_MAX


def scale_of(run: StoredRun, results: Sequence[TrialResult]) -> Scale:
    all_series = [run.timeseries.get(r.trial.trial_id, ()) for r in results]
    times = [t for series in all_series for t, _ in series if known(t)]
    windows = [window[1] for r in results if (window := window_of(r))]
    y_max = {}
    for metric in metrics_of(run.plan.sweep.work):
        values = [v for series in all_series for _, v in pick(series, metric.name)]
        y_max[metric.name] = max([*values, 0.0])
    cores = max((cores_given(r) for r in results), default=0.0)
    y_max["server_cpu_cores"] = max(y_max["server_cpu_cores"], cores)
    points_max = min(max(_POINTS_OF_PAGE // max(len(run.results), 1), _POINTS_LEAST), _POINTS_MAX)
    return Scale(t_min=min([*times, 0.0]), t_max=max([*times, *windows, 1.0]), y_max=y_max, points_max=points_max)


def window_of(result: TrialResult) -> Window | None:
    """Start and end in seconds of the trial's series."""
    m = result.measurement
    start = m.transient_s or 0.0
    return (start, start + m.window_s) if m.window_s else None


def panel_frame(x_min: float, x_max: float, y_max: float) -> Frame:
    return Frame.within((WIDTH, HEIGHT), (36, 6, 20, 18), (x_min, x_max), (0.0, y_max))


class SharedParts:
    """Parts of drawings that are equal: each is drawn once, and referred to after that."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def drawn(self, part: str, name: str) -> str:
        """name: used once in a page."""
        if part in self._names:
            return f'<use href="#{self._names[part]}"/>'
        self._names[part] = name
        return f'<g id="{name}" class="plot">{part}</g>'  # the class again: rules for `.plot .t` end at a reference


def panel_svg(
    series: Series,
    metric: PanelMetric,
    scale: Scale,
    window: Window | None,
    limit: float | None,
    shared: SharedParts | None = None,
    name: str = "",
) -> str:
    """One metric of one trial. shared: of the page, where name is that of this panel."""
    top = scale.y_max[metric.name] * 1.12 or 1.0
    frame = panel_frame(scale.t_min, scale.t_max, top)
    bottom = frame.height - frame.bottom
    parts = []
    if window:
        x0, x1 = frame.x(window[0]), frame.x(min(window[1], scale.t_max))
        size = f'width="{x1 - x0:.1f}" height="{bottom - frame.top}"'
        parts.append(f'<rect x="{x0:.1f}" y="{frame.top}" {size} class="window"/>')
    around = _around(frame, metric, scale, window, limit)
    parts.append(shared.drawn(around, name) if shared else around)
    points = pick(series, metric.name, scale.points_max)
    if not points:
        parts.append(text(WIDTH / 2 + 14, HEIGHT / 2 + 4, "not measured", "dim", "middle"))
    for stretch in runs_of(points):
        parts.append(_in_and_out(frame, stretch, window, metric.css))
    return drawing(WIDTH, HEIGHT, metric.title, "".join(parts), "panel")


def _around(frame: Frame, metric: PanelMetric, scale: Scale, window: Window | None, limit: float | None) -> str:
    """Equal in most trials of a level."""
    unit, unit_name = rate_scale(scale.y_max[metric.name], metric.unit) if metric.unit else (1.0, "")
    parts = [text(2, 11, unit_name or metric.title, "dim"), _panel_axes(frame, unit, window or (0.0,))]
    if limit:
        parts.append(across(frame, limit, "given"))
        parts.append(text(WIDTH - frame.right, 11, f"given {format_number(limit)}", "dim", "end"))
    return "".join(parts)


def _panel_axes(frame: Frame, unit: float, marks: Sequence[float]) -> str:
    bottom, right = frame.height - frame.bottom, frame.width - frame.right
    levels = [(value, frame.y(value * unit)) for value in ticks(0, frame.y_max / unit, 2)]
    grid = "".join(f"M{frame.left},{y:.1f}H{right}" for _, y in levels)
    parts = [f'<path d="{grid}" class="grid"/>']
    parts += [text(frame.left - 4, y + 4, f"{value:g}", "dim", "end") for value, y in levels]
    for value in marks:
        at_edge = frame.x(value) > right - _LABEL_HALF
        where = (right, "end") if at_edge else (frame.x(value), "middle")
        parts.append(text(where[0], bottom + 13, f"{value:.0f} s", "dim", where[1]))
    return "".join(parts)


def _in_and_out(frame: Frame, stretch: Points, window: Window | None, css: str) -> str:
    start, end = window or (0.0, float("inf"))
    parts: list[str] = []
    piece: list[tuple[float, float]] = []
    inside_before: bool | None = None
    for point in stretch:
        inside = start <= point[0] <= end
        if inside_before is not None and inside != inside_before:
            parts.append(line(frame, [*piece, point], "series " + (css if inside_before else "outside")))
            piece = []
        piece.append(point)
        inside_before = inside
    parts.append(line(frame, piece, "series " + (css if inside_before else "outside")))
    return "".join(parts)


def trial_panels(run: StoredRun) -> list[tuple[float, list[tuple[TrialResult, list[str]]]]]:
    """By level. Trials without any series have none."""
    by_level, shared, metrics = [], SharedParts(), measured_metrics(run)
    for level, of_level in itertools.groupby(by_run_order(run), key=lambda r: r.trial.level):
        results = list(of_level)
        scale = scale_of(run, results)
        rows = []
        for r in results:
            series = run.timeseries.get(r.trial.trial_id, ())
            window, limits = window_of(r), {"server_cpu_cores": cores_given(r)}
            panels = [
                panel_svg(series, m, scale, window, limits.get(m.name), shared, f"panel-{r.trial.order}-{number}")
                for number, m in enumerate(metrics if series else ())
            ]
            rows.append((r, panels))
        by_level.append((level, rows))
    return by_level


def label_of(result: TrialResult) -> str:
    return escape(result.trial.trial_id)
