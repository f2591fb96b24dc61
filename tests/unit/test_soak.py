"""A soak says how far short windows flatter, where it was slow and what was seen there, and shows it on the page."""

import random
from dataclasses import replace

import pytest

from scale_sweep.analysis.soak import Second, ratios_of_windows, regular_s, slow_periods
from scale_sweep.report.each_trial import warmup_panels, warmup_words
from scale_sweep.report.markdown import markdown
from scale_sweep.report.page import html
from scale_sweep.report.soak import soak_of
from tests.unit.synthetic_run import synthetic_run


def compacting(seconds, every=40, low=0.5, part=0.5, seed=1):
    """Rows/s that fall to `low` in the last `part` of each period."""
    chance = random.Random(seed)
    return [1000 * (low if t % every >= every * (1 - part) else 1.0) * chance.gauss(1, 0.01) for t in range(seconds)]


def seconds_of(rates, **others):
    return [Second(t_s=t + 1.0, rate=r, **{k: v[t] for k, v in others.items()}) for t, r in enumerate(rates)]


def test_quick_windows_flatter_a_server_that_compacts_and_long_ones_refuse_it():
    long, quick = ratios_of_windows(compacting(240))
    assert quick.valid[-1] > 1.3
    assert long.valid == ()
    assert long.windows == (240 - 60) // 5 + 1


def test_windows_of_a_steady_rate_have_the_mean_of_the_soak():
    chance = random.Random(2)
    long, quick = ratios_of_windows([chance.gauss(1000, 30) for _ in range(200)])
    assert len(long.valid) > 0.9 * long.windows
    assert 0.98 < long.quantile(0.0) <= long.quantile(0.5) <= long.quantile(1.0) < 1.02
    assert len(quick.valid) > 0.8 * quick.windows


def test_a_soak_too_short_for_a_window_has_no_ratio_of_it():
    assert [r.name for r in ratios_of_windows([1000.0] * 50)] == ["10 to 30 s (quick)"]


def test_slow_periods_are_found_with_what_the_machine_did():
    rates = compacting(200, part=0.25)
    disk = [9.0 if r < 800 else 2.0 for r in rates]
    found = slow_periods(seconds_of(rates, disk_mb_per_s=disk, server_cores=[1.0] * 200))
    assert [(p.name, round(p.end_s - p.start_s)) for p in found] == [("slow", 10)] * 5
    assert all("4.5 times their usual writes" in p.seen for p in found)
    assert all(p.rate_share == pytest.approx(0.5, abs=0.03) for p in found)
    assert regular_s(found) == pytest.approx(40, abs=1)


def test_a_stall_is_named_and_irregular_ones_are_not_called_regular():
    rates = [1000.0] * 120
    for at in (20, 32, 90):
        rates[at : at + 3] = [0.0] * 3
    found = slow_periods(seconds_of(rates, server_cores=[0.1 if r == 0 else 1.0 for r in rates]))
    assert [p.name for p in found] == ["stall", "stall", "stall"]
    assert all(p.still_s == 3 and "it waited" in p.seen for p in found)
    assert regular_s(found) is None
    assert [(p.start_s, p.end_s, p.rate_share) for p in found] == [(20, 23, 0), (32, 35, 0), (90, 93, 0)]
    assert slow_periods(seconds_of([1000.0] * 120)) == ()


def soak_run(rates):
    run = synthetic_run((1,), 1)
    result = run.results[0]
    trial = replace(result.trial, load=replace(result.trial.load, soak=True, duration_s=float(len(rates))))
    measured = replace(result.measurement, window_s=float(len(rates)), transient_s=0.0)
    series = tuple((t + 1.0, {"rows_per_s": r, "disk_write_mb_per_s": 2.0}) for t, r in enumerate(rates))
    result = replace(result, trial=trial, measurement=measured)
    return replace(run, results=(result,), timeseries={trial.trial_id: series}, fit=None)


def test_the_page_shows_the_rate_over_time_and_the_ratios():
    run = soak_run(compacting(240))
    for page in (html(run), markdown(run)):
        assert "The rate over time" in page
        assert "6 slow periods, about every 40 s" in page
        assert "none of 37 would have been VALID" in page
    soak = soak_of(run, run.results[0])
    assert soak.mean == pytest.approx(750, rel=0.01)
    assert html(run).count('class="window"><title>slow') == 6


def test_a_trial_that_is_no_soak_has_none():
    run = synthetic_run((1,), 1)
    assert soak_of(run, run.results[0]) is None
    assert "The rate over time" not in html(run)


def test_the_picture_of_the_warm_up_says_which_trials_began_too_early():
    rates = [60.0 * t for t in range(15)] + [1000.0 + t % 7 for t in range(60)]
    run = soak_run(rates)
    assert len(warmup_panels(run)) == 1
    assert any("the warm-up ended 15 s into the load, the window began at 0 s" in told for told in warmup_words(run))
    good = soak_run([1000.0 + t % 7 for t in range(60)])
    assert warmup_words(good)[0].startswith("Yes, in the one trial")
    assert "Was the warm-up long enough?" in html(good)
