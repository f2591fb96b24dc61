"""Comparisons that differences between sessions do not distort: several runs a side, and the two variants of one
run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scale_sweep.analysis.compare.assembled import Ratios, Sides, assembled
from scale_sweep.analysis.compare.blocks import A, B, BlockPoint, block_points, blocks_left_out, side_of, tested_blocks
from scale_sweep.analysis.compare.chance import family
from scale_sweep.analysis.compare.comparable import check_comparable
from scale_sweep.analysis.compare.manifests import differing, differing_variants
from scale_sweep.analysis.compare.pairs import PointLogs
from scale_sweep.analysis.compare.ratios import Tested, together
from scale_sweep.analysis.compare.runs import overall_row, plain
from scale_sweep.analysis.compare.sessions import adjusted, session_percent, session_points, tested_sessions
from scale_sweep.analysis.compare.words import name_of, point_name, quick_words, untested
from scale_sweep.base.errors import UsageError
from scale_sweep.model import StoredRun, TrialResult
from scale_sweep.model.compared import Comparison, PointRatio

NO_BLOCK = "Nothing can be compared: no block has VALID trials of both variants."
ONE_BLOCK = "no level has two blocks with VALID trials of both: the spread between blocks is not known"


def compare_sessions(a: Sequence[StoredRun], b: Sequence[StoredRun], allowed: float | None = None) -> Comparison:
    """Compares the runs of B with those of A. Raises UsageError for fewer than three runs, or runs that are not of one
    kind."""
    runs = [*a, *b]
    if len(runs) < 3:
        raise UsageError("several runs a side: at least three in all are needed", remedy="give A1,A2,... B1,B2,...")
    check_comparable(runs)
    names = [run.path for run in runs]
    if len(set(names)) < len(names):
        raise UsageError("a run is given twice", remedy="name each run once, on one side")
    sessions, missing = session_points(a, b)
    ratios = Ratios(
        points=tuple(plain(p) for p in sessions.points), overall=overall_row(sessions.points), unpaired=tuple(missing)
    )
    if sessions.points:
        found = tested_sessions(sessions.a, sessions.b)
        whole = _at(found, slice(-1, None)) if len(sessions.points) > 1 else None
        ratios = ratios.with_tests(found, whole, adjusted(found, sessions), "sessions")
    sides = Sides(
        name_a=", ".join(map(name_of, a)),
        name_b=", ".join(map(name_of, b)),
        sweep=a[0].plan.sweep,
        differing=differing(a[0], b[0]),
        allowed=allowed,
        sessions=(len(a), len(b)),
        session_percent=session_percent(sessions) if sessions.points else None,
        not_judged_because="" if sessions.points else "no point has VALID trials in every run",
    )
    comparison = assembled(sides, ratios)
    return _with_doubts(comparison, [r for run in a for r in run.results], [r for run in b for r in run.results])


def compare_variants(run: StoredRun, allowed: float | None = None) -> Comparison:
    """Compares B with A in a run of `scale ab`. Raises UsageError for any other run."""
    if not run.plan.sweep.variants_ab:
        raise UsageError(f"{name_of(run)} is not a run of scale ab", remedy="scale compare A B compares two runs")
    points, missing = block_points(run)
    axis = run.plan.sweep.axis
    logs = [PointLogs(level=p.level, variant="", a=p.a, b=p.b) for p in points]
    rows = [replace(plain(one), trials_a=p.trials_a, trials_b=p.trials_b) for one, p in zip(logs, points, strict=True)]
    ratios = Ratios(points=tuple(rows), overall=_overall(logs, points), unpaired=tuple(missing))
    found = tested_blocks(points) if points else None
    if found is not None:
        whole = together(found) if len(points) > 1 else None
        ratios = ratios.with_tests(found, whole, family(found)[0], "blocks")
    about = run.plan.sweep.variants_ab
    sides = Sides(
        name_a=about[A],
        name_b=about[B],
        sweep=run.plan.sweep,
        differing=differing_variants(run, side_of),
        allowed=allowed,
        not_judged_because="" if found is not None else ONE_BLOCK,
    )
    comparison = assembled(sides, ratios)
    left_out = [f"{few} of {many} at {point_name(level, '', axis)}" for level, few, many in blocks_left_out(run)]
    doubt = (f"blocks without VALID trials of both do not count: {', '.join(left_out)}",) if left_out else ()
    if not points and not any(one.open_loop for one in missing):
        comparison = replace(comparison, sentence=NO_BLOCK)
    if points and found is None:
        comparison = replace(comparison, sentence=untested(rows, axis, "one block at a level"))
    comparison = replace(comparison, cautions=(*comparison.cautions, *doubt))
    return _with_doubts(comparison, *([r for r in run.results if side_of(r) == side] for side in (A, B)))


def _with_doubts(found: Comparison, a: Sequence[TrialResult], b: Sequence[TrialResult]) -> Comparison:
    """Adds a caution if windows are too short for a claim."""
    return replace(found, cautions=(*found.cautions, *quick_words(a, b)))


def _overall(logs: Sequence[PointLogs], points: Sequence[BlockPoint]) -> PointRatio | None:
    row = overall_row(logs)
    if row is None:
        return None
    return replace(row, trials_a=sum(p.trials_a for p in points), trials_b=sum(p.trials_b for p in points))


def _at(found: Tested, where: slice) -> Tested:
    names = ("difference", "error", "degrees", "p_value", "own")
    return Tested(**{name: getattr(found, name)[where] for name in names})
