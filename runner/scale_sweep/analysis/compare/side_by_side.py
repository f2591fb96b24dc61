"""Compares several runs with one of them, the base: one host each, of one sweep. Refuses to rank the hosts."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.analysis.compare.pairs import check_comparable
from scale_sweep.analysis.compare.runs import compare_runs
from scale_sweep.base.errors import UsageError
from scale_sweep.model import StoredRun
from scale_sweep.model.compared import Comparison


def compare_with_first(runs: Sequence[StoredRun]) -> tuple[Comparison, ...]:
    """Each later run against the first one. Raises UsageError for fewer than two runs, for a run that is named twice,
    and for runs of two axes, two methods, or rows/s and requests/s."""
    if len(runs) < 2:
        raise UsageError("one run is named; the first is the base, the others are compared with it")
    if len({run.path for run in runs}) < len(runs):
        raise UsageError("a run is named twice", remedy="name each host's run once")
    check_comparable(runs)
    methods = sorted({run.plan.sweep.method for run in runs})
    if len(methods) > 1:
        raise UsageError(
            f"the runs write by two methods: {' and '.join(methods)}", remedy="compare runs of one --method"
        )
    return tuple(compare_runs(runs[0], run) for run in runs[1:])
