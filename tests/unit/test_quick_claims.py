"""A run of --quick claims the range of its pairs and what another day may bring, and no 95 % interval of a rate."""

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.analysis.fit import holds_median
from scale_sweep.model import Measurement
from scale_sweep.plan.preparing.earlier_runs import repetitions_of
from scale_sweep.report.console_table import console_table
from scale_sweep.report.documents import documents
from scale_sweep.report.figures import fit_again
from scale_sweep.report.fitted import interval_words
from tests.unit.raw_run import Shape, raw_run
from tests.unit.synthetic_run import synthetic_run

FIRST, SECOND = (100_000.0, 104_000.0, 98_000.0, 101_000.0), (180_000.0, 181_000.0, 182_000.0, 183_000.0)


def quick_run(repetitions=(), replicates=4):
    run = synthetic_run((1, 2), replicates)
    rate = {(r.trial.level, r.trial.replicate): r for r in run.results}
    results = [
        replace(
            (r := rate[level, n + 1]),
            trial=replace(r.trial, block=n),
            measurement=Measurement(rows_per_s=values[n], window_s=5.0),
        )
        for level, values in ((1, FIRST), (2, SECOND))
        for n in range(replicates)
    ]
    sweep = replace(run.plan.sweep, origin={"load.quick": "flag"})
    manifest = {**run.manifest, "repetitions": list(repetitions)}
    return replace(run, results=tuple(results), plan=replace(run.plan, sweep=sweep), manifest=manifest, fit=None)


def test_the_range_is_that_of_the_pairs_and_no_rate_has_an_interval():
    fit = fit_again(quick_run())
    ratios = sorted(b / a for a, b in zip(FIRST, SECOND, strict=True))
    assert fit.points[-1].pairs == pytest.approx(ratios)
    assert ratios[0] < fit.points[-1].speedup < ratios[-1]
    assert {p.mean_low for p in fit.points} == {p.speedup_low for p in fit.points} == {None}
    assert interval_words(fit) == (
        "In parentheses: the range of the pairs, with the chance that it holds their median (4 pairs: 87.5 %)."
    )
    rows = console_table(replace(quick_run(), fit=fit)).rows
    assert [row[1] for row in rows] == ["101 k", "182 k"]
    assert rows[1][2] == "1.80 (1.74 to 1.86)"
    one_level = replace(fit, points=fit.points[:1])
    assert interval_words(one_level).startswith("Rates of short windows have no interval")


def test_no_document_of_a_quick_run_has_a_95_percent_interval_of_a_rate():
    run = quick_run()
    made = documents(replace(run, fit=fit_again(run)))
    for text in made.pages.values():
        assert not re.search(r"\d \([\d.]+ to [\d.]+\) [kM]? ?rows/s", text)
        assert "95 % interval of the mean" not in text


def test_another_day_is_as_wide_as_the_prior_and_never_narrower_than_the_pairs():
    day = fit_again(quick_run()).another_day
    assert day.low < 1.80 * 0.88 and day.high > 1.80 * 1.13 and day.repetitions == 0
    assert "Another day on such a machine: 1.57 to 2.07." in fit_again(quick_run()).sentence


def test_repetitions_narrow_the_range_and_never_move_its_middle():
    alone, known = (fit_again(quick_run(values)).another_day for values in ((), (1.6, 1.61, 1.59)))
    assert known.high / known.low < alone.high / alone.low
    assert known.high * known.low == pytest.approx(alone.high * alone.low)
    assert "; 3 earlier runs of this sweep here." in fit_again(quick_run((1.6, 1.61, 1.59))).sentence


def test_ten_repetitions_are_their_own_law():
    values = [1.8 * (1.05 if day % 2 else 1.0) for day in range(10)]
    day = fit_again(quick_run(values)).another_day
    steady = fit_again(quick_run([1.8] * 10)).another_day
    assert steady.high / steady.low == pytest.approx((SECOND[3] / FIRST[2]) / (SECOND[1] / FIRST[1]), rel=0.1)
    assert day.high / day.low >= steady.high / steady.low


@pytest.mark.parametrize("stored", [["x", None], [float("inf"), 0.0, -1.0]])
def test_repetitions_that_are_no_speedups_are_passed_over(stored):
    assert fit_again(quick_run(stored)).another_day == fit_again(quick_run()).another_day


def test_the_range_of_pairs_holds_the_median_as_often_as_it_says():
    """All signs of n independent differences from their median are equally likely, whatever their law is."""
    for pairs in range(2, 9):
        signs = list(itertools.product((-1, 1), repeat=pairs))
        assert sum(min(s) < 0 < max(s) for s in signs) / len(signs) == pytest.approx(holds_median(pairs))


def test_earlier_runs_of_the_same_sweep_are_repetitions_and_no_others(tmp_path):
    results = tmp_path / "results"
    manifest = {}
    for number in range(3):
        path = Path(raw_run(results, f"run-{number}", shape=Shape(levels=2, replicates=3, seed=number)).path)
        manifest = json.loads((path / "manifest.json").read_text()) | {"status": "complete"}
        manifest["sweep"] |= {"method": "insert" if number == 2 else "copy", "seed": 1}
        (path / "manifest.json").write_text(json.dumps(manifest))
    one = list(results.iterdir())
    assert len(one) == 3
    stored = [json.loads((p / "fit.json").read_text())["points"][-1]["speedup"] for p in sorted(one)]
    assert repetitions_of(results, manifest) == stored[2:]
    manifest["sweep"] |= {"method": "copy", "replicates": 7, "seed": 2}
    assert len(repetitions_of(results, manifest)) == 2
