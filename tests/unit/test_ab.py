"""scale ab: the order of the trials, both variants with what each was given, the test by blocks, what is refused."""

import json
import math
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from bench.method_compare import SEED, ab, looked
from scale_sweep.analysis.compare import compare_variants
from scale_sweep.analysis.compare.blocks import block_points
from scale_sweep.base.errors import EXIT_SLOWER, UsageError
from scale_sweep.cli import app
from scale_sweep.cli.gates import MORE_BLOCKS, judged
from scale_sweep.model import StoredRun, VerdictKind
from scale_sweep.plan import PlannedArm, bound_sentence, plan_arms, plan_sentence, planner_of
from scale_sweep.plan.make import abba
from scale_sweep.report.documents import documents
from scale_sweep.results.store.stored import Folder
from scale_sweep.sweep.ab import as_one, flags_of, looks_of, together, variants_of
from scale_sweep.sweep.vary import VARIANT
from tests.unit.factories import SLOWER, make_result, make_sweep
from tests.unit.test_plan import POSTGRES, make_host, planned


def sweeps(**b):
    common = {"cores": "1..2", "method__order_seed": "3"}
    return [
        replace(make_sweep(**common, **flags), target="postgres", runtime="process", method="copy") for flags in ({}, b)
    ]


def plan_of(blocks=3, **b):
    a, b = variants_of(*sweeps(**b), blocks if isinstance(blocks, tuple) else (blocks,))
    arms = [PlannedArm(variant={VARIANT: name}, sweep=one, facts=POSTGRES.facts) for name, one in (("A", a), ("B", b))]
    return plan_arms(as_one(a), make_host(), arms)


def run_of(plan, slower=0.0, drift=0.0, noise=0.002, seed=1, spoilt=()):
    chance, last = np.random.default_rng(seed), len(plan.trials) - 1
    results = []
    for t in plan.trials:
        log = slower * (t.variant[VARIANT] == "B") + drift * t.order / last + chance.normal(0, noise)
        kind = VerdictKind.ABORTED if t.trial_id in spoilt else VerdictKind.VALID
        made = make_result(t.level, 1e5 * t.level * math.exp(log), kind=kind)
        results.append(replace(made, trial=t))
    return StoredRun(path="/results/one", manifest={}, plan=plan, results=tuple(results), timeseries={})


def test_every_block_is_abba_or_baab_at_each_level():
    plan = plan_of(blocks=4)
    assert len(plan.trials) == 4 * 4 * 2 and [t.order for t in plan.trials] == list(range(32))
    orders = set()
    for at in range(0, 32, 4):
        block = plan.trials[at : at + 4]
        assert len({(t.level, t.block) for t in block}) == 1
        orders.add("".join(t.variant[VARIANT] for t in block))
    assert orders == {"ABBA", "BAAB"}
    assert len({t.trial_id for t in plan.trials}) == 32
    assert not any(t.role != "point" for t in plan.trials)
    assert "4 blocks of A B B A" in plan_sentence(plan)


def test_short_windows_are_a_caution_of_the_variant_that_has_them():
    found = compare_variants(run_of(plan_of()))
    assert "quick: 12 of 12 of A and 12 of 12 of B trials" in " ".join(found.cautions)


def test_the_order_is_that_of_its_seed():
    assert list(abba((1, 2), 5, 7)) == list(abba((1, 2), 5, 7)) != list(abba((1, 2), 5, 8))
    assert Counter((p.level, p.variant, p.replicate) for p in abba((1, 2), 5, 7)).most_common(1)[0][1] == 1


def test_each_variant_has_its_own_flags_and_what_differs_is_said():
    plan = plan_of(knobs__connections="9", load__duration="4s", workload__rows_per_request="50")
    for t in plan.trials:
        is_b = t.variant[VARIANT] == "B"
        assert (t.knobs.get("connections") == "9") is is_b
        assert (t.load.duration_s, t.work.data.rows_per_request == 50) == ((4.0, True) if is_b else (40.0, False))
    about = plan.sweep.variants_ab
    assert "connections default" in about["A"] and "connections 9" in about["B"] and "duration_s 4.0" in about["B"]
    assert plan_of(knobs__partitions="8").sweep.variants_ab == {"A": "partitions default", "B": "partitions 8"}
    assert plan_of().sweep.variants_ab == {"A": "the same as B", "B": "the same as A"}


def test_flags_of_one_variant():
    found = flags_of("--knob fsync=off --connections=4 --knob 'a=b c' --ablation", "--b")
    assert found == {"knobs.other": ["fsync=off", "a=b c"], "knobs.connections": "4", "method.ablation": "1"}
    assert together({"knobs.other": ["x=1"], "load.rows": "5"}, {**found, "load.rows": "7"}) == {
        **found,
        "knobs.other": ["x=1", "fsync=off", "a=b c"],
        "load.rows": "7",
    }


