"""operations.csv: one row for each trial and operation of a load that does not only write. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from scale_sweep.model import TrialResult, Work
from scale_sweep.sweep.vary import label

OPERATIONS = "operations.csv"
_QUANTILES = ("min", "mean", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p999", "max")
_FIGURES = (
    "weight",
    "window_s",
    "requests",
    "requests_per_s",
    "rows_per_s",
    "read_rows_per_s",
    "read_values_per_s",
    "read_mb_per_s",
    "errors",
    "empty",
    "checked_before",
    "checked_within",
    "checked_rows",
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
    "checked_devices",
    "parameters",
    "passed_percent",
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
            ends = (result.verdict.kind.value, one.checked_devices, _parameters(trial.work, name), one.passed_percent)
            out.writerow("" if cell is None else cell for cell in (*head, name, *figures, *times, *ends))
    return text.getvalue()


def _parameters(work: Work, name: str) -> str:
    """Those that the sweep gives the operation: span=1h devices=3."""
    parameters = next((one.parameters for one in work.operations if one.name == name), {})
    return " ".join(f"{key}={value}" for key, value in parameters.items())
