"""The heading of a report: the result itself, and the line above it. Refuses a speedup that the fit does not have."""

from __future__ import annotations

from scale_sweep.base.units import format_number
from scale_sweep.experiment.axes import axis_of
from scale_sweep.model import FitReport, StoredRun
from scale_sweep.report.load_words import work_words
from scale_sweep.report.run_facts import created, server_name, settings_words


def title_of(run: StoredRun, fit: FitReport) -> str:
    """The result as a heading: "postgres 16.14: 1 → 2 cores, 1.80×". Without a speedup, the name of the sweep.

    A speedup in doubt is not in the heading.
    """
    last = fit.points[-1] if len(fit.points) > 1 else None
    if last is None or not last.speedup:
        return f"{run.plan.sweep.name}: {server_name(run)}"
    end = axis_of(run.plan.sweep.axis).facts.count(format_number(last.level))
    speedup = "in doubt" if fit.is_doubted else f"{last.speedup:.2f}×"
    return f"{server_name(run)}: {format_number(fit.points[0].level)} → {end}, {speedup}"


def eyebrow_of(run: StoredRun) -> str:
    """The small line above the heading: the name of the sweep, its work, where the server ran, and when."""
    sweep = run.plan.sweep
    parts = (sweep.name, server_name(run), work_words(run), sweep.runtime, settings_words(run), created(run))
    return " · ".join(part for part in parts if part)
