"""The search: which rate comes next, when it ends, what its answer is worth; and the text of its objective."""

import math
import random

import pytest

from scale_sweep.capacity.objective import excess_of, parse_objective, requests_needed
from scale_sweep.capacity.search import PROBES, PROBES_MAX, Probe, answer_of, next_rate

BEGIN, TRUTH = 1000.0, 770.0


def searched(excess, usable=lambda number: True, too_fast=math.inf):
    """The steps. excess: of a rate. usable: by the number of a step. too_fast: a rate that the load generator lacks."""
    probes = []
    while (rate := next_rate(BEGIN, probes)) is not None:
        if rate > too_fast:
            probes.append(Probe(rate=rate, excess=None, usable=False, too_fast=True))
        else:
            probes.append(Probe(rate=rate, excess=excess(rate), usable=usable(len(probes))))
    return probes


def queue(chance=None, noise=0.0):
    def excess(rate):
        speed = math.exp(noise * chance.gauss(0, 1)) if chance else 1.0
        return math.log((BEGIN - TRUTH) / (BEGIN * speed - rate)) if rate < BEGIN * speed else None

    return excess


def test_a_queue_without_noise_is_found_in_14_steps_on_both_sides():
    probes = searched(queue())
    answer = answer_of(probes)
    assert len(probes) == PROBES
    assert answer.rate == pytest.approx(TRUTH, rel=0.01)
    assert answer.low < TRUTH < answer.high
    assert {probe.holds for probe in probes} == {True, False}


def test_with_noise_it_is_within_5_percent_and_the_interval_covers_the_truth():
    searches = [searched(queue(random.Random(seed), 0.03)) for seed in range(100)]
    answers = [answer_of(probes) for probes in searches]
    assert sum(abs(a.rate / TRUTH - 1) < 0.05 for a in answers) >= 95
    assert 88 <= sum(a.low <= TRUTH <= a.high for a in answers) <= 100
    for count, probe in enumerate(searches[7]):
        assert next_rate(BEGIN, searches[7][:count]) == probe.rate, "the same steps, the same rate"


def steep(first):
    """A server with far shorter response times than the limit up to its capacity, and far longer ones above. first: the
    excess of the first step, which the closed loop may have disturbed."""
    excesses = iter([first])
    return lambda rate: next(excesses, -2.5 if rate < TRUTH else 2.5)


def test_a_first_step_that_fails_after_the_closed_loop_is_repeated_and_counts_if_it_fails_twice():
    probes = searched(steep(1.4))
    answer = answer_of(probes)
    assert probes[2].rate == probes[0].rate and probes[2].holds and not probes[0].holds
    assert answer.probes == PROBES == len(probes) - 1
    assert answer.rate == pytest.approx(TRUTH, rel=0.05)
    assert answer.low < TRUTH < answer.high
    twice = searched(lambda rate: -2.5 if rate < 0.8 * TRUTH else 2.5)
    assert twice[2].rate == twice[0].rate and not twice[2].holds
    assert answer_of(twice).probes == PROBES == len(twice)


def test_a_disturbed_step_is_repeated_once_and_then_left_out():
    probes = searched(queue(), usable=lambda number: number not in (4, 5, 9))
    rates = [probe.rate for probe in probes]
    assert rates[4] == rates[5] != rates[6] and rates[9] == rates[10]
    assert (len(probes), answer_of(probes).probes) == (PROBES + 3, PROBES)
    alone = searched(queue())
    disturbed = searched(queue(), usable=lambda number: number not in (0, 1, 2, 4, 5, 6))
    assert [probe.rate for probe in disturbed[:8]] == [alone[0].rate] * 4 + [alone[1].rate] * 4


def test_a_rate_that_is_too_fast_for_the_load_generator_twice_is_not_offered_again():
    rates = [probe.rate for probe in searched(lambda rate: -1.0, too_fast=900)]
    assert max(map(rates.count, rates)) == 2
    assert max(rate for rate in rates if rate < 900) > 0.95 * 900, "it goes as near as it can"
    falling = [Probe(rate=700.0, excess=1.0), *[Probe(rate=490.0, excess=None, usable=False, too_fast=True)] * 2]
    assert 490 < next_rate(BEGIN, falling) < 700
    assert next_rate(BEGIN, falling[1:]) == pytest.approx(0.7 * 490)


