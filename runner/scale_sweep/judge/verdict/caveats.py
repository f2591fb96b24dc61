"""What a reader must know of a number, whatever its verdict. Refuses to judge."""

from __future__ import annotations

from scale_sweep.judge.verdict.evidence import Evidence
from scale_sweep.judge.verdict.steadiness import cautions
from scale_sweep.judge.verdict.thresholds import BUSIEST_NAMED


def caveats(evidence: Evidence) -> tuple[str, ...]:
    """Sentences for the end of the reasons."""
    m, told = evidence.measurement, [*cautions(evidence)]
    if m.rows_sent is not None:
        told.append(
            "the method has no answers, so no row was acknowledged and there are no response times: of "
            f"{m.rows_sent:,} rows sent the database counted {m.rows_counted or 0:,}, and the rate is of those"
        )
    if evidence.left_out:
        told.append(evidence.left_out)
    if evidence.overdue:
        told.append(f"{evidence.overdue:,} requests that were due had no answer when the window ended")
    if evidence.warmup:
        told.append(evidence.warmup)
    if evidence.transient:
        told.append(evidence.transient)
    if m.rate_drift_percent is None and (m.rows or m.requests_per_s):
        told.append("the window is too short to show whether the rate was steady")
    if m.stalled_percent:
        told.append(f"the rate was under a tenth of its median for {m.stalled_percent:.0f} % of the window")
    of_all = m.server_cpu_cores or 0.0
    if m.busiest_thread and m.busiest_thread_cores is not None and m.busiest_thread_cores < BUSIEST_NAMED * of_all:
        told.append(f"the server's busiest threads were {m.busiest_thread}: {m.busiest_thread_cores:.2f} cores")
    if m.missed_ticks:
        told.append(f"{m.missed_ticks} samples were missed")
    return tuple(told)
