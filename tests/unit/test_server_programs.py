"""Programs that a server runs from outside its home: the server's user gets a copy of what it cannot reach itself."""

import subprocess
from pathlib import Path

import pytest

from scale_sweep.loadgen.binary import loopback_path
from scale_sweep.machine.host.server_user import as_user, server_user
from scale_sweep.model import SiteRequest
from scale_sweep.server.runtimes import process
from scale_sweep.server.runtimes.local import remove_directories
from scale_sweep.server.targets import load_target
from scale_sweep.server.targets.java import outside, program
from tests.needs import needs
from tests.unit.factories import make_trial

JAVA = "#!/bin/sh\necho 'openjdk version \"17.0.1\"'\n"


@pytest.fixture
def data_dir(tmp_path):
    """The place of the servers' data, which their user may enter."""
    for path in (tmp_path, *tmp_path.parents[:2]):
        path.chmod(path.stat().st_mode | 0o755)  # one of them may be /tmp, which keeps its mode
    path = tmp_path / "data"
    path.mkdir(mode=0o755)
    return path


@pytest.fixture
def closed_java(tmp_path, monkeypatch):
    """A Java runtime that root alone may reach."""
    home = tmp_path / "closed" / "jdk"
    (home / "bin").mkdir(parents=True)
    home.parent.chmod(0o700)
    (home / "bin" / "java").write_text(JAVA)
    (home / "bin" / "java").chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(home))
    return home


def site_for(data_dir: Path, programs, home=""):
    wanted = SiteRequest(run_id="r", trial_id="t", data_dir=str(data_dir), home=home, programs=tuple(programs))
    return process.site(wanted)


@needs("root")
def test_a_java_that_the_user_cannot_reach_is_copied_and_runs(data_dir, closed_java):
    assert outside("", 17, 17) == (str(closed_java),)
    site = site_for(data_dir, outside("", 17, 17))
    try:
        java = program(site, "", 17, 17)
        assert not java.startswith(str(closed_java))
        said = subprocess.run([*as_user(server_user()), java], capture_output=True, text=True, check=True).stdout
        assert "17.0.1" in said
        for name in ("cassandra", "opentsdb", "iotdb", "kairosdb", "questdb"):
            assert str(closed_java) in load_target(name).programs(make_trial(), "/nowhere"), name
    finally:
        remove_directories(site)


@needs("root")
def test_a_file_that_the_user_cannot_reach_is_copied(data_dir, tmp_path):
    library = tmp_path / "closed" / "bin" / "lib.so"
    library.parent.mkdir(parents=True)
    library.parent.parent.chmod(0o700)
    library.write_text("code")
    site = site_for(data_dir, [str(library)])
    try:
        copy = site.reachable(str(library))
        assert copy != str(library)
        said = subprocess.run([*as_user(server_user()), "cat", copy], capture_output=True, text=True, check=True).stdout
        assert said == "code"
    finally:
        remove_directories(site)


def test_what_the_user_reaches_is_not_copied(data_dir):
    site = site_for(data_dir, ["/usr/bin"])
    try:
        assert (site.reachable("/usr/bin"), site.reachable("/never/asked")) == ("/usr/bin", "/never/asked")
    finally:
        remove_directories(site)


def test_the_library_that_keeps_iotdb_on_loopback_is_one_of_its_programs():
    assert loopback_path() in load_target("iotdb").programs(make_trial(), "/nowhere")
