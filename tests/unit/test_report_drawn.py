"""What the report says of its picture and of drift is what is there; its tables fit a page in a real browser."""

import re
from dataclasses import replace

import pytest

from scale_sweep.model import StoredRun, VerdictKind
from scale_sweep.report import html
from scale_sweep.report.documents import documents
from scale_sweep.report.noise import noise_sentences
from scale_sweep.report.svg import marker
from tests.unit.observing import fit_curve
from tests.unit.synthetic_run import synthetic_run
from tests.unit.test_report_browser import run_browser


def with_drift_check(run: StoredRun, factor: float = 1.0) -> StoredRun:
    """The run with its first trial repeated at the end, at this factor of the rate."""
    first = run.results[0]
    trial = replace(first.trial, role="drift_check", trial_id="cores-1-drift-check", order=len(run.results))
    measured = replace(first.measurement, rows_per_s=factor * first.measurement.rows_per_s)
    results = (*run.results, replace(first, trial=trial, measurement=measured))
    plan = replace(run.plan, trials=(*run.plan.trials, trial))
    return replace(run, plan=plan, results=results, timeseries={}, fit=fit_curve(results[:-1]))


def said_of_curve(run: StoredRun) -> tuple[str, str]:
    """The first picture of the page, and its caption."""
    page = html(run)
    return page[page.index('<div class="wide">') : page.index('<div class="narrow">')], re.search(
        r"<figcaption>(.*?)</figcaption>", page
    )[1]


def test_the_legend_counts_the_trials_that_are_drawn():
    picture, caption = said_of_curve(with_drift_check(synthetic_run((1, 2), 3)))
    assert "valid trial (6)" in picture
    assert picture.count('class="m valid"') == 6 + marker(0, 0, VerdictKind.VALID).count('class="m valid"')
    assert "Every trial of the run" not in caption
    assert "confirming trials (1) are only in the table" in caption


def test_the_caption_explains_a_band_where_there_is_one():
    picture, caption = said_of_curve(synthetic_run())
    assert 'class="band"' in picture and "The band" in caption
    none_valid = {(n, r): VerdictKind.UNSTEADY for n in (1.0, 2.0) for r in (1, 2)}
    picture, caption = said_of_curve(synthetic_run((1, 2), 2, verdicts=none_valid))
    assert 'class="band"' not in picture and "The band" not in caption


def drift_words(run: StoredRun) -> str:
    return next(s for s in noise_sentences(run) if "repeated at the end" in s)


def test_a_drift_check_in_too_much_noise_does_not_say_that_nothing_drifted():
    quiet = with_drift_check(synthetic_run((1,), 2, noise=0.001))
    assert "no drift was found" in drift_words(quiet)
    loud = with_drift_check(synthetic_run((1,), 2, noise=0.8, seed=1), 1.14)
    assert "no drift" not in drift_words(loud)
    assert "too noisy to see a drift of 10 %" in drift_words(loud)
    alone = {(1.0, 1): VerdictKind.UNSTEADY, (1.0, 2): VerdictKind.UNSTEADY, (1.0, 3): VerdictKind.UNSTEADY}
    assert "without two valid replicates" in drift_words(with_drift_check(synthetic_run((1,), 3, verdicts=alone)))


@pytest.mark.parametrize("kind", [VerdictKind.RESOURCE_NOT_SATURATED, VerdictKind.GENERATOR_BOUND])
def test_the_tables_fit_a_page_of_1120_pixels(tmp_path, kind):
    run = synthetic_run((0.5, 0.75), 2, verdicts={(0.5, 1): kind, (0.75, 2): kind}, gamma=4.1e8)
    wide = with_drift_check(run)
    fields = {"response_ms_p50": 0.00004, "response_ms_p95": 0.00011, "response_ms_p99": 0.00023}
    results = [replace(r, measurement=replace(r.measurement, **fields)) for r in wide.results]
    page = documents(replace(wide, results=tuple(results))).pages["report.html"]
    probe = """<script>addEventListener("load",()=>{const all=[...document.querySelectorAll(".scroll")];
    const cut=all.filter(s=>s.scrollWidth>s.clientWidth).map(s=>s.getAttribute("aria-label"));
    document.documentElement.dataset.cut=all.length+":"+cut.join()})</script></body>"""
    file = tmp_path / "report.html"
    file.write_text(page.replace("</body>", probe))
    dom = run_browser(file, tmp_path / "profile", "--window-size=1120,900", "--dump-dom").stdout
    found = re.search(r'data-cut="(\d+):([^"]*)"', dom)
    assert int(found[1]) > 4 and found[2] == ""
