"""What report and console say where replicates disagree, where the noise comes from, and of verdicts of short windows."""

import json
from dataclasses import replace

import pytest

from scale_sweep.analysis.compare import compare_sessions
from scale_sweep.analysis.noise.parts import PLACES, REDUCES, parts_sentence
from scale_sweep.cli.console.live import finished_line
from scale_sweep.model.derived import counted_verdicts, verdict_words
from scale_sweep.model.measured import VerdictKind
from scale_sweep.model.observed import NoisePart, NoiseParts
from scale_sweep.plan.power import GUESS, AssumedNoise, advice, power_details, power_of, with_parts
from scale_sweep.plan.preparing.earlier_runs import assumed_noise
from scale_sweep.report.documents import documents
from scale_sweep.report.figures import fit_again
from scale_sweep.report.level_tables import console_table
from scale_sweep.report.noise import noise_sentences
from scale_sweep.report.replicates import REDUCED, parts_table
from scale_sweep.report.trials import trial_table
from scale_sweep.results.store.codec import SCHEMA, to_json
from tests.unit.factories import make_result
from tests.unit.synthetic_run import synthetic_run
from tests.unit.test_plan import make_host, planned


def with_windows(run, factors=None):
    """The run with figures of its windows: 40 s, 2 % from second to second. factors: of the rates, by the level and the
    replicate."""
    spread = {"rate_cv_percent": 2.0, "rate_drift_percent": 0.1, "rate_drift_error_percent": 1.1}
    spread |= {"rate_correlation": 0.2, "rate_error_percent": 0.4, "window_s": 40.0}
    made = []
    for result in run.results:
        number = result.trial.replicate
        trial = replace(result.trial, load=replace(result.trial.load, duration_s=40.0), block=number)
        rate = 4e5 * trial.level * (factors or {}).get((trial.level, number), 1.0) * (1 + 0.001 * (-1) ** number)
        m = replace(result.measurement, rows_per_s=rate, rate_halves_percent=0.1 * number, **spread)
        made.append(replace(result, trial=trial, measurement=m))
    return replace(run, results=tuple(made), fit=None)


def found(sentences, words):
    (sentence,) = (one for one in sentences if words in one)
    return sentence


APART = {(2.0, 1): 1.12, (2.0, 2): 0.9, (2.0, 3): 1.01}


def test_a_level_whose_replicates_disagree_is_named_wherever_it_is_shown(wording):
    made = documents(with_windows(synthetic_run(), APART))
    wording(found(made.run.fit.cautions, "disagree"), found(trial_table(made.run).notes, "disagree"))
    assert [row[0] for row in console_table(made.run).rows if "disagree" in row[-1]] == ["2"]
    assert all("disagree" in page for page in made.pages.values())
    agree = documents(with_windows(synthetic_run()))
    assert not any("disagree" in text for text in (*agree.pages.values(), str(console_table(agree.run))))


def test_the_report_shows_where_the_noise_comes_from(wording):
    factors = {(2.0, 1): 1.05, (3.0, 4): 0.94, (1.0, 2): 1.06}
    made = documents(with_windows(synthetic_run(replicates=5), factors))
    parts = made.run.fit.noise_parts
    assert parts.largest.name == "start"
    wording(found(noise_sentences(made.run), "largest part"), parts_table(parts).notes[0])
    assert all("drift within" in page for page in made.pages.values())
    assert PLACES.keys() == REDUCES.keys() == REDUCED.keys()
    for replicates in (1, 3):
        sentences = noise_sentences(with_windows(synthetic_run(replicates=replicates)))
        assert sentences and all(" " in sentence for sentence in sentences)
    without = synthetic_run()  # without figures of the windows
    assert fit_again(without).noise_parts is None
    assert parts_table(None).rows == () and parts_sentence(None) == ()
    assert "the variance" not in documents(without).pages["report.md"]


@pytest.mark.parametrize(
    ("kind", "window_s", "is_short"),
    [
        (VerdictKind.VALID, 5.0, True),
        (VerdictKind.SOFTWARE_BOTTLENECK, 5.0, True),
        (VerdictKind.VALID, 40.0, False),
        (VerdictKind.UNSTEADY, 5.0, False),
        (VerdictKind.VALID, None, False),
    ],
)
def test_a_short_window_says_so_in_its_verdict(kind, window_s, is_short):
    result = make_result(kind=kind)
    result = replace(result, measurement=replace(result.measurement, window_s=window_s))
    words = f"{kind} (short window)" if is_short else kind
    assert verdict_words(result) == words
    assert f"  {words}" in finished_line("", result, 10)[0]


def test_verdicts_are_counted_in_words(wording):
    long = replace(make_result(), measurement=replace(make_result().measurement, window_s=45.0))
    wording(counted_verdicts([make_result(), long, make_result()]))
    page = documents(synthetic_run()).pages["report.html"]
    assert "12 VALID" in page and "too short" in page


def advised(window_s=40.0, **percents):
    """The advice of a plan after noise of these parts."""
    parts = tuple(NoisePart(name=name, percent=percent) for name, percent in percents.items())
    known = [NoiseParts(parts=parts, trials=12, degrees=8, window_s=window_s)]
    noise = with_parts(AssumedNoise(percent=4.0, source="a test"), known)
    plan = planned(cores="1..4", load__duration="40s")
    said = advice(plan, noise)
    assert said == "" or power_details(plan, power_of(plan, noise))[-1] == said
    assert advice(planned(cores="1..4", method__replicates="1"), noise) == ""
    return said


def test_the_plan_says_whether_replicates_or_longer_windows_help(wording):
    wording(advised(seconds=0.5, start=4.0), advised(seconds=4.0, start=0.5))
    assert "29 %" in advised(seconds=2.0, start=0.1)
    assert " 5 %" in advised(window_s=5.0, seconds=2.83, start=2.0)  # short windows count at the planned length
    assert advised(start=0.0) == advice(planned(cores="1..4"), GUESS) == ""


def test_the_parts_of_earlier_runs_are_read_from_their_fits(tmp_path):
    run = documents(with_windows(synthetic_run(replicates=5), {(2.0, 1): 1.05, (3.0, 4): 0.94})).run
    host, sweep = {"hostname": "h", "cpu_model": ""}, {"target": "postgres", "axis": "cores"}
    for number in (1, 2):
        path = tmp_path / f"2026010{number}-run"
        path.mkdir()
        (path / "fit.json").write_text(to_json(run.fit))
        (path / "manifest.json").write_text(json.dumps({"schema": SCHEMA, "host": host, "sweep": sweep}))
    noise = assumed_noise(tmp_path, make_host(), "postgres", "cores", run.fit.rate)
    assert noise.source.endswith("20260102-run")
    assert noise.parts.trials == 2 * run.fit.noise_parts.trials
    assert noise.parts.percent == pytest.approx(run.fit.noise_parts.percent)
    assert assumed_noise(tmp_path, make_host(), "null", "cores", run.fit.rate) == GUESS


def test_the_comparison_of_sessions_names_the_largest_part_of_their_noise(wording):
    def session(name, factor):
        points = {(float(level), replicate): factor for level in range(1, 5) for replicate in range(1, 4)}
        return replace(with_windows(synthetic_run(), points), path=f"/results/{name}")

    a = [session(f"a{at}", factor) for at, factor in enumerate((1.0, 1.06, 0.95))]
    b = [session(f"b{at}", factor) for at, factor in enumerate((1.3, 1.2, 1.35))]
    wording(found(compare_sessions(a, b).cautions, "largest part"))
