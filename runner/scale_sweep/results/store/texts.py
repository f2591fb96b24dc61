"""The texts of a run's files, from model objects. Pure, so that `scale verify` can make them again."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from scale_sweep.judge.figures.counts_per_second import SERIES_COLUMNS, RatedInterval, time_series
from scale_sweep.model.declared import Work
from scale_sweep.model.derived import is_quick, rate_per_cpu_s
from scale_sweep.model.measured import Bottleneck, Measurement, TrialResult
from scale_sweep.model.planned import Plan
from scale_sweep.model.samples import DiskFigures, Sample
from scale_sweep.results.store.codec import plain
from scale_sweep.sweep.vary import label

_BY_NAME = ("disks", "hosts", "cpu_mhz", "operations", "steps", "server_waits")  # figures of each of them
_MEASURED = tuple(name for name in Measurement.__dataclass_fields__ if name not in _BY_NAME)
DISKS_MAX = 8  # in columns
_Cell = Callable[[TrialResult], Any]
_BEFORE: Mapping[str, _Cell] = {
    "trial_id": lambda r: r.trial.trial_id,
    "order": lambda r: r.trial.order,
    "point": lambda r: r.trial.level,
    "replicate": lambda r: r.trial.replicate,
    "role": lambda r: r.trial.role,
    "target": lambda r: r.trial.subject.target,
    "runtime": lambda r: r.trial.subject.runtime,
    "method": lambda r: r.trial.subject.method,
    "variant": lambda r: label(r.trial.variant),
    "cores": lambda r: r.trial.cores,
    "disks": lambda r: r.trial.disks,
}
_AFTER: Mapping[str, _Cell] = {
    "verdict": lambda r: r.verdict.kind.value,
    "reasons": lambda r: "; ".join(r.verdict.reasons),
    "bottleneck": lambda r: r.verdict.bottleneck.kind.value if r.verdict.bottleneck else None,
    "bottleneck_shares": lambda r: _shares(r.verdict.bottleneck),
    "server_waits": lambda r: _waits(r.measurement.server_waits),
    "server_cpus": lambda r: _spaced(r.trial.placement.server_cpus),
    "generator_cpus": lambda r: _spaced(r.trial.placement.generator_cpus),
    "shared_cpus": lambda r: _spaced(r.trial.placement.shared),
    "smt_cpus": lambda r: _spaced(r.trial.placement.smt_cpus),
    "sibling_cpus": lambda r: _spaced(r.trial.placement.sibling_cpus),
    "other_knobs": lambda _: None,  # those without a column, by the plan
    "started_utc": lambda r: r.started_utc,
    "wall_s": lambda r: round(r.wall_s, 3),
    "quick": lambda r: "yes" if is_quick(r) else "no",
    "rate_unit": lambda r: r.trial.work.rate_words,
    "rate_per_cpu_s": rate_per_cpu_s,
    "fitted": lambda r: "yes" if r.is_fitted else "no",
}
COLUMNS_BEFORE_KNOBS, COLUMNS_AFTER_KNOBS = tuple(_BEFORE), (*_MEASURED, *_AFTER)
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


def _waits(shares: Mapping[str, float]) -> str | None:
    return "; ".join(f"{name or 'running'}={100 * share:.1f}%" for name, share in shares.items()) or None


def _spaced(cpus: Iterable[int]) -> str:
    return " ".join(map(str, cpus))


def point_row(plan: Plan, result: TrialResult) -> dict[str, Any]:
    """None: not measured."""
    trial, columns = result.trial, _knob_columns(plan)
    return {
        **{column: trial.knobs.get(knob) for knob, column in columns.items()},
        plan.sweep.axis: trial.level,
        **{name: cell(result) for name, cell in _BEFORE.items()},
        **{k: v for k, v in asdict(result.measurement).items() if k not in _BY_NAME},
        **{f"{d}_{k}": v for d, figures in result.measurement.disks.items() for k, v in asdict(figures).items()},
        **{name: cell(result) for name, cell in _AFTER.items()},
        "other_knobs": " ".join(f"{k}={v}" for k, v in trial.knobs.items() if k not in columns),
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
