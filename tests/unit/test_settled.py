"""The window's start moves past a ramp and past nothing else; every figure is then of that stretch, and of it alone."""

import re
from dataclasses import replace

import pytest
from hdrh.histogram import HdrHistogram

from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.measurement import measurement
from scale_sweep.judge.figures.searched import outcome
from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.judge.figures.window_bounds import window_is_enough, with_summary
from scale_sweep.judge.verdict.window_start import seconds_to_settle
from scale_sweep.loadgen.merge import merge_interval
from scale_sweep.model.measured import VerdictKind
from scale_sweep.report.series import WIDTH, Scale, metrics_of, panel_svg
from tests.unit.factories import as_rated, make_interval, make_sweep, make_trial
from tests.unit.test_loadgen import summary

RAMP = [100, 200, 300, 400, 500, 600, 700, 800]
STEADY = [1000, 1010, 990, 1005, 995, 1000, 990, 1010, 1000, 1000]
FOR_EVER = [100 * n for n in range(1, 31)]
SLOW = [round(1000 * 1.03**n) for n in range(30)]
WARMUP_S = 2
SWEEP = make_sweep(load__duration="10s", load__warmup="2s")


@pytest.mark.parametrize(
    ("rates", "passed"),
    [
        pytest.param(STEADY, 0, id="steady"),
        pytest.param(STEADY * 3, 0, id="steady for long"),
        pytest.param(RAMP + STEADY, 8, id="ramp"),
        pytest.param([*RAMP, *STEADY[:5]], None, id="ramp, steady too briefly"),
        pytest.param(list(reversed(RAMP)) + [100] * 10, 8, id="falls, then steady"),
        pytest.param(FOR_EVER, None, id="drifts for ever"),
        pytest.param(SLOW, None, id="drifts slowly for ever"),
        pytest.param([0, 0, *STEADY], 2, id="nothing at first"),
        pytest.param(STEADY[:5] + [0] + STEADY[:5], None, id="one stall"),
        pytest.param([1000, 0, 0, *STEADY], None, id="a stall near the start"),
        pytest.param(STEADY[:5] + [0] + STEADY + STEADY[:4], 0, id="a stall diluted"),
        pytest.param([1000, 400] * 12, None, id="jumps for ever"),
        pytest.param([5, 1000], 0, id="too short to tell"),
    ],
)
def test_only_a_trend_is_discarded(rates, passed):
    assert seconds_to_settle(rates, 10) == passed


def histogram(value_us, count):
    h = HdrHistogram(1, 3_600_000_000_000, 2)
    h.record_value(value_us * 1000, count)
    return h.encode().decode()


