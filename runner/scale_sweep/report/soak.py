"""A soak on the page: its rate over time, its slow periods, and how far short windows are from its mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from scale_sweep.analysis.soak import Period, Second, WindowRatios, ratios_of_windows, regular_s, slow_periods
from scale_sweep.base.units import counted, format_rate, format_seconds
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult
from scale_sweep.report.series import Series, pick, window_of
from scale_sweep.report.svg import Frame, across, drawing, line, rate_scale, text, ticks
from scale_sweep.report.table import ABSENT, Table, known

CAPTION = (
    "Rows/s, second by second; the warm-up is grey, the dashed line is the mean of the soak, and slow periods (three "
    "seconds together under 80 % of the median rate, or more) are shaded. A second line, if it was measured, is the "
    "rate of the disks, from 0 to its maximum."
)
_WINDOWS_NOTE = (
    "A rate is that of the VALID windows over the mean of the soak, from the lowest to the highest of them. A window "
    "begins every 5 s, so neighbours share most of their seconds."
)
WIDTH, HEIGHT = 960, 260
_DISK_PART = 0.25  # of the height


@dataclass(frozen=True, kw_only=True)
class Soak:
    """seconds: of the window. rates: of the whole load, thinned for drawing, in unit (rows/s or requests/s)."""

    seconds: tuple[Second, ...]
    mean: float
    unit: str
    periods: tuple[Period, ...]
    ratios: tuple[WindowRatios, ...]
    rates: tuple[tuple[float, float], ...]
    disk: tuple[tuple[float, float], ...]
    words: str


def soak_of(run: StoredRun, result: TrialResult) -> Soak | None:
    """None if the trial is not a soak, or has no window."""
    window = window_of(result)
    if not result.trial.load.soak or window is None:
        return None
    series = run.timeseries.get(result.trial.trial_id, ())
    rates = [(t, v) for t, values in series if known(v := values.get(result.trial.work.rate_column)) and v is not None]
    inside = [(t, v) for t, v in rates if window[0] + 0.5 < t <= window[1] + 0.5]
    if not inside or not any(v for _, v in inside):
        return None
    disk, cores = _by_second(series, "disk_write_mb_per_s"), _by_second(series, "server_cpu_cores")
    seconds = tuple(
        Second(t_s=t, rate=v, disk_mb_per_s=disk.get(round(t)), server_cores=cores.get(round(t))) for t, v in inside
    )
    mean, unit, periods = fmean(s.rate for s in seconds), result.trial.work.rate_words, slow_periods(seconds)
    ratios = ratios_of_windows([s.rate for s in seconds])
    return Soak(
        seconds=seconds,
        mean=mean,
        unit=unit,
        periods=periods,
        ratios=ratios,
        rates=tuple(pick(series, result.trial.work.rate_column)),
        disk=tuple(pick(series, "disk_write_mb_per_s")),
        words=_words(seconds, f"{format_rate(mean)} {unit}", periods, ratios),
    )


def soak_tables(soak: Soak) -> tuple[Table, Table]:
    """Short windows against the soak, and its slow periods."""
    against = Table(
        title="Windows of a sweep, measured on each stretch of the soak",
        headers=("Window", "Tried", "VALID", "Lowest", "5 %", "Median", "95 %", "Highest"),
        rows=tuple(_ratio_row(r) for r in soak.ratios),
        words=(0,),
        notes=(_WINDOWS_NOTE,),
    )
    slow = Table(
        title="Slow periods",
        headers=("From (s)", "To (s)", "What", "Rate (% of median)", "Seconds that stood still", "Meanwhile"),
        rows=tuple(
            (
                f"{p.start_s:.0f}",
                f"{p.end_s:.0f}",
                p.name,
                f"{100 * p.rate_share:.0f}",
                str(p.still_s),
                p.seen or ABSENT,
            )
            for p in soak.periods
        ),
        words=(2, 5),
    )
    return against, slow


def soak_svg(soak: Soak) -> str:
    """The rate over time, with the disk below it."""
    last = soak.seconds[-1].t_s
    largest = max(v for _, v in soak.rates)
    unit, unit_name = rate_scale(largest, soak.unit)
    frame = Frame.within((WIDTH, HEIGHT), (58, 12, 26, 34), (min(0.0, soak.rates[0][0]), last), (0.0, largest * 1.08))
    bottom = HEIGHT - frame.bottom
    parts = [text(6, 14, unit_name, "dim")]
    for p in soak.periods:
        x0, x1 = frame.x(p.start_s), frame.x(min(p.end_s, last))
        size = f'width="{max(x1 - x0, 1.5):.1f}" height="{bottom - frame.top}"'
        parts.append(f'<rect x="{x0:.1f}" y="{frame.top}" {size} class="window"><title>{p.name}</title></rect>')
    for value in ticks(0, frame.y_max / unit, 4):
        parts.append(across(frame, value * unit, "zero" if value == 0 else "grid"))
        parts.append(text(frame.left - 7, frame.y(value * unit) + 4, f"{value:g}", "dim", "end"))
    inside = [t for t in ticks(0.0, last, 8) if t < 0.98 * last]
    parts += [text(frame.x(t), bottom + 17, f"{t:g} s", "dim", "middle") for t in inside]
    parts += _lines(frame, soak)
    return drawing(WIDTH, HEIGHT, "rate of the soak over time", "".join(parts))


def _lines(frame: Frame, soak: Soak) -> list[str]:
    begin = soak.seconds[0].t_s - 1
    before = [p for p in soak.rates if p[0] <= begin + 1]
    most = max((v for _, v in soak.disk), default=0.0)
    disk = [(t, v / most * frame.y_max * _DISK_PART) for t, v in soak.disk if t <= soak.seconds[-1].t_s] if most else []
    y = frame.y(soak.mean)
    return [
        line(frame, disk, "series s-disk"),
        line(frame, before, "series outside"),
        line(frame, [p for p in soak.rates if begin < p[0] <= soak.seconds[-1].t_s], "series s-rate"),
        f'<line x1="{frame.x(begin):.1f}" x2="{frame.width - frame.right}" y1="{y:.1f}" y2="{y:.1f}" class="given"/>',
    ]


def _by_second(series: Series, name: str) -> dict[int, float]:
    return {round(t): v for t, values in series if known(v := values.get(name)) and v is not None}


def _words(seconds: Sequence[Second], mean: str, periods: Sequence[Period], ratios: Sequence[WindowRatios]) -> str:
    sentences = [f"The mean over {format_seconds(len(seconds))} is {mean}."]
    for r in ratios:
        middle, low, high = r.quantile(0.5), r.quantile(0.05), r.quantile(0.95)
        if middle is None or low is None or high is None:
            sentences.append(f"Windows of {r.name}: none of {r.windows} would have been VALID.")
            continue
        sentences.append(
            f"Windows of {r.name}: {len(r.valid)} of {r.windows} would have been VALID. Their rate is "
            f"{100 * (middle - 1):+.1f} % off that mean (median), and in 90 % of them {100 * (low - 1):+.1f} to "
            f"{100 * (high - 1):+.1f} %."
        )
    if periods:
        slow_s = sum(p.end_s - p.start_s for p in periods)
        again = regular_s(periods)
        every = f", about every {again:.0f} s" if again else ""
        sentences.append(f"{counted(len(periods), 'slow period')}{every}, {slow_s:.0f} s together.")
    else:
        sentences.append("No slow period of 3 s or more.")
    return " ".join(sentences)


def _ratio_row(r: WindowRatios) -> tuple[str, ...]:
    shares = (0.0, 0.05, 0.5, 0.95, 1.0)
    return (
        r.name,
        str(r.windows),
        str(len(r.valid)),
        *(f"{q:.3f}" if (q := r.quantile(s)) is not None else ABSENT for s in shares),
    )
