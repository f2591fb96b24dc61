"""scale ab: the order of the trials, both variants with what each was given, the test by blocks, what is refused."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from bench.method_compare import SEED, ab, looked
from scale_sweep.analysis.compare import compare_variants
from scale_sweep.analysis.compare.blocks import block_points
from scale_sweep.base.errors import EXIT_SLOWER, NotMeasuredError, UsageError
from scale_sweep.cli import app
from scale_sweep.cli.compared import MORE_BLOCKS, judged
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import VerdictKind
from scale_sweep.plan import planner_of
from scale_sweep.plan.make import PlannedArm, plan_arms
from scale_sweep.plan.planner import abba
from scale_sweep.plan.summary import bound_sentence, plan_sentence
from scale_sweep.report.documents import documents
from scale_sweep.results.store.stored import Folder
from scale_sweep.sweep.ab import as_one, flags_of, looks_of, together, variants_of
from scale_sweep.sweep.vary import VARIANT
from tests.unit.factories import SLOWER, make_result, make_sweep
from tests.unit.test_plan import POSTGRES, make_host, planned


def plan_of(blocks=3, **b):
    made = (make_sweep(cores="1..2", method__order_seed="3", **flags) for flags in ({}, b))
    sweeps = [replace(sweep, target="postgres", runtime="process", method="copy") for sweep in made]
    a, b = variants_of(*sweeps, blocks if isinstance(blocks, tuple) else (blocks,))
    arms = [PlannedArm(variant={VARIANT: name}, sweep=one, facts=POSTGRES.facts) for name, one in (("A", a), ("B", b))]
    return plan_arms(as_one(a), make_host(), arms)


def run_of(plan, slower=0.0, drift=0.0, noise=0.002, seed=1, spoilt=()):
    chance, last = np.random.default_rng(seed), len(plan.trials) - 1
    results = []
    for t in plan.trials:
        log = slower * (t.variant[VARIANT] == "B") + drift * t.order / last + chance.normal(0, noise)
        kind = VerdictKind.ABORTED if t.trial_id in spoilt else VerdictKind.VALID
        results.append(replace(make_result(t.level, 1e5 * t.level * math.exp(log), kind=kind), trial=t))
    return StoredRun(path="/results/one", manifest={}, plan=plan, results=tuple(results), timeseries={})


def test_every_block_is_abba_or_baab_at_each_level(wording):
    plan = plan_of(blocks=4)
    assert [t.order for t in plan.trials] == list(range(4 * 4 * 2))
    blocks = [plan.trials[at : at + 4] for at in range(0, 32, 4)]
    assert all(len({(t.level, t.block) for t in block}) == 1 for block in blocks)
    assert {"".join(t.variant[VARIANT] for t in block) for block in blocks} == {"ABBA", "BAAB"}
    assert len({t.trial_id for t in plan.trials}) == 32
    assert {t.role for t in plan.trials} == {"point"}
    wording(plan_sentence(plan))
    one, same, other = (list(abba((1, 2), 5, seed)) for seed in (7, 7, 8))
    assert one == same != other
    assert len({(p.level, p.variant, p.replicate) for p in one}) == len(one)


def test_each_variant_has_its_own_flags_and_what_differs_is_said(wording):
    found = flags_of("--knob fsync=off --connections=4 --knob 'a=b c' --ablation", "--b")
    assert found == {"knobs.other": ["fsync=off", "a=b c"], "knobs.connections": "4", "method.ablation": "1"}
    both = together({"knobs.other": ["x=1"], "load.rows": "5"}, found | {"load.rows": "7"})
    assert both == found | {"knobs.other": ["x=1", "fsync=off", "a=b c"], "load.rows": "7"}
    for text, why in (("--nonsense 1", "not a setting"), ("--knob", "a value"), ("--knob 'a", "--b")):
        with pytest.raises(UsageError, match=why):
            flags_of(text, "--b")
    plan = plan_of(knobs__connections="9", load__duration="4s", workload__rows_per_request="50")
    for t in plan.trials:
        own = (t.knobs.get("connections") == "9", t.load.duration_s, t.work.data.rows_per_request == 50)
        assert own == ((True, 4.0, True) if t.variant[VARIANT] == "B" else (False, 40.0, False))
    for one in (plan, plan_of(knobs__partitions="8"), plan_of()):
        wording(*one.sweep.variants_ab.values())


OTHERS = {"the levels": {"cores": "1..3"}, "--data-dir": {"target__data_dir": "/x"}, "vary": {"vary": ["method=copy"]}}
OTHERS |= {"--replicates": {"method__replicates": "4"}, "--ablation": {"method__ablation": "1"}}


@pytest.mark.parametrize("why", OTHERS)
def test_what_would_not_be_one_run_is_refused(why):
    with pytest.raises(UsageError, match=why):
        variants_of(make_sweep(cores="1..2"), make_sweep(**{"cores": "1..2", **OTHERS[why]}), (3,))
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


def test_a_run_with_looks_ends_when_a_difference_is_found(wording):
    plan = plan_of((3, 5, 9))
    assert max(trial.block for trial in plan.trials) == 3
    slower, why = run_to_its_end(plan, math.log(0.8))
    assert [trial.order for trial in slower.plan.trials] == list(range(24))
    equal, _ = run_to_its_end(plan, 0.0)
    assert [trial.trial_id for trial in equal.plan.trials] == [trial.trial_id for trial in plan_of(9).trials]
    for count in range(0, len(equal.results), 7):
        assert planner_of(plan).next(equal.results[:count]).trials[0] == equal.plan.trials[count], "resumed"
    wording(bound_sentence(plan, planner_of(plan).bound()), why)


def test_all_looks_together_have_the_5_percent(wording):
    both = [compare_variants(run_of(plan_of(looks), slower=-0.004)) for looks in (3, (3, 5, 9))]
    once, looked = (found.points[0] for found in both)
    assert looked.p_holm == pytest.approx(min(1.0, 3 * once.p_holm)) and looked.p_value == once.p_value
    assert looked.low < once.low < once.high < looked.high
    assert looked.low_one_sided < once.low_one_sided and looked.smallest_percent > once.smallest_percent
    wording(*(caution for caution in both[1].cautions if caution not in both[0].cautions))


def test_a_text_without_rising_numbers_of_blocks_is_refused_and_a_gate_has_one_number():
    for text in ("0", "5,5", "10,5", "5,", "five", "-5", "5.5", "9" * 5000):
        with pytest.raises(UsageError, match="--blocks"):
            looks_of(text)
    assert (looks_of("7"), looks_of("5,10,20")) == ((7,), (5, 10, 20))
    asked = "ab cpu --cores 1 --blocks 5,10 --prove-not-slower 5%".split()
    refused = CliRunner().invoke(app, [*asked, "--b", "--knob fsync=off"]).exception
    assert isinstance(refused, UsageError) and "one number of blocks" in refused.message


def test_a_block_without_one_of_the_variants_does_not_count(wording):
    plan = plan_of(3)
    of_b = [t for t in plan.trials if t.level == 1 and t.variant[VARIANT] == "B"]
    spoilt = run_of(plan, spoilt={t.trial_id for t in of_b if t.block == 2})
    points, missing = block_points(spoilt)
    assert [len(p.differences) for p in points] == [2, 3] and not missing
    found = compare_variants(run_of(plan, spoilt={t.trial_id for t in of_b}), SLOWER)
    assert found.unjudged == ("1 core",)
    wording(*compare_variants(spoilt).cautions, found.points[0].missing, *compare_variants(run_of(plan)).cautions)


def test_one_block_has_a_ratio_and_no_verdict(wording):
    plan = plan_of(1)
    found = compare_variants(run_of(plan), SLOWER)
    assert found.points[0].low is None
    none = compare_variants(run_of(plan, spoilt={t.trial_id for t in plan.trials}), SLOWER)
    with pytest.raises(NotMeasuredError, match="--fail-if-slower") as refused:
        judged(none, MORE_BLOCKS)
    wording(found.not_judged_because, found.sentence, none.sentence, refused.value.remedy)
    with pytest.raises(UsageError, match="not a run of scale ab"):
        compare_variants(StoredRun(path="/x", manifest={}, plan=planned(cores="1"), results=(), timeseries={}))


@pytest.mark.monte_carlo
@pytest.mark.parametrize(
    ("levels", "shift", "least", "most"), [(1, 1.0, 0.02, 0.08), (4, 1.0, 0.02, 0.08), (1, 0.95, 0.9, 1)]
)
def test_false_alarms_and_power_are_those_of_the_method(levels, shift, least, most):
    draws = np.random.default_rng([SEED, levels])
    found = sum(ab(draws, levels, 5, [0.02] * levels, 0.1, math.log(shift)) for _ in range(400))
    assert least <= found / 400 <= most


@pytest.mark.monte_carlo
@pytest.mark.parametrize(("shift", "least", "most"), [(0.0, 0.02, 0.07), (math.log(0.97), 0.95, 1.0)])
def test_false_alarms_and_power_of_looks_are_those_of_the_method(shift, least, most):
    share, _ = looked(np.random.default_rng([SEED, 3]), (5, 10, 20), 0.05 / 3, shift, 4000)
    assert least <= share <= most


def test_the_report_begins_with_the_answer_and_its_picture(wording):
    pages = documents(run_of(plan_of(5), slower=math.log(0.9))).pages
    page = pages["report.html"]
    below = page.partition("</nav>")[2]
    assert below.index("B against A in each block") < below.index("side by side")
    wide, _, _ = page.partition('<div class="narrow">')  # the pictures for phones show the same once more
    assert wide.count("<title>block ") == 10
    assert {"report-A.html", "report-B.html"} <= set(pages)
    assert "</b> A 20 of 20, B 20 of 20." in page and "B is slower at 2 of 2" in pages["report.md"]
    wording(*re.findall("<h1>(.*)</h1>", page))
    page = documents(run_of(plan_of(3), slower=math.log(0.3), noise=1e-6)).pages["report.html"]
    marks = page.partition('<div class="narrow">')[0].count(": -70.0 %</title>")
    assert marks == 6, "one for each block at each level"


def test_a_report_of_blocks_that_never_hold_both_variants_has_no_ratio_and_no_picture():
    plan = plan_of(2)
    spoilt = {t.trial_id for t in plan.trials if (t.variant[VARIANT] == "B") == bool(t.block % 2)}
    run = run_of(plan, spoilt=spoilt)
    found, pages = compare_variants(run), documents(run).pages
    assert [p.ratio for p in found.points] == [None, None] and found.overall is None
    assert found.sentence in pages["report.md"] and "no block has VALID trials of both variants" in pages["report.html"]
    assert "B against A in each block" not in pages["report.html"]


def test_a_stored_run_is_shown_and_judged_again(monkeypatch, tmp_path):
    stored = run_of(plan_of(5), slower=math.log(0.9))
    reader = "scale_sweep.results.store.reader"
    monkeypatch.setattr(f"{reader}.find_run", lambda results, name: Folder(tmp_path))
    monkeypatch.setattr(f"{reader}.read_run", lambda path: stored)
    assert CliRunner().invoke(app, ["compare", "one", "--fail-if-slower", "5%"]).exit_code == EXIT_SLOWER
    shown = CliRunner().invoke(app, ["show", "one", "--json"])
    assert json.loads(shown.stdout)["comparison"]["overall"]["differs"] is True
    assert "B is slower" in CliRunner().invoke(app, ["show", "one"]).stdout
