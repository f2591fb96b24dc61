"""The page in a real browser, without a network."""

import csv
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.report import html
from scale_sweep.report.site import site
from tests.needs import missing
from tests.unit.synthetic_run import mixed_run

REFERENCE = Path(__file__).resolve().parents[2] / "results" / "reference" / "tdengine-cpu.csv"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def browser() -> str:
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return found or missing("chromium is missing: apt-get install chromium")


def run_browser(page: Path, profile: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Headless, with every address but files sent nowhere, so that a page that fetches would show it."""
    return subprocess.run(
        [
            browser(),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            f"--user-data-dir={profile}",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            *arguments,
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def page(tmp_path: Path) -> Path:
    with REFERENCE.open(encoding="utf-8") as file:
        text = html(mixed_run(), list(csv.DictReader(file)))
    # Two probes after the page itself: what was fetched, and whether the page is wider than the window.
    probe = """<script>addEventListener("load",()=>{const d=document.documentElement;
    d.dataset.fetched=performance.getEntriesByType("resource").length;
    d.dataset.overflow=d.scrollWidth-d.clientWidth;
    const seen=[...document.querySelectorAll("svg.plot")].filter(s=>s.getBoundingClientRect().width>0);
    d.dataset.svgs=seen.length})</script>"""
    path = tmp_path / "report.html"
    path.write_text(text.replace("</body>", probe + "</body>"), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [420, 1000, 1600])
def test_page_renders_without_a_network(page: Path, tmp_path: Path, width: int) -> None:
    done = run_browser(page, tmp_path / "profile", f"--window-size={max(width, 500)},900", "--dump-dom")
    assert done.returncode == 0, done.stderr[-2000:]
    dom = done.stdout
    assert re.search(r"<title>postgres 16[.\d]*: 1 → 4 cores, in doubt</title>", dom)
    assert '<th scope="col">Write speed (rows/s)</th>' in dom
    assert "Before you believe it" in dom
    assert 'data-fetched="0"' in dom
    assert 'data-overflow="0"' in dom
    drawn = int(dom.split('data-svgs="')[1].split('"')[0])
    assert drawn == 4 * 11 + 3  # panels with a value, the curve once (the other width is hidden), residuals, speedup


def test_page_can_be_photographed(page: Path, tmp_path: Path) -> None:
    picture = tmp_path / "page.png"
    run_browser(page, tmp_path / "profile", "--window-size=1000,1400", f"--screenshot={picture}")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 50_000


PROBE = """<script>addEventListener("load",()=>{
const d=document.documentElement, form=document.getElementById("filters");
const drawn=()=>document.querySelectorAll("#drawing polyline").length;
d.dataset.fetched=performance.getEntriesByType("resource").length;
d.dataset.overflow=d.scrollWidth-d.clientWidth;
d.dataset.first=drawn();
document.querySelectorAll("input[data-curve]").forEach(box=>{if(!box.checked)box.click()});
d.dataset.all=drawn();
form.elements.show.value="speedup";form.elements.show.dispatchEvent(new Event("change"));
d.dataset.speedup=document.querySelector("#drawing svg").getAttribute("aria-label");
const names=[...form.elements.version.options].map(o=>o.value);
form.elements.version.value=names[1];form.elements.version.dispatchEvent(new Event("change"));
d.dataset.rows=document.querySelectorAll("tbody tr:not([hidden])").length;
})</script>"""


def test_the_index_of_a_site_draws_and_filters_without_a_network(tmp_path: Path) -> None:
    other = mixed_run()
    other = replace(
        other,
        path="results/20260102T030405Z-second-1a2b3c",
        results=tuple(replace(r, effective={**r.effective, "server_version": "otherdb 7"}) for r in other.results),
    )
    runs = [mixed_run(), other]
    pages = dict(site(iter(runs), "Curves"))
    page = tmp_path / "index.html"
    page.write_text(pages["index.html"].replace("</body>", PROBE + "</body>"), encoding="utf-8")
    for width in (500, 1000):
        done = run_browser(page, tmp_path / "profile", f"--window-size={width},900", "--dump-dom")
        assert 'data-fetched="0"' in done.stdout, done.stderr[-2000:]
        assert 'data-overflow="0"' in done.stdout
        assert 'data-first="1"' in done.stdout  # the newest of each database
        assert 'data-all="2"' in done.stdout
        assert 'data-speedup="The chosen curves: speedup over cores"' in done.stdout
        assert 'data-rows="1"' in done.stdout
