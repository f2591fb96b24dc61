"""The page in a real browser, without a network."""

import csv
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import VerdictKind
from scale_sweep.report import html
from scale_sweep.report.documents import documents
from scale_sweep.report.noise import noise_sentences
from scale_sweep.report.site import site
from scale_sweep.report.style import _DARK, _LIGHT
from scale_sweep.report.svg import marker
from tests.needs import missing
from tests.unit.observing import fit_curve
from tests.unit.synthetic_run import mixed_run, synthetic_run
from tests.unit.web_server import Answer, web_server

REFERENCE = Path(__file__).resolve().parents[2] / "results" / "reference" / "tdengine-cpu.csv"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def browser() -> str:
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return found or missing("chromium is missing: apt-get install chromium")


FLAGS = ("headless", "no-sandbox", "disable-gpu", "no-first-run", "disable-sync", "disable-component-update")


def run_browser(page: Path, profile: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Headless, with every address but files sent nowhere, so that a page that fetches would show it."""
    flags = [f"--{flag}" for flag in (*FLAGS, "disable-background-networking")]
    places = [f"--user-data-dir={profile}", "--host-resolver-rules=MAP * ~NOTFOUND"]
    command = [browser(), *flags, *places, *arguments, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def drawn(folder: Path, text: str, probe: str, *arguments: str) -> tuple[str, dict[str, str]]:
    """The page as it is drawn, and what a script wrote into the data of its root."""
    script = f'<script>addEventListener("load",()=>{{const d=document.documentElement;{probe}}})</script>'
    path = folder / "report.html"
    path.write_text(text.replace("</body>", f"{script}</body>"), encoding="utf-8")
    done = run_browser(path, folder / "profile", *arguments, "--dump-dom")
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout, dict(re.findall(r'data-(\w+)="([^"]*)"', done.stdout.split("<head>")[0]))


FETCHED = """d.dataset.fetched=performance.getEntriesByType("resource").length;
d.dataset.overflow=d.scrollWidth-d.clientWidth;"""
PICTURES = """const seen=[...document.querySelectorAll("svg.plot")].filter(s=>s.getBoundingClientRect().width>0);
d.dataset.svgs=seen.length"""


@pytest.mark.parametrize("width", [500, 1000, 1600])
def test_page_renders_without_a_network(tmp_path: Path, width: int) -> None:
    with REFERENCE.open(encoding="utf-8") as file:
        text = html(mixed_run(), list(csv.DictReader(file)))
    dom, found = drawn(tmp_path, text, FETCHED + PICTURES, f"--window-size={width},900")
    assert re.search(r"<title>postgres 16[.\d]*: 1 → 4 cores, in doubt</title>", dom)
    assert "Write speed" in dom and "Before you believe" in dom
    shown = 4 * 11 + 3  # panels with a value, the curve once (the other width is hidden), residuals, speedup
    assert found == {"fetched": "0", "overflow": "0", "svgs": str(shown)}


CURVES = """const form=document.getElementById("filters");
const drawn=()=>document.querySelectorAll("#drawing polyline").length;
d.dataset.first=drawn();
document.querySelectorAll("input[data-curve]").forEach(box=>{if(!box.checked)box.click()});
d.dataset.all=drawn();
form.elements.show.value="speedup";form.elements.show.dispatchEvent(new Event("change"));
d.dataset.speedup=document.querySelector("#drawing svg").getAttribute("aria-label").includes("speedup");
const names=[...form.elements.version.options].map(o=>o.value);
form.elements.version.value=names[1];form.elements.version.dispatchEvent(new Event("change"));
d.dataset.rows=document.querySelectorAll("tbody tr:not([hidden])").length;"""


@pytest.mark.parametrize("width", [500, 1000])
def test_the_index_of_a_site_draws_and_filters_without_a_network(tmp_path: Path, width: int) -> None:
    first = mixed_run()
    results = tuple(replace(r, effective={**r.effective, "server_version": "otherdb 7"}) for r in first.results)
    other = replace(first, path="results/20260102T030405Z-second-1a2b3c", results=results)
    pages = dict(site(iter([first, other]), "Curves"))
    _, found = drawn(tmp_path, pages["index.html"], FETCHED + CURVES, f"--window-size={width},900")
    counted = {"fetched": "0", "overflow": "0", "first": "1", "all": "2", "rows": "1"}  # first: the newest of each
    assert found == counted | {"speedup": "true"}


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
    picture = page[page.index('<div class="wide">') : page.index('<div class="narrow">')]
    return picture, re.search(r"<figcaption>(.*?)</figcaption>", page)[1]


def test_the_legend_counts_the_trials_that_are_drawn(wording):
    picture, caption = said_of_curve(with_drift_check(synthetic_run((1, 2), 3)))
    assert "(6)" in picture
    assert picture.count('class="m valid"') == 6 + marker(0, 0, VerdictKind.VALID).count('class="m valid"')
    wording(re.sub("<[^>]*>", "", caption))
    none_valid = {(n, r): VerdictKind.UNSTEADY for n in (1.0, 2.0) for r in (1, 2)}
    for run in (synthetic_run(), synthetic_run((1, 2), 2, verdicts=none_valid)):
        picture, caption = said_of_curve(run)
        assert ('class="band"' in picture) is ("The band" in caption) is (len(run.results) > 4)


def test_a_drift_check_in_too_much_noise_does_not_say_that_nothing_drifted(wording):
    unsteady = {(1.0, number): VerdictKind.UNSTEADY for number in (1, 2, 3)}
    quiet = with_drift_check(synthetic_run((1,), 2, noise=0.001))
    loud = with_drift_check(synthetic_run((1,), 2, noise=0.8, seed=1), 1.14)
    alone = with_drift_check(synthetic_run((1,), 3, verdicts=unsteady))
    for run in (quiet, loud, alone):
        (said,) = (s for s in noise_sentences(run) if "at the end" in s)
        wording(said)


@pytest.mark.parametrize("kind", [VerdictKind.RESOURCE_NOT_SATURATED, VerdictKind.GENERATOR_BOUND])
def test_the_tables_fit_a_page_of_1120_pixels(tmp_path, kind):
    run = synthetic_run((0.5, 0.75), 2, verdicts={(0.5, 1): kind, (0.75, 2): kind}, gamma=4.1e8)
    wide = with_drift_check(run)
    fields = {"response_ms_p50": 0.00004, "response_ms_p95": 0.00011, "response_ms_p99": 0.00023}
    results = [replace(r, measurement=replace(r.measurement, **fields)) for r in wide.results]
    page = documents(replace(wide, results=tuple(results))).pages["report.html"]
    probe = """const all=[...document.querySelectorAll(".scroll")];d.dataset.all=all.length;
    d.dataset.cut=all.filter(s=>s.scrollWidth>s.clientWidth).map(s=>s.getAttribute("aria-label")).join()"""
    _, found = drawn(tmp_path, page, probe, "--window-size=1120,900")
    assert int(found["all"]) > 4 and found["cut"] == ""


NUMBERS_ONLY = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
BROWSERS_OWN = ("google.com", "googleapis.com", "gstatic.com", "gvt1.com")


def pages_own(asked: list[str]) -> list[str]:
    hosts = [re.sub(r"^\w+://", "", path).split("/")[0].split(":")[0] for path in asked]
    return [host for host in hosts if not host.endswith(BROWSERS_OWN)]


CONTROL = '<img src="http://control.invalid/x.png">'  # shows that the proxy would see it


@pytest.mark.parametrize(("extra", "seen"), [("", []), (CONTROL, ["control.invalid"])])
def test_the_page_asks_nobody_for_anything(tmp_path, extra, seen):
    with web_server(lambda request: Answer(404)) as proxy:
        through = f"--proxy-server=127.0.0.1:{proxy.port}"
        drawn(tmp_path, html(mixed_run()).replace("</body>", f"{extra}</body>"), "", through, NUMBERS_ONLY)
    assert pages_own([request.path for request in proxy.requests]) == seen


READER = """document.querySelectorAll("details").forEach(d=>{d.open=true});
const areas=[...document.querySelectorAll(".scroll")], tables=[...document.querySelectorAll("table")];
const focusable=areas.filter(a=>{a.focus();return document.activeElement===a});
const wide=areas.filter(a=>a.scrollWidth>a.clientWidth);
const scrolled=wide.filter(a=>{a.scrollBy(40,0);return a.scrollLeft>0});
const bare=tables.filter(t=>!t.caption||!t.caption.textContent.trim()||!t.closest("[role=region][aria-label]"));
const odd=[...document.querySelectorAll("th")].filter(t=>!["col","row"].includes(t.getAttribute("scope")));
const rowless=[...document.querySelectorAll("tbody tr")].filter(r=>!r.querySelector("th,td.why"));
const plots=[...document.querySelectorAll("svg.plot")];
const dumb=plots.filter(s=>s.getAttribute("role")!=="img"||!s.getAttribute("aria-label"));
Object.assign(d.dataset,{areas:areas.length,tables:tables.length,focusable:focusable.length,
wide:wide.length,scrolled:scrolled.length,bare:bare.length,odd:odd.length,rowless:rowless.length,dumb:dumb.length,
paper:getComputedStyle(document.body).backgroundColor})"""


def test_tables_by_keyboard_and_read_aloud(tmp_path):
    _, found = drawn(tmp_path, html(mixed_run()), READER, "--window-size=500,900")
    assert int(found["tables"]) > 5 and found["areas"] == found["tables"] == found["focusable"]
    assert int(found["wide"]) > 0 and found["wide"] == found["scrolled"]
    assert [found[name] for name in ("bare", "odd", "rowless", "dumb")] == ["0"] * 4


def colours(css: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+):(#[0-9a-f]+)", css))


@pytest.mark.parametrize(("scheme", "css"), [(1, _LIGHT), (0, _DARK)])
def test_light_and_dark_follow_the_reader(tmp_path, scheme, css):
    _, found = drawn(tmp_path, html(mixed_run()), READER, f"--blink-settings=preferredColorScheme={scheme}")
    assert found["paper"] == f"rgb{rgb(colours(css)['paper'])}"


def rgb(colour: str) -> tuple[int, ...]:
    digits = colour[1:] if len(colour) == 7 else "".join(c * 2 for c in colour[1:])
    return tuple(int(digits[at : at + 2], 16) for at in (0, 2, 4))


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb(colour))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("css", [_LIGHT, _DARK], ids=["light", "dark"])
def test_words_and_lines_stand_out_from_their_ground(css):
    found, words = colours(css), ("ink", "soft", "green", "orange")
    pairs = [(text, ground, 4.5) for text in words for ground in ("paper", "raised", "warn")]
    pairs += [(line, "paper", 3) for line in ("blue", "orange", "green", "purple")]
    assert [pair for pair in pairs if contrast(found[pair[0]], found[pair[1]]) < pair[2]] == []
