"""The page in a real browser, used by a person: a point shows its figures, a click selects its trial, pictures are
saved, paper has everything that is folded, and a narrow screen has no sideways scrolling."""

import base64
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import VerdictKind
from scale_sweep.report import html
from tests.contract.chromium import Tab, opened_tab
from tests.unit.searched_run import Queue, searched_plan, searched_results
from tests.unit.synthetic_run import mixed_run, on_shared_cpus, synthetic_run
from tests.unit.test_report_browser import browser

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "postgres-cores.html"  # of two levels
LOADED = "document.readyState === 'complete' && document.documentElement.classList.contains('live')"
POINT = "[...document.querySelectorAll('.wide svg.plot .m[data-trial]')]"


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    browser()  # fails or skips without one
    with opened_tab() as opened:
        yield opened


def shown(tab: Tab, path: Path, page: str, width: int = 1040) -> None:
    path.write_text(page, encoding="utf-8")
    tab.size(width, 900)
    tab.open(path.as_uri())
    assert tab.wait(LOADED, 20)


def place_of(tab: Tab, expression: str) -> tuple[float, float]:
    tab.value(f"{expression}.scrollIntoView({{block: 'center'}})")
    box = tab.value(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({expression}.getBoundingClientRect())")
    return box[0], box[1]


def mouse(tab: Tab, kind: str, x: float, y: float) -> None:
    tab.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


def hovered(tab: Tab, expression: str) -> tuple[float, float]:
    """The place of an element whose tip is shown. On a busy machine the page may still move below the mouse."""
    for _ in range(20):
        x, y = place_of(tab, expression)
        mouse(tab, "mouseMoved", x, y)
        if tab.wait("document.querySelector('.tip:not([hidden])') !== null", 0.5):
            break
        mouse(tab, "mouseMoved", 1, 1)
    return x, y


def test_a_point_shows_its_figures_and_a_click_selects_its_trial(tab: Tab, tmp_path: Path) -> None:
    shown(tab, tmp_path / "report.html", html(mixed_run()))
    x, y = hovered(tab, f"{POINT}.find(p => p.dataset.tip.startsWith('cores-4-r2:'))")
    tip = tab.value("document.querySelector('.tip:not([hidden])').textContent")
    pattern = r"cores-4-r2: [\d.]+ M rows/s\nVALID.*\nserver: 3.88 of 4 cores\nresponse: .*"
    assert re.fullmatch(pattern, tip), tip
    for kind in ("mousePressed", "mouseReleased"):
        mouse(tab, kind, x, y)
    assert tab.wait("document.querySelectorAll('tr.chosen').length > 0", 5)
    name = tab.value("document.querySelector('tr.chosen').id")
    assert tab.value(f"document.querySelector('#{name} th').textContent") == "cores-4-r2"
    drawn = tab.value("document.querySelector('.trial.chosen').dataset.trial")
    assert tab.value("document.activeElement.id") == drawn == name
    tab.value(f"document.querySelector('#{name} td').click()")
    assert tab.value("document.querySelectorAll('.chosen').length") == 0


def test_pictures_are_saved_as_data_and_as_drawings(tab: Tab, tmp_path: Path) -> None:
    shown(tab, tmp_path / "report.html", html(on_shared_cpus(synthetic_run((1, 2), 3))))
    link = tab.value("document.querySelector('figure[data-name=curve] .save a').href")
    rows = base64.b64decode(link.partition("base64,")[2]).decode().splitlines()
    assert rows[0] == "trial,cores,replicate,rows_per_s,verdict,is_fitted" and len(rows) == 1 + 6
    saved = tmp_path / "saved"
    tab.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(saved))
    for kind, begin in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        tab.value(f"document.querySelector('figure[data-name=curve] button[aria-label$={kind}]').click()")
        file = saved / f"curve.{kind.lower()}"
        for _ in range(100):
            if file.exists() and file.stat().st_size:
                break
            tab.wait("false", 0.1)
        assert file.read_bytes().startswith(begin)
    drawing = (saved / "curve.svg").read_text(encoding="utf-8")
    assert "<style" in drawing and drawing.count("<title>cores-") == 6 and "data-tip" not in drawing


