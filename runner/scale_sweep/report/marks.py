"""What a window could not observe: words beside its number, and whole sentences once. Pure.

Refuses to judge: a quick number may be right, and nothing here proves it.
"""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.model import CLAIM_S, StoredRun, TrialResult, is_quick, marks
from scale_sweep.report.table import ABSENT


def marked(number: str, results: Sequence[TrialResult]) -> str:
    """A number with the words of all trials that it comes from: "442 k quick, buffered rate"."""
    words = ", ".join(dict.fromkeys(word for result in results for word in marks(result)))
    return f"{number} {words}" if words and number != ABSENT else number


def quick_words(run: StoredRun) -> tuple[str, ...]:
    """A caution if trials of a run are quick; empty if none is, or if nobody asked for a steady rate."""
    measured = [r for r in run.results if r.measurement.window_s]
    quick = sum(is_quick(r) for r in measured)
    if not quick:
        return ()
    words = (
        f"quick: {quick} of {len(measured)} trials have windows under {CLAIM_S:g} s, in which a drifting rate looks "
        "steady; measure numbers that carry a claim without --quick and without a short --duration"
    )
    return (words,)


def unseen_words(run: StoredRun) -> str:
    """What the windows of a run cannot show; "" without a window."""
    windows = [w for r in run.results if (w := r.measurement.window_s)]
    if not windows:
        return ""
    half = min(windows) / 2
    return (
        f"variation with a period above {half:.0f} s (half of the shortest window): compactions, checkpoints and "
        "garbage collections that come less often. Replicates on new servers are all in the same phase of it, so they "
        "do not show it either. --soak 30m does"
    )
