"""The table of all trials: the figures of each, its verdict and the reasons. What all trials share is said once."""

from __future__ import annotations

from scale_sweep.base.units import format_number, format_rate
from scale_sweep.model import Agreement, StoredRun, TrialResult, common_marks, verdict_words
from scale_sweep.report.columns import disk_mb_per_s
from scale_sweep.report.cpu_time import cpu_rate_cell, heading_of
from scale_sweep.report.figures import agreement_in, axis_facts, by_run_order, cores_given
from scale_sweep.report.once import Remark, once, shared_remarks
from scale_sweep.report.replicates import reasons_of
from scale_sweep.report.table import Table, fixed, marked, short, without_empty


def trial_table(run: StoredRun) -> Table:
    """Every trial with its figures and its verdict. The reasons are the row notes; a remark of three trials or more is
    a note of the table, and so are figures that all trials share."""
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
    """The name of a trial within a page: of its row, to which the points of pictures lead."""
    return f"trial-{result.trial.order}"


def _remarks(result: TrialResult, agreement: Agreement | None) -> list[Remark]:
    is_cause = not result.verdict.kind.is_fitted
    return [
        Remark(words=words, is_cause=is_cause and at == 0) for at, words in enumerate(reasons_of(result, agreement))
    ]
