"""The table of all trials, and each trial by itself: its series, its checked answers, its warm-up."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.base.units import counted, format_number, format_rate, part_of
from scale_sweep.judge.verdict.thresholds import BATCH_S, BATCHES_MIN
from scale_sweep.judge.verdict.window_start import Transient, transient
from scale_sweep.model.derived import common_marks, verdict_words
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult
from scale_sweep.model.observed import Agreement
from scale_sweep.report.cpu_time import cpu_rate_cell, heading_of
from scale_sweep.report.figures import agreement_in, axis_facts, by_run_order, cores_given, disk_mb_per_s
from scale_sweep.report.markup import broken, css_of, escape, table_html
from scale_sweep.report.operation_questions import trial_checks_table
from scale_sweep.report.replicates import reasons_of
from scale_sweep.report.series import (
    HEIGHT,
    WIDTH,
    label_of,
    measured_metrics,
    metrics_of,
    panel_frame,
    trial_panels,
    window_of,
)
from scale_sweep.report.shared_values import Remark, once, shared_remarks
from scale_sweep.report.svg import across, drawing, line, text, ticks, upright
from scale_sweep.report.table import Table, fixed, known, marked, ordinal, short, without_empty


def trial_table(run: StoredRun) -> Table:
    """Every trial with its figures and verdict. Reasons are row notes; remarks of three trials or more are notes."""
    rows, work, common = [], run.plan.sweep.work, common_marks(run.results)
    results, axis, agreement = by_run_order(run), axis_facts(run), agreement_in(run)
    for r in results:
        m = r.measurement
        response = (m.response_ms_p50, m.response_ms_p95, m.response_ms_p99, m.response_ms_max)
        rows.append(
            (
                r.trial.trial_id,
                verdict_words(r),
                marked(format_rate(r.achieved_per_s), [r], common),
                *(() if work.counts_requests else (format_rate(m.durable_rows_per_s),)),
                f"{fixed(m.server_cpu_cores, 2)} / {format_number(cores_given(r))}",
                cpu_rate_cell([r]),
                fixed(m.generator_cpu_cores, 2),
                fixed(m.throttled_s, 1),
                short(disk_mb_per_s(axis_facts(run), m)),
                short(m.disk_bytes_per_row),
                " / ".join(short(v) for v in response),
                fixed(m.errors),
            )
        )
    headers = (
        "Trial",
        "Verdict",
        work.rate_words.capitalize(),
        *(() if work.counts_requests else ("Durable rows/s",)),
        "Server cores used / given",
        heading_of(work.rate_words),
        "Load generator cores",
        "Throttled (s)",
        "Disk MB/s",
        "Bytes / row",
        "Response p50 / p95 / p99 / max (ms)",
        "Errors",
    )
    durable = "" if work.counts_requests else "A durable rate counts to the end of the flush. "
    why, shared = shared_remarks(
        [_remarks(r, agreement) for r in results], [axis.count(format_number(r.trial.level)) for r in results]
    )
    every = (f"Every rate is marked: {', '.join(common)}.",) if common else ()
    made = Table(
        title="Every trial",
        headers=headers,
        rows=tuple(rows),
        words=(0, 1),
        row_notes=tuple(why),
        keys=tuple(key_of(r) for r in results),
        notes=(
            *every,
            f"{durable}A response time begins at the intended start. –: It was not measured, or had too few requests.",
            *shared,
        ),
    )
    return once(without_empty(made), kept=(0, 1, 2))


def key_of(result: TrialResult) -> str:
    """The name of its row, to which the points of pictures lead."""
    return f"trial-{result.trial.order}"


def _remarks(result: TrialResult, agreement: Agreement | None) -> list[Remark]:
    is_cause = not result.verdict.kind.is_fitted
    return [
        Remark(words=words, is_cause=is_cause and at == 0) for at, words in enumerate(reasons_of(result, agreement))
    ]


_NOTE = (
    "The measuring window is shaded and drawn in colour; the seconds outside it are grey. "
    "All trials of a level share their scales, which start at 0."
)


_SHOWN = 12  # trials that a page shows at once; the levels of more are folded


def trials_html(run: StoredRun) -> str:
    """ "" if nothing was recorded second by second, and no answer compared."""
    absent = [m.title for m in metrics_of(run.plan.sweep.work) if m not in measured_metrics(run)]
    unseen = escape(f" Not measured in any trial: {'; '.join(absent)}.") if absent else ""
    parts = [f'<p class="note">{_NOTE}{unseen}</p>']
    is_open = " open" if len(run.results) <= _SHOWN else ""
    for level, rows in trial_panels(run):
        name = f"{axis_facts(run).count(format_number(level))}: {counted(len(rows), 'trial')}"
        drawn = "".join(_trial(result, panels) + _checked(result) for result, panels in rows)
        parts.append(f"<details{is_open}><summary>{name}</summary>{drawn}</details>")
    has_any = any(run.timeseries.values()) or any(_checked(result) for result in run.results)
    return "".join(parts) if has_any else ""


def _trial(result: TrialResult, panels: Sequence[str]) -> str:
    kind, verdict = result.verdict.kind, broken(verdict_words(result))
    name = (
        f'<div class="name"><b>{label_of(result)}</b><br><span class="{css_of(kind)}">{verdict}</span><br>'
        f'<span class="eyebrow">ran {ordinal(result.trial.order + 1)}</span></div>'
    )
    drawn = "".join(panels) or '<p class="note">no time series</p>'
    return f'<div class="trial" data-trial="{key_of(result)}">{name}{drawn}</div>'


def _checked(result: TrialResult) -> str:
    table = trial_checks_table(result)
    if not table.rows:
        return ""
    return f"<details><summary>{escape(table.title)}</summary>{table_html(table, dense=True)}</details>"


NOTE = (
    "MSER-5: the squared standard error of the mean of the remaining seconds, by the seconds discarded since the load "
    "began, relative to no discarded second. It is smallest at the end of the warm-up (the dot). The dashed line is "
    "the begin of the window. In the last half it is not defined."
)
_MSER = "MSER-5 finds the end of a warm-up: the second from which on the mean rate has about the smallest error"
_TOP = 1.2
_PER_ROW = 4


def warmup_panels(run: StoredRun) -> list[tuple[str, str]]:
    """Rows of at most four trials of a level. Trials without a series have none."""
    rows: list[tuple[str, str]] = []
    by_level: dict[float, list[str]] = {}
    for result in by_run_order(run):
        if (ending := _transient(run, result)) is not None:
            by_level.setdefault(result.trial.level, []).append(_panel(result, *ending))
    for level, panels in by_level.items():
        name = axis_facts(run).count(format_number(level))
        rows += [(name, "".join(panels[at : at + _PER_ROW])) for at in range(0, len(panels), _PER_ROW)]
    return rows


def warmup_words(run: StoredRun) -> list[str]:
    """Empty if no trial can show it."""
    endings = [(r, one) for r in by_run_order(run) if (one := _transient(run, r)) is not None]
    if not endings:
        return []
    late = [(r, t, begin_s) for r, (t, begin_s) in endings if t.is_long_enough and t.seconds > begin_s + 1]
    unknown = [r.trial.trial_id for r, (t, _) in endings if not t.is_long_enough]
    sentences = [*_answer(len(late), len(endings) - len(unknown)), _MSER]
    sentences += [
        f"{r.trial.trial_id}: the warm-up ended {t.seconds} s into the load, the window began at {begin_s:.0f} s"
        for r, t, begin_s in late
    ]
    if unknown:
        sentences.append(f"not known, since the rate never settled or the series is too short: {', '.join(unknown)}")
    judged = {r.trial.trial_id for r, _ in endings}
    short = [r.trial.trial_id for r in by_run_order(run) if r.trial.trial_id not in judged]
    if short:
        sentences.append(f"not known, since fewer than {BATCHES_MIN * BATCH_S} s were recorded: {', '.join(short)}")
    return sentences


def _answer(late: int, known: int) -> list[str]:
    """late: of the known ones."""
    if not known:
        return []
    if late:
        return [f"No, in {part_of(late, known, 'trial')} that can show it: the window began before the warm-up ended"]
    return [f"Yes, in {part_of(known, known, 'trial')} that can show it: the warm-up had ended when the window began"]


def _transient(run: StoredRun, result: TrialResult) -> tuple[Transient, float] | None:
    """MSER-5 of the series up to the window's end, and the seconds from the load's start to the window's."""
    window = window_of(result)
    series = run.timeseries.get(result.trial.trial_id, ())
    if window is None:
        return None
    rates = [(t, v) for t, values in series if known(v := values.get(result.trial.work.rate_column)) and v is not None]
    rates = [(t, v) for t, v in rates if t <= window[1] + 0.5]
    ending = transient([v for _, v in rates]) if rates else None
    return (ending, max(0.0, window[0] - (rates[0][0] - 1))) if ending is not None else None


