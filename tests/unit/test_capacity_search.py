"""The search: which rate comes next, when it ends, and what its answer is worth."""

import math
import random

import pytest

from scale_sweep.capacity import PROBES, PROBES_MAX, Probe, answer_of, next_rate

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


def test_a_first_step_that_fails_after_the_closed_loop_is_repeated_and_does_not_count():
    probes = searched(steep(1.4))
    answer = answer_of(probes)
    assert probes[2].rate == probes[0].rate and probes[2].holds and not probes[0].holds
    assert answer.probes == PROBES == len(probes) - 1
    assert answer.rate == pytest.approx(TRUTH, rel=0.05)
    assert answer.low < TRUTH < answer.high


def test_a_first_step_that_fails_twice_counts():
    probes = searched(lambda rate: -2.5 if rate < 0.8 * TRUTH else 2.5)
    assert probes[2].rate == probes[0].rate and not probes[2].holds
    assert answer_of(probes).probes == PROBES == len(probes)


def test_a_disturbed_step_is_repeated_once_and_then_left_out():
    probes = searched(queue(), usable=lambda number: number not in (4, 5, 9))
    rates = [probe.rate for probe in probes]
    assert rates[4] == rates[5] != rates[6] and rates[9] == rates[10]
    assert len(probes) == PROBES + 3
    assert answer_of(probes).probes == PROBES


def test_a_rate_that_is_too_fast_for_the_load_generator_twice_is_not_offered_again():
    rates = [probe.rate for probe in searched(lambda rate: -1.0, too_fast=900)]
    assert max(map(rates.count, rates)) == 2
    assert max(rate for rate in rates if rate < 900) > 0.95 * 900, "it goes as near as it can"
    falling = [Probe(rate=700.0, excess=1.0), *[Probe(rate=490.0, excess=None, usable=False, too_fast=True)] * 2]
    assert 490 < next_rate(BEGIN, falling) < 700
    assert next_rate(BEGIN, falling[1:]) == pytest.approx(0.7 * 490)


def test_steps_that_neighbours_disturbed_do_not_move_the_search():
    alone = searched(queue())
    disturbed = searched(queue(), usable=lambda number: number not in (0, 1, 2, 4, 5, 6))
    assert [probe.rate for probe in disturbed[:8]] == [alone[0].rate] * 4 + [alone[1].rate] * 4


def test_a_first_step_that_fails_by_chance_does_not_bound_the_search():
    first = iter([0.05])
    probes = searched(lambda rate: next(first, None) or queue()(rate))
    assert probes[0].rate < TRUTH / 1.06
    assert answer_of(probes).rate == pytest.approx(TRUTH, rel=0.03)


def test_a_search_ends_when_8_usable_steps_are_out_of_reach(wording):
    for is_usable in (
        lambda number: False,
        lambda number: number < 4,
        lambda number: number == 1,
        lambda number: number % 4 == 0,
    ):
        answer = answer_of(searched(queue(), usable=is_usable))
        assert answer.rate is None
        wording(answer.why)


def test_a_search_with_8_usable_steps_goes_on_although_the_machine_is_disturbed():
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
