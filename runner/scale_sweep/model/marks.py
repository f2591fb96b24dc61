"""Words beside a trial's number and its verdict: what its window could not observe. Data only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from scale_sweep.model.measured import TrialResult

BUFFERED_CYCLES = 2  # commit cycles in the window; with fewer, the rate partly counts the filling of buffers
QUICK = "quick"
BUFFERED = "buffered rate"
DURABLE = "durable_rows_per_s"
UNACKNOWLEDGED = "unacknowledged"  # no request was answered: the rows are those that the database counted
SHORT = "short window"  # of a verdict that counts: it is that of these seconds, and claims no long-run rate


def is_quick(result: TrialResult) -> bool:
    """Whether the window was too short to claim the long-run rate."""
    return not result.trial.load.is_long(result.measurement.window_s or 0.0)


def is_buffered(commits: int | None) -> bool:
    """Whether fewer than BUFFERED_CYCLES commit cycles ended in the window. False if the server does not count them."""
    return commits is not None and commits < BUFFERED_CYCLES


def marks(result: TrialResult, rate: str = "") -> tuple[str, ...]:
    """The words, in order. None for a number without such a doubt, or for a trial without a window. rate: its field;
    one to the end of the flush counts nothing that is only in buffers."""
    if not result.measurement.window_s:
        return ()
    words = {
        QUICK: is_quick(result),
        BUFFERED: is_buffered(result.measurement.commits) and rate != DURABLE,
        UNACKNOWLEDGED: result.measurement.rows_sent is not None,
    }
    return tuple(word for word, applies in words.items() if applies)


def common_marks(results: Sequence[TrialResult], rate: str = "") -> tuple[str, ...]:
    measured = [marks(result, rate) for result in results if result.measurement.window_s]
    return tuple(word for word in measured[0] if all(word in each for each in measured)) if len(measured) > 1 else ()


def verdict_words(result: TrialResult) -> str:
    """The verdict for a reader: "VALID", or "VALID (short window)" for a window that cannot claim the long-run rate."""
    kind = result.verdict.kind
    is_short = kind.is_fitted and bool(result.measurement.window_s) and is_quick(result)
    return f"{kind.value} ({SHORT})" if is_short else kind.value


def counted_verdicts(results: Iterable[TrialResult]) -> str:
    """The verdicts with their numbers, the most frequent first: "2 VALID (short window), 1 UNSTEADY"."""
    counts = Counter(map(verdict_words, results))
    return ", ".join(f"{count} {words}" for words, count in counts.most_common())