@pytest.mark.parametrize(
    ("text", "why"), [("--nonsense 1", "not a setting's flag"), ("--knob", "needs a value"), ("--knob 'a", "--b")]
)
def test_a_flag_that_is_none_is_refused_by_name(text, why):
    with pytest.raises(UsageError, match=why):
        flags_of(text, "--b")


@pytest.mark.parametrize(
    ("b", "why"),
    [
        ({"cores": "1..3"}, "the levels"),
        ({"target__data_dir": "/x"}, "--data-dir"),
        ({"vary": ["method=copy"]}, "vary"),
        ({"method__replicates": "4"}, "--replicates"),
        ({"method__ablation": "1"}, "--ablation"),
    ],
)
def test_what_would_not_be_one_run_is_refused(b, why):
    a = make_sweep(cores="1..2")
    with pytest.raises(UsageError, match=why):
        variants_of(a, make_sweep(**{"cores": "1..2", **b}), (3,))
    with pytest.raises(UsageError, match="not a setting"):
        planned(cores="1", vary=["variant=A,B"])


def test_a_slower_variant_is_found_and_drift_is_not():
    found = compare_variants(run_of(plan_of(5), slower=math.log(0.93)), SLOWER)
    assert found.overall.ratio == pytest.approx(0.93, abs=0.003)
    assert found.slower == ("1 core", "2 cores", "all points") and not found.not_judged_because
    assert found.overall.spread == "blocks" and found.overall.trials_a == 20
    drifting = compare_variants(run_of(plan_of(5), drift=0.3, noise=0.001), SLOWER)
    assert not any(p.differs for p in drifting.points) and abs(drifting.overall.ratio - 1) < 0.002


def run_to_its_end(plan, slower):
    """The run as its planner ends it, and the planner's last words."""
    done = ()
    while (block := planner_of(plan).next(done)).trials:
        done += run_of(replace(plan, trials=block.trials), slower=slower, noise=0.01, seed=len(done)).results
    trials = tuple(result.trial for result in done)
    return replace(run_of(plan), plan=replace(plan, trials=trials), results=done), block.why


def test_a_run_with_looks_ends_when_a_difference_is_found():
    plan = plan_of((3, 5, 9))
    assert max(trial.block for trial in plan.trials) == 3
    assert "at most 72 trials" in bound_sentence(plan, planner_of(plan).bound())
    slower, why = run_to_its_end(plan, math.log(0.8))
    assert [trial.order for trial in slower.plan.trials] == list(range(24)) and "found after 3 blocks" in why
    equal, _ = run_to_its_end(plan, 0.0)
    assert [trial.trial_id for trial in equal.plan.trials] == [trial.trial_id for trial in plan_of(9).trials]
    for count in range(0, len(equal.results), 7):
        assert planner_of(plan).next(equal.results[:count]).trials[0] == equal.plan.trials[count], "resumed"


def test_all_looks_together_have_the_5_percent():
    once, looked = (compare_variants(run_of(plan_of(looks), slower=-0.004)).points[0] for looks in (3, (3, 5, 9)))
    assert looked.p_holm == pytest.approx(min(1.0, 3 * once.p_holm)) and looked.p_value == once.p_value
    assert looked.low < once.low < once.high < looked.high
    assert looked.low_one_sided < once.low_one_sided and looked.smallest_percent > once.smallest_percent
    (said,) = [told for told in compare_variants(run_of(plan_of((3, 5, 9)))).cautions if "all looks" in told]
    assert said == "intervals and p-values are those of all looks together (--blocks 3,5,9)"


@pytest.mark.parametrize("text", ["0", "5,5", "10,5", "5,", "five", "-5", "5.5", "9" * 5000])
def test_a_text_without_rising_numbers_of_blocks_is_refused(text):
    with pytest.raises(UsageError, match="--blocks"):
        looks_of(text)
    assert (looks_of("7"), looks_of("5,10,20")) == ((7,), (5, 10, 20))


def test_a_gate_is_judged_after_one_number_of_blocks():
    asked = ["ab", "cpu", "--cores", "1", "--b", "--knob fsync=off", "--blocks", "5,10", "--prove-not-slower", "5%"]
    refused = CliRunner().invoke(app, asked).exception
    assert isinstance(refused, UsageError) and "after one number of blocks" in refused.message


