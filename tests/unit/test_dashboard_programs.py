"""A program of the dashboards that its user may not read: said with the path and as whom, before it is started."""

import os
import shutil
from pathlib import Path

import pytest

from scale_sweep.base.errors import ProvisionError
from scale_sweep.watch.dashboards import processes
from scale_sweep.watch.dashboards.declared import Service
from scale_sweep.watch.dashboards.state_directory import StateDirectory
from tests.needs import needs

pytestmark = needs("root")
SERVICE = Service(name="grafana", image="", user="", network_mode="", argv=("grafana", "60"))


@pytest.fixture
def place():
    """A directory that another user may enter, as pytest's own may not."""
    path = Path(f"/var/tmp/scale-test-programs-{os.getpid()}")
    path.mkdir(mode=0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def grafana(place, monkeypatch):
    """What an installation looks like; its program only sleeps."""
    home = place / "grafana"
    for folder in ("bin", "public", "conf"):
        (home / folder).mkdir(parents=True)
    (home / "bin" / "grafana").write_text('#!/bin/sh\nexec sleep "$1"\n')
    (home / "bin" / "grafana").chmod(0o755)
    (home / "conf" / "defaults.ini").touch()
    monkeypatch.setenv(processes.HOME_VARIABLE, str(home))
    return home


@pytest.fixture
def state(place):
    folder = StateDirectory(path=place / "room")
    folder.path.mkdir()
    return folder


FOLDERS = [(".", 0o700), ("..", 0o700), ("public", 0o700), ("public", 0o711)]


@pytest.mark.parametrize(("closed", "mode"), [*FOLDERS, ("bin/grafana", 0o700), ("conf/defaults.ini", 0o600)])
def test_what_its_user_may_not_read_is_named_with_the_user(state, grafana, closed, mode):
    path = (grafana / closed).resolve()
    path.chmod(mode)
    with pytest.raises(ProvisionError, match=f"nobody, who may not read {path}") as refused:
        processes.stop(processes.start(SERVICE, 0, state))
    assert processes.HOME_VARIABLE in refused.value.remedy


def test_one_that_belongs_to_that_user_alone_is_started(state, grafana):
    for path in (grafana, *grafana.rglob("*")):
        os.chown(path, state.owner.pw_uid, state.owner.pw_gid)
        path.chmod(0o700)
    started = processes.start(SERVICE, 0, state)
    try:
        assert processes.lives(started)
        assert Path(f"/proc/{started.pid}").stat().st_uid == state.owner.pw_uid
    finally:
        processes.stop(started)
