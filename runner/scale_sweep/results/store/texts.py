"""The texts of a run's files, from model objects. Pure, so that `scale verify` can make them again."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from scale_sweep.judge.figures.counts_per_second import SERIES_COLUMNS, RatedInterval, time_series
from scale_sweep.model import (
    Bottleneck,
    DiskFigures,
    Measurement,
    Plan,
    Sample,
    TrialResult,
    Work,
    is_quick,
    rate_per_cpu_s,
)
from scale_sweep.results.store.codec import plain
from scale_sweep.sweep.vary import label

_BY_NAME = ("disks", "hosts", "cpu_mhz", "operations", "steps")  # figures of each of them
_MEASURED = tuple(name for name in Measurement.__dataclass_fields__ if name not in _BY_NAME)
DISKS_MAX = 8  # in columns
COLUMNS_BEFORE_KNOBS = (
    "trial_id",
    "order",
    "point",
    "replicate",
    "role",
    "target",
    "runtime",
    "method",
    "variant",
    "cores",
    "disks",
)
COLUMNS_AFTER_KNOBS = (
    *_MEASURED,
    "verdict",
    "reasons",
    "bottleneck",
    "bottleneck_shares",
    "server_cpus",
    "generator_cpus",
    "shared_cpus",
    "smt_cpus",
    "sibling_cpus",
    "other_knobs",
    "started_utc",
    "wall_s",
    "quick",
    "rate_unit",
    "rate_per_cpu_s",
    "fitted",
)
TIMESERIES_HEADER = "trial_id,t_s," + ",".join(SERIES_COLUMNS) + "\n"


def point_columns(plan: Plan) -> tuple[str, ...]:
    """The fixed ones, with the axis' and the knobs' own among them, then those of each disk; each once."""
    disks = min(max((t.disks for t in plan.trials), default=1), DISKS_MAX)
    figures = tuple(DiskFigures.__dataclass_fields__)
    of_disks = (f"d{i + 1}_{name}" for i in range(disks) for name in figures)
    own = (plan.sweep.axis, *_knob_columns(plan).values())
    return tuple(dict.fromkeys((*COLUMNS_BEFORE_KNOBS, *own, *COLUMNS_AFTER_KNOBS, *of_disks)))


def _knob_columns(plan: Plan) -> dict[str, str]:
    return {knob.name: knob.column for knob in plan.knobs if knob.column}


def samples_text(samples: Iterable[Sample]) -> str:
    return "".join(json.dumps(plain(sample)) + "\n" for sample in samples)


def series_text(intervals: Sequence[RatedInterval], samples: Sequence[Sample], start_ns: int) -> str:
    """Times since start_ns (monotonic), the end of the warm-up; 0: since the first sample."""
    start_ns = start_ns or (samples[0].monotonic_ns if samples else 0)
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(("t_s", *SERIES_COLUMNS))
    for t_s, values in time_series(intervals, samples, start_ns):
        cells = (values.get(name) for name in SERIES_COLUMNS)
        out.writerow((f"{t_s:.3f}", *("" if v is None else f"{v:.6g}" for v in cells)))
    return text.getvalue()


def timeseries_part(trial_id: str, series: str) -> str:
    return "".join(f"{trial_id},{row}\n" for row in series.splitlines()[1:])


def points_text(plan: Plan, results: Iterable[TrialResult]) -> str:
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    columns = point_columns(plan)
    out.writerow(columns)
    for result in sorted(results, key=lambda r: (r.trial.level, r.trial.replicate)):
        row = point_row(plan, result)
        out.writerow(_cell(row.get(c)) for c in columns)
    return text.getvalue()


def _cell(value: Any) -> Any:
    return "" if value is None else value.replace("\r", " ") if isinstance(value, str) else value


def _shares(bottleneck: Bottleneck | None) -> str | None:
    return " ".join(f"{kind}={share:.0f}%" for kind, share in bottleneck.shares.items()) if bottleneck else None


def point_row(plan: Plan, result: TrialResult) -> dict[str, Any]:
    """None: not measured."""
    trial, columns = result.trial, _knob_columns(plan)
    other = {k: v for k, v in trial.knobs.items() if k not in columns}
    return {
        **{column: trial.knobs.get(knob) for knob, column in columns.items()},
        plan.sweep.axis: trial.level,
        "trial_id": trial.trial_id,
        "order": trial.order,
        "point": trial.level,
        "replicate": trial.replicate,
        "role": trial.role,
        "target": trial.subject.target,
        "runtime": trial.subject.runtime,
        "method": trial.subject.method,
        "variant": label(trial.variant),
        "cores": trial.cores,
        "disks": trial.disks,
        **{k: v for k, v in asdict(result.measurement).items() if k not in _BY_NAME},
        **{f"{d}_{k}": v for d, figures in result.measurement.disks.items() for k, v in asdict(figures).items()},
        "verdict": result.verdict.kind.value,
        "reasons": "; ".join(result.verdict.reasons),
        "bottleneck": result.verdict.bottleneck.kind.value if result.verdict.bottleneck else None,
        "bottleneck_shares": _shares(result.verdict.bottleneck),
        "server_cpus": " ".join(map(str, trial.placement.server_cpus)),
        "generator_cpus": " ".join(map(str, trial.placement.generator_cpus)),
        "shared_cpus": " ".join(map(str, trial.placement.shared)),
        "smt_cpus": " ".join(map(str, trial.placement.smt_cpus)),
        "sibling_cpus": " ".join(map(str, trial.placement.sibling_cpus)),
        "other_knobs": " ".join(f"{k}={v}" for k, v in other.items()),
        "started_utc": result.started_utc,
        "wall_s": round(result.wall_s, 3),
        "rate_unit": trial.work.rate_words,
        "quick": "yes" if is_quick(result) else "no",
        "rate_per_cpu_s": rate_per_cpu_s(result),
        "fitted": "yes" if result.is_fitted else "no",
    }


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
    """By level, replicate and the order of the mix; not measured: empty."""
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
    parameters = next((one.parameters for one in work.operations if one.name == name), {})
    return " ".join(f"{key}={value}" for key, value in parameters.items())
