"""Noise, drift, ablation trials and growth, on synthetic trials with known ratios; orders by property."""

import math
import random
from dataclasses import replace

import pytest

from bench.method_until import WANTED, normal
from bench.method_until import plan_of as plan_until
from bench.method_until import run_of as run_until
from scale_sweep.analysis.confidence import student
from scale_sweep.analysis.noise.spread import intervals, ratio_of
from scale_sweep.experiment.axes import load_axis
from scale_sweep.measure.executing.execute import run_campaign
from scale_sweep.model.events import PlanGrew, TrialFinished
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import VerdictKind
from scale_sweep.plan import planner_of
from scale_sweep.plan.planner import with_block
from scale_sweep.plan.replicates import EXTRA_ALONE
from scale_sweep.report.conditions import conditions
from scale_sweep.report.figures import fit_again, fit_of
from scale_sweep.report.noise import noise_of, slow_changes
from tests.unit.factories import make_result
from tests.unit.observing import noise_report, rates_of
from tests.unit.synthetic_run import synthetic_run
from tests.unit.test_plan import planned

RULE = "1..2=4,3..=12"
WITHOUT_DRIFT = ({"method__replicates": "1"}, {"method__drift_check": "off"})


def noisy(level, mean, spread, count, chance):
    return [make_result(level, mean * math.exp(chance.gauss(0, spread)), r + 1) for r in range(count)]


def with_role(result, role, **fields):
    name = f"{result.trial.trial_id}-{role}"
    return replace(result, trial=replace(result.trial, role=role, trial_id=name, **fields))


@pytest.mark.monte_carlo
def test_the_interval_covers_the_truth_as_often_as_it_says():
    chance, covered = random.Random(7), 0
    for _ in range(400):
        results = [r for n in (1, 2, 4) for r in noisy(n, 1e6 * n, 0.04, 3, chance)]
        found = intervals(rates_of(results, "rows_per_s"))[1]
        covered += abs(math.log(found.mean / 2e6)) <= math.log1p(found.half_percent / 100)
    assert 0.92 <= covered / 400 <= 0.99


@pytest.mark.monte_carlo
def test_a_difference_of_that_size_is_seen_four_times_in_five():
    chance, seen, degrees = random.Random(3), 0, 6
    size = (student(degrees) + student(degrees, 0.8)) * 0.03 * math.sqrt(2 / 4)
    said = []
    for _ in range(300):
        results = [*noisy(1, 1e6, 0.03, 4, chance), *noisy(2, 1e6, 0.03, 4, chance)]
        said.append(noise_report(results, "rows_per_s").smallest_difference_percent)
    assert sorted(said)[150] == pytest.approx(100 * math.expm1(size), rel=0.12)
    for _ in range(600):
        slow, fast = noisy(1, 1e6, 0.03, 4, chance), noisy(2, 1e6 * math.exp(size), 0.03, 4, chance)
        rates = rates_of([*slow, *fast], "rows_per_s")
        seen += ratio_of(rates.logs[(2, "")], rates.logs[(1, "")], rates).differs_from_one
    assert 0.74 <= seen / 600 <= 0.88


@pytest.mark.parametrize(("factor", "drifted"), [(1.0, False), (0.8, True)])
def test_drift_is_told_from_noise(factor, drifted):
    results = [r for n in (1, 2) for r in noisy(n, 1e6 * n, 0.01, 4, random.Random(1))]
    drift_check = with_role(make_result(1, 1e6 * factor), "drift_check")
    report = noise_report([*results, drift_check], "rows_per_s")
    assert report.drift.ratio.value == pytest.approx(factor, rel=0.05)
    assert report.drift.ratio.differs_from_one is drifted
    assert report.levels[0].n == 4, "the drift check is no replicate"


def test_a_bridge_splits_the_gain_and_the_parts_multiply():
    def at(level, rate, role, vgroups, seed, **fields):
        made = noisy(level, rate, 0.001, 3, random.Random(seed))
        return [with_role(r, role, knobs={"vgroups": vgroups}, **fields) for r in made]

    points = [*at(2, 1e6, "point", "4", 1), *at(3, 1.8e6, "point", "12", 2)]
    results = (*points, *at(3, 1.2e6, "ablation", "4", 3, knobs_of_level=2.0))
    split = noise_report(results, "rows_per_s").ablations[0]
    assert split.hardware.value == pytest.approx(1.2, rel=0.01)
    assert split.by_knobs.value == pytest.approx(1.5, rel=0.01)
    assert split.total.value == pytest.approx(split.hardware.value * split.by_knobs.value, rel=1e-9)
    run = StoredRun(path="", manifest={}, plan=planned(cores="2..3"), results=results, timeseries={})
    assert noise_of(run).ablations[0].knobs == "vgroups 4 → 12"


