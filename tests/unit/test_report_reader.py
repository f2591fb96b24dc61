"""The page for every reader, in a real browser: nothing asked of the network, tables by keyboard and read aloud, light
and dark as the reader has it, and enough contrast in both."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from scale_sweep.report import html
from scale_sweep.report.style import _DARK, _LIGHT
from tests.unit.synthetic_run import mixed_run
from tests.unit.test_report_browser import run_browser
from tests.unit.web_server import Answer, WebServer, web_server

NUMBERS_ONLY = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
BROWSERS_OWN = ("google.com", "googleapis.com", "gstatic.com", "gvt1.com")


@pytest.fixture
def proxy() -> Iterator[WebServer]:
    """Finds nothing; for a browser."""
    with web_server(lambda request: Answer(404)) as server:
        yield server


def pages_own(asked: list[str]) -> list[str]:
    hosts = [re.sub(r"^\w+://", "", path).split("/")[0].split(":")[0] for path in asked]
    return [host for host in hosts if not host.endswith(BROWSERS_OWN)]


CONTROL = '<img src="http://control.invalid/x.png">'  # shows that the proxy would see it


@pytest.mark.parametrize(("extra", "seen"), [("", []), (CONTROL, ["control.invalid"])])
def test_the_page_asks_nobody_for_anything(tmp_path, proxy, extra, seen):
    path = tmp_path / "report.html"
    path.write_text(html(mixed_run()).replace("</body>", f"{extra}</body>"), encoding="utf-8")
    through = f"--proxy-server=127.0.0.1:{proxy.port}"
    done = run_browser(path, tmp_path / "profile", through, NUMBERS_ONLY, "--dump-dom")
    assert done.returncode == 0, done.stderr[-2000:]
    assert pages_own([request.path for request in proxy.requests]) == seen


PROBE = """<script>addEventListener("load",()=>{
document.querySelectorAll("details").forEach(d=>{d.open=true});
const areas=[...document.querySelectorAll(".scroll")], tables=[...document.querySelectorAll("table")];
const focusable=areas.filter(a=>{a.focus();return document.activeElement===a});
const wide=areas.filter(a=>a.scrollWidth>a.clientWidth);
const scrolled=wide.filter(a=>{a.scrollBy(40,0);return a.scrollLeft>0});
const bare=tables.filter(t=>!t.caption||!t.caption.textContent.trim()||!t.closest("[role=region][aria-label]"));
const odd=[...document.querySelectorAll("th")].filter(t=>!["col","row"].includes(t.getAttribute("scope")));
const rowless=[...document.querySelectorAll("tbody tr")].filter(r=>!r.querySelector("th,td.why"));
const plots=[...document.querySelectorAll("svg.plot")];
const dumb=plots.filter(s=>s.getAttribute("role")!=="img"||!s.getAttribute("aria-label"));
Object.assign(document.documentElement.dataset,{areas:areas.length,tables:tables.length,focusable:focusable.length,
wide:wide.length,scrolled:scrolled.length,bare:bare.length,odd:odd.length,rowless:rowless.length,dumb:dumb.length,
paper:getComputedStyle(document.body).backgroundColor})})</script>"""


def probed(tmp_path: Path, *arguments: str) -> dict[str, str]:
    path = tmp_path / "report.html"
    path.write_text(html(mixed_run()).replace("</body>", PROBE + "</body>"), encoding="utf-8")
    dom = run_browser(path, tmp_path / "profile", *arguments, "--dump-dom").stdout
    return dict(re.findall(r'data-(\w+)="([^"]*)"', dom.split("<head>")[0]))


def test_tables_by_keyboard_and_read_aloud(tmp_path):
    found = probed(tmp_path, "--window-size=500,900")
    assert int(found["tables"]) > 5
    assert found["areas"] == found["tables"] == found["focusable"]
    assert int(found["wide"]) > 0
    assert found["wide"] == found["scrolled"]
    assert [found[name] for name in ("bare", "odd", "rowless", "dumb")] == ["0"] * 4


def colours(css: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+):(#[0-9a-f]+)", css))


def test_light_and_dark_follow_the_reader(tmp_path):
    papers = [probed(tmp_path, f"--blink-settings=preferredColorScheme={scheme}")["paper"] for scheme in (1, 0)]
    assert papers == [f"rgb{rgb(colours(css)['paper'])}" for css in (_LIGHT, _DARK)]


def rgb(colour: str) -> tuple[int, ...]:
    digits = colour[1:] if len(colour) == 7 else "".join(c * 2 for c in colour[1:])
    return tuple(int(digits[at : at + 2], 16) for at in (0, 2, 4))


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb(colour))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("css", [_LIGHT, _DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["paper", "raised", "warn"])
@pytest.mark.parametrize("text", ["ink", "soft", "green", "orange"])
def test_words_stand_out_from_their_ground(css, ground, text):
    found = colours(css)
    assert contrast(found[text], found[ground]) >= 4.5


@pytest.mark.parametrize("css", [_LIGHT, _DARK], ids=["light", "dark"])
@pytest.mark.parametrize("line", ["blue", "orange", "green", "purple"])
def test_lines_stand_out_from_the_paper(css, line):
    assert contrast(colours(css)[line], colours(css)["paper"]) >= 3
