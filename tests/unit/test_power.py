"""What a plan says that it can see, against simulation; replicates for a difference; the noise of an earlier run."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from bench.method_compare import SEED, by_blocks
from scale_sweep.base.errors import UsageError
from scale_sweep.capacity.objective import parse_objective
from scale_sweep.plan import power_details, power_of, power_sentence
from scale_sweep.plan.power import CONTENTION, GUESS, AssumedNoise, blocks_for, prediction_percent, replicates_for
from scale_sweep.plan.preparing.earlier_runs import assumed_noise
from scale_sweep.results.store.codec import SCHEMA
from tests.unit.factories import make_sweep
from tests.unit.test_ab import plan_of
from tests.unit.test_plan import make_host, planned

TWO = AssumedNoise(percent=2.0, source="a test")
STD = math.log(1.02)


def chance(*name):
    return np.random.default_rng([SEED, *name])


@pytest.mark.monte_carlo
@pytest.mark.parametrize(("levels", "replicates"), [(2, 3), (4, 3), (4, 6)])
def test_the_smallest_difference_is_seen_four_times_in_five(levels, replicates):
    power = power_of(planned(cores=f"1..{levels}", method__replicates=str(replicates)), TWO)
    logs = chance(levels, replicates).normal(0, STD, (4000, levels, replicates))
    logs[:, 1] += math.log1p(power.smallest_percent / 100)
    means, degrees = logs.mean(axis=2), levels * (replicates - 1)
    pooled = ((logs - means[..., None]) ** 2).sum(axis=(1, 2)) / degrees
    t = (means[:, 1] - means[:, 0]) / np.sqrt(pooled * 2 / replicates)
    assert 0.77 < (np.abs(t) > stats.t.ppf(0.975, degrees)).mean() < 0.83
    half = math.log1p(power.level_percent / 100)
    assert half == pytest.approx(stats.t.ppf(0.975, degrees) * STD / math.sqrt(replicates))


def test_detect_chooses_the_fewest_replicates_and_refuses_what_cannot_be_seen():
    def seen(count):
        return power_of(planned(cores="1..4", method__replicates=str(count)), TWO).smallest_percent

    for percent in (2.0, 5.0, 10.0):
        count = replicates_for(percent, 4, TWO)
        assert seen(count) <= percent
        assert count == 2 or seen(count - 1) > percent
    with pytest.raises(UsageError, match="100 replicates") as error:
        replicates_for(0.1, 4, TWO)
    assert "steadier" in error.value.remedy
    with pytest.raises(UsageError, match="--detect and --replicates"):
        make_sweep(method__detect="5%", method__replicates="4")


@pytest.mark.monte_carlo
def test_the_blocks_of_an_ab_see_what_they_say():
    blocks = blocks_for(4.0, 1, TWO)
    logs = chance(9).normal(0, STD, (1500, 1, blocks)) + math.log1p(0.04)
    seen = np.mean([by_blocks(draw).p_value[0] < 0.05 for draw in logs])
    assert seen > 0.77
    assert power_of(plan_of(blocks=blocks), TWO).smallest_percent < 4.5


def usl_alone(levels, replicates, std, at):
    """Half of the interval in percent, by the delta method, if the USL were known to be the right model."""

    def slopes(n):
        below = 1 + CONTENTION * (n - 1)
        return [1.0, -(n - 1) / below, -n * (n - 1) / below]

    design, there = np.array([slopes(n) for n in levels]), np.array(slopes(at))
    variance = std**2 / replicates * there @ np.linalg.pinv(design.T @ design) @ there
    return 100 * math.expm1(stats.t.ppf(0.975, len(levels) * replicates - 3) * math.sqrt(variance))


def test_the_interval_of_a_prediction_is_the_fit_s_that_spans_several_models():
    said = np.array(prediction_percent(range(1, 9), 3, STD, 16.0))
    found = np.array(prediction_percent(range(1, 9), 3, STD, 16.0, draws=21, seed=1))
    assert found == pytest.approx(said, abs=0.25 * (said[1] - said[0]))
    alone = 2 * usl_alone(np.arange(1, 9), 3, STD, 16.0)
    # simpler models narrow it, the upper half of the levels widens it
    assert 0.5 * alone < said[1] - said[0] < alone
    few, many = (prediction_percent((0.25, 0.5, 0.75, 1.0), n, STD, 2.0) for n in (3, 12))
    assert few[0] < many[0] < 0 < many[1] < few[1]


def test_what_cannot_be_said_is_not_said(wording):
    """Of one replicate, two levels, a guess, too much noise, one block, and a search with short and usual steps."""
    wild, known = AssumedNoise(percent=80.0, source="a test"), AssumedNoise(percent=5.0, source="that of a search")
    single, few, guess = planned(cores="1..4", method__replicates="1"), planned(cores="1..2"), planned(cores="1..8")
    assert power_of(single, TWO).smallest_percent is None
    assert power_of(few, TWO).prediction_percent is None and power_of(few, TWO).smallest_percent
    load = replace(few.sweep.load, objective=parse_objective("p99 < 9ms"))
    search = replace(few, sweep=replace(few.sweep, load=load))
    short = replace(few, sweep=replace(few.sweep, load=replace(load, duration_s=5.0)))
    plans = ((single, TWO), (guess, GUESS), (few, wild), (plan_of(2), wild), (plan_of(), TWO), (plan_of(1), TWO))
    searches = ((short, GUESS), (search, GUESS), (search, known))
    wording(*(power_sentence(plan, power_of(plan, noise)) for plan, noise in (*plans, *searches)))
    assert re.search(r"16 cores is about -\d+ to \+\d+ %", power_details(guess, power_of(guess, GUESS))[0])


def test_the_noise_is_that_of_the_newest_run_of_target_axis_and_rate_on_this_machine(tmp_path):
    host = make_host()

    def run(name, target="postgres", noise=4.5, hostname="h", axis="cores", rate="rows_per_s"):
        path = tmp_path / name
        path.mkdir()
        about = {"host": {"hostname": hostname, "cpu_model": ""}, "sweep": {"target": target, "axis": axis}}
        (path / "manifest.json").write_text(json.dumps({"schema": SCHEMA, **about}))
        (path / "fit.json").write_text(json.dumps({"schema": SCHEMA, "noise_percent": noise, "rate": rate}))

    def noise_of(axis="cores", rate="rows_per_s", host=host):
        return assumed_noise(tmp_path, host, "postgres", axis, rate)

    assert noise_of() == GUESS
    run("20260101-old", noise=9.0)
    run("20260102-new")
    run("20260103-other-target", target="null", noise=1.0)
    run("20260104-other-machine", hostname="elsewhere", noise=1.0)
    run("20260105-one-replicate", noise=None)
    (tmp_path / "20260106-broken").mkdir()
    (tmp_path / "20260106-broken" / "manifest.json").write_text("{")
    run("20260107-disks", noise=1.1, axis="disks", rate="durable_rows_per_s")
    run("20260108-clients", noise=1.2, axis="clients")
    assert (noise_of().percent, noise_of().source.split()[-1]) == (4.5, "20260102-new")
    assert noise_of(host=replace(host, cpu_model="another")) == noise_of(rate="capacity_per_s") == GUESS
    assert noise_of("disks", "durable_rows_per_s").percent == 1.1
    run("20260109-search", noise=8.0, rate="capacity_per_s")
    assert (noise_of(rate="capacity_per_s").percent, noise_of().percent) == (8.0, 4.5)
