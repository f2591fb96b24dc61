"""A table as data, numbers as the report writes them, and words on what windows could not observe."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from scale_sweep.base.units import format_number, part_of
from scale_sweep.model.declared_parts import CLAIM_S, STEP_S
from scale_sweep.model.derived import is_quick, marks
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult, VerdictKind

ABSENT = "–"
MARK = " †"  # of a level without a trial that counts
_EXPONENT_BELOW = 1e-6  # fewer than three digits would be left of six decimals


@dataclass(frozen=True, kw_only=True)
class Table:
    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    words: tuple[int, ...] = ()  # columns that are text and not numbers
    row_notes: tuple[str, ...] = ()  # one sentence per row (or ""), shown with the row where a format can
    keys: tuple[str, ...] = ()  # a name of each row, to which a format with links leads
    essential: tuple[int, ...] = ()  # columns that a narrow terminal shows too; () for all


def only_columns(table: Table, left: Sequence[int]) -> Table:
    place = {column: at for at, column in enumerate(left)}
    return replace(
        table,
        headers=tuple(table.headers[i] for i in left),
        rows=tuple(tuple(row[i] for i in left) for row in table.rows),
        words=tuple(place[i] for i in table.words if i in place),
        essential=tuple(place[i] for i in table.essential if i in place),
    )


def without_empty(table: Table) -> Table:
    """The first two columns, which say what a row is, stay."""
    columns = range(len(table.headers))
    return only_columns(table, [i for i in columns if i < 2 or any(row[i] != ABSENT for row in table.rows)])


def rounded(value: float, digits: int) -> float:
    """1023456, 4 → 1023000."""
    if value == 0 or not math.isfinite(value):
        return value
    return round(value, digits - 1 - math.floor(math.log10(abs(value))))


def fixed(value: float | None, places: int = 0) -> str:
    return f"{value:,.{places}f}" if known(value) and value is not None else ABSENT


def short(value: float | None) -> str:
    """Three significant digits, with an exponent only below a millionth: 0.0123, 4.56, 1,230, 7.69e-11."""
    if not known(value) or value is None:
        return ABSENT
    if value == 0:
        return "0"
    value = rounded(value, 3)
    if abs(value) < _EXPONENT_BELOW:
        return f"{value:.3g}"
    places = min(max(2 - math.floor(math.log10(abs(value))), 0), 6)
    return f"{value:,.{places}f}"


def known(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def mean(values: Iterable[float | None]) -> float | None:
    numbers = [v for v in values if known(v) and v is not None]
    return sum(numbers) / len(numbers) if numbers else None


def shown_trials(here: Sequence[TrialResult]) -> tuple[list[TrialResult], bool]:
    """The trials of a level that count, and True; if none does, all, and False: their means are marked."""
    counted = [r for r in here if r.verdict.kind.is_fitted]
    return (counted, True) if counted else (list(here), False)


def level_cell(level: float, is_counted: bool) -> str:
    return format_number(level) + ("" if is_counted else MARK)


def ordinal(number: int) -> str:
    suffix = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def marked(number: str, results: Sequence[TrialResult], elsewhere: Sequence[str] = (), field: str = "") -> str:
    """ "442 k quick, buffered rate": a number with the words of its trials. elsewhere: words that the table has
    once."""
    of_trials = (marks(result, field) for result in results)
    words = ", ".join(dict.fromkeys(word for of_one in of_trials for word in of_one if word not in elsewhere))
    return f"{number} {words}" if words and number != ABSENT else number


def verdict_counts(run: StoredRun) -> list[tuple[VerdictKind, int]]:
    counts = Counter(r.verdict.kind for r in run.results)
    return [(kind, counts[kind]) for kind in VerdictKind if counts[kind]]


def quick_words(run: StoredRun) -> tuple[str, ...]:
    """Empty also if nobody asked for a steady rate."""
    if run.plan.sweep.load.objective is not None:
        return _quick_searches(run)
    measured = [r for r in run.results if r.measurement.window_s]
    quick = [r for r in measured if is_quick(r)]
    if not quick:
        return ()
    where = part_of(len(quick), len(measured), "trial")
    why = f"a slow decline would not show. To publish a number, measure {_longer(run, CLAIM_S, 'and')}"
    return (f"quick: {_windows(quick)} in {where}: {why}",)


def _quick_searches(run: StoredRun) -> tuple[str, ...]:
    searched = _searched(run)
    quick = [r for r in searched if is_quick(r)]
    if not quick:
        return ()
    lengths = sorted({r.trial.load.duration_s or 0.0 for r in quick})
    steps, where = " and ".join(f"{s:g}" for s in lengths), part_of(len(quick), len(searched), "trial")
    why = f"too short for a capacity. Measure {_longer(run, STEP_S, 'or')}"
    return (f"quick: steps of {steps} s in {where}, {why}",)


def _longer(run: StoredRun, least_s: float, joined: str) -> str:
    """By what was given: --quick, rows, or a duration."""
    is_fixed_work = run.plan.sweep.load.rows is not None
    longer = f"with more rows, for windows of {least_s:g} s" if is_fixed_work else f"with --duration {least_s:g}s"
    return f"{f'without --quick {joined} ' if run.plan.sweep.is_quick else ''}{longer} or more"


def _searched(run: StoredRun) -> list[TrialResult]:
    return [r for r in run.results if r.trial.load.searches and r.measurement.steps]


def _windows(quick: Sequence[TrialResult]) -> str:
    lengths = sorted(r.measurement.window_s or 0.0 for r in quick)
    ends = list(dict.fromkeys(f"{s:.0f}" if s >= 1 else short(s) for s in (lengths[0], lengths[-1])))
    warm = "" if any(r.trial.load.warmup_s for r in quick) else ", without warm-up"
    loads = [r.trial.load for r in quick]
    may_grow = any((load.duration_s or CLAIM_S) < CLAIM_S <= (load.window_max_s or 0.0) for load in loads)
    return f"windows of {' to '.join(ends)} s{warm}" + (f" (planned for under {CLAIM_S:g} s)" if may_grow else "")


def unseen_words(run: StoredRun) -> str:
    """Variation that the windows of a run cannot show."""
    if run.plan.sweep.load.objective is not None:
        spans = [sum(step.seconds for step in r.measurement.steps) for r in _searched(run)]
        whole, soak = "search", "--soak 30m without --slo"
    else:
        spans = [w for r in run.results if (w := r.measurement.window_s)]
        whole, soak = "window", "--soak 30m"
    if not spans:
        return ""
    return (
        f"variation with a period above {min(spans) / 2:.0f} s (half of the shortest {whole}): compactions, "
        f"checkpoints and garbage collections that come less often. Repeating does not help; {soak} does"
    )
