"""The speed of the CPUs: measured beside a load, in the figures of a trial, and out of the rates of the fit."""

import math
import os
import random
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from scale_sweep.analysis.confidence import student
from scale_sweep.analysis.equal_speed import equal_speed
from scale_sweep.judge.figures.resource_use import halves_of
from scale_sweep.judge.figures.window import WorkTotals, at_equal_speed, rate_and_speed
from scale_sweep.machine.host import repeat_work
from scale_sweep.machine.host.child_programs import CPUS_MAX, CpuWorkReader, spread
from scale_sweep.measure.trial.loading import _worked_cpus
from scale_sweep.model.measured import Bottleneck, BottleneckKind, Verdict, VerdictKind
from scale_sweep.model.samples import CpuWork
from scale_sweep.report.cpu_time import speed_cautions
from scale_sweep.report.figures import fit_again
from scale_sweep.report.several_curves import curves
from tests.unit.factories import as_rated
from tests.unit.synthetic_run import synthetic_run
from tests.unit.test_new_pages_named import interval, recorded
from tests.unit.test_sampling import sample
from tests.unit.test_several_databases import measured as measured_run
from tests.unit.test_several_databases import several

CPUS_FULL = Verdict(kind=VerdictKind.VALID, bottleneck=Bottleneck(kind=BottleneckKind.SERVER_CPU, sentence=""))
OURS = sorted(os.sched_getaffinity(0))
PIECES_PER_S = 20


def worked(speeds):
    """A sample for each second, with ten totals. speeds: of each second."""
    samples, us, pieces, total = [], 0.0, 0, 0.0
    for second, each in enumerate(speeds):
        totals = []
        for tenth in range(1, 11):
            us, pieces = us + 1000 / each * PIECES_PER_S / 10, pieces + PIECES_PER_S // 10
            total += each * PIECES_PER_S / 10
            at_ns = round((second + tenth / 10) * 1e9)
            totals.append(CpuWork(monotonic_ns=at_ns, cpu_us_total=us, pieces_total=pieces, speed_total=total))
        samples.append(replace(sample(second + 1), cpu_work=tuple(totals)))
    return samples


def measured(result, figures, verdict=None):
    changed = replace(result.measurement, **figures)
    return replace(result, measurement=changed, verdict=verdict or result.verdict)


def run_of(slope, *, kind=BottleneckKind.SERVER_CPU, speeds=(1.8, 2.5)):
    """A run whose trials had CPUs of different speeds. slope: by which their rates followed it."""
    run, chance = synthetic_run(), random.Random(7)
    verdict = Verdict(kind=VerdictKind.VALID, reasons=(), bottleneck=Bottleneck(kind=kind, sentence=""))
    results = []
    for result in run.results:
        level = result.trial.level
        speed = chance.uniform(*speeds)
        figures = {"cpu_speed": speed, "cpu_speed_cv_percent": 9.0, "cpu_speed_slope": slope + chance.gauss(0, 0.05)}
        rate = 4e5 * level * (speed / 2.5) ** slope
        figures |= {"rows_per_s": rate, "window_s": 20.0, "server_cpu_cores": level}
        results.append(measured(result, figures, verdict))
    return replace(run, results=tuple(results), fit=None)


def test_the_work_is_repeated_beside_a_load_until_it_is_stopped():
    reader = CpuWorkReader(OURS)
    reader.start()
    try:
        totals, end = [], time.monotonic() + 50
        while len(totals) < 5 and time.monotonic() < end:
            time.sleep(0.1)
            totals += reader.read()
    finally:
        reader.stop()
    assert len(totals) >= 5
    assert all(a.monotonic_ns < b.monotonic_ns and a.pieces_total < b.pieces_total for a, b in pairwise(totals))
    assert reader.cpu_s == pytest.approx(totals[-1].cpu_us_total / 1e6)
    assert reader.read() == ()
    for cpus in ((), (4095,)):  # none of ours
        reader = CpuWorkReader(cpus)
        reader.start()
        time.sleep(0.2)
        assert reader.read() == ()
        reader.stop()


