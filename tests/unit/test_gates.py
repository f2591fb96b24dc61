"""Gates of comparisons: what passes, what fires and with which code; the order of sessions; the power that a plan says."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from bench.method_gates import SEED, ab_run, ordered
from scale_sweep.analysis.compare import compare_sessions, compare_variants
from scale_sweep.analysis.compare.gates import (
    GateInputs,
    blocks_pass_share,
    gate_result,
    repeats_needed,
)
from scale_sweep.analysis.compare.order import SHARE_MAX, doubt_about, order_of, share_of_drift
from scale_sweep.analysis.compare.repeats import repeats_of_blocks, repeats_of_sessions
from scale_sweep.base.errors import EXIT_NOT_SHOWN, EXIT_SLOWER, UsageError
from scale_sweep.cli import app
from scale_sweep.cli.gates import judged
from scale_sweep.model import Bottleneck, BottleneckKind, Verdict, VerdictKind
from scale_sweep.model.compared import Gate, PointRatio
from scale_sweep.plan import gate_power_of, gate_sentence
from scale_sweep.plan.power import AssumedNoise
from scale_sweep.sweep.vary import VARIANT
from tests.unit.test_ab import plan_of, run_of
from tests.unit.test_compare_sessions import sessions

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


@pytest.mark.parametrize(
    ("gate", "low", "high", "wanted"),
    [
        (PROVE, 0.951, 1.30, "shown"),
        (PROVE, 0.949, 1.01, "not shown"),
        (SAME, 0.971, 1.029, "shown"),
        (SAME, 0.969, 1.01, "not shown"),
        (SAME, 0.99, 1.031, "not shown"),
        (SLOWER, 0.80, 1.01, "not found"),
    ],
)
def test_the_ends_of_the_interval_decide(gate, low, high, wanted):
    found = answer(gate, point((low * high) ** 0.5, low, high))
    assert found.answer == wanted and found.sentence.startswith(f"{gate.flag}: {wanted}: ")
    assert (found.low, found.high) == (low, high)


def test_every_point_must_be_shown_and_the_least_certain_one_is_named():
    good, bad = point(1.0, 0.98, 1.02), point(0.99, 0.94, 1.04, level=4.0)
    assert "at each of 2 points; least certain at 1 core: " in answer(PROVE, good, replace(good, level=2.0)).sentence
    found = answer(PROVE, good, bad)
    assert found.answer == "not shown" and found.level == 4.0
    assert "at 1 of 2 points; least certain at 4 cores: -1.0 (-6.0 or more) %, one-sided 95 %" in found.sentence
    both = answer(SAME, good, bad).sentence
    assert "-1.0 (-6.0 to +4.0) %, one-sided 95 % at each end" in both


def test_a_point_that_is_not_compared_is_not_shown():
    good = point(1.0, 0.99, 1.01)
    found = answer(PROVE, good, not_compared=("4 cores",))
    assert found.answer == "not shown" and "not compared: 4 cores" in found.sentence
    assert answer(SLOWER, good, not_compared=("4 cores",)).answer == "not found"
    assert answer(PROVE, good, not_measured=("4 cores",)).answer == "not measured"
    assert answer(PROVE).answer == "not judged"


def test_a_machine_that_others_used_does_not_make_b_slower():
    good, bad = point(1.0, 0.99, 1.01), point(0.90, 0.88, 0.92)
    found = answer(PROVE, good, disturbed=("4 cores",))
    assert found.answer == "not judged"
    assert "no VALID trial of B at 4 cores, but of A: others took the CPUs of all trials of B" in found.sentence
    assert answer(PROVE, bad, slower=(bad,), disturbed=("4 cores",)).answer == "slower"
    assert answer(PROVE, good, disturbed=("4 cores",), not_measured=("2 cores",)).answer == "not measured"


@pytest.mark.parametrize("gate", [PROVE, SAME, SLOWER])
def test_trials_of_b_that_others_disturbed_end_with_2_and_aborted_ones_with_11(gate):
    plan = plan_of(3)
    no_b = {t.trial_id for t in plan.trials if t.level == 1 and t.variant[VARIANT] == "B"}
    aborted = run_of(plan, spoilt=no_b)
    taken = Verdict(
        kind=VerdictKind.RESOURCE_NOT_SATURATED,
        bottleneck=Bottleneck(kind=BottleneckKind.OTHER_PROCESSES, sentence=""),
    )
    results = [replace(r, verdict=taken) if r.trial.trial_id in no_b else r for r in aborted.results]
    with pytest.raises(UsageError, match="others took the CPUs of all trials of B"):
        judged(compare_variants(replace(aborted, results=tuple(results)), gate))
    at = next(i for i, r in enumerate(results) if r.trial.trial_id in no_b)
    one_aborted = (*results[:at], aborted.results[at], *results[at + 1 :])
    for run in (aborted, replace(aborted, results=one_aborted)):
        with pytest.raises(typer.Exit) as ended:
            judged(compare_variants(run, gate))
        assert ended.value.exit_code == EXIT_SLOWER


def test_slower_is_said_with_its_interval_and_before_anything_else():
    bad = replace(point(0.90, 0.88, 0.92), low=0.87, high=0.93)
    for gate in (PROVE, SAME, SLOWER):
        found = answer(gate, bad, slower=(bad,))
        assert found.answer == "slower" and "at 1 core, -10.0 (-13.0 to -7.0) %" in found.sentence
    assert "all points together" in answer(PROVE, bad, slower=(replace(bad, level=None),)).sentence


def test_a_pass_of_fail_if_slower_says_how_much_slower_b_may_be():
    assert "at most 12.0 % slower" in answer(SLOWER, point(0.97, 0.88, 1.06)).sentence
    assert "--prove-not-slower 5% tests that" in answer(SLOWER, point(0.97, 0.88, 1.06)).sentence
    assert "would ask" not in answer(SLOWER, point(0.99, 0.96, 1.01)).sentence
    assert answer(SLOWER, point(1.1, 1.05, 1.15)).sentence.endswith("beyond noise")


def test_what_is_not_shown_says_how_many_repeats_would_do():
    wide = point(0.99, 0.93, 1.05, error=0.03)
    found = answer(PROVE, wide)
    assert found.needed and f"{found.needed} blocks would show it with 80 % power" in found.sentence
    assert answer(PROVE, replace(wide, error=0.4)).needed is None
    assert "More than 100 blocks" in answer(PROVE, replace(wide, error=0.4)).sentence
    assert "B may be close to the margin" in answer(PROVE, replace(wide, error=0.002)).sentence
    assert answer(PROVE, point(1.0, 0.99, 1.01)).needed is None


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
    passed = [ab_run(draws, truths, 8, 0.02, gate) == "shown" for _ in range(600)]
    assert np.mean(passed) < 0.07


@pytest.mark.monte_carlo
@pytest.mark.parametrize("gate", [PROVE, SAME, SLOWER])
@pytest.mark.parametrize(("levels", "blocks"), [(1, 5), (1, 12), (4, 8)])
@pytest.mark.parametrize("loss", [0.0, 0.03])
def test_the_power_of_a_gate_is_that_of_drawn_runs(gate, levels, blocks, loss):
    draws, truths = chance(3, levels, blocks), [math.log(1 - loss), *[0.0] * (levels - 1)]
    passed = np.mean([ab_run(draws, truths, blocks, 0.03, gate) in ("shown", "not found") for _ in range(800)])
    assert blocks_pass_share(gate, truths, 0.03, blocks) == pytest.approx(passed, abs=0.05)


def test_the_plan_says_how_often_a_gate_passes_and_fires():
    noise = AssumedNoise(percent=2.0, source="a test")
    power = gate_power_of(plan_of(8), noise, PROVE)
    assert power.blocks == 8 and power.passes_percent > 95 and 95 <= power.fires_percent < 100
    words = gate_sentence(power)
    assert re.search(r"^--prove-not-slower 5% with 8 blocks, at a noise of 2.0 %: passes in \d+ %", words)
    assert "truly 5 % slower at one level" in words and "blocks it passes" not in words
    few = gate_power_of(plan_of(2), noise, SAME)
    assert few.passes_percent < 80 and f"with {few.blocks_needed} blocks it passes in 80 %" in gate_sentence(few)
    assert gate_power_of(plan_of(few.blocks_needed), noise, SAME).passes_percent >= 80
    assert "nothing can be shown" in gate_sentence(gate_power_of(plan_of(1), noise, PROVE))
    wild = gate_power_of(plan_of(5), replace(noise, percent=60.0), PROVE)
    assert wild.blocks_needed is None and "more than 100 blocks" in gate_sentence(wild)
    passing = gate_power_of(plan_of(3), replace(noise, percent=5.0), SLOWER)
    assert passing.passes_percent > 95 and passing.fires_percent < 60 and passing.blocks_needed is None


# The commands


@pytest.fixture
def stored(monkeypatch):
    """Makes `scale compare` read this run, whatever its name."""

    def keep(run):
        monkeypatch.setattr("scale_sweep.results.store.reader.find_run", lambda results, name: name)
        monkeypatch.setattr("scale_sweep.results.store.reader.read_run", lambda path: run)

    return keep


@pytest.mark.parametrize(
    ("slower", "noise", "words", "code"),
    [
        (0.0, 0.002, ("--prove-not-slower", "5%"), 0),
        (0.0, 0.002, ("--same-within", "3%"), 0),
        (0.0, 0.10, ("--prove-not-slower", "5%"), EXIT_NOT_SHOWN),
        (0.0, 0.10, ("--same-within", "3%"), EXIT_NOT_SHOWN),
        (0.0, 0.10, ("--fail-if-slower", "5%"), 0),
        (-0.1, 0.002, ("--prove-not-slower", "5%"), EXIT_SLOWER),
        (-0.1, 0.002, ("--same-within", "3%"), EXIT_SLOWER),
        (-0.1, 0.002, ("--fail-if-slower", "5%"), EXIT_SLOWER),
        (0.1, 0.002, ("--same-within", "3%"), EXIT_NOT_SHOWN),
        (0.1, 0.002, ("--prove-not-slower", "5%"), 0),
    ],
)
def test_the_codes_of_the_gates(stored, slower, noise, words, code):
    stored(run_of(plan_of(5), slower=slower, noise=noise))
    done = CliRunner().invoke(app, ["compare", "one", *words], env={"COLUMNS": "300"})
    assert done.exit_code == code, done.output
    assert f"{' '.join(words)}: " in done.stdout.splitlines()[-1], "one sentence, the last"
    document = json.loads(CliRunner().invoke(app, ["compare", "one", *words, "--json"]).stdout)["gate"]
    passes = document["answer"] in ("shown", "not found")
    assert passes is (code == 0) and (document["answer"] == "slower") is (code == EXIT_SLOWER)
    assert document["kind"] == words[0].removeprefix("--").replace("-", "_") and document["sentence"] in done.stdout


def test_a_variant_without_valid_trials_does_not_pass(stored):
    plan = plan_of(3)
    gone = {t.trial_id for t in plan.trials if t.level == 2 and t.variant[VARIANT] == "B"}
    stored(run_of(plan, spoilt=gone))
    done = CliRunner().invoke(app, ["compare", "one", "--prove-not-slower", "5%"])
    assert done.exit_code == EXIT_SLOWER and "no VALID trial of B at 2 cores" in done.stdout
    both = {t.trial_id for t in plan.trials if t.level == 2}
    found = compare_variants(run_of(plan, spoilt=both), PROVE)
    assert found.gate.answer == "not shown" and "not compared: 2 cores" in found.gate.sentence


@pytest.mark.parametrize("command", [("compare", "a", "b"), ("ab", "cpu", "--cores", "1", "--target", "null")])
@pytest.mark.parametrize("flag", ["--fail-if-slower", "--same-within", "--prove-not-slower"])
@pytest.mark.parametrize("word", ["5", "0%", "100%", "-5%", "five", ""])
def test_a_percentage_that_is_wrong_is_refused_by_the_name_of_its_flag(command, flag, word):
    done = CliRunner().invoke(app, [*command, flag, word])
    assert isinstance(done.exception, UsageError) and done.exception.exit_code == 2
    assert done.exception.message.startswith(f"{flag}: ") and "5%" in done.exception.message


def test_two_gates_are_refused():
    done = CliRunner().invoke(app, ["compare", "a", "b", "--same-within", "3%", "--prove-not-slower", "5%"])
    assert isinstance(done.exception, UsageError)
    assert done.exception.message == "--same-within and --prove-not-slower exclude each other"
    three = ["--same-within", "3%", "--prove-not-slower", "5%", "--fail-if-slower", "5%"]
    assert "exclude each other" in CliRunner().invoke(app, ["compare", "a", "b", *three]).exception.message


def test_a_dry_run_shows_the_power_of_its_gate_and_starts_nothing(tmp_path):
    words = ["ab", "cpu", "--cores", "1", "--target", "null", "--results", str(tmp_path), "--dry-run"]
    shown = CliRunner().invoke(app, [*words, "--prove-not-slower", "5%"], env={"COLUMNS": "300"})
    assert shown.exit_code == 0, shown.output
    assert "--prove-not-slower 5% with 5 blocks, at a noise of 3.0 %: passes in" in shown.stdout
    document = json.loads(CliRunner().invoke(app, [*words, "--same-within", "3%", "--json"]).stdout)
    assert document["gate"]["gate"] == {"kind": "same_within", "percent": 3.0} and document["gate"]["blocks"] == 5
    assert not list(tmp_path.iterdir())


# The order of sessions


def at(run, hour):
    return replace(run, manifest={**run.manifest, "created_utc": f"2026-01-02T{hour:02}:00:00+00:00"})


def in_order(order, a, b):
    """The runs of A and of B, with starts in this order."""
    left = {"A": list(a), "B": list(b)}
    placed = [(name, at(left[name].pop(0), hour)) for hour, name in enumerate(order)]
    return [run for name, run in placed if name == "A"], [run for name, run in placed if name == "B"]


@pytest.mark.parametrize(
    ("order", "share"),
    [("ABBA", 0), ("ABAB", 0.5), ("AABB", 1), ("BBBAAA", 1), ("AAB", 1), ("ABA", 0), ("", 0), ("AA", 0)],
)
def test_the_share_of_a_drift_that_an_order_takes_for_a_difference(order, share):
    assert share_of_drift(order) == pytest.approx(share)
    assert bool(doubt_about(order)) is (share > SHARE_MAX)


def test_the_order_is_that_of_the_starts():
    a, b = in_order("ABBA", sessions(2), sessions(2, first=5))
    assert order_of(a, b) == order_of(a[::-1], b) == "ABBA"
    assert order_of(a, [b[0], at(b[1], 0)]) == "", "two started at the same time"
    assert order_of(a, [b[0], replace(b[1], manifest={})]) == ""
    local = replace(b[1], manifest={"created_utc": "2026-01-02T02:30:00"})
    assert order_of(a, [b[0], local]) == "ABBA"


def test_sessions_of_a_before_those_of_b_are_shown_and_not_judged():
    a, b = in_order("AAABBB", sessions(3), sessions(3, first=10, gamma=3.5e5))
    found = compare_sessions(a, b, SLOWER)
    assert found.session_order == "AAABBB" and "in the order A A A B B B" in found.not_judged_because
    assert "in the order A A A B B B" in found.sentence and "slower" not in found.sentence
    assert found.points[0].ratio == pytest.approx(0.85, abs=0.02) and found.points[0].low is None
    assert not any(p.differs for p in (*found.points, found.overall)) and found.gate.answer == "not judged"
    anyway = compare_sessions(a, b, SLOWER, any_order=True)
    assert anyway.gate.answer == "slower" and not anyway.not_judged_because
    assert any("in the order A A A B B B" in caution for caution in anyway.cautions)


def test_sessions_in_turn_are_judged_without_a_caution_about_their_order():
    turn = compare_sessions(*in_order("ABBABA", sessions(3), sessions(3, first=10)), PROVE)
    assert turn.gate.answer in ("shown", "not shown") and not any("order" in c for c in turn.cautions)
    unknown = compare_sessions(sessions(3), sessions(3, first=10), PROVE)
    assert unknown.session_order == "" and any("is not known: a change" in c for c in unknown.cautions)
    assert unknown.gate.answer == turn.gate.answer


def test_a_script_learns_why_sessions_are_not_judged(monkeypatch):
    a, b = in_order("AABB", sessions(2), sessions(2, first=10))
    runs = dict(zip("abcd", (*a, *b), strict=True))
    monkeypatch.setattr("scale_sweep.results.store.reader.find_run", lambda results, name: name)
    monkeypatch.setattr("scale_sweep.results.store.reader.read_run", lambda name: runs[name])
    refused = CliRunner().invoke(app, ["compare", "a,b", "c,d", "--prove-not-slower", "5%"], env={"COLUMNS": "300"})
    assert isinstance(refused.exception, UsageError) and "--any-order" in refused.exception.remedy
    assert refused.exception.message.startswith("--prove-not-slower: the sessions ran in the order A A B B")
    assert "2 of A and 2 of B, in the order A A B B" in refused.stdout
    assert CliRunner().invoke(app, ["compare", "a,b", "c,d"]).exit_code == 0
    anyway = CliRunner().invoke(app, ["compare", "a,b", "c,d", "--prove-not-slower", "5%", "--any-order"])
    assert anyway.exit_code in (0, EXIT_NOT_SHOWN)


@pytest.mark.monte_carlo
def test_a_drift_from_session_to_session_alarms_where_the_order_is_refused_and_not_in_turn():
    draws = chance(4)
    refused = np.mean([ordered(draws, "AAAAABBBBB", 0.01, 0.01) for _ in range(200)])
    turn = np.mean([ordered(draws, "ABABABABAB", 0.01, 0.01) for _ in range(200)])
    assert refused > 0.4 and turn < 0.06
