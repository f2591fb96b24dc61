"""Several databases on CPUs whose speed changed: a mean stands within its own interval, and equal speeds are compared."""

from dataclasses import replace

import pytest

from scale_sweep.model import Bottleneck, BottleneckKind, Verdict, VerdictKind
from scale_sweep.report import subjects
from scale_sweep.report.subject_points import curves
from tests.unit.test_several_databases import measured, several

SLOW = 0.6  # of the usual speed, in which the trials of two cores ran
CPUS_FULL = Verdict(
    kind=VerdictKind.VALID, bottleneck=Bottleneck(kind=BottleneckKind.SERVER_CPU, sentence="the CPUs were full")
)


def slowed(run):
    """The run, with CPUs that were slower in all trials of two cores. Rates are in proportion to the speed."""
    results = []
    for at, result in enumerate(run.results):
        speed = (SLOW if result.trial.level == 2 else 1.0) * (1 + 0.01 * (at % 3))
        m = result.measurement
        figures = {"cpu_speed": 2.5 * speed, "cpu_speed_cv_percent": 9.0, "cpu_speed_slope": 1.0 + 0.01 * (at % 2)}
        changed = replace(m, rows_per_s=m.rows_per_s * speed, window_s=20.0, **figures)
        results.append(replace(result, measurement=changed, verdict=CPUS_FULL))
    return replace(run, results=tuple(results))


def test_the_mean_as_measured_stands_within_its_interval_and_the_speedup_is_at_an_equal_speed():
    run = slowed(measured(several()))
    for curve in curves(run):
        first, second = curve.points
        assert first.low < first.rates[0] < first.high
        assert second.low < second.rates[0] < second.high
        assert second.rates[0] / first.rates[0] == pytest.approx(2 * SLOW, rel=0.02)
        assert second.speedup == pytest.approx(2.0, rel=0.02)
        assert second.compared_low < second.compared < second.compared_high


def test_the_table_names_the_difference_only_where_there_is_one():
    words = "comparisons use those at an equal speed of the CPUs"
    assert any(words in note for note in subjects.rates_table(slowed(measured(several()))).notes)
    assert not any(words in note for note in subjects.rates_table(measured(several())).notes)


def test_a_stored_rate_that_is_none_draws_no_interval_and_ends_no_report():
    run = measured(several())
    for wrong in (-1.0, 0.0, float("inf"), float("nan"), None):
        changed = [replace(r, measurement=replace(r.measurement, rows_per_s=wrong)) for r in run.results]
        assert all(p.low is None for c in curves(replace(run, results=tuple(changed))) for p in c.points)