def test_the_program_ends_with_its_reader():
    argv = (sys.executable, "-I", "-S", str(Path(repeat_work.__file__)), str(OURS[0]))
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdout.readline()
        child.stdout.close()
        assert child.wait(50) == 0
        assert child.stderr.read() == b""


def test_each_second_has_its_own_speed():
    totals = WorkTotals(worked([2.0, 2.0, 1.0, 2.0]))
    assert totals.speed(1e9, 2e9) == pytest.approx(2.0)
    assert totals.speed(2e9, 3e9) == pytest.approx(1.0)
    assert totals.speed(1e9, 3e9) == pytest.approx(1.5)
    assert totals.speed(3e9, 9e9) is None
    assert totals.of_seconds(as_rated(interval(s, 1, s) for s in (1, 2, 3, 4))) == pytest.approx((2.0, 2.0, 1.0, 2.0))
    assert totals.of_seconds(as_rated(interval(s, 1, s) for s in (1, 9))) == ()
    assert WorkTotals([sample(1)]).of_seconds(as_rated([interval(1, 1, 1)])) == ()


def test_a_rate_that_follows_the_speed_is_steady_at_an_equal_one():
    speeds = [2.5, 2.0, 1.25, 2.5, 1.7]
    rates = [1e5 * speed for speed in speeds]
    equal = at_equal_speed(rates, speeds)
    assert max(equal) == pytest.approx(min(equal))
    found = rate_and_speed(rates, speeds)
    assert found is not None and found.slope == pytest.approx(1.0)
    assert rate_and_speed([1e5] * 5, speeds).slope == pytest.approx(0.0)
    assert rate_and_speed(rates[:3], speeds[:3]) is None
    assert rate_and_speed([0, *rates[1:]], speeds) is None
    assert rate_and_speed(rates, [2.0] * 5) is None


def test_a_page_is_not_dearer_on_slower_cpus():
    samples, intervals = recorded(lambda s: 6.0 if s <= 10 else 12.0, user_us=lambda s: 1.6 if s <= 10 else 3.2)
    works = worked([2.0] * 10 + [1.0] * 10)
    slowed = [samples[0], *(replace(s, cpu_work=w.cpu_work) for s, w in zip(samples[1:], works, strict=True))]
    first, second = halves_of(slowed, intervals)
    assert second.fault_us == pytest.approx(first.fault_us, rel=0.01)
    first, second = halves_of(samples, intervals)
    assert second.fault_us == pytest.approx(2 * first.fault_us, rel=0.01)


def equal(run):
    return equal_speed(run.on_curve, "rows_per_s")


def test_the_fit_uses_measured_rates_and_the_equal_speed_is_a_second_answer():
    run = run_of(0.9)
    fit = fit_again(run)
    for point in fit.points:
        rates = [r.measurement.rows_per_s for r in run.on_curve if r.trial.level == point.level]
        assert point.rate_mean == pytest.approx(sum(rates) / len(rates), rel=0.02)
    found = equal(run)
    assert found.slope.value == pytest.approx(0.9, abs=0.05)
    assert found.speedup == pytest.approx(4, rel=0.03)
    assert found.low < 4 < found.high
    assert found.high / found.low < fit.points[-1].speedup_high / fit.points[-1].speedup_low
    results = list(run.results)
    for at in (0, len(results) - 1):  # rejected trials are no part of the slope
        wild = {"cpu_speed_slope": 13.7, "cpu_speed_cv_percent": 80.0}
        results[at] = measured(results[at], wild, replace(results[at].verdict, kind=VerdictKind.UNSTEADY))
    assert equal_speed(results, "rows_per_s").slope.value == pytest.approx(0.9, abs=0.05)
    assert equal(run_of(1.6)).slope.value == 1, "no slope is above one"


def test_the_error_of_the_slope_is_in_the_interval():
    run = run_of(0.7)
    wider = [measured(r, {"cpu_speed_slope": 0.5 if at % 2 else 0.9}) for at, r in enumerate(run.results)]
    found = equal_speed(wider, "rows_per_s")
    of_slope = student(found.slope.degrees) * found.slope.error * abs(math.log(1 - found.slower))
    assert 0 < of_slope <= math.log(found.high / found.low) / 2


