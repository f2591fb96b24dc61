"""Every dashboard in a real Grafana 11, beside running sweeps, in a browser of 1280 x 800: needs SCALE_GRAFANA_HOME.

    SCALE_GRAFANA_HOME=/opt/grafana-11.0.0 pytest tests/contract/test_grafana_pages.py

SCALE_TDENGINE_HOME=DIR has TDengine swept over cores, and not PostgreSQL; SCALE_PICTURES=DIR also writes a picture of
each page there. The disk sweep is PostgreSQL's, on capped loop devices: it needs root and fio.
"""

from __future__ import annotations

import json
import os
import re
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.contract.chromium import Tab, browser, opened_tab
from tests.integration import cli
from tests.integration.watching import dashboards_room
from tests.needs import needs

HOME = os.environ.get("SCALE_GRAFANA_HOME", "")
BOARDS = Path(__file__).resolve().parents[2] / "dashboards"
HEADERS = "[...document.querySelectorAll('[data-testid^=\"data-testid Panel header\"]')]"
LOADED = (
    f"{HEADERS}.length > 3 && !document.querySelector('[aria-label=\"Panel loading bar\"]')"
    " && !document.querySelector('.preloader')"
)
TEXTS = f"Object.fromEntries({HEADERS}.map(p => [p.dataset.testid.slice(25), p.innerText]))"
ERRORS = (
    '[...document.querySelectorAll(\'[data-testid="data-testid Panel status error"], .alert-error, '
    '[data-testid="data-testid Alert warning"]\')].map(e => e.innerText)'
)
# A trial's name in the table of the live page leads to its own page at its time.
FIRST_LINK = "document.querySelector('a[href*=\"/d/scale-trial/\"]').href"
TITLES = {
    n: [p["title"] for p in json.loads((BOARDS / f"{n}.json").read_text())["panels"] if p["type"] != "row"]
    for n in ("live", "curve", "trial")
}
pytestmark = [
    pytest.mark.skipif(not HOME or not browser(), reason="needs SCALE_GRAFANA_HOME and Chromium"),
    pytest.mark.timeout(600),
]


@dataclass(frozen=True)
class Services:
    """Addresses of both, and the room that they run in."""

    grafana: str
    prometheus: str
    room: Path

    def page(self, board: str, run: str, minutes: int = 2) -> str:
        """A dashboard at the run, its last minutes."""
        return f"{self.grafana}/d/scale-{board}/{board}?var-run={run}&from=now-{minutes}m&to=now"

    def outside(self, requests: list[str]) -> set[str]:
        """What was asked of anybody else."""
        return {url for url in requests if not url.startswith((self.grafana, "data:", "blob:", "about:"))}


@pytest.fixture(scope="module")
def services() -> Iterator[Services]:
    """Both programs in a room of the tests' own, purged afterwards."""
    with dashboards_room() as room:
        words = ("dashboards", "up", "--runtime", "process", "--json")
        up = json.loads(cli.run(*words, cwd=room.parent, SCALE_DASHBOARDS_DIR=str(room)).stdout)["services"]
        yield Services(up["grafana"]["url"], up["prometheus"]["url"], room)


def look(tab: Tab, url: str, name: str) -> dict[str, str]:
    """Each panel's text by its title, once nothing loads any more."""
    tab.size(1280, 2400)  # panels below the fold ask for data when they are seen
    tab.open(url)
    assert tab.wait(LOADED, 40), "the page did not come up"
    time.sleep(3)
    folder = os.environ.get("SCALE_PICTURES", "")
    if folder:
        tab.size(1280, 800)
        time.sleep(2)
        Path(folder, f"{name}.png").write_bytes(tab.picture())
        tab.size(1280, 2400)  # panels below the fold ask for data when they are seen
        time.sleep(2)
    assert tab.value(ERRORS) == []
    return dict(tab.value(TEXTS))


def complete(found: dict[str, str], board: str) -> None:
    """Every panel is there, and has data."""
    assert set(TITLES[board]) <= set(found), board
    assert [t for t in TITLES[board] if "No data" in found[t]] == [], board


@contextmanager
def sweeping(services: Services, cwd: Path, words: str) -> Iterator[Callable[[], None]]:
    """A sweep that the dashboards watch, beside the block. Yields what waits for its end."""
    common = "--runtime process --warmup 2s --replicates 1"
    environment = {"SCALE_DASHBOARDS_DIR": str(services.room)}
    sweep = cli.start("sweep", *f"{words} {common}".split(), cwd=cwd, **environment)

    def ended() -> None:
        _, err = sweep.communicate(timeout=300)
        assert sweep.returncode == 0, err

    try:
        yield ended
    finally:
        sweep.terminate()


