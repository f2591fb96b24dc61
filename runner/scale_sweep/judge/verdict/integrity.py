"""Is the number right? Lost rows, wrong rows or answers, failed requests, settings that differ, disks above their
ceiling.

Refuses to look for a bottleneck: a wrong number has none.
"""

from __future__ import annotations

from scale_sweep.judge.verdict.evidence import Evidence
from scale_sweep.judge.verdict.rules.disks import uses
from scale_sweep.judge.verdict.thresholds import DISK_BEYOND_PERCENT
from scale_sweep.model import VerdictKind


def what_is_wrong(evidence: Evidence) -> list[tuple[VerdictKind, str]]:
    """Each fault with its verdict, the worst first; empty if the number is right."""
    m, told = evidence.measurement, evidence.integrity
    found = [(VerdictKind.LOST_ROWS, reason) for reason in (told.miscounted, *told.gaps) if reason]
    found += [(VerdictKind.WRONG_ROWS, reason) for reason in told.wrong_rows]
    found += [(VerdictKind.WRONG_ANSWER, reason) for reason in told.wrong_answers]
    found += [(VerdictKind.ERRORS, reason) for reason in (*told.mismatches, *told.suspicious)]
    if m.errors:
        found.append((VerdictKind.ERRORS, f"{m.errors:,} of {m.requests or 0:,} requests failed"))
    if not (m.rows or m.requests_per_s) or evidence.window is None:
        found.append((VerdictKind.ERRORS, f"no {evidence.given.done} inside the window"))
    return found + [(VerdictKind.ERRORS, reason) for reason in _beyond(evidence)]


def _beyond(evidence: Evidence) -> list[str]:
    disks = evidence.measurement.disks
    beyond = [name for name, disk in disks.items() if (disk.used_percent or 0.0) > DISK_BEYOND_PERCENT]
    if not evidence.given.prepared_disks or not beyond:
        return []
    return [f"{' and '.join(beyond)} wrote far more than its own ceiling ({uses(disks)}): was its limit lifted?"]
