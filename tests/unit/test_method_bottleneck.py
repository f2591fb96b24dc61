"""One run of each simulated server of bench/method_bottleneck.py: verdicts, checks and the curve that comes out."""

import pytest

from bench.method_bottleneck import TRUTHS, plan_of, predicted, simulated
from scale_sweep.analysis.connections_check import with_checks
from scale_sweep.model.measured import VerdictKind

OWN, LACKING, VALID = VerdictKind.SOFTWARE_BOTTLENECK, VerdictKind.RESOURCE_NOT_SATURATED, VerdictKind.VALID
EXPECTED = ((OWN, 6), (OWN, 6), (OWN, 6), (OWN, 6), (LACKING, 6), (LACKING, 0), (VALID, 0))


@pytest.mark.parametrize(("truth", "expected"), list(zip(TRUTHS, EXPECTED, strict=True)), ids=[t.what for t in TRUTHS])
def test_what_becomes_of_the_levels_above_six_cores(truth, expected):
    plan, results = simulated(truth, plan_of(3, 2), 0.01, 3)
    final = with_checks(plan, results)
    above = {r.verdict.kind for r in final if r.trial.role == "point" and r.trial.level > 6}
    assert (above, sum(r.trial.role == "check" for r in final)) == ({expected[0]}, expected[1])
    fit, at_twelve = predicted(final)
    assert [p.level for p in fit.points][-1] == (6 if expected[0] is LACKING else 12)
    if expected[0] is not LACKING:
        assert at_twelve == pytest.approx(1e6 * truth.cores(12, 24), rel=0.02)
