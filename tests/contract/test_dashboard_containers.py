"""Prometheus and Grafana in containers, with everything provisioned: needs a Docker Engine and Grafana's image.

The pinned images where they are here already, or SCALE_PULL_IMAGES=1 lets them be pulled; else images made of what is
installed: Debian's Prometheus and the Grafana of SCALE_GRAFANA_HOME, which are the real programs in another wrapping.
"""

from __future__ import annotations

import base64
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docker
import psutil
import pytest

from scale_sweep.watch.dashboards import containers
from scale_sweep.watch.dashboards.updown import PORTS, pinned_image
from tests.integration import cli
from tests.integration.made_images import grafana_image, prometheus_image, require_docker
from tests.integration.watching import dashboards_room
from tests.unit.raw_run import Shape, raw_run

RUN = "20260102T030405Z-synthetic-dddddd"
pytestmark = pytest.mark.docker


def images() -> dict[str, str]:
    """By service; skips where Grafana's cannot be had."""
    require_docker()
    pinned = {name: pinned_image(name) for name in PORTS}
    pull = os.environ.get("SCALE_PULL_IMAGES") == "1"
    if all(containers.is_local(image) or (pull and containers.pull(image)) for image in pinned.values()):
        return pinned
    home = os.environ.get("SCALE_GRAFANA_HOME", "")
    if not home:
        pytest.skip(f"{' and '.join(pinned.values())} are not here: SCALE_PULL_IMAGES=1 or SCALE_GRAFANA_HOME=DIR")
    return {"prometheus": prometheus_image(), "grafana": grafana_image(Path(home))}


@pytest.fixture(scope="module")
def room() -> Iterator[Path]:
    found = images()
    with dashboards_room() as one:
        words = [word for name, image in found.items() for word in ("--image", f"{name}={image}")]
        scale(one, "up", "--runtime", "docker", *words)
        yield one


def scale(room: Path, *words: str) -> dict[str, Any]:
    """The command's JSON."""
    done = cli.run("dashboards", *words, "--json", cwd=room.parent, SCALE_DASHBOARDS_DIR=str(room))
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def ask(url: str, password: str = "") -> Any:
    """The JSON answer, with admin's password or without."""
    request = urllib.request.Request(url)
    if password:
        request.add_header("Authorization", "Basic " + base64.b64encode(f"admin:{password}".encode()).decode())
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def test_both_run_without_rights_and_listen_on_loopback(room: Path) -> None:
    password = (room / "admin-password").read_text()
    for service in scale(room, "status")["services"].values():
        container = docker.from_env().containers.get(service["container"])
        host, config = container.attrs["HostConfig"], container.attrs["Config"]
        assert service["how"] == "docker" and host["CapDrop"] == ["ALL"]
        assert config["User"].split(":")[0] not in ("", "0", "root")
        assert password not in json.dumps(container.attrs)
        inside = [psutil.Process(int(row[1])) for row in container.top()["Processes"]]
        bound = [c.laddr.ip for p in inside for c in p.net_connections("inet") if c.status == psutil.CONN_LISTEN]
        assert bound and set(bound) == {"127.0.0.1"}


def test_everything_is_there_without_a_click_and_a_login(room: Path) -> None:
    base = scale(room, "status")["services"]["grafana"]["url"]
    found = ask(f"{base}/api/search?type=dash-db")
    assert {(one["uid"], one["folderTitle"]) for one in found} == {
        (f"scale-{n}", "scale") for n in ("live", "curve", "trial")
    }


def test_the_password_is_the_one_of_the_file_and_no_other(room: Path) -> None:
    base = scale(room, "status")["services"]["grafana"]["url"]
    assert ask(f"{base}/api/user", (room / "admin-password").read_text())["login"] == "admin"
    with pytest.raises(urllib.error.HTTPError, match="401"):
        ask(f"{base}/api/user", "admin")


def test_a_loaded_run_is_seen_through_grafana_after_a_restart_too(room: Path, tmp_path: Path) -> None:
    stored = raw_run(tmp_path, RUN, shape=Shape(levels=3, replicates=1, alpha=0.1))
    said = scale(room, "load", RUN, "--results", str(tmp_path))
    assert stored.fit is not None
    expected = {f"{p.level:g}": p.speedup for p in stored.fit.points}
    assert speedups(room, said["to_s"] - 5) == pytest.approx(expected)
    assert set(scale(room, "down")["stopped"]) == {"prometheus", "grafana"}
    words = [word for name, image in images().items() for word in ("--image", f"{name}={image}")]
    scale(room, "up", "--runtime", "docker", *words)
    assert speedups(room, said["to_s"] - 5) == pytest.approx(expected)


def speedups(room: Path, at: float) -> dict[str, float]:
    base = scale(room, "status")["services"]["grafana"]["url"]
    query = urllib.parse.urlencode({"query": f'scale_curve_speedup_ratio{{run="{RUN}"}}', "time": at})
    rows = ask(f"{base}/api/datasources/proxy/uid/scale-prometheus/api/v1/query?{query}")["data"]["result"]
    return {row["metric"]["level"]: float(row["value"][1]) for row in rows}
