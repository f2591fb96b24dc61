"""Each trial by itself: its time series, and what was checked of its answers. Refuses to compare trials."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.base.units import format_number
from scale_sweep.model import StoredRun, TrialResult
from scale_sweep.report.checked import trial_checks_table
from scale_sweep.report.escaped import escape
from scale_sweep.report.figures import axis_facts
from scale_sweep.report.markup import broken, css_of, table_html
from scale_sweep.report.series import label_of, trial_panels
from scale_sweep.report.table import ordinal

_NOTE = (
    "The measuring window is shaded and drawn in colour; what lies outside it is grey. "
    "All trials of a level share their scales, which start at 0."
)


def trials_html(run: StoredRun) -> str:
    """The part of the page, level by level."""
    parts = [f'<h2>Second by second</h2><p class="note">{_NOTE}</p>']
    axis = axis_facts(run)
    for level, rows in trial_panels(run):
        parts.append(f"<h3>{axis.count(format_number(level))}</h3>")
        parts += [_trial(result, panels) + _checked(result) for result, panels in rows]
    return "".join(parts) + "\n"


def _trial(result: TrialResult, panels: Sequence[str]) -> str:
    kind = result.verdict.kind
    name = (
        f'<div class="name"><b>{label_of(result)}</b><br><span class="{css_of(kind)}">{broken(kind.value)}</span><br>'
        f'<span class="eyebrow">ran {ordinal(result.trial.order + 1)}</span></div>'
    )
    drawn = "".join(panels) or '<p class="note">no time series</p>'
    return f'<div class="trial">{name}{drawn}</div>'


def _checked(result: TrialResult) -> str:
    """The compared answers of each operation, behind a line with their sum; "" for a trial without any."""
    table = trial_checks_table(result)
    if not table.rows:
        return ""
    return f"<details><summary>{escape(table.title)}</summary>{table_html(table, dense=True)}</details>"
