"""What report and console say where replicates disagree, where the noise comes from, and of verdicts of short windows."""

from dataclasses import replace

import pytest

from scale_sweep.analysis.compare import compare_sessions
from scale_sweep.analysis.noise.parts import PLACES, REDUCES, parts_sentence
from scale_sweep.cli.console.live import finished_line
from scale_sweep.model import NoisePart, NoiseParts, VerdictKind, counted_verdicts, verdict_words
from scale_sweep.plan.power import GUESS, AssumedNoise, advice, power_details, power_of, with_parts
from scale_sweep.plan.preparing.earlier_runs import assumed_noise
from scale_sweep.report.console_table import console_table
from scale_sweep.report.documents import documents
from scale_sweep.report.figures import fit_again
from scale_sweep.report.noise import noise_sentences
from scale_sweep.report.replicates import REDUCED, parts_table
from scale_sweep.report.trials import trial_table
from scale_sweep.results.store.codec import to_json
from tests.unit.factories import make_result
from tests.unit.synthetic_run import synthetic_run
from tests.unit.test_plan import make_host, planned


def with_windows(run, factors=None):
    """The run with figures of its windows: 40 s, 2 % from second to second. factors: of the rates, by the level and the
    replicate."""
    made = []
    for result in run.results:
        trial = replace(result.trial, load=replace(result.trial.load, duration_s=40.0), block=result.trial.replicate)
        m = result.measurement
        rate = 4e5 * trial.level * (factors or {}).get((trial.level, trial.replicate), 1.0)
        m = replace(
            m,
            window_s=40.0,
            rows_per_s=rate * (1 + 0.001 * (-1) ** trial.replicate),
            rate_cv_percent=2.0,
            rate_drift_percent=0.1,
            rate_drift_error_percent=1.1,
            rate_correlation=0.2,
            rate_error_percent=0.4,
            rate_halves_percent=0.1 * trial.replicate,
        )
        made.append(replace(result, trial=trial, measurement=m))
    return replace(run, results=tuple(made), fit=None)


APART = {(2.0, 1): 1.12, (2.0, 2): 0.9, (2.0, 3): 1.01}


def test_a_level_whose_replicates_disagree_is_named_wherever_it_is_shown():
    run = documents(with_windows(synthetic_run(), APART)).run
    (caution,) = (words for words in run.fit.cautions if words.startswith("replicates disagree"))
    assert "at 2 cores they differ by 10.8 % (standard deviation)" in caution
    assert "VALID means only that each window was steady" in caution
    rows = console_table(run).rows
    assert [row[-1] for row in rows] == ["3 VALID", "3 VALID, replicates disagree", "3 VALID", "3 VALID"]
    assert any(
        note.startswith("3 of 12 trials, all at 2 cores: replicates disagree: the trials of this level differ by")
        for note in trial_table(run).notes
    )
    pages = documents(run).pages
    assert all("replicates disagree" in page for page in pages.values())


def test_replicates_that_agree_are_not_mentioned():
    run = documents(with_windows(synthetic_run())).run
    assert not any("disagree" in page for page in documents(run).pages.values())
    assert not any("disagree" in row[-1] for row in console_table(run).rows)


def test_the_report_shows_where_the_noise_comes_from():
    run = documents(with_windows(synthetic_run(replicates=5), {(2.0, 1): 1.05, (3.0, 4): 0.94, (1.0, 2): 1.06})).run
    assert run.fit.noise_parts.largest.name == "start"
    (sentence,) = (words for words in noise_sentences(run) if "largest part of the noise" in words)
    assert sentence.startswith("the largest part of the noise is between server starts (")
    assert sentence.endswith("from 20 trials): more replicates reduce it, longer windows do not")
    for page in documents(run).pages.values():
        assert "Share of the variance" in page and "drift within the windows" in page
    assert "one run does not show how sessions differ" in parts_table(run.fit.noise_parts).notes[0]


def test_without_figures_of_the_windows_nothing_is_said():
    run = synthetic_run()
    assert fit_again(run).noise_parts is None
    assert parts_table(None).rows == () and parts_sentence(None) == ()
    assert "Share of the variance" not in documents(run).pages["report.md"]


def test_every_part_has_words():
    assert PLACES.keys() == REDUCES.keys() == REDUCED.keys()


@pytest.mark.parametrize(
    ("kind", "window_s", "words"),
    [
        (VerdictKind.VALID, 5.0, "VALID (short window)"),
        (VerdictKind.SOFTWARE_BOTTLENECK, 5.0, "SOFTWARE_BOTTLENECK (short window)"),
        (VerdictKind.VALID, 40.0, "VALID"),
        (VerdictKind.UNSTEADY, 5.0, "UNSTEADY"),
        (VerdictKind.VALID, None, "VALID"),
    ],
)
def test_a_short_window_says_so_in_its_verdict(kind, window_s, words):
    result = make_result(kind=kind)
    result = replace(result, measurement=replace(result.measurement, window_s=window_s))
    assert verdict_words(result) == words
    assert f"  {words}" in finished_line("", result, 10)[0]


