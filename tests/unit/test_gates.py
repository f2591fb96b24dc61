"""Gates of comparisons: what passes, what fires and with which code; the order of sessions; the power that a plan says."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from bench.method_gates import SEED, ab_run, ordered
from scale_sweep.analysis.compare import compare_sessions, compare_variants
from scale_sweep.analysis.compare.gates import GateInputs, blocks_pass_share, gate_result, repeats_needed
from scale_sweep.analysis.compare.sessions import SHARE_MAX, doubt_about, order_of, share_of_drift
from scale_sweep.analysis.compare.words import repeats_of_blocks, repeats_of_sessions
from scale_sweep.base.errors import EXIT_NOT_SHOWN, EXIT_SLOWER, NotMeasuredError, UsageError
from scale_sweep.cli import app
from scale_sweep.cli.compared import judged
from scale_sweep.model.compared import Gate, PointRatio
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import Bottleneck, BottleneckKind, Verdict, VerdictKind
from scale_sweep.plan.power import AssumedNoise, gate_power_of, gate_sentence
from scale_sweep.sweep.vary import VARIANT
from tests.unit.test_ab import plan_of, run_of
from tests.unit.test_compare_sessions import sessions
from tests.unit.test_plan import planned

PROVE, SAME = Gate(kind="prove_not_slower", percent=5.0), Gate(kind="same_within", percent=3.0)
SLOWER = Gate(kind="fail_if_slower", percent=5.0)


def chance(*name):
    return np.random.default_rng([SEED, *name])


def point(ratio, low, high, level=1.0, **more):
    """A point with the ends of its one-sided intervals."""
    figures = {"rate_a": 1.0, "rate_b": ratio, "ratio": ratio, "low": low - 0.005, "high": high + 0.005}
    ends = {"low_one_sided": low, "high_one_sided": high, "error": 0.01, "degrees": 4.0}
    return PointRatio(level=level, variant="", trials_a=10, trials_b=10, **{**figures, **ends, **more})


def answer(gate, *points, **more):
    return gate_result(gate, GateInputs(axis="cores", points=points, repeats=repeats_of_blocks(5), **more))


def test_the_ends_of_the_interval_decide():
    for gate, low, high, wanted in (
        (PROVE, 0.951, 1.30, "shown"),
        (PROVE, 0.949, 1.01, "not shown"),
        (SAME, 0.971, 1.029, "shown"),
        (SAME, 0.969, 1.01, "not shown"),
        (SAME, 0.99, 1.031, "not shown"),
        (SLOWER, 0.80, 1.01, "not found"),
    ):
        found = answer(gate, point((low * high) ** 0.5, low, high))
        assert (found.answer, found.low, found.high) == (wanted, low, high)


def test_every_point_must_be_shown_and_the_least_certain_one_is_named(wording):
    good, bad = point(1.0, 0.98, 1.02), point(0.99, 0.94, 1.04, level=4.0)
    both = answer(PROVE, good, replace(good, level=2.0))
    found = answer(PROVE, good, bad)
    assert (both.answer, both.level, found.answer, found.level) == ("shown", 1.0, "not shown", 4.0)
    wording(both.sentence, found.sentence, answer(SAME, good, bad).sentence)


def test_a_point_that_is_not_compared_is_not_shown_and_others_on_the_machine_do_not_make_b_slower(wording):
    good, bad = point(1.0, 0.99, 1.01), point(0.90, 0.88, 0.92)
    four = ("4 cores",)
    left_out, disturbed = answer(PROVE, good, not_compared=four), answer(PROVE, good, disturbed=four)
    assert (left_out.answer, disturbed.answer) == ("not shown", "not judged")
    assert answer(SLOWER, good, not_compared=four).answer == "not found"
    assert answer(PROVE, good, not_measured=four).answer == "not measured"
    assert answer(PROVE).answer == "not judged"
    assert answer(PROVE, bad, slower=(bad,), disturbed=four).answer == "slower"
    assert answer(PROVE, good, disturbed=four, not_measured=("2 cores",)).answer == "not measured"
    wording(left_out.sentence, disturbed.sentence)


@pytest.mark.parametrize("gate", [PROVE, SAME, SLOWER])
def test_trials_of_b_that_others_disturbed_end_with_14_and_aborted_ones_with_11(gate):
    plan = plan_of(3)
    no_b = {t.trial_id for t in plan.trials if t.level == 1 and t.variant[VARIANT] == "B"}
    aborted = run_of(plan, spoilt=no_b)
    others = Bottleneck(kind=BottleneckKind.OTHER_PROCESSES, sentence="")
    taken = Verdict(kind=VerdictKind.RESOURCE_NOT_SATURATED, bottleneck=others)
    results = [replace(r, verdict=taken) if r.trial.trial_id in no_b else r for r in aborted.results]
    with pytest.raises(NotMeasuredError, match="others took the CPUs"):
        judged(compare_variants(replace(aborted, results=tuple(results)), gate))
    at = next(i for i, r in enumerate(results) if r.trial.trial_id in no_b)
    one_aborted = (*results[:at], aborted.results[at], *results[at + 1 :])
    for run in (aborted, replace(aborted, results=one_aborted)):
        with pytest.raises(typer.Exit) as ended:
            judged(compare_variants(run, gate))
        assert ended.value.exit_code == EXIT_SLOWER


def test_an_answer_says_how_much_slower_b_is_or_may_be_and_how_many_repeats_would_show_it(wording):
    bad = replace(point(0.90, 0.88, 0.92), low=0.87, high=0.93)
    assert {answer(gate, bad, slower=(bad,)).answer for gate in (PROVE, SAME, SLOWER)} == {"slower"}
    slower = [answer(SAME, bad, slower=(bad,)), answer(PROVE, bad, slower=(replace(bad, level=None),))]
    passes = [answer(SLOWER, point(*ends)) for ends in ((0.97, 0.88, 1.06), (0.99, 0.96, 1.01), (1.1, 1.05, 1.15))]
    wide = [answer(PROVE, point(0.99, 0.93, 1.05, error=error)) for error in (0.03, 0.4, 0.002)]
    assert wide[0].needed and wide[1].needed is None
    assert answer(PROVE, point(1.0, 0.99, 1.01)).needed is None
    wording(*(one.sentence for one in (*slower, *passes, *wide)))


@pytest.mark.monte_carlo
def test_so_many_repeats_show_it_four_times_in_five():
    blocks = repeats_needed(PROVE, [point(1.0, 0.9, 1.1, error=0.04 / math.sqrt(5))], repeats_of_blocks(5))
    draws = chance(1)
    passed = [ab_run(draws, [0.0], blocks, 0.04, PROVE) == "shown" for _ in range(600)]
    assert 0.76 < np.mean(passed) < 0.88
    assert repeats_of_sessions(3, 3).count == 3 and repeats_of_sessions(3, 6).count == pytest.approx(4)


@pytest.mark.monte_carlo
@pytest.mark.parametrize("gate", [PROVE, SAME])
@pytest.mark.parametrize("levels", [1, 3])
def test_a_gate_passes_at_its_margin_in_at_most_five_percent(gate, levels):
    draws, truths = chance(2, levels), [math.log(gate.low), *[0.0] * (levels - 1)]
    assert np.mean([ab_run(draws, truths, 8, 0.02, gate) == "shown" for _ in range(600)]) < 0.07


@pytest.mark.monte_carlo
@pytest.mark.parametrize("gate", [PROVE, SAME, SLOWER])
@pytest.mark.parametrize(("levels", "blocks"), [(1, 5), (1, 12), (4, 8)])
@pytest.mark.parametrize("loss", [0.0, 0.03])
def test_the_power_of_a_gate_is_that_of_drawn_runs(gate, levels, blocks, loss):
    draws, truths = chance(3, levels, blocks), [math.log(1 - loss), *[0.0] * (levels - 1)]
    passed = np.mean([ab_run(draws, truths, blocks, 0.03, gate) in ("shown", "not found") for _ in range(800)])
    assert blocks_pass_share(gate, truths, 0.03, blocks) == pytest.approx(passed, abs=0.05)


def test_the_plan_says_how_often_a_gate_passes_and_fires(wording):
    noise = AssumedNoise(percent=2.0, source="a test")
    power = gate_power_of(plan_of(8), noise, PROVE)
    assert power.blocks == 8 and power.passes_percent > 95 and 95 <= power.fires_percent < 100
    few = gate_power_of(plan_of(2), noise, SAME)
    assert few.passes_percent < 80 <= gate_power_of(plan_of(few.blocks_needed), noise, SAME).passes_percent
    wild = gate_power_of(plan_of(5), replace(noise, percent=60.0), PROVE)
    assert wild.blocks_needed is None
    passing = gate_power_of(plan_of(3), replace(noise, percent=5.0), SLOWER)
    assert passing.passes_percent > 95 and passing.fires_percent < 60 and passing.blocks_needed is None
    wording(*map(gate_sentence, (power, few, wild, gate_power_of(plan_of(1), noise, PROVE))))


@pytest.fixture
def stored(monkeypatch):
    """Makes `scale compare` read these runs by their names."""

    def keep(**runs):
        monkeypatch.setattr("scale_sweep.results.store.reader.find_run", lambda results, name: name)
        monkeypatch.setattr("scale_sweep.results.store.reader.read_run", lambda name: runs[name])

    return keep


def compared(*words):
    return CliRunner().invoke(app, ["compare", *words], env={"COLUMNS": "300"})


@pytest.mark.parametrize(
    ("slower", "noise", "codes"),
    [
        (0.0, 0.002, {PROVE: 0, SAME: 0}),
        (0.0, 0.10, {PROVE: EXIT_NOT_SHOWN, SAME: EXIT_NOT_SHOWN, SLOWER: 0}),
        (-0.1, 0.002, dict.fromkeys((PROVE, SAME, SLOWER), EXIT_SLOWER)),
        (0.1, 0.002, {PROVE: 0, SAME: EXIT_NOT_SHOWN}),
    ],
)
def test_the_codes_of_the_gates(stored, slower, noise, codes):
    stored(one=run_of(plan_of(5), slower=slower, noise=noise))
    for gate, code in codes.items():
        words = ("one", *gate.flag.split())
        done = compared(*words)
        assert done.exit_code == code, done.output
        document = json.loads(compared(*words, "--json").stdout)["gate"]
        assert (document["answer"] in ("shown", "not found")) is (code == 0)
        assert (document["answer"] == "slower") is (code == EXIT_SLOWER)
        assert document["kind"] == gate.kind and document["sentence"] in done.stdout
        assert f"{gate.flag}: " in done.stdout.splitlines()[-1], "one sentence, the last"


def test_a_gate_without_valid_trials_has_its_own_code_and_runs_that_cannot_be_compared_keep_theirs(stored, wording):
    plan = plan_of(3)

    def spoilt(keeps):
        return run_of(plan, spoilt={t.trial_id for t in plan.trials if not keeps(t)})

    stored(
        none=spoilt(lambda t: False),
        one=spoilt(lambda t: t.block == 1),
        single=run_of(plan_of(1)),
        not_ab=StoredRun(path="/x", manifest={}, plan=planned(cores="1"), results=(), timeseries={}),
    )
    gate = PROVE.flag.split()
    ends = {name: compared(name, *gate).exception for name in ("none", "one", "single", "not_ab")}
    assert [end.exit_code for end in ends.values()] == [14, 14, 2, 2]
    assert compared("none").exception.exit_code == 14
    wording(*(f"{end.message} → {end.remedy}" for end in ends.values()))


@pytest.mark.parametrize("command", [("compare", "a", "b"), ("ab", "cpu", "--cores", "1", "--target", "null")])
@pytest.mark.parametrize("flag", ["--fail-if-slower", "--same-within", "--prove-not-slower"])
@pytest.mark.parametrize("word", ["5", "0%", "100%", "-5%", "five", ""])
def test_a_percentage_that_is_wrong_is_refused_by_the_name_of_its_flag(command, flag, word):
    done = CliRunner().invoke(app, [*command, flag, word])
    assert isinstance(done.exception, UsageError) and done.exception.exit_code == 2
    assert done.exception.message.startswith(f"{flag}: ") and "5%" in done.exception.message


def test_two_gates_are_refused(wording):
    two = ["--same-within", "3%", "--prove-not-slower", "5%"]
    refused = [compared("a", "b", *words).exception for words in (two, [*two, "--fail-if-slower", "5%"])]
    assert all(isinstance(one, UsageError) for one in refused)
    wording(*(one.message for one in refused))


def test_a_dry_run_shows_the_power_of_its_gate_and_starts_nothing(tmp_path):
    words = ["ab", "cpu", "--cores", "1", "--target", "null", "--results", str(tmp_path), "--dry-run"]
    shown = CliRunner().invoke(app, [*words, "--prove-not-slower", "5%"], env={"COLUMNS": "300"})
    assert shown.exit_code == 0 and "--prove-not-slower 5%" in shown.stdout, shown.output
    document = json.loads(CliRunner().invoke(app, [*words, "--same-within", "3%", "--json"]).stdout)
    assert document["gate"]["gate"] == {"kind": "same_within", "percent": 3.0} and document["gate"]["blocks"] == 5
    assert not list(tmp_path.iterdir())


def at(run, hour):
    return replace(run, manifest={**run.manifest, "created_utc": f"2026-01-02T{hour:02}:00:00+00:00"})


def in_order(order, *runs):
    """The runs of A and of B, with starts in this order."""
    hours = [[hour for hour, name in enumerate(order) if name == wanted] for wanted in "AB"]
    return [list(map(at, of_one, when)) for of_one, when in zip(runs, hours, strict=True)]


def test_the_share_of_a_drift_that_an_order_takes_for_a_difference():
    shares = {"ABBA": 0, "ABAB": 0.5, "AABB": 1, "BBBAAA": 1, "AAB": 1, "ABA": 0, "": 0, "AA": 0}
    for order, share in shares.items():
        assert share_of_drift(order) == pytest.approx(share)
        assert bool(doubt_about(order)) is (share > SHARE_MAX)


def test_the_order_is_that_of_the_starts():
    a, b = in_order("ABBA", sessions(2), sessions(2, first=5))
    assert order_of(a, b) == order_of(a[::-1], b) == "ABBA"
    assert order_of(a, [b[0], at(b[1], 0)]) == "", "two started at the same time"
    assert order_of(a, [b[0], replace(b[1], manifest={})]) == ""
    local = replace(b[1], manifest={"created_utc": "2026-01-02T02:30:00"})
    assert order_of(a, [b[0], local]) == "ABBA"


def test_sessions_of_a_before_those_of_b_are_shown_and_not_judged(wording):
    a, b = in_order("AAABBB", sessions(3), sessions(3, first=10, gamma=3.5e5))
    found = compare_sessions(a, b, SLOWER)
    assert found.session_order == "AAABBB"
    assert found.points[0].ratio == pytest.approx(0.85, abs=0.02) and found.points[0].low is None
    assert not any(p.differs for p in (*found.points, found.overall)) and found.gate.answer == "not judged"
    anyway = compare_sessions(a, b, SLOWER, any_order=True)
    assert anyway.gate.answer == "slower" and not anyway.not_judged_because
    ordered = [caution for caution in anyway.cautions if "in the order" in caution]
    wording(found.not_judged_because, found.sentence, *ordered)


def test_sessions_in_turn_are_judged_without_a_caution_about_their_order(wording):
    turn = compare_sessions(*in_order("ABBABA", sessions(3), sessions(3, first=10)), PROVE)
    assert turn.gate.answer in ("shown", "not shown") and not any("order" in c for c in turn.cautions)
    unknown = compare_sessions(sessions(3), sessions(3, first=10), PROVE)
    assert unknown.session_order == "" and unknown.gate.answer == turn.gate.answer
    wording(*(caution for caution in unknown.cautions if "order" in caution))


def test_a_script_learns_why_sessions_are_not_judged(stored, wording):
    a, b = in_order("AABB", sessions(2), sessions(2, first=10))
    stored(a=a[0], b=a[1], c=b[0], d=b[1])
    refused = compared("a,b", "c,d", "--prove-not-slower", "5%")
    assert isinstance(refused.exception, UsageError) and "--any-order" in refused.exception.remedy
    wording(refused.exception.message)
    assert compared("a,b", "c,d").exit_code == 0
    assert compared("a,b", "c,d", "--prove-not-slower", "5%", "--any-order").exit_code in (0, EXIT_NOT_SHOWN)


@pytest.mark.monte_carlo
def test_a_drift_from_session_to_session_alarms_where_the_order_is_refused_and_not_in_turn():
    draws = chance(4)
    refused = np.mean([ordered(draws, "AAAAABBBBB", 0.01, 0.01) for _ in range(200)])
    turn = np.mean([ordered(draws, "ABABABABAB", 0.01, 0.01) for _ in range(200)])
    assert refused > 0.4 and turn < 0.06
