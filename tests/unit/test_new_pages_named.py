"""NEW_PAGES: from recorded seconds in which pages became dear, and not where something else slowed the server."""

from dataclasses import replace

import pytest

from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.resource_use import halves_of
from scale_sweep.judge.verdict.diagnose import diagnose
from scale_sweep.judge.verdict.evidence import Evidence, ResourceUse, TrialResources
from scale_sweep.model.measured import Measurement, VerdictKind
from scale_sweep.model.samples import SubjectSample
from tests.unit.factories import as_rated, make_interval
from tests.unit.test_sampling import sample

GIVEN = TrialResources(cores=1.0, quota=False, generator_cpus=1, shared_cpus=(), threads=4)
SECONDS = 20
USER_US_PER_ROW, FAULTS_PER_ROW = 1.6, 0.05
DRIFTS = Measurement(
    rows=10**7,
    rows_per_s=5e5,
    rows_acked=10**7,
    rows_counted=10**7,
    requests=10**4,
    errors=0,
    window_s=20.0,
    rate_cv_percent=9.0,
    rate_drift_percent=-28.0,
    rate_drift_error_percent=2.0,
    missed_ticks=0,
)


def recorded(system_us_per_fault, faults_per_row=None, user_us=None):
    """Intervals and samples of a server on one full core. Each argument: a function of the second."""
    faults_per_row = faults_per_row or (lambda s: FAULTS_PER_ROW)
    user_us = user_us or (lambda s: USER_US_PER_ROW)
    intervals, samples, total, system_s, faults = [], [taken(0, 0.0, 0)], 0, 0.0, 0.0
    for second in range(1, SECONDS + 1):
        in_system_us = system_us_per_fault(second) * faults_per_row(second)
        rows = round(1e6 / (user_us(second) + in_system_us))
        total += rows
        system_s += rows * in_system_us / 1e6
        faults += rows * faults_per_row(second)
        intervals += as_rated([interval(second, rows, total)])
        samples.append(taken(second, system_s, round(faults)))
    return samples, intervals


def taken(second, system_s, faults):
    unknown = {"throttled_s_total": None, "memory_bytes": None}
    counted = {"cpu_s_total": float(second), "system_s_total": system_s, "page_faults_total": faults}
    return replace(sample(second), server=SubjectSample(**counted, **unknown))


def interval(second, rows, total):
    times = {"response_us_p50": 900.0, "response_us_p99": 4000.0, "response_us_max": 9000.0}
    return make_interval(t_s=float(second), rows=rows, rows_total=total, requests=rows // 1000, cpu_s=0.2, **times)


def reasons(series, measurement=DRIFTS):
    full = ResourceUse(seconds=20.0, server_cpu_cores=1.0, generator_cpu_cores=0.2)
    seen = Evidence(resources=GIVEN, measurement=measurement, window=full, halves=halves_of(*series))
    return diagnose(seen, load_axis("cores"))


def after_half(before, after):
    return lambda second: before if second <= 10 else after


def test_dearer_pages_are_the_first_reason_of_an_unsteady_rate_and_else_a_caveat(wording):
    verdict = reasons(recorded(after_half(6.0, 18.0)))
    assert verdict.kind is VerdictKind.UNSTEADY
    assert any("fell by 28 %" in reason for reason in verdict.reasons[1:])
    wording(verdict.reasons[0], reasons(recorded(after_half(18.0, 6.0))).reasons[0])
    steady = replace(DRIFTS, rate_cv_percent=3.0, rate_drift_percent=-6.0)
    verdict = reasons(recorded(after_half(6.0, 10.0)), steady)
    assert verdict.kind is VerdictKind.VALID
    assert any(reason.startswith("NEW_PAGES") for reason in verdict.reasons)
    samples, intervals = recorded(after_half(6.0, 18.0))
    old = [replace(s, server=replace(s.server, system_s_total=None, page_faults_total=None)) for s in samples]
    assert halves_of(old, intervals) is None
    assert halves_of(samples, intervals[:3]) is None


@pytest.mark.parametrize(
    "series",
    [
        recorded(lambda s: 6.0, user_us=after_half(1.6, 2.2)),
        recorded(lambda s: 6.0, faults_per_row=after_half(0.05, 0.15)),
        recorded(lambda s: 6.0),
        recorded(after_half(6.0, 18.0), faults_per_row=lambda s: 1e-5),
    ],
    ids=["more work in the server", "more pages a row", "no change", "hardly a page"],
)
def test_another_cause_is_not_named_new_pages(series):
    assert not any("NEW_PAGES" in reason for reason in reasons(series).reasons)