@pytest.mark.parametrize(("rate", "halves", "is_named"), [(1e6, 0.0, False), (9e5, -10.0, True), (1.1e6, 0.0, True)])
def test_a_sentinel_that_changes_is_a_caution(rate, halves, is_named):
    results = [make_result(level, 1e6 * level * (1 + n / 100)) for level in (1, 2) for n in (-1, 0, 1)]
    last = with_role(make_result(1, rate), "sentinel")
    figures = replace(last.measurement, rate_halves_percent=halves, window_s=20.0, rate_correlation=0.3)
    last = replace(last, measurement=replace(figures, rate_cv_percent=3.0, rate_drift_error_percent=2.0))
    results.append(replace(last, verdict=replace(last.verdict, kind=VerdictKind.UNSTEADY)))
    plan = replace(planned(cores="1..2"), trials=tuple(r.trial for r in results))
    run = StoredRun(path="", manifest={}, plan=plan, results=tuple(results), timeseries={})
    assert bool(slow_changes(run)) is is_named
    assert fit_of(run).points[0].n == 3


@pytest.mark.parametrize(
    "figures",
    [
        {"memory_used_gb": (1.0, 3.0, 1.1), "commits": (2, 9, 2)},
        {"server_cpu_mhz": (3500.0, 2900.0, 3535.0)},
        {"data_gb": (1.0, 3.9, 1.01)},
    ],
    ids=" ".join,
)
def test_conditions_that_move_are_named_and_those_that_do_not_are_not(figures, wording):
    def at(level, which):
        base = make_result(level)
        values = {name: values[which] for name, values in figures.items()}
        return replace(base, measurement=replace(base.measurement, **values))

    moved = conditions([at(1, 0), at(2, 1)], load_axis("cores"))
    assert len(moved) == len(figures)
    wording(*moved)
    assert conditions([at(1, 0), at(2, 2)], load_axis("cores")) == ()


def test_a_plan_ends_with_its_anchor_and_a_bridge_has_the_knobs_of_the_level_before():
    plan = planned(cores="1..4")
    first, *others, last = plan.trials
    assert last.role == "drift_check" and last.order == len(plan.trials) - 1
    assert (last.level, last.knobs) == (first.level, first.knobs)
    for without in (others, *(planned(cores="1..4", **flags).trials for flags in WITHOUT_DRIFT)):
        assert "drift_check" not in {t.role for t in without}
    plan = planned(cores="1..4", knobs__partitions=RULE, method__ablation="1", method__replicates="2")
    ablations = [t for t in plan.trials if t.role == "ablation"]
    assert {(t.level, t.knobs_of_level, t.knobs["partitions"]) for t in ablations} == {(3.0, 2.0, "4")}
    assert len(ablations) == 2 and len({t.trial_id for t in plan.trials}) == len(plan.trials)
    nothing = planned(cores="1..4", method__ablation="1")
    assert not any("split" in note for note in plan.notes) and any("split" in note for note in nothing.notes)
    plan = planned(cores="1..3", method__replicates="2")
    planner = planner_of(plan)
    first = planner.next(())
    assert first == planner.next(()) and len(first.trials) == 3
    assert {t.block for t in first.trials} == {1}
    assert with_block(plan, first) is plan


def campaign(plan, rate_of, done=()):
    """Runs the plan with a trial that measures what rate_of says; the results, the trials in order, the plans."""
    results, ran, plans = list(done), [], [plan]

    def run(trial):
        ran.append(trial.trial_id)
        result = make_result(trial.level, rate_of(trial), trial.replicate)
        yield TrialFinished(result=replace(result, trial=trial))

    def sink(event):
        if isinstance(event, TrialFinished):
            results.append(event.result)
        if isinstance(event, PlanGrew):
            plans.append(event.plan)

    run_campaign(plan, planner_of(plan), run, [sink], done)
    return results, ran, plans


def wide(results, percent):
    found = intervals(rates_of(results, "rows_per_s"))
    return {(i.level, i.variant) for i in found if i.half_percent is None or i.half_percent > percent}


