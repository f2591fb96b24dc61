"""The report of short trials: warm-ups, dear pages in one trial, one rate for a level; what --quick claims of its
pairs and of another day, and no 95 % interval of a rate."""

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.analysis.fit.summaries import holds_median
from scale_sweep.base.units import format_rate
from scale_sweep.model.measured import Measurement
from scale_sweep.plan.preparing.earlier_runs import repetitions_of
from scale_sweep.report.conditions import pages_between_trials
from scale_sweep.report.documents import documents
from scale_sweep.report.figures import fit_again, measured_rate
from scale_sweep.report.fitted import interval_words
from scale_sweep.report.headlines import eyebrow_of
from scale_sweep.report.level_tables import console_table
from scale_sweep.report.noise import noise_sentences
from scale_sweep.report.run_facts import method_facts
from scale_sweep.report.sections import html
from scale_sweep.report.table import quick_words
from tests.unit.raw_run import Shape, raw_run
from tests.unit.synthetic_run import synthetic_run


def with_seconds(run, begins_s, system_cores):
    """The run with series that begin at these seconds, a server on one full core, and this system time in each trial.
    A server that spends it on pages makes fewer rows."""
    made, series = [], {}
    for r, begin_s, cores in zip(run.results, begins_s, system_cores, strict=True):
        rate = 500_000.0 * (1.0 - cores) / (1.0 - min(system_cores))
        values = {"rows_per_s": rate, "server_page_faults_per_s": 0.1 * rate}
        values |= {"server_cpu_cores": 1.0, "server_system_cores": cores}
        series[r.trial.trial_id] = tuple((float(t), values) for t in range(begin_s, 11))
        made.append(replace(r, measurement=replace(r.measurement, rows_per_s=rate, window_s=10.0, transient_s=0.0)))
    return replace(run, results=tuple(made), timeseries=series, fit=None)


def two_trials(begins_s=(-6, -11), system_cores=(0.1, 0.4), least_s=5.0):
    run = synthetic_run((1,), 2)
    load = replace(run.plan.sweep.load, warmup_least_s=least_s, warmup_s=30.0)
    run = replace(run, plan=replace(run.plan, sweep=replace(run.plan.sweep, load=load)))
    return with_seconds(run, begins_s, system_cores)


def with_windows(run, windows, **load):
    results = []
    for r, window in zip(run.results, windows, strict=True):
        trial = replace(r.trial, load=replace(r.trial.load, **load))
        results.append(replace(r, trial=trial, measurement=replace(r.measurement, window_s=window)))
    return replace(run, results=tuple(results))


def test_the_report_says_how_long_the_warm_ups_took_and_names_the_work(wording):
    warm_ups = [dict(method_facts(run))["Warm-up"] for run in (two_trials(), two_trials(begins_s=(-6, -6)))]
    wording(*warm_ups, dict(method_facts(two_trials()))["Load"])
    assert warm_ups[0] in html(two_trials())
    assert "Warm-up" not in dict(method_facts(two_trials(least_s=None)))
    plan = two_trials().plan
    data = replace(plan.sweep.work.data, rows_per_request=10_000, tables=100)
    work = replace(plan.sweep.work, data=data)
    trials = tuple(replace(t, work=work) for t in plan.trials)
    plan = replace(plan, sweep=replace(plan.sweep, work=work), trials=trials)
    wording(eyebrow_of(replace(two_trials(), plan=plan)).split(" · ")[2])


def test_the_caution_on_short_windows_has_their_lengths_and_asks_for_what_was_given_alone(wording):
    run = two_trials()
    sweep = run.plan.sweep
    wording(
        *quick_words(run),
        *quick_words(with_windows(run, (4.2, 7.1), warmup_s=0.0)),
        *quick_words(with_windows(run, (20.0, 90.0), duration_s=20.0, window_max_s=90.0)),
    )

    def remedy(**changes):
        changed = replace(run, plan=replace(run.plan, sweep=replace(sweep, **changes)))
        return quick_words(changed)[0].partition("measure ")[2]

    wording(remedy(origin={"load.quick": "flag"}), remedy(load=replace(sweep.load, rows=12_000)))


def test_dear_pages_in_one_trial_of_a_level_are_named(wording):
    run = two_trials()
    (said,) = pages_between_trials(run)
    wording(said)
    assert said in noise_sentences(run)
    assert pages_between_trials(two_trials(system_cores=(0.1, 0.1))) == ()
    old = {name: tuple((t, {"rows_per_s": v["rows_per_s"]}) for t, v in s) for name, s in run.timeseries.items()}
    assert pages_between_trials(replace(run, timeseries=old)) == ()