def test_a_level_whose_cpus_were_slower_is_named_and_not_corrected(wording):
    run = run_of(1.0, speeds=(2.4, 2.5))
    slower = [
        measured(r, {"cpu_speed": r.measurement.cpu_speed * (0.9 if r.trial.level == 4 else 1)}) for r in run.results
    ]
    slowed = replace(run, results=tuple(slower))
    found = equal(slowed)
    assert found.speedup is None and found.slower == pytest.approx(0.1, abs=0.02)
    wording(*speed_cautions(slowed, "rows_per_s"))


@pytest.mark.parametrize(
    "run",
    [run_of(1.0, kind=BottleneckKind.DISK), run_of(0.0), run_of(1.0, speeds=(2.0, 2.04)), synthetic_run()],
    ids=["the CPUs were no limit", "the rate does not follow", "equal speeds", "nothing measured"],
)
def test_there_is_no_second_answer(run):
    assert equal(run) is None


def test_the_fit_says_what_an_equal_speed_gives(wording):
    run = run_of(0.8)
    said = speed_cautions(run, "rows_per_s")
    assert set(said) <= set(fit_again(run).cautions)
    assert speed_cautions(synthetic_run(), "rows_per_s") == ()
    wording(*said, *speed_cautions(run_of(0.0), "rows_per_s"))


@pytest.mark.monte_carlo
def test_random_slopes_give_no_second_answer():
    """Rates that do not follow the speed: the slopes within the trials are noise about 0."""
    run, chance, wrong = run_of(0.0), random.Random(3), 0
    for _ in range(200):
        results = [measured(r, {"cpu_speed_slope": chance.gauss(0, 1)}) for r in run.results]
        wrong += equal_speed(results, "rows_per_s") is not None
    assert wrong <= 12  # 2.5 % of one side; 12 of 200 are exceeded once in 500


def test_only_cpus_of_this_machine_are_measured_and_of_many_some():
    trial = synthetic_run().plan.trials[0]
    placed = replace(trial, resources=replace(trial.resources, placement=replace(trial.placement, server_cpus=(0, 1))))
    assert _worked_cpus(placed) == (0, 1)
    assert _worked_cpus(replace(placed, subject=replace(placed.subject, endpoint="host:1"))) == ()
    assert spread(range(64)) == tuple(range(0, 64, 4))
    assert len(spread(range(33))) == CPUS_MAX
    assert spread((3, 5)) == (3, 5)


@pytest.mark.parametrize("wrong", [0.0, -1.0, 1e-300, 1e300, math.nan, math.inf])
@pytest.mark.parametrize("field", ["cpu_speed", "cpu_speed_cv_percent", "cpu_speed_slope"])
def test_any_number_of_a_stored_file_is_read(field, wrong):
    run = run_of(1.0)
    changed = [measured(r, {field: wrong}) for r in run.results]
    fit = fit_again(replace(run, results=(changed[0], *run.results[1:])))
    assert all(math.isfinite(point.rate_mean) for point in fit.points)
    assert fit_again(replace(run, results=tuple(changed))).points


def test_several_databases_have_the_means_intervals_and_speedups_that_were_measured():
    """Rates are in proportion to a speed that was lower in all trials of two cores."""
    run, results = measured_run(several()), []
    for at, result in enumerate(run.results):
        speed = (0.6 if result.trial.level == 2 else 1.0) * (1 + 0.01 * (at % 3))
        figures = {"cpu_speed": 2.5 * speed, "cpu_speed_cv_percent": 9.0, "cpu_speed_slope": 1.0 + 0.01 * (at % 2)}
        rate = result.measurement.rows_per_s * speed
        results.append(measured(result, {**figures, "rows_per_s": rate, "window_s": 20.0}, CPUS_FULL))
    for curve in curves(replace(run, results=tuple(results))):
        first, second = curve.points
        assert all(point.low < point.rates[0] < point.high for point in curve.points)
        assert second.speedup == pytest.approx(second.rates[0] / first.rates[0])
    for wrong in (-1.0, 0.0, math.inf, math.nan, None):
        changed = tuple(measured(r, {"rows_per_s": wrong}) for r in run.results)
        assert all(p.low is None for c in curves(replace(run, results=changed)) for p in c.points)
