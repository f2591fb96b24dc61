"""What `scale dashboards` starts, stops, remembers and loads; no sweep runs, so nothing here measures."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.integration import cli
from tests.integration.panel_queries import BOARDS, Watched, check, scale, targets, up, values_of
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
