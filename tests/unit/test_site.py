"""A site of stored runs: every page is there, every link leads to one, and a text of a run is never markup."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scale_sweep.cli import app
from scale_sweep.model.measured import VerdictKind
from scale_sweep.report.site import curves_of, index_html, site
from scale_sweep.results.store.reader import read_run
from tests.unit.stored_runs import unpacked

HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)">'


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    for name in ("cpu", "varied", "killed"):
        unpacked(name, folder)
    for finished in folder.glob("*killed*/trials/*/trial.json"):
        finished.unlink()
    return folder


def run_site(*words: str | Path):
    return CliRunner().invoke(app, ["site", *map(str, words)])


def test_a_site_has_an_index_and_the_reports_of_the_runs_that_are_there(results, tmp_path):
    out = tmp_path / "public"
    done = run_site(results, "--out", out, "--title", "Our curves")
    assert done.exit_code == 0, done.output
    assert done.stdout.strip().splitlines()[-1] == str(out / "index.html")
    assert "has no finished trial" in done.output
    index = (out / "index.html").read_text(encoding="utf-8")
    assert "<h1>Our curves</h1>" in index
    links = re.findall(r'<a href="([^"]+)">', index)
    assert len(links) == len(listed(index)) == 3  # one curve, and two variants of one run
    assert all((out / link).is_file() for link in links)
    assert len(list((out / "runs").iterdir())) == 2
    assert not list((out / "runs").glob("*killed*"))
    assert run_site(next(results.glob("*-cpu-*")), "--out", out).exit_code == 0
    assert len(list((out / "runs").iterdir())) == 1


def listed(index: str) -> list[dict[str, object]]:
    found = re.search(r'<script type="application/json" id="curves">(.*?)</script>', index, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_a_curve_has_the_figures_of_its_run_and_no_text_of_a_run_becomes_markup(results, wording):
    run = read_run(next(results.glob("*-cpu-*")))
    (curve,) = curves_of(run)
    assert (curve.levels, curve.database) == ((0.5, 1.0), "postgres")
    assert curve.fitted == f"{sum(r.verdict.kind.is_fitted for r in run.results)} of {len(run.results)}"
    assert curve.answer.startswith("0.5 → 1 cores: ")
    for rate, low, high in zip(curve.rates, curve.lows, curve.highs, strict=True):
        assert low is None or low <= rate <= high
    bad = [replace(r, verdict=replace(r.verdict, kind=VerdictKind.UNSTEADY)) for r in run.results]
    (curve,) = curves_of(replace(run, results=tuple(bad), fit=None))
    index = index_html([curve], "One")
    assert f"{curve.title}, 0.5,1 cores, {curve.created}</a>" in index
    wording(curve.answer, *re.findall(r"\d+ curves of[^<]*", index + index_html([], "Nothing yet")))
    sweep = replace(run.plan.sweep, name=HOSTILE, question=HOSTILE)
    hostile = replace(run, plan=replace(run.plan, sweep=sweep), fit=None)
    index = dict(site(iter([hostile]), HOSTILE))["index.html"]
    assert "alert(1)</script>" not in index
    assert "<img" not in index
    assert listed(index)[0]["title"] == HOSTILE


def test_mistakes_name_what_is_wrong(results, tmp_path):
    full, empty = tmp_path / "full", tmp_path / "empty"
    full.mkdir()
    empty.mkdir()
    (full / "thesis.tex").touch()
    for words, message in (
        ((results, "--out", full), "has files that do not belong to a site"),
        ((empty, "--out", tmp_path / "a"), "no runs in"),
        ((tmp_path / "nowhere", "--out", tmp_path / "b"), "does not exist"),
        ((results, results, "--out", tmp_path / "c"), "several folders have a run"),
    ):
        done = run_site(*words)
        assert done.exit_code != 0
        assert message in f"{done.output}{done.exception}"
    assert [path.name for path in full.iterdir()] == ["thesis.tex"]
