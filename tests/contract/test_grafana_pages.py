"""Every dashboard in a real Grafana 11, beside a running sweep, in a browser of 1280 x 800: needs SCALE_GRAFANA_HOME.

    SCALE_GRAFANA_HOME=/opt/grafana-11.0.0 pytest tests/contract/test_grafana_pages.py

SCALE_PICTURES=DIR also writes a picture of each page there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.chromium import Tab, browser, opened_tab
from tests.integration import cli

HOME = os.environ.get("SCALE_GRAFANA_HOME", "")
BOARDS = Path(__file__).resolve().parents[2] / "dashboards"
HEADERS = "[...document.querySelectorAll('[data-testid^=\"data-testid Panel header\"]')]"
LOADED = (f"{HEADERS}.length > 3 && !document.querySelector('[aria-label=\"Panel loading bar\"]')"
          " && !document.querySelector('.preloader')")  # fmt: skip
TEXTS = f"Object.fromEntries({HEADERS}.map(p => [p.dataset.testid.slice(25), p.innerText]))"
ERRORS = ("[...document.querySelectorAll('[data-testid=\"data-testid Panel status error\"], .alert-error, "
          "[data-testid=\"data-testid Alert warning\"]')].map(e => e.innerText)")  # fmt: skip
TITLES = {n: [p["title"] for p in json.loads((BOARDS / f"{n}.json").read_text())["panels"]]
          for n in ("live", "curve", "trial")}  # fmt: skip
pytestmark = pytest.mark.skipif(not HOME or not browser(), reason="needs SCALE_GRAFANA_HOME and Chromium")


@pytest.fixture(scope="module")
def room() -> Iterator[Path]:
    """A room of the tests' own, purged afterwards."""
    parent = Path(tempfile.mkdtemp(dir="/var/tmp", prefix="scale-test-grafana-"))
    parent.chmod(0o755)
    yield parent / "room"
    cli.run("dashboards", "down", "--purge", cwd=parent, SCALE_DASHBOARDS_DIR=str(parent / "room"))
    shutil.rmtree(parent)


def page_of(base: str, board: str, run: str) -> str:
    """A dashboard at the run, its last two minutes."""
    return f"{base}/d/scale-{board}/{board}?var-run={run}&from=now-2m&to=now"


def look(tab: Tab, url: str, name: str) -> dict[str, str]:
    """Each panel's text by its title, once nothing loads any more."""
    tab.size(1280, 1100 if name == "trial" else 800)
    tab.open(url)
    assert tab.wait(LOADED, 40), "the page did not come up"
    time.sleep(3)
    folder = os.environ.get("SCALE_PICTURES", "")
    if folder:
        tab.size(1280, 800)
        time.sleep(1)
        Path(folder, f"{name}.png").write_bytes(tab.picture())
        tab.size(1280, 1100)
        time.sleep(2)
    assert tab.value(ERRORS) == []
    return dict(tab.value(TEXTS))


def test_pages_beside_a_running_sweep(room: Path, tmp_path: Path) -> None:
    where = {"SCALE_DASHBOARDS_DIR": str(room)}
    up = cli.run("dashboards", "up", "--runtime", "process", "--json", cwd=tmp_path, **where)
    services = json.loads(up.stdout)["services"]
    base, prometheus = services["grafana"]["url"], services["prometheus"]["url"]
    sweep = cli.start("sweep", "cpu", "--target", "postgres", "--runtime", "process", "--cores", "0.3,0.4,0.5",
                      "--duration", "25s", "--warmup", "2s", "--replicates", "1", "--anchors", "off",
                      "--rows-per-request", "200", cwd=tmp_path, **where)  # fmt: skip
    try:
        run = wait_for_trials(prometheus, 1)
        with opened_tab() as tab:
            found = {board: look(tab, page_of(base, board, run), board) for board in ("live", "trial")}
            requests = list(tab.requests)
        out, err = sweep.communicate(timeout=180)
        assert sweep.returncode == 0, err
        with opened_tab() as tab:
            found["curve"] = look(tab, page_of(base, "curve", run), "curve")
            requests += tab.requests
    finally:
        sweep.terminate()
    for board, titles in TITLES.items():
        assert set(titles) <= set(found[board]), board
        assert [t for t in titles if "No data" in found[board][t]] == [], board
    outside = {url for url in requests if not url.startswith((base, "data:", "blob:", "about:"))}
    assert not outside
    assert_same_rates(found["live"]["Trials that ended"], tmp_path, run)


def wait_for_trials(prometheus: str, count: int) -> str:
    """The run, when so many of its trials have ended and another is under load."""
    deadline = time.monotonic() + 120
    ended = f"sum by (run) (scale_run_finished_trials_total) >= {count}"
    query = f"scale_achieved_rows_per_second and on (run) ({ended})"
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
    shown = dict(re.findall(r"(cores-\S+)\n[\d.]+\n[A-Z_]+\n([\d.]+) K", table))
    assert shown, table
    for trial, thousands in shown.items():
        stored = json.loads((cwd / "results" / run / "trials" / trial / "trial.json").read_text())
        assert float(thousands) == pytest.approx(stored["measurement"]["rows_per_s"] / 1000, rel=0.01)