def test_a_first_step_that_fails_by_chance_does_not_bound_the_search():
    first = iter([0.05])
    probes = searched(lambda rate: next(first, None) or queue()(rate))
    assert probes[0].rate < TRUTH / 1.06
    assert answer_of(probes).rate == pytest.approx(TRUTH, rel=0.03)


def test_a_search_ends_when_8_usable_steps_are_out_of_reach(wording):
    for usable in (set(), set(range(4)), {1}, set(range(0, 99, 4))):
        answer = answer_of(searched(queue(), usable=usable.__contains__))
        assert answer.rate is None
        wording(answer.why)
    probes = searched(queue(), usable=lambda number: number < 8)
    assert len(probes) == PROBES_MAX
    assert answer_of(probes).rate == pytest.approx(TRUTH, rel=0.05)


def test_a_rate_that_is_never_low_enough_or_never_too_high_is_said(wording):
    probes = searched(lambda rate: math.log(180 / 20))
    assert len(probes) <= PROBES
    assert min(probe.rate for probe in probes) < 0.05 * BEGIN
    wording(answer_of(probes).why, answer_of(searched(lambda rate: -1.0)).why)


def test_response_times_that_follow_no_rate_are_no_answer(wording):
    """What a machine with busy neighbours showed: one step held, and others at nearly the same rate were far from it."""
    answer = answer_of([Probe(rate=1000.0 + n, excess=-0.5 if n == 3 else 1.1) for n in range(PROBES)])
    assert (answer.rate, answer.low, answer.probes) == (None, None, PROBES)
    wording(answer.why)


def test_conditions_are_read():
    asked = {("p99", ""): 20.0, ("p999", ""): 100.0, ("p50", "range"): 0.5, ("errors", ""): 0.1}
    clauses = parse_objective("p99 < 20ms, p99.9<0.1s , range.p50 < 500us, errors < 0.1%").clauses
    assert {(one.quantity, one.operation): one.limit for one in clauses} == asked
    assert parse_objective("range.p99 < 5ms").words == "range.p99 < 5 ms"


@pytest.mark.parametrize(
    ("texts", "named"),
    [
        (("p99 > 20ms", "p99 <= 20ms"), "upper limit"),
        (("p42 < 20ms", "q99 < 20ms"), "is none of"),
        (("p99 < 20", "p99 < 20m", "p99 <", "p99 < -1ms", "p99 < nan"), "with its unit"),
        (("p99 < 0ms",), "more than 0"),
        (("errors < 3",), "share of the requests"),
        (("errors < 0%", "errors < 100%"), "percentage"),
        (("write.errors < 1%",), "all operations together"),
        (("p99 < 5ms, p99 < 6ms",), "two limits"),
        (("p99 < 5ms,", "fast", ""), "not a condition"),
    ],
)
def test_what_is_no_objective_is_refused_with_its_condition(texts, named):
    for text in texts:
        with pytest.raises(ValueError, match=named):
            parse_objective(text)


@pytest.mark.parametrize(
    ("text", "count"), [("p50 < 1ms", 20), ("p99 < 1ms, errors < 1%", 1000), ("p99 < 1ms, p999 < 1s", 10_000)]
)
def test_a_percentile_needs_its_requests(text, count):
    assert requests_needed(parse_objective(text)) == count


@pytest.mark.parametrize(("p99", "p50", "ratio"), [(10.0, 0.9, 0.9), (40.0, 0.9, 2.0), (10.0, None, None)])
def test_the_condition_furthest_from_holding_counts(p99, p50, ratio):
    objective = parse_objective("p99 < 20ms, p50 < 1ms, errors < 1%")
    found = excess_of(objective, {"p99": p99, "p50": p50, "errors": 0.0})
    assert found == (pytest.approx(math.log(ratio)) if ratio else None)
