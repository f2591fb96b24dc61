"""The facts of a load whose protocol has no answers: its rows are those that the database counted. Pure.

Refuses to call a row that was sent stored: the rate of the window is multiplied by the share that the database counted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scale_sweep.judge.figures.facts import TrialFacts


def rows_acknowledged(facts: TrialFacts) -> dict[str, Any]:
    """`rows_acked` of the measurement, or `rows_sent` where nothing was acknowledged."""
    s = facts.summary
    return {} if s is None else {"rows_acked" if s.is_answered else "rows_sent": s.rows_acked}


def as_counted(facts: TrialFacts) -> TrialFacts:
    """With the counted rows in the place of acknowledged ones; the facts themselves where requests are answered."""
    s = facts.summary
    if s is None or s.is_answered:
        return facts
    held = max(0, facts.counted.rows - (facts.preloaded.rows if facts.preloaded else 0)) if facts.counted else 0
    share = min(1.0, held / s.rows_acked) if s.rows_acked else 0.0
    rate = s.rows_per_s * share if s.rows_per_s is not None else None
    there = replace(s, rows_acked=held, rows_window=round(s.rows_window * share), rows_per_s=rate)
    return replace(facts, summary=there)
