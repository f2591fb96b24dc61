"""Marks of a trial beside its number, and its rate for each CPU-second."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from scale_sweep.model.measured import BottleneckKind, TrialResult, VerdictKind

BUFFERED_CYCLES = 2  # with fewer in the window, the rate partly counts the filling of buffers
QUICK = "quick"
BUFFERED = "buffered rate"
DURABLE = "durable_rows_per_s"
UNACKNOWLEDGED = "unacknowledged"  # the rows are those that the database counted
SHORT = "short window"  # beside a verdict that counts


def is_quick(result: TrialResult) -> bool:
    return not result.trial.load.is_long(result.measurement.window_s or 0.0)


def is_buffered(commits: int | None) -> bool:
    """False if the server does not count commit cycles."""
    return commits is not None and commits < BUFFERED_CYCLES


def marks(result: TrialResult, rate: str = "") -> tuple[str, ...]:
    """In order. rate: its field; one to the end of the flush counts nothing that is only in buffers."""
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
    """ "VALID", or "VALID (short window)"."""
    kind = result.verdict.kind
    is_short = kind.is_fitted and bool(result.measurement.window_s) and is_quick(result)
    return f"{kind.value} ({SHORT})" if is_short else kind.value


def counted_verdicts(results: Iterable[TrialResult]) -> str:
    """The most frequent first: "2 VALID (short window), 1 UNSTEADY"."""
    counts = Counter(map(verdict_words, results))
    return ", ".join(f"{count} {words}" for words, count in counts.most_common())


CPU_BOUND = frozenset(
    {
        BottleneckKind.SERVER_CPU,
        BottleneckKind.QUOTA,
        BottleneckKind.SHARED_CPU,
        BottleneckKind.OTHER_PROCESSES,
        BottleneckKind.HYPERVISOR,
    }
)
NEW_PAGES = "NEW_PAGES"
TAKEN = frozenset({BottleneckKind.OTHER_PROCESSES, BottleneckKind.HYPERVISOR})
_RIGHT = frozenset({VerdictKind.VALID, VerdictKind.RESOURCE_NOT_SATURATED, VerdictKind.OFFERED_NOT_MET})


def rate_per_cpu_s(result: TrialResult) -> float | None:
    """None if the server's CPUs were no bottleneck, the number is not right, or pages got dearer."""
    cores, bottleneck = result.measurement.server_cpu_cores, result.verdict.bottleneck
    if not cores or result.achieved_per_s is None or bottleneck is None:
        return None
    if bottleneck.kind not in CPU_BOUND or result.verdict.kind not in _RIGHT:
        return None
    if any(reason.startswith(NEW_PAGES) for reason in result.verdict.reasons):
        return None
    return result.achieved_per_s / cores


def rate_alone_per_s(result: TrialResult) -> float | None:
    """If nobody else had taken CPU time from the server; a load generator on its CPUs keeps its part."""
    per_cpu_s, used, taken = rate_per_cpu_s(result), result.measurement.server_cpu_cores, taken_cores(result)
    if per_cpu_s is None or used is None or taken is None:
        return None
    return per_cpu_s * (used + taken * used / (used + load_take(result)))


def taken_cores(result: TrialResult) -> float | None:
    """By other programs and the hypervisor, at most what the server lacked."""
    m = result.measurement
    if m.server_cpu_cores is None:
        return None
    lacked = max(0.0, result.trial.cores - m.server_cpu_cores - load_take(result))
    return min(lacked, (m.other_cpu_cores or 0.0) + (m.stolen_cpu_cores or 0.0))


def load_take(result: TrialResult) -> float:
    """Cores that the load generator used of the server's CPUs, in proportion to the CPUs that it shares."""
    placement, used = result.trial.placement, result.measurement.generator_cpu_cores
    if not placement.shared or not placement.generator_cpus:
        return 0.0
    return (used or 0.0) * min(1.0, len(placement.shared) / len(placement.generator_cpus))


OTHERS_WERE = "other programs on the server's machine, during the load: "


def spoiled_by(results: Iterable[TrialResult]) -> tuple[int, str]:
    """How many trials other programs spoiled, and the programs of the last one, in words."""
    theirs = BottleneckKind.OTHER_PROCESSES
    known = [(r, r.verdict.bottleneck) for r in results if not r.verdict.kind.is_fitted]
    spoiled = [r for r, bottleneck in known if bottleneck is not None and bottleneck.kind is theirs]
    reasons = spoiled[-1].verdict.reasons if spoiled else ()
    named = (one.removeprefix(OTHERS_WERE) for one in reasons if one.startswith(OTHERS_WERE))
    return len(spoiled), next(named, "")


def is_taken(result: TrialResult) -> bool:
    return result.verdict.bottleneck is not None and result.verdict.bottleneck.kind in TAKEN
