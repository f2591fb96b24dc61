"""Compares two variants of one run in ABBA blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scale_sweep.analysis.compare.manifests import differing_variants
from scale_sweep.analysis.compare.pairs import PointLogs, Unpaired, are_disturbed, family
from scale_sweep.analysis.compare.ratios import Side, Tested, moments_of, tested, together, variance_of
from scale_sweep.analysis.compare.runs import TestedRatios, assembled, overall_row, plain, with_quick_cautions
from scale_sweep.analysis.compare.words import Sides, name_of, repeats_of_blocks, untested
from scale_sweep.analysis.noise.drift_test import log_value
from scale_sweep.analysis.observations import achieved, observations, point_name
from scale_sweep.base.errors import UsageError
from scale_sweep.base.units import format_levels
from scale_sweep.model.compared import Comparison, Gate
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult

A, B = "A", "B"
NO_BLOCK = "Nothing can be compared: no block has VALID trials of both variants."
ONE_BLOCK = "no level has two blocks with VALID trials of both: the spread between blocks is not known"


def block_points(run: StoredRun) -> tuple[list[PointLogs], list[Unpaired]]:
    """Levels with a block that has both variants, ascending, and those without one."""
    paired, missing = [], []
    cells = _cells(run)
    for level in sorted({t.level for t in run.plan.trials}):
        blocks = sorted({block for at, block, _ in cells if at == level})
        whole = [n for n in blocks if (level, n, A) in cells and (level, n, B) in cells]
        trials = {side: sum(len(cells.get((level, n, side), ())) for n in blocks) for side in (A, B)}
        if not whole:
            lacking = [side for side in (A, B) if not trials[side]]
            is_open = any(t.load.rate for t in run.plan.trials if t.level == level)
            what = "an open loop" if is_open else "no VALID trial"
            why = "; ".join(f"{what} of {side}" for side in lacking) or "no block with VALID trials of both"
            missing.append(
                Unpaired(
                    level=level,
                    variant="",
                    trials_a=trials[A],
                    trials_b=trials[B],
                    why=why,
                    lost=bool(trials[A]) and not trials[B] and not is_open,
                    open_loop=is_open,
                    is_disturbed=are_disturbed([r for r in run.results if r.trial.level == level and side_of(r) == B]),
                )
            )
            continue
        a, b = (tuple(float(np.mean(cells[level, n, side])) for n in whole) for side in (A, B))
        trials_a, trials_b = (sum(len(cells[level, n, side]) for n in whole) for side in (A, B))
        paired.append(PointLogs(level=level, variant="", a=a, b=b, trials=(trials_a, trials_b)))
    return paired, missing


def blocks_left_out(run: StoredRun) -> list[tuple[float, int, int]]:
    cells = _cells(run)
    planned = sorted({(t.level, t.block) for t in run.plan.trials if t.role == "point"})
    lacking = [level for level, block in planned if not {(level, block, A), (level, block, B)} <= cells.keys()]
    return [(n, lacking.count(n), sum(level == n for level, _ in planned)) for n in sorted(set(lacking))]


def _cells(run: StoredRun) -> dict[tuple[float, int, str], list[float]]:
    """ln(rate) of the VALID trials by level, block and variant."""
    logs: dict[tuple[float, int, str], list[float]] = {}
    for result, one in zip(run.results, observations(run.results, achieved), strict=True):
        log = log_value(one)
        if one.role == "point" and not one.mark and log is not None:
            logs.setdefault((one.level, one.block, side_of(result)), []).append(log)
    return logs


def side_of(result: TrialResult) -> str:
    return next(iter(result.trial.variant.values()))


def tested_differences(one: Side) -> Tested:
    """Paired; their spread is pooled if equal variances allow it."""
    spread = variance_of(one)
    nothing = np.zeros_like(spread.value)
    return tested(one.mean, spread.value / one.n, nothing, spread.degrees, spread.degrees, spread.own, True)


def tested_alone(one: Side) -> Tested:
    """By a level's own blocks, for gates: a pooled spread gives 5.5 to 6 % wrong passes (bench/method_gates.py)."""
    part, nothing = one.squares / np.maximum(one.degrees, 1) / one.n, np.zeros_like(one.mean)
    return tested(one.mean, part, nothing, one.degrees, one.degrees, np.ones_like(one.mean, dtype=bool), True)


def with_block_tests(ratios: TestedRatios, moments: Side, looks: int = 1) -> TestedRatios:
    """moments: of the differences. looks: tests while the run goes on."""
    tested = tested_differences(moments)
    whole = together(tested) if len(moments.mean) > 1 else None
    ratios = ratios.with_tests(tested, whole, family(tested)[0], "blocks", looks)
    return ratios.with_ends(tested_alone(moments), looks)


def compare_variants(run: StoredRun, gate: Gate | None = None) -> Comparison:
    """B against A in a run of `scale ab`; UsageError for another run."""
    if not run.plan.sweep.variants_ab:
        raise UsageError(f"{name_of(run)} is not a run of scale ab", remedy="scale compare A B compares two runs")
    points, missing = block_points(run)
    axis = run.plan.sweep.axis
    rows = tuple(map(plain, points))
    ratios = TestedRatios(points=rows, overall=overall_row(points), unpaired=tuple(missing))
    moments = moments_of([p.differences for p in points])
    is_tested, looks = moments.degrees.sum() > 0, run.plan.sweep.looks_ab
    if is_tested:
        ratios = with_block_tests(ratios, moments, max(1, len(looks)))
    about = run.plan.sweep.variants_ab
    sides = Sides(
        name_a=about[A],
        name_b=about[B],
        sweep=run.plan.sweep,
        differing=differing_variants(run, side_of),
        gate=gate,
        not_judged_because="" if is_tested else ONE_BLOCK,
        repeats=repeats_of_blocks(min(len(p.differences) for p in points)) if points else None,
    )
    comparison = assembled(sides, ratios)
    left_out = [f"{few} of {many} at {point_name(level, '', axis)}" for level, few, many in blocks_left_out(run)]
    doubt = (f"blocks without VALID trials of both do not count: {', '.join(left_out)}",) if left_out else ()
    if not points and not any(one.open_loop for one in missing):
        comparison = replace(comparison, sentence=NO_BLOCK)
    if points and not is_tested:
        comparison = replace(comparison, sentence=untested(rows, axis, "one block at a level, so it may be noise"))
    lacks_valid = comparison.lacks_valid or bool(points and not is_tested and left_out)
    cautions = [*comparison.cautions, *doubt]
    if looks:
        every = f"(--blocks {format_levels(tuple(map(float, looks)))})"
        cautions.append(f"intervals and p-values are those of all looks together {every}")
    comparison = replace(comparison, cautions=tuple(cautions), lacks_valid=lacks_valid)
    return with_quick_cautions(comparison, *([r for r in run.results if side_of(r) == side] for side in (A, B)))
