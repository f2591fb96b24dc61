"""The proof of a bottleneck: when resources are disturbed, and what the rates say about them."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scale_sweep.analysis.proof import more, proof_of, schedule
from scale_sweep.model.proof import Elasticity, Proof, ProofInterval

NAMES = ("cpu", "load", "disk", "clients")
LEFT = math.log(0.8)


def intervals(e, *, seconds=55.0, noise=0.0, seed=1, late=0.0, drift=0.0, taken=LEFT):
    """Of the law rate = product of what is left to the power of e. late: the part of an interval by which it follows."""
    chance, found, before = random.Random(seed), [], 0.0
    for phase in schedule(tuple(e), seconds):
        law = sum(of * taken for name, of in e.items() if name in phase.on)
        for second in range(round(phase.seconds)):
            at_s = phase.start_s + second
            log = law + (before - law) * late * (second == 0) + chance.gauss(0, noise) + drift * at_s
            left = dict.fromkeys(phase.on, taken)
            found.append(ProofInterval(at_s=at_s, seconds=1.0, block=phase.block, rate=1e3 * math.exp(log), left=left))
        before = law
    return found


def values(proof: Proof) -> dict[str, float]:
    return {one.resource: one.value for one in proof.elasticities}


@given(st.integers(1, 11), st.floats(64, 400))
def test_each_resource_is_on_in_half_of_each_block_apart_from_the_others_and_from_drift(count, seconds):
    names = [f"r{at}" for at in range(count)]
    phases = schedule(names, seconds)
    assert phases[0].start_s == 0 and phases[-1].start_s + phases[-1].seconds <= seconds
    assert all(a.start_s + a.seconds == b.start_s for a, b in pairwise(phases))
    for block in range(phases[-1].block + 1):
        own = [phase for phase in phases if phase.block == block]
        signs = {name: [1 if name in phase.on else -1 for phase in own] for name in names}
        for name, order in signs.items():
            assert sum(order) == 0
            assert sum(sign * phase.start_s for sign, phase in zip(order, own, strict=True)) == 0
            assert all(
                sum(a * b for a, b in zip(order, signs[other], strict=True)) == 0 for other in names if other != name
            )


def test_blocks_are_whole_and_every_second_one_is_the_mirror_of_the_one_before():
    assert schedule(["cpu"], 10) == ()
    phases = schedule(["cpu", "load"], 60)
    assert len(phases) == 24 and phases[-1].start_s + phases[-1].seconds == 48
    assert all(a.on ^ b.on == {"cpu", "load"} for a, b in zip(phases[:8], phases[8:16], strict=True))


@pytest.mark.parametrize("names", [[], [str(at) for at in range(12)]])
def test_more_resources_than_a_trial_can_tell_apart_are_refused(names):
    with pytest.raises(ValueError, match="cannot be disturbed in one trial: 1 to"):
        schedule(names, 60)


@given(st.lists(st.floats(-0.2, 1.2), min_size=1, max_size=4), st.floats(-0.02, 0.02))
def test_without_noise_the_law_is_found_and_drift_is_not_taken_for_it(exponents, drift):
    e = dict(zip(NAMES, exponents, strict=False))
    assert values(proof_of(intervals(e, drift=drift), tuple(e))) == pytest.approx(e, abs=1e-6)


@pytest.mark.parametrize("late", [0.1, 0.4])
def test_a_rate_that_follows_late_has_the_same_e(late):
    found = proof_of(intervals({"cpu": 1.0, "load": 0.1}, late=late, noise=0.005), ("cpu", "load"))
    assert values(found) == pytest.approx({"cpu": 1.0, "load": 0.1}, abs=0.05)


@pytest.mark.parametrize(
    ("e", "causes", "reason"),
    [
        ({"cpu": 1.0, "load": 0.0}, ("cpu",), ""),
        ({"cpu": 0.0, "load": 1.0, "disk": 0.1}, ("load",), ""),
        ({"cpu": 0.5, "load": 0.5}, ("cpu", "load"), ""),
        ({"cpu": 0.1, "load": 0.0}, (), ""),
        ({"cpu": 0.65, "load": 0.0}, (), "a resource that was not disturbed limits too; disturb others"),
    ],
)
def test_what_is_named(e, causes, reason):
    found = proof_of(intervals(e, noise=0.02), tuple(e))
    assert (found.causes, found.reason) == (causes, reason)
    assert all(one.low < one.value < one.high and one.size == pytest.approx(-LEFT) for one in found.elasticities)


def test_a_rate_too_noisy_names_nothing():
    found = proof_of(intervals({"cpu": 1.0, "load": 0.0}, noise=0.3), ("cpu", "load"))
    assert found.causes == () and found.reason == "the rate varies too much; stop other programs"


def test_stalls_of_a_second_do_not_move_e():
    e, steady = ("cpu", "load"), intervals({"cpu": 1.0, "load": 0.0}, noise=0.02)
    stalled = list(steady)
    for at, rate in ((5, 0.0), (6, 10.0), (30, 50.0)):
        stalled[at] = ProofInterval(
            at_s=steady[at].at_s, seconds=1.0, block=steady[at].block, rate=rate, left=steady[at].left
        )
    found = proof_of(stalled, e)
    assert found.causes == ("cpu",)
    assert values(found) == pytest.approx(values(proof_of(steady, e)), abs=0.05)


def test_a_resource_of_which_nothing_was_taken_has_no_e():
    weak = intervals({"cpu": 1.0, "load": 0.0}, taken=math.log(0.995))
    assert proof_of(weak, ("cpu", "load")).reason.startswith("cpu and load: the disturbances took too little")
    assert proof_of(intervals({"cpu": 1.0}), ("cpu", "disk")).reason.startswith("disk: ")
    assert proof_of([], ("cpu",)).reason.startswith("cpu: ")


def test_too_few_intervals_say_so():
    found = proof_of(intervals({"cpu": 1.0, "load": 0.0}, noise=0.02)[:5], ("cpu", "load"))
    assert found == Proof(reason="5 intervals are too few; run the load for a minute")


@given(st.floats(-0.3, 1.3), st.floats(0, 0.5), st.floats(0.1, 0.4), st.floats(1.05, 3))
def test_what_more_would_bring_is_in_its_interval_and_at_most_in_proportion(value, half, size, factor):
    ratio, low, high = more(
        Elasticity(resource="cpu", value=value, low=value - half, high=value + half, size=size), factor
    )
    assert low <= high <= factor * (1 + 1e-9) and ratio <= high + 1e-9
    if factor < math.exp(size):
        assert low <= ratio + 1e-9


def test_a_block_with_a_single_interval_does_no_harm():
    whole = intervals({"cpu": 1.0, "load": 0.0}, noise=0.02)
    assert proof_of([one for one in whole if one.block < 2 or one.at_s == 40], ("cpu", "load")).causes == ("cpu",)


def test_more_of_the_limit_brings_as_much_and_of_another_nothing():
    limit, other, balanced = (
        Elasticity(resource="cpu", value=value, low=value, high=value, size=-LEFT) for value in (1.0, 0.0, 0.5)
    )
    assert more(limit, 1.1) == pytest.approx((1.1, 1.1, 1.1))
    assert more(other, 1.1) == pytest.approx((1.0, 1.0, 1.0))
    ratio, low, high = more(balanced, 1.1)
    assert low == 1.0 < ratio < high == pytest.approx(1.1**0.5)