def test_the_tile_has_the_rate_of_the_table_where_a_drift_was_removed():
    run = synthetic_run((1, 2), 4)
    drifting = []
    for at, r in enumerate(run.results):
        m = replace(r.measurement, rows_per_s=1e5 * r.trial.level * (1 + at**2 / 40))
        drifting.append(replace(r, trial=replace(r.trial, order=at), measurement=m))
    run = documents(replace(run, results=tuple(drifting), fit=None)).run
    fitted, shown = fit_again(run).points[-1].rate_mean, measured_rate(run, 2)
    assert format_rate(fitted) != format_rate(shown)
    tile = re.search(r'<div class="tile"><b>(\d+) k \((\d+)&nbsp;to&nbsp;(\d+)&nbsp;k\)</b>', html(run))
    own, low, high = (1e3 * int(figure) for figure in tile.groups())
    assert (format_rate(own), fitted < low < own < high) == (format_rate(shown), True)


FIRST, SECOND = (100_000.0, 104_000.0, 98_000.0, 101_000.0), (180_000.0, 181_000.0, 182_000.0, 183_000.0)


def quick_run(repetitions=(), replicates=4):
    run = synthetic_run((1, 2), replicates)
    results = []
    for r in sorted(run.results, key=lambda r: r.trial.level):
        values = {1: FIRST, 2: SECOND}[r.trial.level]
        measured = Measurement(rows_per_s=values[r.trial.replicate - 1], window_s=5.0)
        results.append(replace(r, trial=replace(r.trial, block=r.trial.replicate - 1), measurement=measured))
    sweep = replace(run.plan.sweep, origin={"load.quick": "flag"})
    manifest = {**run.manifest, "repetitions": list(repetitions)}
    return replace(run, results=tuple(results), plan=replace(run.plan, sweep=sweep), manifest=manifest, fit=None)


def test_the_range_is_that_of_the_pairs_and_no_rate_has_an_interval(wording):
    run = quick_run()
    fit = fit_again(run)
    ratios = sorted(b / a for a, b in zip(FIRST, SECOND, strict=True))
    assert fit.points[-1].pairs == pytest.approx(ratios)
    assert ratios[0] < fit.points[-1].speedup < ratios[-1]
    assert {p.mean_low for p in fit.points} == {p.speedup_low for p in fit.points} == {None}
    wording(interval_words(fit), interval_words(replace(fit, points=fit.points[:1])))
    rows = console_table(replace(run, fit=fit)).rows
    assert [row[1].split()[0] for row in rows] == ["101", "182"]
    assert re.findall(r"[\d.]+", rows[1][2]) == ["1.80", "1.74", "1.86"]
    for text in documents(replace(run, fit=fit)).pages.values():
        assert not re.search(r"\d \([\d.]+ to [\d.]+\) [kM]? ?rows/s|95 % interval of the mean", text)


def test_another_day_is_as_wide_as_the_prior_and_repetitions_narrow_it(wording):
    alone, known = fit_again(quick_run()), fit_again(quick_run((1.6, 1.61, 1.59)))
    wording(alone.sentence, known.sentence)
    day, narrowed = alone.another_day, known.another_day
    assert day.low < 1.80 * 0.88 and day.high > 1.80 * 1.13 and day.repetitions == 0
    assert narrowed.high / narrowed.low < day.high / day.low
    assert narrowed.high * narrowed.low == pytest.approx(day.high * day.low)  # its middle stays
    ten = ([1.8] * 10, [1.8, 1.8 * 1.05] * 5)  # they are their own law, and never narrower than the pairs
    steady, other = (fit_again(quick_run(values)).another_day for values in ten)
    assert steady.high / steady.low == pytest.approx((SECOND[3] / FIRST[2]) / (SECOND[1] / FIRST[1]), rel=0.1)
    assert other.high / other.low >= steady.high / steady.low
    for no_speedups in (["x", None], [float("inf"), 0.0, -1.0]):
        assert fit_again(quick_run(no_speedups)).another_day == day


def test_the_range_of_pairs_holds_the_median_as_often_as_it_says():
    """All signs of n independent differences from their median are equally likely, whatever their law is."""
    for pairs in range(2, 9):
        signs = list(itertools.product((-1, 1), repeat=pairs))
        assert sum(min(s) < 0 < max(s) for s in signs) / len(signs) == pytest.approx(holds_median(pairs))


def test_earlier_runs_of_the_same_sweep_are_repetitions_and_no_others(tmp_path):
    manifest, speedups = {}, []
    for number in range(3):
        path = Path(raw_run(tmp_path, f"run-{number}", shape=Shape(levels=2, replicates=3, seed=number)).path)
        manifest = json.loads((path / "manifest.json").read_text()) | {"status": "complete"}
        manifest["sweep"] |= {"method": "insert" if number == 2 else "copy", "seed": 1}
        (path / "manifest.json").write_text(json.dumps(manifest))
        speedups.append(json.loads((path / "fit.json").read_text())["points"][-1]["speedup"])
    assert repetitions_of(tmp_path, manifest) == speedups[2:]
    manifest["sweep"] |= {"method": "copy", "replicates": 7, "seed": 2}
    assert len(repetitions_of(tmp_path, manifest)) == 2
