"""Whether a load ran to its end, from its own summary. Pure.

The window of an interrupted load ends with its last acknowledgement, so its rate would cover fewer seconds.
"""

from __future__ import annotations

from scale_sweep.model import FINISHED, LoadSummary


def unfinished(summary: LoadSummary) -> str:
    """Why the figures are not those of the requested load; "" if they are."""
    if summary.outcome in FINISHED:
        return ""
    seconds = max(summary.window_s, 0.0)
    if summary.outcome == "interrupted":
        return f"the load was interrupted from outside, {seconds:.1f} s after its window began"
    return f"the load did not come to its end ({summary.outcome}), {seconds:.1f} s after its window began"
