"""The verdict: what is wrong with a number, first; then whether it is the server's; then whether it was steady.

The thresholds are the method's, in docs/method.md, and stand here once. Refuses to look at anything but its arguments.
Order of the kinds: a number that is wrong (ABORTED, LOST_ROWS, ERRORS) before one that is not the server's
(GENERATOR_BOUND, OFFERED_NOT_MET, THROTTLED, RESOURCE_NOT_SATURATED) before one that is not steady.
"""

from __future__ import annotations

from dataclasses import dataclass

from runner.model import Limit, LimitKind, Measurement, Trial, Verdict, VerdictKind
from runner.units import format_cpus, format_number, format_rate
from runner.verdict.disks import disk_findings
from runner.verdict.steady import drifts, varies

SATURATED_PERCENT = 90.0
CLIENT_BUSY_PERCENT = 85.0
CEILING_SHARE = 0.8
SHARED_TAKE_PERCENT = 15.0
THROTTLED_PERCENT = 1.0
OFFERED_SHARE = 0.98


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a verdict is made of, besides the figures themselves."""

    trial: Trial
    measurement: Measurement
    open_loop_rate: float
    aborted: str = ""
    mismatches: tuple[str, ...] = ()
    suspicious: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    commits_in_window: int | None = None
    passed_over: str = ""
    quota_expected: bool = False
    axis: str = "cores"
    limit: Limit | None = None


def judge(evidence: Evidence) -> Verdict:
    """The verdict. The first kind that applies names it; every reason is kept, then what a reader must know anyway."""
    if evidence.aborted:
        return Verdict(kind=VerdictKind.ABORTED, reasons=(evidence.aborted,))
    by_axis = [*_not_the_servers(evidence), *_unsteady(evidence.measurement)]
    if evidence.axis == "disks":
        by_axis = [*_near_the_ceiling(evidence), *disk_findings(evidence.trial, evidence.measurement)]
    found = [*_wrong(evidence), *by_axis]
    kind = next((k for k, _ in found if k is not VerdictKind.VALID), VerdictKind.VALID)
    reasons = tuple(reason for _, reason in found) + _caveats(evidence)
    return Verdict(kind=kind, reasons=reasons, limit=evidence.limit)


Found = list[tuple[VerdictKind, str]]


def _wrong(evidence: Evidence) -> Found:
    m, found = evidence.measurement, []
    if m.rows_counted is not None and m.rows_acked is not None and m.rows_counted != m.rows_acked:
        difference = m.rows_counted - m.rows_acked
        what = "are missing from" if difference < 0 else "too many are in"
        found.append(
            (
                VerdictKind.LOST_ROWS,
                f"{abs(difference):,} rows {what} the database: {m.rows_acked:,} "
                f"acknowledged, {m.rows_counted:,} counted",
            )
        )
    found += [(VerdictKind.LOST_ROWS, reason) for reason in evidence.gaps]
    found += [(VerdictKind.ERRORS, reason) for reason in (*evidence.mismatches, *evidence.suspicious)]
    if m.errors:
        found.append((VerdictKind.ERRORS, f"{m.errors:,} of {m.requests or 0:,} requests failed"))
    if not m.rows:
        found.append((VerdictKind.ERRORS, "no row was acknowledged inside the window"))
    return found


def _not_the_servers(evidence: Evidence) -> Found:
    m, given, found = evidence.measurement, evidence.trial.cores, []
    if evidence.open_loop_rate > 0:
        if m.rows_per_s is not None and m.rows_per_s < OFFERED_SHARE * evidence.open_loop_rate:
            found.append(
                (
                    VerdictKind.OFFERED_NOT_MET,
                    f"{format_rate(evidence.open_loop_rate)} rows/s offered, {format_rate(m.rows_per_s)} achieved",
                )
            )
        return found
    share = m.server_cpu_percent
    if (
        m.throttled_s
        and not evidence.quota_expected
        and m.window_s
        and (100 * m.throttled_s / m.window_s > THROTTLED_PERCENT)
    ):
        found.append(
            (VerdictKind.THROTTLED, f"the server was throttled for {m.throttled_s:.1f} s of {m.window_s:.1f} s")
        )
    if share is None:
        found.append(
            (
                VerdictKind.RESOURCE_NOT_SATURATED,
                "the server's CPU could not be read, so nothing proves that its cores were busy",
            )
        )
    elif share < SATURATED_PERCENT:
        found.append(_idle_server(evidence, share, given))
    return [*_near_the_ceiling(evidence), *found]


def _near_the_ceiling(evidence: Evidence) -> Found:
    m = evidence.measurement
    if not (m.ceiling_rows_per_s and m.rows_per_s and m.rows_per_s > CEILING_SHARE * m.ceiling_rows_per_s):
        return []
    return [
        (
            VerdictKind.GENERATOR_BOUND,
            f"the generator alone reaches {format_rate(m.ceiling_rows_per_s)} "
            f"rows/s with these rows; {format_rate(m.rows_per_s)} is too near to that",
        )
    ]


def _idle_server(evidence: Evidence, share: float, given: float) -> tuple[VerdictKind, str]:
    m, shared = evidence.measurement, evidence.trial.placement.shared
    used = f"the server used {m.server_cpu_cores:.2f} of {format_number(given)} cores ({share:.0f} %)"
    busy = m.client_cpu_percent
    if busy is not None and busy >= CLIENT_BUSY_PERCENT and not shared:
        return (VerdictKind.GENERATOR_BOUND, f"{used} while the generator's CPUs were {busy:.0f} % busy")
    taken = m.client_cpu_cores or 0.0
    if shared and 100 * (taken + (m.server_cpu_cores or 0.0)) / given >= SATURATED_PERCENT:
        if 100 * taken / given > SHARED_TAKE_PERCENT:
            return (
                VerdictKind.RESOURCE_NOT_SATURATED,
                f"{used}: the generator took {taken:.2f} of them, on shared CPU {format_cpus(shared)}",
            )
        return (
            VerdictKind.VALID,
            f"{used}; the generator took {taken:.2f} of them, on shared CPU {format_cpus(shared)}",
        )
    limit = evidence.limit
    known = limit is not None and limit.kind is not LimitKind.UNKNOWN
    why = limit.sentence if known and limit else "its cores were not what limited it"
    return (VerdictKind.RESOURCE_NOT_SATURATED, f"{used}: {why}")


def _unsteady(m: Measurement) -> Found:
    found = []
    drift = m.rate_drift_percent or 0.0
    if drifts(m.rate_drift_percent, m.rate_drift_error_percent):
        found.append(
            (
                VerdictKind.UNSTEADY,
                f"the rate {'fell' if drift < 0 else 'rose'} by {abs(drift):.0f} % over the window",
            )
        )
    if varies(m.rate_cv_percent):
        found.append((VerdictKind.UNSTEADY, f"the rate varied by {m.rate_cv_percent:.0f} % from second to second"))
    return found


def _caveats(evidence: Evidence) -> tuple[str, ...]:
    m, caveats = evidence.measurement, []
    if evidence.commits_in_window == 0:
        caveats.append("no full commit cycle (checkpoint) fell in the window: see the rate to the end of the flush")
    if evidence.passed_over:
        caveats.append(evidence.passed_over)
    if m.rate_drift_percent is None and m.rows:
        caveats.append("the window is too short to tell whether the rate was steady")
    if m.stalled_percent:
        caveats.append(f"the rate was under a tenth of its median for {m.stalled_percent:.0f} % of the window")
    of_all = m.server_cpu_cores or 0.0
    if m.busiest_thread and m.busiest_thread_cores is not None and m.busiest_thread_cores < 0.95 * of_all:
        caveats.append(f"the server's busiest threads were {m.busiest_thread}: {m.busiest_thread_cores:.2f} cores")
    if m.missed_ticks:
        caveats.append(f"{m.missed_ticks} samples were missed")
    return tuple(caveats)
