"""Sizes: levels, chances and machines on curves whose truth is known, and the sweep that settles an open question."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from scale_sweep.analysis.fit.beyond import chances_below, hull, predict
from scale_sweep.analysis.fit.curve import known_of_rows
from scale_sweep.analysis.fit.words import Terms
from scale_sweep.analysis.sizing.levels import ACCEPTED, level_need, own_error
from scale_sweep.analysis.sizing.machines import sized
from scale_sweep.model.declared_parts import Objective
from scale_sweep.model.measured import VerdictKind
from scale_sweep.model.sizing import LevelNeed, NextSweep, PricedMachine, PriceList
from scale_sweep.report.sizing import answer_words, next_command, settled_words
from tests.unit.synthetic_run import synthetic_run

GIB = 2.0**30
PRICES = PriceList(
    machines=tuple(
        PricedMachine(name=name, amounts={"cores": cores, "memory": memory * GIB, "disks": disks}, price_per_hour=price)
        for name, cores, memory, disks, price in (
            ("s-2", 2.0, 8, 1.0, 0.1), ("m-8", 8.0, 32, 2.0, 0.4), ("d-8", 8.0, 32, 8.0, 0.7), ("l-16", 16.0, 64, 4.0, 0.8),
        )
    ),
    currency="EUR",
)  # fmt: skip


def law(alpha, beta=0.0):
    return lambda n: 4e5 * n / (1 + alpha * (n - 1) + beta * n * (n - 1))


@pytest.mark.parametrize("curve", [law(0.05), law(0.05, 0.02), law(0.0), lambda n: 4e5 * min(n, 4)])
def test_a_chance_grows_with_the_rate_and_is_two_and_a_half_percent_at_the_end_of_the_interval(curve):
    chance = random.Random(1)
    rows = [(float(n), curve(n) * math.exp(chance.gauss(0, 0.02))) for n in range(1, 9) for _ in range(3)]
    known = known_of_rows(rows, Terms())
    for level in (1.0, 2.5, 6.0, 8.0, 12.0, 16.0):
        low, high = hull(known, level)
        rates = predict(known, [level])[0]
        assert low is not None and high is not None and rates.rate is not None
        for end, expected in ((low, 0.025), (high, 0.975)):
            least, most = (float(c[0]) for c in chances_below(known, np.array([level]), end))
            found = most if end == low else least
            assert found == pytest.approx(expected, abs=0.012), (level, end)
    around = curve(6) * np.linspace(0.75, 1.25, 12)
    chances = [chances_below(known, np.array([6.0]), rate)[1][0] for rate in around]
    assert chances == sorted(chances)
    assert chances[0] < 0.001 and chances[-1] > 0.999


def need_of(wanted, **how):
    run = synthetic_run(**{"levels": range(1, 9), "replicates": 3, "gamma": 4e5, "alpha": 0.05, **how})
    return level_need(run, wanted, [m.amounts["cores"] for m in PRICES.machines]), run


def test_the_smallest_level_that_holds_a_rate_with_its_interval():
    one, _ = need_of(law(0.05)(6.5))
    assert one.level == 7 and 1 <= one.low <= 7 <= one.high <= 8
    assert one.below.level == 6 and one.below.miss > 0.9
    assert one.at(7.0).miss <= ACCEPTED
    assert one.settled_by is None
    just_so, _ = need_of(law(0.05)(6))
    assert (just_so.level, just_so.low) == (7, 6), "at 6 it is as likely to be missed as not"
    assert 0.05 < just_so.below.miss < 0.99
    beyond, _ = need_of(law(0.05)(11))
    assert 11 <= beyond.level <= 16 and beyond.low <= 11 <= (beyond.high or 99)
    assert not beyond.at(beyond.level).is_measured
    falling, _ = need_of(0.97 * law(0.05, 0.02)(6), beta=0.02)
    assert 5 <= falling.level <= 7
    less, _ = need_of(law(0.05)(3), levels=range(8, 13))
    assert less.level == 4 and len(less.notes) == 1
    assert not need_of(law(0.05)(0.5))[0].notes, "there is no smaller number than 1"


def test_the_fit_ends_the_answer_and_a_sweep_with_its_time_settles_it(wording):
    one, run = need_of(law(0.05)(22))
    assert one.level is None
    assert one.settled_by.levels == (1, 2, 3, 4, 5, 6, 7, 8, 16) and one.settled_by.added == (16,)
    assert one.settled_by.replicates == 3
    assert one.settled_by.seconds == pytest.approx(100 / 24 * 27)
    wording(one.reason, next_command(run, one.settled_by), settled_words(run, one)[0])


def test_a_rate_that_no_level_is_sure_to_hold_is_refused_with_the_chance_left(wording):
    one, _ = need_of(law(0.05)(14.5))
    assert one.level is None
    assert 0.05 < one.at(16.0).miss < 0.95
    (added,) = one.settled_by.added
    assert 9 <= added <= 16 and one.settled_by.reaches
    more = level_need(synthetic_run(levels=(*range(1, 9), added), replicates=3, gamma=4e5, alpha=0.05), one.wanted)
    assert more.level is not None, "the sweep that was named settles it"
    never, _ = need_of(3e6, beta=0.03)
    assert never.level is None and never.settled_by is None
    rejected, _ = need_of(law(0.05)(9), verdicts={(8, r): VerdictKind.UNSTEADY for r in (1, 2, 3)})
    assert rejected.level is None and rejected.settled_by.added == (8,)
    alone, _ = need_of(1e5, levels=(1, 2), replicates=1, alpha=0.0)
    assert alone.level is None
    wording(one.reason, never.reason, rejected.reason, alone.reason)


def test_two_levels_are_judged_where_they_were_measured_or_lead_to_levels_with_a_fit():
    one, _ = need_of(1.2 * law(0.05)(1), levels=(1, 2), replicates=2)
    assert one.level == 2 and not one.by_model and one.notes
    assert one.at(1.0).miss > 0.95 and one.at(2.0).miss < 0.05
    missing, _ = need_of(law(0.0)(7), levels=(1, 2), replicates=1, alpha=0.0)
    assert missing.level is None
    assert (missing.settled_by.added, missing.settled_by.replicates, missing.settled_by.reaches) == ((4,), 2, True)
    far, _ = need_of(law(0.0)(1000), levels=(1, 2), replicates=1, alpha=0.0)
    assert far.settled_by.added == (4, 8, 16, 32) and not far.settled_by.reaches


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["scale", "sweep", "cpu", "--cores=1..4", "--replicates", "9", "--tag", "a b"], "scale sweep cpu --tag 'a b' --cores 1,2 --replicates 3"),
        (["scale", "sweep", "my file.toml"], "scale sweep 'my file.toml' --cores 1,2 --replicates 3"),
        (["rm", "-rf", "/"], ""),
        ([], ""),
    ],
)  # fmt: skip
def test_the_next_command_is_the_recorded_one_with_other_levels(words, expected):
    run = synthetic_run()
    run = replace(run, manifest={**run.manifest, "command": words})
    assert next_command(run, NextSweep(levels=(1.0, 2.0), added=(2.0,), replicates=3, seconds=9.0)) == expected


def with_capacities(run, half):
    """Each trial of the run searched; the ends of its interval are at this share of its rate."""

    def searched(item):
        return replace(item, load=replace(item.load, objective=Objective(clauses=())))

    results = []
    for r in run.results:
        rate, low, high = (r.measurement.rows_per_s * factor for factor in (1, 1 / (1 + half), 1 + half))
        m = replace(r.measurement, capacity_per_s=rate, capacity_low_per_s=low, capacity_high_per_s=high)
        results.append(replace(r, measurement=m, trial=searched(r.trial)))
    return replace(run, results=tuple(results), plan=replace(run.plan, sweep=searched(run.plan.sweep)), fit=None)


def test_one_search_a_level_has_the_interval_of_its_search(wording):
    run = with_capacities(synthetic_run(levels=(1, 2), replicates=1, gamma=4e5, alpha=0.0, noise=0.0), 0.05)
    assert own_error(run.results[0]) == pytest.approx(math.log(1.05) / 1.96, rel=1e-3)
    one = level_need(run, 7e5)
    assert one.level == 2 and one.at(2.0).low == pytest.approx(8e5 / 1.05, rel=1e-3)
    near = level_need(run, 7.99e5)
    assert near.level is None
    assert near.settled_by.added == () and near.settled_by.replicates == 2
    wording(*one.notes, near.reason)


def test_the_cheapest_machine_that_has_enough(wording):
    one, _ = need_of(law(0.05)(6.5))
    sizing = sized(law(0.05)(6.5) / 1.3, 0.3, [one], PRICES)
    assert sizing.wanted == pytest.approx(one.wanted)
    assert sizing.cheapest.machine.name == "m-8" and sizing.is_answered
    by_name = {o.machine.name: o for o in sizing.offers}
    assert by_name["s-2"].lacks and not by_name["m-8"].lacks
    assert by_name["m-8"].per_money == pytest.approx(by_name["m-8"].rate * 3600 / 0.4)
    assert by_name["m-8"].per_unit == pytest.approx(by_name["m-8"].rate / 8)
    small = sized(one.wanted, 0.0, [one], replace(PRICES, machines=PRICES.machines[:1]))
    assert small.cheapest is None and not small.is_answered
    wording(*answer_words(sizing), *answer_words(small))
    unknown = sized(1e6, 0.0, [need("c", "cores", 8.0), need("d", "disks", None)], PRICES)
    assert unknown.cheapest is None and not unknown.decides and not unknown.is_answered


def need(run, axis, level, **granted):
    words = {"run": run, "axis": axis, "unit": axis[:-1], "rate_words": "rows/s"}
    return LevelNeed(**words, wanted=1e6, level=level, low=level, high=level, granted=granted)


@pytest.mark.parametrize(
    ("needs", "machine", "decides"),
    [
        ((need("c", "cores", 8.0), need("d", "disks", 4.0)), "d-8", "d"),
        ((need("c", "cores", 9.0), need("d", "disks", 2.0)), "l-16", "c"),
        ((need("c", "cores", 8.0), need("d", "disks", 2.0, cores=4.0)), "m-8", ""),
        ((need("c", "cores", 2.0), need("e", "cores", 8.0)), "m-8", "e"),
        ((need("c", "cores", 2.0, memory=16 * GIB),), "m-8", ""),
        ((need("d", "disks", 2.0, cores=16.0),), "l-16", ""),
    ],
)
def test_the_larger_need_wins_and_is_named(needs, machine, decides):
    sizing = sized(1e6, 0.0, needs, PRICES)
    assert (sizing.cheapest.machine.name, sizing.decides) == (machine, decides)
    assert not decides or any(sentence.startswith(f"{decides} has ") for sentence in answer_words(sizing))
