"""Known breaks: SMT siblings and NUMA nodes of the CPU placement are named, and are no hard limit, from the topology of a
machine to the report. The machines and rates are invented."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from scale_sweep.analysis.fit.candidates import fit_model
from scale_sweep.analysis.fit.derived import level_at_90, level_where_it_falls, levels_for
from scale_sweep.analysis.fit.models import PARAMETERS, WITH_BREAK, jacobian, rate_at, rates
from scale_sweep.analysis.fit.rows import known_breaks, make_rows
from scale_sweep.model.fitted import KnownBreak, StoredRun
from scale_sweep.model.measured import VerdictKind
from scale_sweep.model.planned import NUMA_SPREAD, SMT_WITHIN, Confound
from scale_sweep.model.resources import Placement
from scale_sweep.report import html
from scale_sweep.report.figures import fit_again
from tests.unit.drawn_rows import answered, drawn
from tests.unit.factories import make_result
from tests.unit.observing import fit_curve
from tests.unit.synthetic_run import synthetic_manifest, synthetic_result
from tests.unit.test_plan import make_host, planned

TRUTHS = {"linear_break": (2.0, 0.3, 5.0), "amdahl_break": (2.0, 0.08, 0.4, 5.0)}
LEVELS = np.arange(1.0, 13)
SIBLINGS = KnownBreak(
    after=7.0, knob=SMT_WITHIN, label="SMT siblings", words="the added CPUs are SMT siblings of used cores"
)


def smt(n):
    """Siblings from 7 cores on, each worth a quarter of a core."""
    return min(n, 7.0) + 0.25 * max(0.0, n - 7.0)


def placed(cpus, smt_cpus=(), nodes=(0,)):
    return Placement(server_cpus=tuple(cpus), generator_cpus=(20,), smt_cpus=smt_cpus, nodes=nodes)


def test_siblings_begin_at_the_first_cpu_that_is_one_and_another_node_after_the_last_level_with_one():
    most = placed((0, 1, 2, 8, 9, 10), (8, 9, 10))
    (one,) = known_breaks({2.0: placed((0, 1)), 4.0: placed((0, 1, 2, 8), (8,)), 6.0: most})
    assert (one.after, one.knob) == (3.0, SMT_WITHIN)
    at = {n: placed(range(int(n)), nodes=(0,) if n < 8 else (0, 1)) for n in (2.0, 4.0, 8.0, 16.0)}
    (one,) = known_breaks(at)
    assert (one.after, one.knob) == (4.0, NUMA_SPREAD)
    siblings = placed((0, 8), (8,))
    for none in ({1.0: siblings, 2.0: siblings}, {1.0: placed((0,)), 2.0: placed((0, 1))}, {}):
        assert known_breaks(none) == ()


@pytest.mark.parametrize("model", WITH_BREAK)
def test_the_slopes_are_those_of_the_formula(model):
    p, step = np.array(TRUTHS[model]), 1e-6
    slopes = jacobian(model, p, LEVELS)
    for i in range(len(p) - 1):
        moved = p.copy()
        moved[i] += step
        numeric = (rates(model, moved[None], LEVELS) - rates(model, p[None], LEVELS))[0] / step
        assert slopes[:, i] == pytest.approx(numeric, rel=1e-4, abs=1e-4)
    assert not slopes[:, -1].any()


@pytest.mark.parametrize("model", WITH_BREAK)
def test_exact_points_give_back_the_exact_parameters_and_the_level_of_a_rate_has_that_rate(model):
    truth = np.array([TRUTHS[model]])
    exact = rates(model, truth, LEVELS)[0]
    fit = fit_model(model, make_rows(LEVELS, exact, knot=5.0), 50)
    assert fit.values == pytest.approx(truth[0], rel=1e-5)
    assert "break" not in fit.free
    named = dict(zip(PARAMETERS[model], TRUTHS[model], strict=True))
    assert [rate_at(n, named) for n in LEVELS] == pytest.approx(list(exact))
    for level in (3.0, 5.0, 9.0):
        assert levels_for(model, truth, float(exact[int(level) - 1]))[0] == pytest.approx(level)
    falling = truth.copy()
    falling[0, -2] = -0.2
    rate = float(rates(model, falling, np.array([8.0]))[0, 0])
    assert levels_for(model, falling, rate)[0] < 5
    assert level_where_it_falls(model, falling, rate)[0] == pytest.approx(8.0)


@pytest.mark.parametrize("model", WITH_BREAK)
def test_the_level_at_90_percent_is_beyond_a_break_that_comes_first(model):
    truth = np.array([TRUTHS["linear_break"] if model == "linear_break" else (2.0, 0.01, 0.4, 5.0)])
    rows = make_rows(LEVELS, rates(model, truth, LEVELS)[0] * (1 + 1e-4 * np.sin(9 * LEVELS)), knot=5.0)
    at = level_at_90(fit_model(model, rows, 200), rows)
    efficiency = rates(model, truth, np.array([at.value, 1.0]))[0] / np.array([at.value, 1.0])
    assert at.value > 5
    assert efficiency[0] / efficiency[1] == pytest.approx(0.9, abs=0.002)


def broken(curve=smt, noise=0.01, seed=1, **asked):
    return answered(drawn(curve, noise=noise, seed=seed), breaks=(SIBLINGS,), **asked)


def test_the_sentence_says_what_the_added_cpus_are_and_are_worth():
    fit = broken()
    model = next(m for m in fit.models if m.model == fit.chosen)
    share = model.parameters["share"]
    assert (fit.verdict, fit.chosen, model.on_bound) == ("break", "linear_break", ())
    assert share.low < 0.25 < share.high
    assert f"beyond 7 cores {SIBLINGS.words}, each worth 2" in fit.sentence


def test_a_confound_that_the_model_describes_is_not_repeated_in_the_sentence():
    moves = {knob: f"{knob} moves with the cores" for knob in (SMT_WITHIN, "vgroups")}
    confounds = [Confound(knob=knob, values=("0", "5"), sentence=said) for knob, said in moves.items()]
    results = [make_result(n, x, i % 3 + 1) for i, (n, x) in enumerate(drawn(smt))]
    fit = fit_curve(results, confounds=confounds, breaks=(SIBLINGS,))
    assert "but vgroups moves" in fit.sentence and SMT_WITHIN not in fit.sentence
    assert moves[SMT_WITHIN] in fit.cautions


def test_a_hard_limit_far_from_the_break_is_one_and_a_line_that_goes_on_beyond_it_stays_a_line():
    far = replace(SIBLINGS, after=8.0)
    assert answered(drawn(lambda n: min(n, 4.0), seed=2), breaks=(far,)).verdict == "knee"
    assert broken(lambda n: n, seed=3).verdict == "linear"


def test_predictions_follow_the_slope_beyond_the_break():
    fit = broken(seed=4, predict=[16.0], need=[9e6])
    (predicted,), (needed,) = fit.predictions, fit.needs
    assert predicted.low < 1e6 * smt(16.0) < predicted.high
    assert predicted.rate == pytest.approx(1e6 * smt(16.0), rel=0.05)
    assert needed.level == pytest.approx(15.0, rel=0.1)


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
