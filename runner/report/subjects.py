"""Several databases in one run, side by side: the CPU cost of each rate, and the conditions of each measurement.

Refuses to name a winner: rates differ only if intervals say so (`scale compare`), and conditions differ.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from runner.model import Measurement, StoredRun, TrialResult
from runner.report.figures import axis_facts
from runner.report.table import ABSENT, Table, fixed, mean, rate, short
from runner.sweep.vary import label, slug
from runner.units import format_number

UNKNOWN = "not said"
_NOTE = (
    "durable: counted to the end of the flush; bytes written: to the disk, by everybody; speedup: against the "
    "variant's own first level; † no trial counts: mean over all, and not the server's number"
)
# Settings read back that describe a target's conditions, by their heading here.
TERMS = {
    "server": "server_version",
    "acknowledged when the rows are": "acknowledged",
    "stored": "compression",
}


def has_several(run: StoredRun) -> bool:
    """Whether the run measured more than one database."""
    return len({trial.subject.target for trial in run.plan.trials}) > 1


def tables(run: StoredRun) -> tuple[Table, ...]:
    """The tables of costs and of conditions; none for a single database."""
    return (cost_table(run), terms_table(run)) if has_several(run) else ()


def cost_table(run: StoredRun) -> Table:
    """A row for each variant and level: means over the trials that count, else over all, marked.

    Rates in rows/s; speedup against the variant's own first level; CPU in seconds for a million rows.
    """
    rows = [row for results in _by_variant(run) for row in _rows_of(results)]
    headers = (
        "variant",
        axis_facts(run).name,
        "rows/s",
        "durable rows/s",
        "speedup",
        "rows/s per core",
        "server CPU-s / M rows",
        "bytes written / row",
        "response p50 ms",
        "response p99 ms",
    )
    return Table(
        title="What the rates cost",
        headers=headers,
        rows=tuple(rows),
        words=(0,),
        notes=(_NOTE,),
    )


def _by_variant(run: StoredRun) -> list[list[TrialResult]]:
    """The results of each variant, in the requested order. A variant without results is left out."""
    asked = [dict(zip(run.plan.sweep.vary, v, strict=True)) for v in itertools.product(*run.plan.sweep.vary.values())]
    found: dict[str, list[TrialResult]] = {slug(variant): [] for variant in asked}
    for result in run.on_curve:
        found.setdefault(slug(result.trial.variant), []).append(result)
    return [results for results in found.values() if results]


def _rows_of(results: Sequence[TrialResult]) -> list[tuple[str, ...]]:
    """The rows of one variant, levels ascending."""
    rows: list[tuple[str, ...]] = []
    base: float | None = None
    for level in sorted({r.trial.level for r in results}):
        here = [r for r in results if r.trial.level == level]
        counted = [r for r in here if r.verdict.kind.is_fitted]
        used = [r.measurement for r in counted or here]
        speed = mean(m.rows_per_s for m in used)
        base = base or speed
        cores = here[0].trial.cores
        rows.append(
            (
                label(here[0].trial.variant),
                format_number(level) + ("" if counted else " †"),
                rate(speed),
                rate(mean(m.durable_rows_per_s for m in used)),
                f"{speed / base:.2f}×" if speed and base else ABSENT,
                rate(speed / cores if speed is not None else None),
                short(mean(_server_cost(m) for m in used)),
                short(mean(m.disk_bytes_per_row for m in used)),
                short(mean(m.response_ms_p50 for m in used)),
                short(mean(m.response_ms_p99 for m in used)),
            )
        )
    return rows


def _server_cost(m: Measurement) -> float | None:
    """CPU seconds of the server for a million rows."""
    return m.server_cpu_cores / m.rows_per_s * 1e6 if m.server_cpu_cores is not None and m.rows_per_s else None


def terms_table(run: StoredRun) -> Table:
    """A row for each variant: what makes its rates comparable with the others', or not."""
    rows = []
    for results in _by_variant(run):
        said = next((r.effective for r in results if r.effective), {})
        load = sorted({r.trial.load.connections for r in results})
        requests = sorted({r.trial.work.data.rows_per_request for r in results})
        rows.append(
            (
                label(results[0].trial.variant),
                *(said.get(key) or UNKNOWN for key in TERMS.values()),
                results[0].trial.subject.method,
                ", ".join(fixed(n) for n in requests),
                ", ".join(fixed(n) for n in load),
            )
        )
    return Table(
        title="The terms",
        headers=("variant", *TERMS, "method", "rows a request", "connections"),
        rows=tuple(rows),
        words=(0, 1, 2, 3, 4),
        notes=("the defaults of the vendors, unless --knob says otherwise; acknowledged: when a request is answered",),
    )
