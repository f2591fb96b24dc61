"""Each kind of verdict, and which one wins."""

from dataclasses import replace

import pytest

from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.verdict.diagnose import diagnose
from scale_sweep.judge.verdict.steady import steadiness
from scale_sweep.model.measured import Measurement, VerdictKind
from scale_sweep.model.resources import Placement
from tests.unit.evidences import evidence_of
from tests.unit.factories import make_trial

GOOD = Measurement(
    rows=10_000_000,
    window_s=10.0,
    rows_per_s=1e6,
    server_cpu_cores=0.98,
    server_cpu_percent=98.0,
    generator_cpu_cores=0.3,
    generator_cpu_percent=30.0,
    throttled_s=0.0,
    requests=1000,
    errors=0,
    rows_acked=12_000_000,
    rows_counted=12_000_000,
    ceiling_rows_per_s=5e8,
    rate_cv_percent=3.0,
    rate_drift_percent=1.0,
    missed_ticks=0,
)


def verdict(trial=None, rate=0.0, **changes):
    figures = {k: changes.pop(k) for k in list(changes) if k in Measurement.__dataclass_fields__}
    measurement = replace(GOOD, **{"generator_cpu_cores": None, **figures})
    evidence = evidence_of(trial or make_trial(), measurement, rate=rate, **changes)
    return diagnose(evidence, load_axis("cores"))


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, VerdictKind.VALID),
        ({"rows_counted": 11_999_999}, VerdictKind.LOST_ROWS),
        ({"rows_counted": 12_000_001}, VerdictKind.LOST_ROWS),
        ({"errors": 1}, VerdictKind.ERRORS),
        ({"rows": 0}, VerdictKind.ERRORS),
        ({"mismatches": ("numOfCores was to be 4, the server says 2",)}, VerdictKind.ERRORS),
        ({"suspicious": ("vnodeCommitImpl failed",)}, VerdictKind.ERRORS),
        ({"ceiling_rows_per_s": 1.1e6}, VerdictKind.GENERATOR_BOUND),
        ({"server_cpu_percent": 43.0, "generator_cpu_percent": 99.0}, VerdictKind.GENERATOR_BOUND),
        ({"server_cpu_percent": 43.0, "generator_cpu_percent": 30.0}, VerdictKind.RESOURCE_NOT_SATURATED),
        ({"server_cpu_percent": None}, VerdictKind.RESOURCE_NOT_SATURATED),
        ({"throttled_s": 2.0}, VerdictKind.THROTTLED),
        ({"throttled_s": 5.0, "quota": True}, VerdictKind.VALID),
        ({"rate_drift_percent": -20.0}, VerdictKind.UNSTEADY),
        ({"rate_drift_percent": 15.0, "rate_drift_error_percent": 9.0}, VerdictKind.VALID),
        ({"rate_drift_percent": 15.0, "rate_drift_error_percent": 5.0}, VerdictKind.UNSTEADY),
        ({"rate_cv_percent": 40.0}, VerdictKind.UNSTEADY),
        ({"aborted": "the server died"}, VerdictKind.ABORTED),
        ({"unfinished": "the load was interrupted"}, VerdictKind.ABORTED),
        ({"errors": 5, "rate_cv_percent": 40.0}, VerdictKind.ERRORS),
        ({"rate": 1e6, "server_cpu_percent": 20.0}, VerdictKind.VALID),  # what was offered, not saturation
        ({"rate": 2e6, "server_cpu_percent": 20.0}, VerdictKind.OFFERED_NOT_MET),
    ],
)
def test_kinds(changes, kind):
    assert verdict(**changes).kind == kind


def test_a_generator_that_shares_the_servers_cpu_is_counted_against_it_and_hides_no_unsteady_rate(wording):
    shared = make_trial(cores=2.0, placement=Placement(server_cpus=(0, 1), generator_cpus=(1,)))
    few = {"server_cpu_cores": 1.78, "server_cpu_percent": 89.0, "generator_cpu_cores": 0.2}
    little = verdict(shared, **few)
    much = verdict(shared, server_cpu_cores=1.3, server_cpu_percent=65.0, generator_cpu_cores=0.65)
    assert little.kind == VerdictKind.VALID
    assert much.kind == VerdictKind.RESOURCE_NOT_SATURATED
    assert verdict(shared, **few, rate_drift_percent=30.0).kind == VerdictKind.UNSTEADY
    wording(little.reasons[0], much.reasons[0], *verdict(commits_in_window=0, missed_ticks=3).reasons)


def test_a_trend_within_its_own_noise_is_not_a_trend():
    flat = steadiness([100.0, 101, 99, 100, 100])
    rising = steadiness([100.0, 110, 120, 130, 140])
    assert abs(flat.drift_percent) < 2
    assert rising.drift_percent == pytest.approx(100 * 40 / 120)
    assert steadiness([1.0, 2.0]).cv_percent is None
    assert rising.drift_error_percent == pytest.approx(0, abs=1e-6)
    noisy = steadiness([100.0, 80, 120, 90, 125, 85, 130, 95])
    assert noisy.drift_percent > 10
    assert noisy.drift_error_percent > noisy.drift_percent / 2