@pytest.mark.parametrize(("made", "most"), [("now", 4), ("published", 5)])  # which has a bottleneck and a check
def test_paper_has_what_is_folded_on_few_pages(tab: Tab, tmp_path: Path, made: str, most: int) -> None:
    published = EXAMPLE.read_text(encoding="utf-8") if made == "published" else ""
    shown(tab, tmp_path / "report.html", published or html(on_shared_cpus(synthetic_run((1, 2), 7))))
    printed = base64.b64decode(tab.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"])
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= most
    tab.call("Emulation.setEmulatedMedia", media="print")
    tab.size(703, 1031)  # a page of A4 within its margins
    try:
        end = tab.value("document.querySelector('figure[data-name=curve]').getBoundingClientRect().bottom + scrollY")
        models = tab.value("document.querySelector('#fit details.fold table').getBoundingClientRect().height")
    finally:
        tab.call("Emulation.setEmulatedMedia", media="")
    assert end < 1031 and models > 50  # the curve is on the first page, and the models are open


def test_a_page_is_as_wide_as_a_phone_and_does_not_break_the_flag_of_a_command(tab: Tab, tmp_path: Path) -> None:
    shown(tab, tmp_path / "report.html", EXAMPLE.read_text(encoding="utf-8"), 390)
    flags = "[...document.querySelectorAll('.cautions .flag')]"
    assert "--quick" in tab.value(f"{flags}.map(flag => flag.textContent)")
    assert set(tab.value(f"{flags}.map(flag => flag.getClientRects().length)")) == {1}
    shown(tab, tmp_path / "report.html", html(mixed_run()), 390)
    assert tab.value("document.documentElement.scrollWidth") == 390


def test_a_page_of_a_hundred_trials_stays_below_600_kb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.unit.synthetic_run.WINDOW_S", 40.0)
    assert len(html(synthetic_run(tuple(range(1, 11)), 10)).encode()) < 600_000


# The texts whose contrast with the nearest ground that is painted below them is under 4.5, as WCAG 2 computes it.
DIM_TEXTS = """(() => {
  const parts = c => (c.match(/[\\d.]+/g) || []).map(Number);
  const light = c => parts(c).slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = e => {
    for (let at = e; at; at = at.parentElement) {
      const painted = getComputedStyle(at).backgroundColor;
      if (parts(painted)[3] !== 0) return painted;
    }
    return 'rgb(255,255,255)';
  };
  const shown = [...document.querySelectorAll('body *')].filter(e => e.checkVisibility()
    && [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()));
  const dim = shown.filter(e => {
    const style = getComputedStyle(e);
    const two = [light(e.closest('svg') ? style.fill : style.color), light(ground(e))].sort((a, b) => b - a);
    return (two[0] + 0.05) / (two[1] + 0.05) < 4.5;
  });
  return [shown.length, ...dim.map(e => e.tagName + ' ' + e.textContent.trim().slice(0, 40))];
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_of_the_page_stands_out_in_both_themes(tab: Tab, tmp_path: Path, scheme: str) -> None:
    tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    try:
        shown(tab, tmp_path / "report.html", html(mixed_run()))
        count, *dim = tab.value(DIM_TEXTS)
    finally:
        tab.call("Emulation.setEmulatedMedia", features=[])
    assert count > 200 and dim == []


@pytest.mark.parametrize("width", [390, 1040, 1280])
def test_the_figures_at_the_top_fit_into_their_tiles(tab: Tab, tmp_path: Path, width: int) -> None:
    shown(tab, tmp_path / "report.html", html(synthetic_run((1, 2, 4), 3)), width)
    wide = "[...document.querySelectorAll('.tile')].filter(t => t.scrollWidth > t.clientWidth).map(t => t.innerText)"
    assert tab.value(wide) == []


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
def searches() -> StoredRun:
    plan, results = searched_results(searched_plan(2, 1), Queue(noise=0.03))
    results = [disturbed(result) for result in results]
    return StoredRun(path="r", manifest={}, plan=plan, results=tuple(results), timeseries={}, fit=None)


@pytest.mark.parametrize("width", [400, 760, 1600])
def test_the_pictures_of_searches_are_whole_at_each_width(
    tab: Tab, tmp_path: Path, searches: StoredRun, width: int
) -> None:
    shown(tab, tmp_path / "report.html", html(searches), width)
    pictures = tab.value(PICTURES)
    if folder := os.environ.get("SCALE_PICTURES", ""):
        tab.value("document.querySelector(\"figure[data-name^='search-']\").scrollIntoView()")
        Path(folder, f"search-{width}.png").write_bytes(tab.picture())
    assert [one["name"] for one in pictures] == ["search-cores-1-r1", "search-cores-2-r1"]
    for one in pictures:
        steps = next(r for r in searches.results if one["name"].endswith(r.trial.trial_id)).measurement.steps
        assert (one["marks"], one["outside"], one["cut"], one["covered"]) == (len(steps), 0, [], []), one["name"]
        assert one["answer"] >= 2  # the capacity and its interval
    assert tab.value(OVERFLOW) == 0
    assert tab.requests[-1].startswith("file:") and not [url for url in tab.requests if url.startswith("http")]
