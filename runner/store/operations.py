"""operations.csv: one row for each trial and operation of a load that does not only write. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from runner.model import TrialResult
from runner.sweep.vary import label

OPERATIONS = "operations.csv"
_QUANTILES = ("min", "mean", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p999", "max")
_FIGURES = (
    "weight",
    "window_s",
    "requests",
    "requests_per_s",
    "rows_per_s",
    "values_per_s",
    "mb_per_s",
    "errors",
    "empty",
)
COLUMNS = (
    "trial_id",
    "point",
    "replicate",
    "role",
    "variant",
    "operation",
    *_FIGURES,
    *(f"{kind}_ms_{name}" for kind in ("response", "service") for name in _QUANTILES),
    "verdict",
)


def operations_text(results: Iterable[TrialResult]) -> str:
    """The rows by level, replicate and the order of the mix. A value that could not be measured is empty."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(COLUMNS)
    for result in sorted(results, key=lambda r: (r.trial.level, r.trial.replicate)):
        trial = result.trial
        head = (trial.trial_id, trial.level, trial.replicate, trial.role, label(trial.variant))
        for name, one in result.measurement.operations.items():
            times = [had.get(q) for had in (one.response_ms, one.service_ms) for q in _QUANTILES]
            figures = [getattr(one, figure) for figure in _FIGURES]
            cells = (*head, name, *figures, *times, result.verdict.kind.value)
            out.writerow("" if cell is None else cell for cell in cells)
    return text.getvalue()
