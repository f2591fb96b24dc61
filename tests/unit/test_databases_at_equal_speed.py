"""Several databases on CPUs whose speed changed: means, intervals and speedups are the measured ones."""

from dataclasses import replace

import pytest

from scale_sweep.model import Bottleneck, BottleneckKind, Verdict, VerdictKind
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


def test_the_mean_and_the_speedup_are_those_that_were_measured():
    run = slowed(measured(several()))
    for curve in curves(run):
        first, second = curve.points
        assert first.low < first.rates[0] < first.high
        assert second.low < second.rates[0] < second.high
        assert second.speedup == pytest.approx(second.rates[0] / first.rates[0])


def test_a_stored_rate_that_is_none_draws_no_interval_and_ends_no_report():
    run = measured(several())
    for wrong in (-1.0, 0.0, float("inf"), float("nan"), None):
        changed = [replace(r, measurement=replace(r.measurement, rows_per_s=wrong)) for r in run.results]
        assert all(p.low is None for c in curves(replace(run, results=tuple(changed))) for p in c.points)