def _panel(result: TrialResult, ending: Transient, begin_s: float) -> str:
    last = ending.by_start[-1][0]
    frame = panel_frame(0.0, float(last), _TOP)
    bottom, right = HEIGHT - frame.bottom, WIDTH - frame.right
    parts = [text(2, 11, result.trial.trial_id, "dim")]
    for value in ticks(0.0, 1.0, 2):
        parts.append(across(frame, value, "grid"))
        parts.append(text(frame.left - 4, frame.y(value) + 4, f"{value:g}", "dim", "end"))
    points = [(float(s), min(value, _TOP)) for s, value in ending.by_start]
    parts.append(line(frame, points, "series s-rate"))
    parts.append(upright(frame, min(begin_s, last), "given"))
    least = dict(ending.by_start)[ending.seconds]
    dot = f'cx="{frame.x(ending.seconds):.1f}" cy="{frame.y(min(least, _TOP)):.1f}"'
    parts.append(f'<circle {dot} r="3.5" class="valid"/>')
    parts.append(text(right, bottom + 13, f"{last} s", "dim", "end"))
    parts.append(
        text(frame.left, bottom + 13, f"ends at {ending.seconds} s" if ending.is_long_enough else "not settled", "dim")
    )
    return drawing(WIDTH, HEIGHT, f"MSER-5 of {result.trial.trial_id}", "".join(parts), "panel")
