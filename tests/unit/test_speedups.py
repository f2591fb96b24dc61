"""The speedup's interval comes from the ratios within blocks: what changes from block to block cancels in them."""

import math
import random

import pytest

from scale_sweep.analysis.fit.curve import fit_curve, fit_rows
from scale_sweep.analysis.fit.words import Terms
from scale_sweep.model.observed import Observation


def seen(block, level, log, mark=""):
    return Observation(level=level, value=1e5 * math.exp(log), block=block, order=10 * block + int(level), mark=mark)


def last(observed):
    return fit_curve(observed, Terms()).points[-1]


def blocks(ratios, steps):
    return [
        seen(b, n, step + r * (n > 1)) for b, (r, step) in enumerate(zip(ratios, steps, strict=True)) for n in (1, 2)
    ]


RATIOS = (0.50, 0.54, 0.47, 0.52, 0.49)


def test_two_levels_are_students_paired_t_on_the_logarithm_of_the_ratios(wording):
    curve = fit_curve(blocks(RATIOS, (0.0,) * 5), Terms())
    point = curve.points[-1]
    # mean 0.504, standard deviation 0.02702, t(4) = 2.7764, half 0.03355
    assert point.speedup == pytest.approx(math.exp(0.504))
    assert (point.speedup_low, point.speedup_high) == pytest.approx((math.exp(0.47045), math.exp(0.53755)), rel=1e-4)
    assert (point.speedup_blocks, point.speedup_degrees) == (5, 4)
    moving = last(blocks(RATIOS, STEPS))
    assert (moving.speedup_low, moving.speedup_high) == pytest.approx((point.speedup_low, point.speedup_high))
    assert moving.speedup == pytest.approx(point.speedup), (
        "what changes from block to block is not noise of the speedup"
    )
    wording(curve.sentence)


STEPS = (0.0, 0.4, -0.3, 0.2, -0.5)


def test_a_rejected_trial_leaves_its_blocks_other_levels_and_no_ratio():
    observed = blocks(RATIOS, STEPS)
    whole = last([o for o in observed if o.block != 3])
    point = last([seen(o.block, o.level, 0.0, "UNSTEADY") if (o.block, o.level) == (3, 2) else o for o in observed])
    assert point.speedup_blocks == 4
    assert (point.speedup, point.speedup_low) == pytest.approx((whole.speedup, whole.speedup_low))


def test_without_shared_blocks_the_ratio_of_means_has_the_pooled_spread():
    point = last(blocks((0.50, 0.54), (0.0, 0.0)))
    assert (point.speedup_blocks, point.speedup_degrees) == (0, 2)
    assert point.speedup_low < point.speedup < point.speedup_high
    apart = [seen(b, 1, 0.01 * b) for b in range(4)] + [seen(b, 2, 0.5 + 0.01 * b) for b in range(4, 8)]
    assert last(apart).speedup_blocks == 0
    point = fit_rows([(1, 100.0), (1, 102.0), (1, 98.0), (2, 200.0), (2, 204.0), (2, 196.0)], Terms()).points[-1]
    assert (point.speedup_blocks, point.speedup_degrees) == (0, 4)
    # pooled standard deviation of ln 0.020002, t(4) = 2.7764, √(2/3)
    assert point.speedup_low == pytest.approx(2 * math.exp(-2.7764 * 0.020002 * math.sqrt(2 / 3)), rel=1e-3)


@pytest.mark.monte_carlo
def test_a_noisy_level_has_the_interval_of_its_own_ratios():
    chance = random.Random(3)
    noise = {1: 0.005, 2: 0.005, 3: 0.005, 4: 0.15}
    observed = [seen(b, n, math.log(n) + chance.gauss(0, noise[n])) for b in range(5) for n in noise]
    points = fit_curve(observed, Terms()).points
    assert points[-1].speedup_degrees == 4
    assert points[1].speedup_degrees == 12
    assert points[-1].speedup_low < 4 < points[-1].speedup_high
