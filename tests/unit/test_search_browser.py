"""The report of a search in a real browser: every picture has all its steps inside, no text covers another, and the
page fits every width. SCALE_PICTURES=DIR also writes a picture of each search there."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.model import StoredRun, VerdictKind
from scale_sweep.report import html
from tests.contract.chromium import Tab, opened_tab
from tests.unit.searched_run import Queue, searched_plan, searched_results
from tests.unit.test_report_browser import browser
from tests.unit.test_report_interaction import shown

# Of every visible picture of a search: its name, its marks inside and outside of its axes, texts that reach beyond the
# picture or cover one another, and whether the line and the interval of the answer are drawn.
PICTURES = """[...document.querySelectorAll("figure[data-name^='search-']")].map(figure => {
  const svg = [...figure.querySelectorAll("svg.plot")].find(s => s.getBoundingClientRect().width > 0);
  const box = svg.getBoundingClientRect(), near = 0.5;
  const rect = e => e.getBoundingClientRect();
  const within = (r, b) => r.left >= b.left - near && r.right <= b.right + near && r.top >= b.top - near &&
    r.bottom <= b.bottom + near;
  const covers = (a, b) => a.left < b.right - near && b.left < a.right - near && a.top < b.bottom - near &&
    b.top < a.bottom - near;
  const texts = [...svg.querySelectorAll("text")].filter(t => t.textContent.trim());
  const marks = [...svg.querySelectorAll("path.m")].filter(m => m.querySelector("title") || m.dataset.tip);
  return {
    name: figure.dataset.name,
    marks: marks.length,
    outside: marks.filter(m => !within(rect(m), box)).length,
    cut: texts.filter(t => !within(rect(t), box)).map(t => t.textContent),
    covered: texts.flatMap((t, i) => texts.slice(i + 1).filter(o => covers(rect(t), rect(o)))
      .map(o => t.textContent + " / " + o.textContent)),
    answer: svg.querySelectorAll(".band, line.fit").length,
  };
})"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    browser()  # fails or skips without one
    with opened_tab() as opened:
        yield opened


def disturbed(result):
    """The search with a step that others disturbed, one over capacity, and one without a percentile."""
    if not result.trial.load.searches:
        return result
    steps = list(result.measurement.steps)
    steps[3] = replace(
        steps[3], usable=False, why="the hypervisor took 19 %", verdict=VerdictKind.RESOURCE_NOT_SATURATED
    )
    steps[5] = replace(steps[5], excess=None, response_ms={**steps[5].response_ms, "p99": 9e4, "p999": 9.5e4})
    steps[7] = replace(steps[7], usable=False, why="UNSTEADY", response_ms={**steps[7].response_ms, "p99": None})
    return replace(result, measurement=replace(result.measurement, steps=tuple(steps)))


@pytest.fixture(scope="module")
def run() -> StoredRun:
    plan, results = searched_results(searched_plan(2, 1), Queue(noise=0.03))
    results = [disturbed(result) for result in results]
    return StoredRun(path="r", manifest={}, plan=plan, results=tuple(results), timeseries={}, fit=None)


@pytest.mark.parametrize("width", [400, 760, 1600])
def test_the_pictures_of_searches_are_whole_at_each_width(tab: Tab, tmp_path: Path, run: StoredRun, width: int) -> None:
    shown(tab, tmp_path / "report.html", html(run), width)
    pictures = tab.value(PICTURES)
    if folder := os.environ.get("SCALE_PICTURES", ""):
        tab.value("document.querySelector(\"figure[data-name^='search-']\").scrollIntoView()")
        Path(folder, f"search-{width}.png").write_bytes(tab.picture())
    assert [one["name"] for one in pictures] == ["search-cores-1-r1", "search-cores-2-r1"]
    for one in pictures:
        steps = next(r for r in run.results if one["name"].endswith(r.trial.trial_id)).measurement.steps
        assert (one["marks"], one["outside"], one["cut"], one["covered"]) == (len(steps), 0, [], []), one["name"]
        assert one["answer"] >= 2, "the capacity and its interval"
    assert tab.value(OVERFLOW) == 0
    assert tab.requests[-1].startswith("file:") and not [url for url in tab.requests if url.startswith("http")]
