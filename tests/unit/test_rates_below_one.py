"""A rate below one a second: a request every few seconds is a load, and its seconds without a request are no pauses."""

from dataclasses import replace

import pytest

from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.searched import outcome
from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.judge.figures.window_bounds import warmup_is_enough, window_is_enough, with_summary
from scale_sweep.loadgen.spec import spec_text, trial_spec
from tests.unit.factories import as_rated, make_interval, make_sweep, make_trial
from tests.unit.raw_run import samples_of
from tests.unit.test_loadgen import summary
from tests.unit.whole_commands import run

EVERY_2_S = {"load__rate": "0.5", "workload__rows_per_request": "1", "load__duration": "20s", "load__warmup": "2s..9s"}
WARMUP_S = 2


@pytest.mark.parametrize(
    "words",
    [
        "--rate 0.5",
        "--rate 0.01 --rows-per-request 1",
        "--rate 1/2",
        "--rate .5",
        "--operation write.rate=0.5 --operation latest.rate=0 --mix write=1,latest=1 --preload 1000",
        "--operation write.rate=2 --operation latest.rate=0.01 --mix write=1,latest=1 --preload 1000",
    ],
)
def test_a_rate_that_makes_no_request_is_refused_by_its_flag(words, tmp_path, wording):
    done = run("plan", "cpu", "--cores", "1", "--target", "postgres", *words.split(), cwd=tmp_path)
    assert (done.code, done.stdout) == (2, "")
    wording(done.stderr.splitlines()[0])


FILE = '[axis]\ncores = "1"\n[target]\nname = "null"\n[load]\nrate = 0.25\n[workload]\nrows_per_request = 1\n'


def test_a_rate_below_one_comes_from_a_flag_or_a_file(tmp_path):
    (tmp_path / "slow.toml").write_text(FILE)
    flags = ("cpu", "--cores", "1", "--target", "null", "--rate", "0.25", "--rows-per-request", "1")
    for words in (flags, ("slow.toml",)):
        done = run("plan", *words, cwd=tmp_path)
        assert done.code == 0, done.stderr
        assert ["load.rate", "0.25"] in [line.split()[:2] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("rate", ["0.5", "0.001", "0.000123"])
def test_the_load_generator_gets_it_as_it_is(rate):
    spec = trial_spec(make_trial(make_sweep(load__rate=rate)), {"driver": "null", "method": "discard"})
    assert f"rate={rate}\n" in spec_text(spec)


def judged(answered, *, arrival="constant"):
    """The outcome of a window of 20 s in which so many of the 10 rows that were due were acknowledged."""
    sweep = make_sweep(**EVERY_2_S, load__arrival=arrival)
    trial = make_trial(sweep, knobs={"connections": "4"})
    rows = [0] * WARMUP_S + [1 if second % 2 and second < 2 * answered else 0 for second in range(20)]
    times = [{"t_s": float(at), "phase": "measure" if at > WARMUP_S else "warmup"} for at in range(1, len(rows) + 1)]
    intervals = tuple(
        make_interval(**when, rows=count, rows_total=sum(rows[:at]), requests=count, cpu_s=0.01)
        for at, (when, count) in enumerate(zip(times, rows, strict=True), 1)
    )
    ends = {"window_start_ns": WARMUP_S * 10**9, "window_end_ns": len(rows) * 10**9, "window_s": 20.0}
    counts = {"rows_window": answered, "rows_per_s": answered / 20, "rows_acked": answered, "requests": answered}
    own = summary([900] * answered, **ends, **counts, offered_rows_per_s=0.5, cpu_window_s=0.01, send_s=0.1)
    samples = tuple(
        replace(one, host_cpu_busy_s_total=None, server=replace(one.server, cpu_s_total=0.001 * at))
        for at, one in enumerate(samples_of(trial, rows, 0))
    )
    facts = TrialFacts(load_start_ns=0, measure_start_ns=WARMUP_S * 10**9, intervals=intervals, samples=samples)
    facts = with_summary(facts, own, trial.load, trial.work)
    return outcome(load_axis("cores"), trial, facts), facts, trial


@pytest.mark.parametrize(
    ("answered", "kinds"), [(10, "VALID OFFERED_RATE"), (9, "VALID OFFERED_RATE"), (8, "OFFERED_NOT_MET")]
)
def test_the_window_may_cut_one_request_and_no_second_is_a_pause(answered, kinds, wording):
    """Of ten requests due, one that is answered after the window is a tenth of the rate."""
    come_to, facts, _ = judged(answered)
    found = come_to.verdict
    assert f"{found.kind.value} {found.bottleneck.kind.value}".startswith(kinds)
    assert facts.transient is None
    m = come_to.measurement
    assert (m.rows_per_s, m.rate_cv_percent, m.stalled_percent) == (answered / 20, None, None)
    wording(*found.reasons)


def test_warm_up_and_window_do_not_wait_for_seconds_that_are_alike():
    _, facts, trial = judged(10)
    rated = as_rated(facts.intervals)
    assert warmup_is_enough(trial.load, rated[:1])
    load = replace(trial.load, window_max_s=60.0)
    assert window_is_enough(load, rated, WARMUP_S * 10**9)
    assert not window_is_enough(load, rated[:10], WARMUP_S * 10**9)
