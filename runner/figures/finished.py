"""Whether a load came to its end, by its own last word. Pure.

A load that was cut short has a window that ends with its last acknowledgement: its rate would be that of fewer seconds.
"""

from __future__ import annotations

from runner.model import FINISHED, LoadSummary


def unfinished(summary: LoadSummary) -> str:
    """Why its figures are not those of the load that was asked for; "" when they are."""
    if summary.outcome in FINISHED:
        return ""
    seconds = max(summary.window_s, 0.0)
    if summary.outcome == "interrupted":
        return f"the load was interrupted from outside, {seconds:.1f} s after its window began"
    return f"the load did not come to its end ({summary.outcome}), {seconds:.1f} s after its window began"
