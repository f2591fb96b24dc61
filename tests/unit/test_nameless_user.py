"""A user without a name and a home, as in a container that was started with a number."""

import os
import pwd
from pathlib import Path

import pytest

from scale_sweep.server.targets import installations
from scale_sweep.watch.dashboards.state_directory import StateDirectory


@pytest.fixture(autouse=True)
def nameless(monkeypatch):
    def unknown(uid):
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    for name in ("HOME", "XDG_CACHE_HOME", installations.CACHE_VARIABLE):
        monkeypatch.delenv(name, raising=False)


def test_no_server_is_installed_for_it_and_the_dashboards_run_as_its_number(tmp_path):
    assert installations.servers_folder() == Path("/nonexistent/.cache/scale/servers")
    assert installations.installed("questdb") == ()
    owner = StateDirectory(path=tmp_path).owner
    assert (owner.pw_name, owner.pw_uid, owner.pw_gid) == ("54321", 54321, os.getegid())