def test_verdicts_are_counted_in_words():
    long = replace(make_result(), measurement=replace(make_result().measurement, window_s=45.0))
    assert counted_verdicts([make_result(), long, make_result()]) == "2 VALID (short window), 1 VALID"
    page = documents(synthetic_run()).pages["report.html"]
    assert "12 VALID (short window)" in page
    assert "too short to claim the long-run rate" in page


def noise_with(window_s=40.0, **percents):
    parts = tuple(NoisePart(name=name, percent=percent) for name, percent in percents.items())
    return with_parts(
        AssumedNoise(percent=4.0, source="a test"),
        [NoiseParts(parts=parts, trials=12, degrees=8, window_s=window_s)],
    )


def test_the_plan_says_whether_replicates_or_longer_windows_help():
    plan = planned(cores="1..4", load__duration="40s")
    starts = advice(plan, noise_with(seconds=0.5, start=4.0))
    assert starts.startswith("In earlier runs 98 % of the noise was between server starts: twice the replicates")
    assert starts.endswith("windows of twice the length by 0 %, so more --replicates use the time better")
    seconds = advice(plan, noise_with(seconds=4.0, start=0.5))
    assert "98 % of the noise was from second to second" in seconds
    assert "windows of twice the length by 29 %, so longer windows (--duration) use the time better" in seconds
    assert power_details(plan, power_of(plan, noise_with(seconds=0.5, start=4.0)))[-1] == starts


def test_short_windows_of_earlier_runs_count_at_the_length_that_is_planned():
    plan = planned(cores="1..4", load__duration="40s")
    assert "by 29 %" in advice(plan, noise_with(window_s=40.0, seconds=2.0, start=0.1))
    assert "twice the length by 5 %" in advice(plan, noise_with(window_s=5.0, seconds=2.83, start=2.0))


def test_without_parts_or_replicates_the_plan_gives_no_advice():
    assert advice(planned(cores="1..4"), GUESS) == ""
    assert advice(planned(cores="1..4", method__replicates="1"), noise_with(start=4.0)) == ""
    assert advice(planned(cores="1..4"), noise_with(start=0.0)) == ""


def test_the_parts_of_earlier_runs_are_read_from_their_fits(tmp_path):
    host = make_host()
    run = documents(with_windows(synthetic_run(replicates=5), {(2.0, 1): 1.05, (3.0, 4): 0.94})).run
    for number in (1, 2):
        path = tmp_path / f"2026010{number}-run"
        path.mkdir()
        about = to_json(run.fit)
        (path / "fit.json").write_text(about)
        schema = about.partition('"schema": ')[2].partition(",")[0]
        (path / "manifest.json").write_text(
            f'{{"schema": {schema}, "host": {{"hostname": "h", "cpu_model": ""}}, '
            '"sweep": {"target": "postgres", "axis": "cores"}}'
        )
    noise = assumed_noise(tmp_path, host, "postgres", "cores", run.fit.rate)
    assert noise.source == "that of 20260102-run"
    assert noise.parts.trials == 2 * run.fit.noise_parts.trials
    assert noise.parts.percent == pytest.approx(run.fit.noise_parts.percent)
    assert assumed_noise(tmp_path, host, "null", "cores", run.fit.rate) == GUESS


def test_the_comparison_of_sessions_names_the_largest_part_of_their_noise():
    def session(name, factor):
        points = {(float(level), replicate): factor for level in range(1, 5) for replicate in range(1, 4)}
        return replace(with_windows(synthetic_run(), points), path=f"/results/{name}")

    a = [session(f"a{at}", factor) for at, factor in enumerate((1.0, 1.06, 0.95))]
    b = [session(f"b{at}", factor) for at, factor in enumerate((1.3, 1.2, 1.35))]
    (caution,) = (words for words in compare_sessions(a, b).cautions if "largest part" in words)
    assert caution.startswith("the largest part of the noise is between sessions (")
    assert caution.endswith("estimated from 72 trials): more sessions reduce it, more replicates in one session do not")


@pytest.mark.parametrize("replicates", [1, 3])
def test_each_sentence_on_the_noise_is_a_sentence(replicates):
    sentences = noise_sentences(with_windows(synthetic_run(replicates=replicates)))
    assert sentences and all(" " in sentence for sentence in sentences)
