"""A soak says how far short windows flatter, where it was slow and what was seen there, and shows it on the page."""

import random
import re
from dataclasses import replace

import pytest

from scale_sweep.analysis.soak import Second, ratios_of_windows, regular_s, slow_periods
from scale_sweep.report.sections import html, markdown
from scale_sweep.report.soak import soak_of
from scale_sweep.report.trials import warmup_panels, warmup_words
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
    chance = random.Random(2)
    long, quick = ratios_of_windows([chance.gauss(1000, 30) for _ in range(200)])
    assert len(long.valid) > 0.9 * long.windows
    assert 0.98 < long.quantile(0.0) <= long.quantile(0.5) <= long.quantile(1.0) < 1.02
    assert len(quick.valid) > 0.8 * quick.windows
    assert len(ratios_of_windows([1000.0] * 50)) == 1, "too short for a long window"


def test_slow_periods_and_stalls_are_found_with_what_the_machine_did(wording):
    rates = compacting(200, part=0.25)
    disk = [9.0 if r < 800 else 2.0 for r in rates]
    slow = slow_periods(seconds_of(rates, disk_mb_per_s=disk, server_cores=[1.0] * 200))
    assert [(p.name, round(p.end_s - p.start_s)) for p in slow] == [("slow", 10)] * 5
    assert all(p.rate_share == pytest.approx(0.5, abs=0.03) for p in slow)
    assert regular_s(slow) == pytest.approx(40, abs=1)
    rates = [1000.0] * 120
    for at in (20, 32, 90):
        rates[at : at + 3] = [0.0] * 3
    still = slow_periods(seconds_of(rates, server_cores=[0.1 if r == 0 else 1.0 for r in rates]))
    assert [(p.name, p.still_s, p.start_s, p.end_s, p.rate_share) for p in still] == [
        ("stall", 3, at, at + 3, 0) for at in (20, 32, 90)
    ]
    assert regular_s(still) is None
    assert slow_periods(seconds_of([1000.0] * 120)) == ()
    wording(*{p.seen for p in slow[1:]}, *{p.seen for p in still})


def soak_run(rates):
    run = synthetic_run((1,), 1)
    result = run.results[0]
    trial = replace(result.trial, load=replace(result.trial.load, soak=True, duration_s=float(len(rates))))
    measured = replace(result.measurement, window_s=float(len(rates)), transient_s=0.0)
    series = tuple((t + 1.0, {"rows_per_s": r, "disk_write_mb_per_s": 2.0}) for t, r in enumerate(rates))
    result = replace(result, trial=trial, measurement=measured)
    return replace(run, results=(result,), timeseries={trial.trial_id: series}, fit=None)


def test_the_page_shows_the_rate_over_time_and_the_ratios(wording):
    run = soak_run(compacting(240))
    page = html(run)
    for text in (page, markdown(run)):
        wording(re.search("6 slow periods[^.<]*", text)[0], re.search("none of 37[^.;<]*", text)[0])
    assert soak_of(run, run.results[0]).mean == pytest.approx(750, rel=0.01)
    assert page.count('class="window"><title>slow') == 6
    plain = synthetic_run((1,), 1)
    assert soak_of(plain, plain.results[0]) is None
    assert " slow periods" not in html(plain)


def test_the_picture_of_the_warm_up_says_which_trials_began_too_early(wording):
    run = soak_run([60.0 * t for t in range(15)] + [1000.0 + t % 7 for t in range(60)])
    assert len(warmup_panels(run)) == 1
    good = soak_run([1000.0 + t % 7 for t in range(60)])
    wording(*warmup_words(run), *warmup_words(good))