def test_pages_beside_a_running_sweep_of_cores(services: Services, tmp_path: Path) -> None:
    home = os.environ.get("SCALE_TDENGINE_HOME", "")
    target = f"tdengine --home {home}" if home else "postgres"
    words = f"cpu --target {target} --cores 0.25,0.5,0.75,1 --duration 12s --drift-check off"
    with sweeping(services, tmp_path, words) as ended:
        run = wait_for_trials(services.prometheus, 2)
        with opened_tab() as tab:
            live = look(tab, services.page("live", run), "live")
            complete(live, "live")
            complete(look(tab, tab.value(FIRST_LINK), "trial"), "trial")
            requests = list(tab.requests)
        ended()
        with opened_tab() as tab:
            complete(look(tab, services.page("curve", run, minutes=9), "curve"), "curve")
            requests += tab.requests
    assert not services.outside(requests)
    assert re.search(r"Server's cores\s+\d+\s*%", live["What is the bottleneck?"]), live
    assert_same_rates(live["Trials that ended"], tmp_path, run)


@needs("root", "fio")
def test_pages_beside_a_running_sweep_of_disks(services: Services, tmp_path: Path) -> None:
    words = (
        "disk --target postgres --disks 1..2 --loop 1GiB --cap 20MiB/s --duration 20s"
        " --columns d:double,n:bigint,s:binary(400) --text random --rows-per-request 500"
    )
    with sweeping(services, tmp_path, words) as ended:
        run = wait_for_trials(services.prometheus, 1, " and on (run) scale_run_info{axis='disks'}")
        with opened_tab() as tab:
            live = look(tab, services.page("live", run), "disks")
            trial = look(tab, services.page("trial", run), "disks-trial")
        ended()
        with opened_tab() as tab:
            complete(look(tab, services.page("curve", run), "disks-curve"), "curve")
    complete(live, "live")
    complete(trial, "trial")
    share = re.search(r"Busiest disk, of its fio limit\s+(\d+)\s*%", live["What is the bottleneck?"])
    assert share and 30 < int(share[1]) < 130, live["What is the bottleneck?"]
    for page in (live, trial):
        limits = re.findall(r"d\d limit", page["Disks"])
        assert limits in (["d1 limit", "d2 limit"], ["d1 limit"]), page["Disks"]


SHORT = "--cores 0.25,0.5,1 --connections-check off --duration 12s --drift-check off --window-max 0"


def test_pages_beside_a_running_sweep_of_a_mix(services: Services, tmp_path: Path) -> None:
    mix = "--mix write=4,latest=1,range=1 --preload 100k --step-ms 10000 --tables 50"
    with sweeping(services, tmp_path, f"cpu --target postgres {SHORT} {mix}") as ended:
        run = wait_for_trials(services.prometheus, 2)
        with opened_tab() as tab:
            live = look(tab, services.page("live", run), "mix")
        ended()
        with opened_tab() as tab:
            curve = look(tab, services.page("curve", run, minutes=9), "mix-curve")
    complete(live, "live")
    for name in ("write", "latest", "range"):  # a percentile each second takes a faster machine
        assert name in live["Requests by operation"] and name in curve["Operations"], curve
    row = r"latest(?: †)?\n0.25\n[\d.]+( k)?\n[\d.]+ [mµ]?s\n(–|[\d.]+ [mµ]?s)\n"  # a dash: too few requests for a percentile
    assert re.search(row, curve["Operations"]), curve["Operations"]
    assert re.search("highest (rejected )?trial", curve["Throughput"]), curve


def test_pages_of_a_sweep_of_two_targets(services: Services, tmp_path: Path) -> None:
    with sweeping(services, tmp_path, f"cpu --target postgres,null {SHORT}") as ended:
        run = wait_for_trials(services.prometheus, 2)
        ended()
        with opened_tab() as tab:
            curve = look(tab, services.page("curve", run, minutes=9), "targets-curve")
    for title in (
        title for title in TITLES["curve"] if title.endswith("each") or title == "Per server core"
    ):  # there is no server of null, so no cores of it
        assert "postgres" in curve[title] and ("null" in curve[title] or title == "Per server core"), curve[title]
    assert "No data" not in curve["Throughput"]


def wait_for_trials(prometheus: str, count: int, more: str = "") -> str:
    """The run, when so many of its trials have ended and another has been under load for some seconds."""
    deadline = time.monotonic() + 300
    ended = f"sum by (run) (scale_run_finished_trials_total) >= {count}"
    query = f"scale_achieved_rows_per_second and on (run) ({ended}){more}"
    while time.monotonic() < deadline:
        with urllib.request.urlopen(f"{prometheus}/api/v1/query?query={urllib.parse.quote(query)}") as answer:
            found = json.load(answer)["data"]["result"]
        if found:
            time.sleep(8)
            return str(found[0]["metric"]["run"])
        time.sleep(0.5)
    raise TimeoutError("no trial ended")


def assert_same_rates(table: str, cwd: Path, run: str) -> None:
    """What the page shows of a trial is what the terminal shows of it: `scale show` reads the same stored figures."""
    shown = re.findall(r"(cores-\S+)\n[\d.]+\n[A-Z_]+\n([\d.]+) ([kM])", table)
    assert len(shown) >= 2, table
    for trial, figure, prefix in shown:
        stored = json.loads((cwd / "results" / run / "trials" / trial / "trial.json").read_text())
        rows = float(figure) * {"k": 1e3, "M": 1e6}[prefix]
        assert rows == pytest.approx(stored["measurement"]["rows_per_s"], rel=0.01)