def interval(at_s, rows, before, value_us=None):
    """A second that ends at_s after the start, 50 rows a request; each request took value_us."""
    hdr = (histogram(value_us or 1_000_000 // max(rows, 1), rows // 50),) if rows >= 50 else ()
    return make_interval(
        t_s=at_s + 4e-5,
        phase="measure" if at_s > WARMUP_S else "warmup",
        rows=rows,
        rows_total=before + rows,
        requests=rows // 50,
        cpu_s=rows / 10_000,
        response_hdr=hdr,
    )


def intervals_of(rates):
    """The seconds of a warm-up of 50 rows/s and of measuring these rates."""
    made = []
    for at_s, rows in enumerate([50] * WARMUP_S + list(rates), 1):
        made.append(interval(at_s, rows, sum(i.rows for i in made)))
    return made


def facts_of(rates, sweep=SWEEP, intervals=()):
    """A trial whose warm-up had 50 rows/s and whose measuring these rates."""
    own = tuple(intervals or intervals_of(rates))
    facts = TrialFacts(load_start_ns=0, measure_start_ns=WARMUP_S * 10**9, intervals=own)
    return with_summary(facts, said(rates, (WARMUP_S + len(rates)) * 10**9), sweep.load, sweep.work)


def said(rates, end_ns):
    ends = {"window_start_ns": WARMUP_S * 10**9, "window_end_ns": end_ns, "window_s": float(len(rates))}
    rows = {"rows_window": sum(rates), "rows_per_s": sum(rates) / len(rates), "rows_acked": sum(rates) + 100}
    return summary([900] * 100, cpu_window_s=1.0, **ends, **rows)


def test_every_figure_is_of_the_stretch_that_was_steady():
    m = measurement(make_trial(), facts_of(RAMP + STEADY))
    assert (m.rows, m.transient_s) == (sum(STEADY), pytest.approx(8.00004))
    assert (m.window_s, m.rows_per_s, m.generator_cpu_cores, m.transient_rate) == pytest.approx((10, 1000, 0.1, 450))
    assert m.response_ms_p50 == pytest.approx(1.0, rel=0.02)  # a request of the ramp took up to 10 ms
    assert m.response_ms_max < 1.1
    assert m.rate_cv_percent < 1
    assert abs(m.rate_drift_percent) < 2
    assert m.rows_acked == sum(RAMP + STEADY) + 100


def test_the_verdict_says_what_was_discarded_and_why_and_of_a_rate_that_never_settles_nothing_is(wording):
    verdict = outcome(load_axis("cores"), make_trial(SWEEP), facts_of([0, *RAMP, *STEADY])).verdict
    (told,) = (reason for reason in verdict.reasons if "discarded" in reason)
    wording(told)
    assert verdict.kind is not VerdictKind.UNSTEADY
    facts = facts_of(FOR_EVER)
    m, verdict = measurement(make_trial(), facts), outcome(load_axis("cores"), make_trial(SWEEP), facts).verdict
    assert (facts.transient, m.rows, m.window_s, m.transient_s) == (None, sum(FOR_EVER), 30.0, 0.0)
    assert any("rate rose" in reason for reason in verdict.reasons)


def test_other_windows_and_lines_of_an_older_load_core_stay_what_they_were():
    older = [replace(i, cpu_s=None, response_hdr=()) for i in intervals_of(RAMP + STEADY)]
    facts = facts_of(RAMP + STEADY, intervals=older)
    assert (facts.transient, facts.summary.rows_window) == (None, sum(RAMP + STEADY))
    may_not_grow = make_sweep(load__duration="10s", load__window_max="0")
    of_disks = replace(SWEEP, load=replace(SWEEP.load, may_discard=False))
    for sweep in (may_not_grow, of_disks, make_sweep(load__rows="20000")):
        assert facts_of(RAMP + STEADY, sweep).transient is None


def test_no_row_is_lost_where_a_reading_was_late():
    """A late reading makes a long second and a short one; the short one is not judged, but its rows are counted."""
    intervals = intervals_of(RAMP + STEADY)
    late = intervals[14]
    intervals[14] = replace(late, t_s=late.t_s + 0.2, monotonic_ns=late.monotonic_ns + 200_000_000, rows=1200)
    intervals[15] = replace(intervals[15], rows=intervals[15].rows - 200)
    facts = facts_of(RAMP + STEADY, intervals=intervals)
    start = next(i for i, x in enumerate(facts.intervals) if x.monotonic_ns == facts.summary.window_start_ns)
    assert facts.summary.rows_window == sum(i.rows for i in facts.intervals[start + 1 :])
    assert facts.summary.rows_per_s == pytest.approx(1000, rel=0.03)


@pytest.mark.parametrize(
    ("rates", "enough"),
    [
        (STEADY[:7], False),
        (STEADY[:9], True),
        (STEADY[:8] + [100], False),
        (RAMP, False),
        (RAMP + STEADY[:7], False),
        (RAMP + STEADY, True),
        (STEADY[:5] + [0] + STEADY, False),
        (STEADY[:5] + [0] + STEADY * 2, True),
        (FOR_EVER, False),
    ],
)
def test_the_measuring_goes_on_until_a_window_has_settled(rates, enough):
    intervals = as_rated(intervals_of(rates))
    start_ns = WARMUP_S * 10**9
    assert window_is_enough(SWEEP.load, intervals, start_ns) is enough
    assert window_is_enough(make_sweep(load__duration="10s", load__window_max="0").load, intervals, start_ns) is False


def test_several_processes_are_one_stretch():
    """The histograms of all processes are added; a mean of percentiles would say something else."""
    each = intervals_of(RAMP + STEADY)
    merged = [merge_interval([i, replace(i, response_hdr=(histogram(50_000, i.requests),))]) for i in each]
    summary = facts_of(RAMP + STEADY, intervals=merged).summary
    assert (summary.rows_window, summary.response.count) == (2 * sum(STEADY), 2 * sum(r // 50 for r in STEADY))
    assert summary.response.p90_us == pytest.approx(50_000, rel=0.02)
    assert summary.cpu_window_s == pytest.approx(2 * sum(STEADY) / 10_000)


def test_the_panel_shades_the_window_and_its_times_stay_inside():
    series = [(float(t), {"rows_per_s": 1e5 * t}) for t in range(-2, 19)]
    scale = Scale(t_min=-2.0, t_max=18.0, y_max={"rows_per_s": 2e6})
    drawn = panel_svg(series, metrics_of(SWEEP.work)[0], scale, (8.0, 18.0), None)
    shaded = re.search(r'<rect x="([\d.]+)"[^>]*width="([\d.]+)"[^>]*class="window"', drawn)
    inner = WIDTH - 36 - 6
    assert float(shaded[1]) == pytest.approx(36 + inner * 10 / 20, abs=0.2)
    assert float(shaded[2]) == pytest.approx(inner * 10 / 20, abs=0.2)
    last = re.search(r'<text x="([\d.]+)"[^>]*>18 s<', drawn)
    assert 'text-anchor="end"' in last[0]
    assert float(last[1]) <= WIDTH - 6
