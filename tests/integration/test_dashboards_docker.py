"""`scale dashboards` in a container, from the start to the purge: Debian's real Prometheus in an image that is made here.

Grafana's image can be had from a registry only; both in containers are in tests/contract/test_dashboard_containers.py.
"""

import json
import os
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docker
import pytest

from tests.integration import cli
from tests.integration.made_images import prometheus_image, require_docker
from tests.integration.observed_sweep import dashboards_room
from tests.unit.raw_run import Shape, raw_run

RUN = "20260102T030405Z-synthetic-cccccc"
# There is no such image anywhere: what is asked for cannot be had.
NOWHERE = "127.0.0.1:1/grafana:none"
pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def room() -> Iterator[Path]:
    require_docker()
    with dashboards_room() as found:
        yield found


def scale(room: Path, *words: str) -> dict[str, Any]:
    """The command's JSON."""
    done = cli.run("dashboards", *words, "--json", cwd=room.parent, SCALE_DASHBOARDS_DIR=str(room))
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def up(room: Path) -> dict[str, Any]:
    images = (f"prometheus={prometheus_image()}", f"grafana={NOWHERE}")
    return scale(room, "up", "--runtime", "docker", *(w for one in images for w in ("--image", one)))


def speedups(url: str, at: float) -> dict[str, float]:
    query = urllib.parse.urlencode({"query": f'scale_curve_speedup_ratio{{run="{RUN}"}}', "time": at})
    with urllib.request.urlopen(f"{url}/api/v1/query?{query}", timeout=60) as answer:
        rows = json.load(answer)["data"]["result"]
    return {row["metric"]["level"]: float(row["value"][1]) for row in rows}


def test_the_container_has_no_rights_and_listens_on_loopback(room):
    service = up(room)["services"]["prometheus"]
    container = docker.from_env().containers.get(service["container"])
    host, config = container.attrs["HostConfig"], container.attrs["Config"]
    assert service["how"] == "docker" and service["url"].startswith("http://127.0.0.1:")
    assert host["CapDrop"] == ["ALL"] and host["SecurityOpt"] == ["no-new-privileges"] and not host["Privileged"]
    assert config["User"].split(":")[0] not in ("", "0", "root")
    assert host["Binds"] == [f"{room}:{room}:rw"]
    port = f"{int(service['url'].rpartition(':')[2]):04X}"
    rows = [r.split() for name in ("tcp", "tcp6") for r in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    assert {r[1] for r in rows if r[3] == "0A" and r[1].endswith(f":{port}")} == {f"0100007F:{port}"}


def gone(service):
    """Whether its container is."""
    try:
        docker.from_env().containers.get(service["container"])
    except docker.errors.NotFound:
        return True
    return False


def test_a_stored_run_is_loaded_once_and_outlives_the_container(room, tmp_path):
    stored = raw_run(tmp_path, RUN, shape=Shape(levels=3, replicates=1, alpha=0.1))
    first = up(room)["services"]["prometheus"]
    words = ("load", RUN, "--results", str(tmp_path))
    said = scale(room, *words)
    assert said["loaded"] is True and scale(room, *words)["loaded"] is False
    assert stored.fit is not None
    expected = pytest.approx({f"{p.level:g}": p.speedup for p in stored.fit.points})
    assert speedups(first["url"], said["to_s"] - 5) == expected
    assert scale(room, "down")["stopped"] == ["prometheus"]
    assert gone(first) and scale(room, "status")["services"] == {}
    again = up(room)["services"]["prometheus"]
    assert again["container"] != first["container"]
    assert speedups(again["url"], said["to_s"] - 5) == expected


def test_clean_removes_a_container_that_was_killed_and_purge_the_data(room, only_cleaner):
    service = up(room)["services"]["prometheus"]
    docker.from_env().containers.get(service["container"]).kill()
    done = cli.run("clean", cwd=room.parent, SCALE_DASHBOARDS_DIR=str(room))
    assert "prometheus, which does not run" in done.stderr
    assert gone(service) and any((room / "prometheus").iterdir())
    again = up(room)["services"]["prometheus"]
    assert scale(room, "down", "--purge") == {"stopped": ["prometheus"], "purged": True}
    assert not room.exists() and gone(again)


@pytest.mark.parametrize(
    ("words", "environment", "said"),
    [
        (("--runtime", "docker", "--image", f"prometheus={NOWHERE}"), {}, "no Docker image of Prometheus can be had"),
        (
            (),
            {"PATH": "/nowhere", "DOCKER_HOST": "unix:///nowhere/docker.sock", "SCALE_GRAFANA_HOME": os.devnull},
            "neither a Docker image nor a program of Prometheus can be had",
        ),
    ],
)
def test_without_an_image_or_a_program_it_is_said_what_to_do(room, words, environment, said):
    environment = {"SCALE_DASHBOARDS_DIR": str(room), **environment}
    done = cli.run("dashboards", "up", *words, cwd=room.parent, **environment)
    assert done.returncode == 3, done.stderr
    assert said in done.stderr and "apt install prometheus" in done.stderr