def test_replicates_are_added_until_the_intervals_are_narrow_or_the_limit_is_reached():
    chance = random.Random(5)
    plan = planned(cores="1..3", method__replicates="2", method__until_ci="5%")
    results, ran, plans = campaign(plan, lambda t: 1e6 * t.level * math.exp(chance.gauss(0, 0.03)))
    assert ran[-1].endswith("drift") and len(ran) == len(set(ran)) > len(plan.trials)
    assert wide(results, 5) == set()
    assert [t.trial_id for t in plans[-1].trials] == ran, "what is stored is what was run, in that order"
    assert [t.order for t in plans[-1].trials] == list(range(len(ran)))
    assert [r.trial.order for r in results] == list(range(len(ran)))
    growing = {"method__replicates": "3", "method__until_ci": "5%", "method__replicates_max": "6"}
    plan, spread = planned(cores="1..2", method__drift_check="off", **growing), {1.0: 0.0, 2.0: 0.5}
    _, ran, _ = campaign(plan, lambda t: t.level * math.exp(chance.gauss(0, spread[t.level])))
    assert sum(name.startswith("cores-2") for name in ran) == 6
    assert 3 <= sum(name.startswith("cores-1") for name in ran) <= 6
    assert planner_of(plan).bound().trials == 12 + 2, "six of each level, and a connections check of each"
    plan = planned(cores="1", method__replicates="3", method__until_ci="5%", method__drift_check="off")
    wild, _, _ = campaign(plan, lambda t: 1e6 if t.replicate <= 5 else 1.5e6)
    assert len(wild) > 3 + EXTRA_ALONE[0][1], "a replicate that makes the interval wide asks for more"


@pytest.mark.parametrize("until", ["5%", None])
def test_a_run_that_was_interrupted_goes_on_as_if_it_had_not_been(until):
    """Wherever it was stopped, the planner asks for the same trials again: it replays what is done."""
    chance = random.Random(9)
    flags = {"method__until_ci": until} if until else {}
    plan = planned(cores="1..3", method__replicates="2", **flags)
    rates = {}

    def rate(trial):
        return rates.setdefault(trial.trial_id, trial.level * math.exp(chance.gauss(0, 0.04)))

    results, ran, plans = campaign(plan, rate)
    for stopped_after in range(len(ran) + 1):
        kept = results[:stopped_after]
        held = next(p for p in plans if all(r.trial in p.trials for r in kept))
        again, more, _ = campaign(held, rate, kept)
        assert more == ran[stopped_after:]
        assert [r.trial.order for r in again] == list(range(len(ran)))


def test_without_valid_replicates_or_with_too_much_noise_nothing_is_claimed():
    unsteady = [make_result(1, 1e6, r, VerdictKind.UNSTEADY) for r in (1, 2, 3)]
    results = [*unsteady, *(make_result(2, 2e6, r) for r in (1, 2))]
    assert (1.0, "") in wide(results, 50)
    report = noise_report([make_result(1), make_result(2)], "rows_per_s")
    assert report.noise_percent is report.smallest_difference_percent is None
    assert {i.half_percent for i in report.levels} == {None}
    results = [make_result(n, rate, r) for n in (1.0, 2.0) for r, rate in ((1, 1e6), (2, 4e6))]
    run = replace(synthetic_run(range(1, 3)), results=tuple(results), fit=None)
    assert any(caution.startswith("too noisy") for caution in fit_again(run).cautions)
    for levels, of_each in ((1, 3 + EXTRA_ALONE[0][1]), (4, 4), (8, 3)):
        plan = planned(cores=f"1..{levels}", method__replicates="3", method__until_ci="5%")
        results, _, _ = campaign(plan, lambda t: 1e6 * t.level * (1 + 1e-3 * (t.replicate % 2)))
        points = [r.trial for r in results if r.trial.role == "point"]
        assert {sum(t.level == level for t in points) for level in range(1, levels + 1)} == {of_each}


@pytest.mark.monte_carlo
def test_the_interval_of_one_level_that_ended_its_run_covers_the_truth():
    plan, held = plan_until(1, 3, 10, 1), 0
    for number in range(400):
        done = run_until(plan, 0.6 * math.log1p(WANTED / 100), normal, f"{number}")
        (i,) = intervals(rates_of(done, "rows_per_s"))
        held += abs(math.log(i.mean / 1e6)) <= math.log1p(i.half_percent / 100)
    assert held / 400 >= 0.92
