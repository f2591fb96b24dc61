"""How many blocks, sessions or replicates would show a difference where a comparison is too noisy to decide."""

import math

import numpy as np
import pytest

from bench.method_gates import SEED, ab_differences, untested
from scale_sweep.analysis.compare.blocks import with_block_tests
from scale_sweep.analysis.compare.ratios import Side
from scale_sweep.analysis.compare.words import (
    Repeats,
    enough_words,
    repeats_of_blocks,
    repeats_of_sessions,
    repeats_of_trials,
    repeats_to_see,
    sentence,
)
from scale_sweep.analysis.confidence import SOUGHT_PERCENT, student
from scale_sweep.model.compared import PointRatio


def point(error, degrees=4.0, trials=3):
    ends = {"rate_a": 1.0, "rate_b": 1.0, "ratio": 1.0, "low": math.exp(-3 * error), "high": math.exp(3 * error)}
    ends |= {"trials_a": trials, "trials_b": trials, "smallest_percent": 100 * (1 - math.exp(-4 * error))}
    return PointRatio(level=1.0, variant="", error=error, degrees=degrees, **ends)


def smallest(error, degrees, tests):
    """The smallest difference in percent, by the formula of the comparison."""
    reach = student(degrees, 1 - 0.05 / 2 / tests) + student(degrees, 0.8)
    return 100 * (1 - math.exp(-reach * error))


@pytest.mark.parametrize(("error", "tests"), [(0.1, 1), (0.1, 3), (0.05, 1)])
def test_they_are_the_fewest_that_show_it(error, tests):
    repeats = repeats_of_blocks(5)
    needed = repeats_to_see(10.0, [point(error)], tests, repeats)
    at = [smallest(error * math.sqrt(5 / n), max(n - 1.0, 1.0), tests) for n in (needed - 1, needed)]
    assert at[1] <= 10 < at[0]


def test_the_noisiest_point_decides_and_more_than_a_hundred_is_no_number():
    repeats = repeats_of_blocks(5)
    alone = repeats_to_see(10.0, [point(0.1)], 2, repeats)
    assert repeats_to_see(10.0, [point(0.01), point(0.1)], 2, repeats) == alone > 5
    assert repeats_to_see(10.0, [point(2.0)], 1, repeats) is None
    assert repeats_to_see(10.0, [PointRatio(level=1.0, variant="", trials_a=1, trials_b=0)], 1, repeats) is None


def test_too_noisy_is_an_answer_with_the_repeats_that_would_do_or_those_for_a_larger_difference(wording):
    noisy, repeats = point(0.18), repeats_of_sessions(3, 3)
    assert 3 < repeats_to_see(SOUGHT_PERCENT, [noisy], 1, repeats) < 100
    wording(sentence([noisy], None, "cores", repeats), sentence([noisy], None, "cores"))
    repeats = repeats_of_blocks(5)
    said = [enough_words([point(error)], 1, repeats) for error in (0.1, 0.25, 0.6)]
    wording(*said, enough_words([point(3.0), point(3.0)], 3, repeats))


def test_replicates_are_those_of_the_point_with_the_fewest_and_single_trials_are_none():
    fewest = repeats_of_trials([point(0.1, trials=5), point(0.1, trials=3)])
    assert fewest == Repeats(unit="replicates", count=3.0, degrees=2.0)
    assert repeats_of_trials([point(0.1, trials=1)]) is repeats_of_trials([]) is None


@pytest.mark.monte_carlo
def test_so_many_blocks_do_see_a_difference_of_that_size():
    chance, noise, levels = np.random.default_rng([SEED, 77]), 0.5, 2

    def tested(truth, blocks):
        differences = ab_differences(chance, (truth,) * levels, blocks, noise)
        mean = differences.mean(axis=1)
        squares = ((differences - mean[:, None]) ** 2).sum(axis=1)
        moments = Side(n=np.full(levels, float(blocks)), mean=mean, squares=squares)
        return with_block_tests(untested(levels), moments).points

    asked = [repeats_to_see(30.0, tested(0.0, 5), levels + 1, repeats_of_blocks(5)) for _ in range(100)]
    count = int(np.median([n for n in asked if n]))
    seen = [tested(math.log(0.7), count)[0].differs for _ in range(300)]
    assert np.mean(seen) > 0.7, count
