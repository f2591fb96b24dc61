"""What `scale dashboards` starts, stops, remembers and loads, as a process and in a container; nothing here measures."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docker
import pytest

from tests.integration import cli
from tests.integration.made_images import prometheus_image, require_docker
from tests.integration.watching import BOARDS, Watched, check, dashboards_room, scale, targets, up, values_of
from tests.unit.raw_run import Shape, raw_run


def test_the_curve_of_stored_runs_one_over_the_other(dashboards: Path, tmp_path: Path) -> None:
    url = up(dashboards)
    one, other = "20260102T030405Z-synthetic-aaaaaa", "20260102T030405Z-synthetic-bbbbbb"
    alphas = {one: 0.05, other: 0.2}
    runs = {
        name: raw_run(tmp_path, name, shape=Shape(levels=4, replicates=2, alpha=alpha))
        for name, alpha in alphas.items()
    }
    for name in runs:
        said = scale(dashboards, "dashboards", "load", name, "--results", str(tmp_path), cwd=tmp_path)
    seen = Watched(prometheus=url, run=one, trial="", at=0, begin=said["from_s"], end=said["to_s"])
    values = values_of(seen, other=other)
    check(seen, "curve", values, seen.end)
    shown = {
        ref: {s["metric"]["level"]: float(s["value"][1]) for s in seen.instant(t["expr"], seen.end, values)}
        for title, t in targets("curve")
        if title == "Speedup"
        for ref in t["refId"]
    }
    for ref, name in (("A", one), ("D", other)):
        assert runs[name].fit is not None
        stored = {f"{p.level:g}": p.speedup for p in runs[name].fit.points}
        assert shown[ref] == pytest.approx(stored)
    assert shown["C"] == {"1": 1.0, "2": 2.0, "3": 3.0, "4": 4.0}
    assert shown["B"]["4"] == pytest.approx(shown["A"]["4"], rel=0.1)


def test_configurations_pass_promtool(dashboards: Path) -> None:
    command = ["promtool", "check", "config", str(BOARDS / "prometheus.yml")]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_what_runs_is_said_and_stopped_and_the_data_stay(dashboards: Path, tmp_path: Path) -> None:
    up(dashboards)
    status = scale(dashboards, "dashboards", "status", cwd=tmp_path)
    pid = status["services"]["prometheus"]["pid"]
    assert Path(f"/proc/{pid}").exists()
    if os.geteuid() == 0:
        assert Path(f"/proc/{pid}").stat().st_uid != 0, "it has no need of root's rights"
    assert "admin-password" in status["admin_password_file"]
    assert (dashboards / "admin-password").stat().st_mode & 0o077 == 0
    password = (dashboards / "admin-password").read_bytes()
    assert all(password not in Path(f"/proc/{pid}/{name}").read_bytes() for name in ("cmdline", "environ"))
    stopped = scale(dashboards, "dashboards", "down", cwd=tmp_path)
    assert "prometheus" in stopped["stopped"]
    assert not Path(f"/proc/{pid}").exists()
    assert any((dashboards / "prometheus").iterdir())
    assert scale(dashboards, "dashboards", "status", cwd=tmp_path)["services"] == {}


def test_a_load_without_prometheus_is_refused(dashboards: Path, tmp_path: Path) -> None:
    cli.run("dashboards", "down", cwd=tmp_path, SCALE_DASHBOARDS_DIR=str(dashboards))
    raw_run(tmp_path, "20260102T030405Z-synthetic-aaaaaa", shape=Shape(levels=2, replicates=1))
    done = cli.run(
        "dashboards", "load", "last", "--results", str(tmp_path), cwd=tmp_path, SCALE_DASHBOARDS_DIR=str(dashboards)
    )
    assert done.returncode == 2 and "scale dashboards up" in done.stderr


def test_clean_finds_what_a_power_cut_left(dashboards: Path, tmp_path: Path) -> None:
    up(dashboards)
    pid = scale(dashboards, "dashboards", "status", cwd=tmp_path)["services"]["prometheus"]["pid"]
    os.kill(pid, signal.SIGKILL)
    while Path(f"/proc/{pid}").exists():
        time.sleep(0.05)
    done = cli.run("clean", cwd=tmp_path, SCALE_DASHBOARDS_DIR=str(dashboards))
    assert "prometheus, which does not run" in done.stderr
    assert not (dashboards / "state.json").exists() and any((dashboards / "prometheus").iterdir())


RUN = "20260102T030405Z-synthetic-cccccc"
# There is no such image anywhere: what is asked for cannot be had.
NOWHERE = "127.0.0.1:1/grafana:none"
DOCKER = pytest.mark.docker


@pytest.fixture(scope="module")
def room() -> Iterator[Path]:
    require_docker()
    with dashboards_room() as found:
        yield found


def in_docker(room: Path, *words: str, code: int = 0) -> dict[str, Any]:
    """The command's JSON."""
    done = cli.run("dashboards", *words, "--json", cwd=room.parent, SCALE_DASHBOARDS_DIR=str(room))
    assert done.returncode == code, done.stderr
    return dict(json.loads(done.stdout))


def up_in_docker(room: Path) -> dict[str, Any]:
    images = (f"prometheus={prometheus_image()}", f"grafana={NOWHERE}")
    return in_docker(room, "up", "--runtime", "docker", *(w for one in images for w in ("--image", one)), code=3)


def speedups(url: str, at: float) -> dict[str, float]:
    query = urllib.parse.urlencode({"query": f'scale_curve_speedup_ratio{{run="{RUN}"}}', "time": at})
    with urllib.request.urlopen(f"{url}/api/v1/query?{query}", timeout=60) as answer:
        rows = json.load(answer)["data"]["result"]
    return {row["metric"]["level"]: float(row["value"][1]) for row in rows}


@DOCKER
def test_the_container_has_no_rights_and_listens_on_loopback(room):
    service = up_in_docker(room)["services"]["prometheus"]
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


@DOCKER
def test_a_stored_run_is_loaded_once_and_outlives_the_container(room, tmp_path):
    stored = raw_run(tmp_path, RUN, shape=Shape(levels=3, replicates=1, alpha=0.1))
    first = up_in_docker(room)["services"]["prometheus"]
    words = ("load", RUN, "--results", str(tmp_path))
    said = in_docker(room, *words)
    assert said["loaded"] is True and in_docker(room, *words)["loaded"] is False
    assert stored.fit is not None
    expected = pytest.approx({f"{p.level:g}": p.speedup for p in stored.fit.points})
    assert speedups(first["url"], said["to_s"] - 5) == expected
    assert in_docker(room, "down")["stopped"] == ["prometheus"]
    assert gone(first) and in_docker(room, "status")["services"] == {}
    again = up_in_docker(room)["services"]["prometheus"]
    assert again["container"] != first["container"]
    assert speedups(again["url"], said["to_s"] - 5) == expected


@DOCKER
def test_clean_removes_a_container_that_was_killed_and_purge_the_data(room, only_cleaner):
    service = up_in_docker(room)["services"]["prometheus"]
    docker.from_env().containers.get(service["container"]).kill()
    done = cli.run("clean", cwd=room.parent, SCALE_DASHBOARDS_DIR=str(room))
    assert "prometheus, which does not run" in done.stderr
    assert gone(service) and any((room / "prometheus").iterdir())
    again = up_in_docker(room)["services"]["prometheus"]
    assert in_docker(room, "down", "--purge") == {"stopped": ["prometheus"], "purged": True}
    assert not room.exists() and gone(again)


@DOCKER
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
