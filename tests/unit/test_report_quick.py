"""What the report says of short trials: how long the warm-ups took, dear pages in one trial, one rate for a level."""

import re
from dataclasses import replace

from scale_sweep.base.units import format_rate
from scale_sweep.report.conditions import pages_between_trials
from scale_sweep.report.documents import documents
from scale_sweep.report.figures import fit_again, measured_rate
from scale_sweep.report.heading import eyebrow_of
from scale_sweep.report.noise import noise_sentences
from scale_sweep.report.page import html
from scale_sweep.report.run_facts import method_facts
from scale_sweep.report.table import quick_words, rate
from tests.unit.synthetic_run import synthetic_run


def with_seconds(run, begins_s, system_cores):
    """The run with series that begin at these seconds, a server on one full core, and this system time in each trial.
    A server that spends it on pages makes fewer rows."""
    made, series = [], {}
    for at, r in enumerate(run.results):
        rate = 500_000.0 * (1.0 - system_cores[at]) / (1.0 - min(system_cores))
        values = {
            "rows_per_s": rate,
            "server_cpu_cores": 1.0,
            "server_system_cores": system_cores[at],
            "server_page_faults_per_s": 0.1 * rate,
        }
        series[r.trial.trial_id] = tuple((float(t), values) for t in range(begins_s[at], 11))
        made.append(replace(r, measurement=replace(r.measurement, rows_per_s=rate, window_s=10.0, transient_s=0.0)))
    return replace(run, results=tuple(made), timeseries=series, fit=None)


def two_trials(begins_s=(-6, -11), system_cores=(0.1, 0.4), least_s=5.0):
    run = synthetic_run((1,), 2)
    run = replace(run, results=run.results[:2])
    load = replace(run.plan.sweep.load, warmup_least_s=least_s, warmup_s=30.0)
    run = replace(run, plan=replace(run.plan, sweep=replace(run.plan.sweep, load=load)))
    return with_seconds(run, begins_s, system_cores)


def test_the_report_says_how_long_the_warm_ups_took():
    assert dict(method_facts(two_trials()))["Warm-up"] == "took 10 s (7 to 12 s) at 1 core"
    assert dict(method_facts(two_trials(begins_s=(-6, -6))))["Warm-up"] == "took 7 s at 1 core"
    assert "took 10 s (7 to 12 s) at 1 core" in html(two_trials())
    assert "Warm-up" not in dict(method_facts(two_trials(least_s=None)))


def test_the_caution_on_short_windows_has_their_lengths():
    run, windows = two_trials(), (4.2, 7.1)
    made = [
        replace(
            r,
            trial=replace(r.trial, load=replace(r.trial.load, warmup_s=0.0)),
            measurement=replace(r.measurement, window_s=window),
        )
        for r, window in zip(run.results, windows, strict=True)
    ]
    (said,) = quick_words(replace(run, results=tuple(made)))
    assert said.startswith("quick: windows of 4 to 7 s, without warm-up (under 40 s) in all 2 trials; ")
    assert quick_words(run)[0].startswith("quick: windows of 10 s (under 40 s) in all 2 trials; ")
    grown = [
        replace(
            r,
            trial=replace(r.trial, load=replace(r.trial.load, duration_s=20.0, window_max_s=90.0)),
            measurement=replace(r.measurement, window_s=window),
        )
        for r, window in zip(run.results, (20.0, 90.0), strict=True)
    ]
    (said,) = quick_words(replace(run, results=tuple(grown)))
    assert said.startswith("quick: windows of 20 to 90 s (planned for under 40 s) in all 2 trials; ")


def test_the_caution_asks_for_what_was_given_alone():
    run = two_trials()
    sweep = run.plan.sweep

    def remedy(**changes):
        changed = replace(run, plan=replace(run.plan, sweep=replace(sweep, **changes)))
        return quick_words(changed)[0].partition("measure again ")[2]

    assert remedy() == "with --duration 40s or more"
    assert remedy(origin={"load.quick": "flag"}) == "without --quick and with --duration 40s or more"
    assert remedy(load=replace(sweep.load, rows=12_000)) == "with more rows, for windows of 40 s or more"


def test_one_mean_has_one_rounding():
    assert (rate(277.48), rate(151.48), rate(999.6), rate(12_345.6)) == ("277", "151", "1,000", "12,350")
    assert rate(277.48) == format_rate(277.48)


def test_the_line_above_the_heading_names_the_work():
    run = two_trials()
    data = replace(run.plan.sweep.work.data, rows_per_request=10_000, tables=100)
    work = replace(run.plan.sweep.work, data=data)
    trials = tuple(replace(t, work=work) for t in run.plan.trials)
    run = replace(run, plan=replace(run.plan, sweep=replace(run.plan.sweep, work=work), trials=trials))
    assert " · copy, 10,000 rows a request, 8 connections, 100 tables · " in eyebrow_of(run)


def test_the_load_is_a_sentence_and_the_warm_up_has_its_end():
    load = dict(method_facts(two_trials()))["Load"]
    assert "each sends after its answer (closed loop). Window " in load
    assert load.endswith(", after a warm-up of 5 to 30 s that ends when the rate is steady")


def test_dear_pages_in_one_trial_of_a_level_are_named():
    (said,) = pages_between_trials(two_trials())
    assert said == (
        "NEW_PAGES: the server's system time per page fault was 2.0 µs in cores-1-r1 and 12.0 µs in cores-1-r2, "
        "whose rate per CPU-second is 33 % lower, at 1 core"
    )
    assert said in noise_sentences(two_trials())


def test_equal_pages_and_missing_counters_name_nothing():
    assert pages_between_trials(two_trials(system_cores=(0.1, 0.1))) == ()
    run = two_trials()
    old = {name: tuple((t, {"rows_per_s": v["rows_per_s"]}) for t, v in s) for name, s in run.timeseries.items()}
    assert pages_between_trials(replace(run, timeseries=old)) == ()


def test_the_tile_has_the_rate_of_the_table_where_a_drift_was_removed():
    run = synthetic_run((1, 2), 4)
    drifting = [
        replace(
            r,
            trial=replace(r.trial, order=at),
            measurement=replace(r.measurement, rows_per_s=1e5 * r.trial.level * (1 + at**2 / 40)),
        )
        for at, r in enumerate(run.results)
    ]
    run = documents(replace(run, results=tuple(drifting), fit=None)).run
    fitted, shown = fit_again(run).points[-1].rate_mean, measured_rate(run, 2)
    assert format_rate(fitted) != format_rate(shown)
    tile = re.search(r'<div class="tile"><b>(\d+) \((\d+)&nbsp;to&nbsp;(\d+)\)&nbsp;k</b>', html(run))
    rate, low, high = (1e3 * int(figure) for figure in tile.groups())
    assert (format_rate(rate), fitted < low < rate < high) == (format_rate(shown), True)
