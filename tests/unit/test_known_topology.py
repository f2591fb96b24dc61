"""From the topology of a machine to the report: the plan knows where SMT siblings and another NUMA node begin, the fit
breaks there, the sentence names it, and no part of the report calls it a hard limit. The machines and rates are
invented."""

import math
import random
from dataclasses import replace

import pytest

from scale_sweep.model import NUMA_SPREAD, SMT_WITHIN, StoredRun, VerdictKind
from scale_sweep.report import html
from scale_sweep.report.figures import fit_again
from tests.unit.synthetic_run import synthetic_manifest, synthetic_result
from tests.unit.test_plan import make_host, planned

RATE = 4e5
SMT_HOST, NUMA_HOST, FLAT_HOST = make_host(cores=8, threads=2), make_host(cores=12, nodes=2), make_host(cores=16)


def measured(host, cores, worth, *, noise=0.01, seed=1):
    """A run on this machine. worth: the number of first CPUs that count whole, and what each CPU after them is worth."""
    plan, chance = planned(host, cores=cores), random.Random(seed)
    whole, share = worth

    def rate(level):
        return RATE * (min(level, whole) + share * max(0.0, level - whole)) * math.exp(chance.gauss(0, noise))

    results = tuple(synthetic_result(t, rate(t.level), VerdictKind.VALID, chance) for t in plan.trials)
    run = StoredRun(path="/results/one", manifest=synthetic_manifest(), plan=plan, results=results, timeseries={})
    return replace(run, fit=fit_again(run))


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_siblings_of_the_plan_are_the_break_of_the_fit_and_named_in_the_report(share):
    run = measured(SMT_HOST, "1..12", (7, share))
    (smt,) = (c for c in run.plan.confounds if c.knob == SMT_WITHIN)
    assert smt.values == ("0",) * 7 + ("1", "2", "3", "4", "5")
    is_named(run, 7.0, SMT_WITHIN, "SMT siblings of used cores")
    assert f"SMT siblings beyond {run.fit.breaks[0].after:g}" in html(run)


def test_only_a_break_of_the_plan_is_one_of_the_fit():
    run = measured(NUMA_HOST, "1..10", (6, 0.5))
    assert [c.knob for c in run.plan.confounds] == [NUMA_SPREAD]
    is_named(run, 6.0, NUMA_SPREAD, "on another NUMA node")
    flat = measured(FLAT_HOST, "1..12", (7, 0.25))
    assert flat.plan.confounds == () and flat.fit.breaks == ()
    assert flat.fit.verdict != "break" and "SMT" not in flat.fit.sentence
    whole = measured(SMT_HOST, "1..12", (7, 1.0))
    assert whole.fit.breaks and whole.fit.verdict == "linear"
    assert "each worth" not in whole.fit.sentence


def is_named(run, after, knob, words):
    page, fit = html(run), run.fit
    assert [(one.after, one.knob) for one in fit.breaks] == [(after, knob)]
    assert fit.verdict == "break" and fit.knee is None
    assert f"beyond {after:g} cores" in fit.sentence and words in fit.sentence and "each worth" in fit.sentence
    assert words in page and "hard limit" not in page and "hard limit" not in fit.sentence


@pytest.mark.monte_carlo
@pytest.mark.parametrize(
    ("host", "cores", "worth"),
    [(SMT_HOST, "1..12", (7, 0.25)), (SMT_HOST, "1..12", (7, 0.1)), (NUMA_HOST, "1..10", (6, 0.5))],
)
def test_no_noise_makes_a_hard_limit_of_a_known_break(host, cores, worth):
    fits = [measured(host, cores, worth, noise=noise, seed=seed).fit for noise in (0.01, 0.03) for seed in range(6)]
    assert not [fit.sentence for fit in fits if fit.verdict == "knee" or "hard limit" in fit.sentence]
    assert sum(fit.verdict == "break" for fit in fits) >= 9