def test_a_block_without_one_of_the_variants_does_not_count():
    plan = plan_of(3)
    gone = {t.trial_id for t in plan.trials if t.block == 2 and t.level == 1 and t.variant[VARIANT] == "B"}
    points, missing = block_points(run_of(plan, spoilt=gone))
    assert [len(p.differences) for p in points] == [2, 3] and not missing
    left_out = "blocks without VALID trials of both do not count: 1 of 3 at 1 core"
    assert left_out in compare_variants(run_of(plan, spoilt=gone)).cautions
    assert not any("do not count" in told for told in compare_variants(run_of(plan)).cautions)
    no_b = {t.trial_id for t in plan.trials if t.level == 1 and t.variant[VARIANT] == "B"}
    found = compare_variants(run_of(plan, spoilt=no_b), SLOWER)
    assert found.unjudged == ("1 core",) and found.points[0].missing == "no VALID trial of B"


def test_one_block_has_a_ratio_and_no_verdict():
    found = compare_variants(run_of(plan_of(1)), SLOWER)
    assert found.points[0].low is None and "no level has two blocks" in found.not_judged_because
    assert "one block at a level, so it may be noise" in found.sentence
    plan = plan_of(1)
    none = compare_variants(run_of(plan, spoilt={t.trial_id for t in plan.trials}), SLOWER)
    assert "no block has VALID trials of both variants" in none.sentence
    with pytest.raises(UsageError, match="--fail-if-slower") as refused:
        judged(none, MORE_BLOCKS)
    assert "--blocks" in refused.value.remedy
    with pytest.raises(UsageError, match="not a run of scale ab"):
        compare_variants(StoredRun(path="/x", manifest={}, plan=planned(cores="1"), results=(), timeseries={}))


@pytest.mark.monte_carlo
@pytest.mark.parametrize(
    ("levels", "shift", "least", "most"), [(1, 0.0, 0.02, 0.08), (4, 0.0, 0.02, 0.08), (1, math.log(0.95), 0.9, 1.0)]
)
def test_false_alarms_and_power_are_those_of_the_method(levels, shift, least, most):
    draws = np.random.default_rng([SEED, levels])
    assert least <= sum(ab(draws, levels, 5, [0.02] * levels, 0.1, shift) for _ in range(400)) / 400 <= most


@pytest.mark.monte_carlo
@pytest.mark.parametrize(("shift", "least", "most"), [(0.0, 0.02, 0.07), (math.log(0.97), 0.95, 1.0)])
def test_false_alarms_and_power_of_looks_are_those_of_the_method(shift, least, most):
    share, _ = looked(np.random.default_rng([SEED, 3]), (5, 10, 20), 0.05 / 3, shift, 4000)
    assert least <= share <= most


def wide(page):
    """The page up to the first picture for phones, which shows the same once more."""
    return page.partition('<div class="narrow">')[0]


def test_the_report_begins_with_the_answer_and_its_picture():
    pages = documents(run_of(plan_of(5), slower=math.log(0.9))).pages
    assert "B is slower at 2 of 2 points" in pages["report.html"] and "B is slower at 2 of 2" in pages["report.md"]
    below = pages["report.html"].partition("</nav>")[2]
    assert below.index("B against A in each block") < below.index("side by side")
    assert re.search(r"<h1>B against A: -10\.\d \(-1[01]\.\d to -\d+\.\d\) % rows/s</h1>", pages["report.html"])
    assert "40 of 40 trials are VALID:</b> A 20 of 20, B 20 of 20." in pages["report.html"]
    assert wide(pages["report.html"]).count("<title>block ") == 10
    assert {"report-A.html", "report-B.html"} <= set(pages)


def test_the_picture_shows_ratios_as_the_table_does():
    page = documents(run_of(plan_of(3), slower=math.log(0.3), noise=1e-6)).pages["report.html"]
    assert wide(page).count(": -70.0 %</title>") == 6, "a mark for each block at each level"


def test_a_stored_run_is_shown_and_judged_again(monkeypatch, tmp_path):
    stored = run_of(plan_of(5), slower=math.log(0.9))
    monkeypatch.setattr("scale_sweep.results.store.reader.find_run", lambda results, name: Folder(tmp_path))
    monkeypatch.setattr("scale_sweep.results.store.reader.read_run", lambda path: stored)
    judged = CliRunner().invoke(app, ["compare", "one", "--fail-if-slower", "5%"])
    assert judged.exit_code == EXIT_SLOWER and "slower than allowed" in judged.stdout
    shown = CliRunner().invoke(app, ["show", "one", "--json"])
    assert json.loads(shown.stdout)["comparison"]["overall"]["differs"] is True
    assert "B is slower" in CliRunner().invoke(app, ["show", "one"]).stdout
