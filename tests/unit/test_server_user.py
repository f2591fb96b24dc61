"""The user that servers run as when root runs `scale`: which one, with which rights, and what its files can make root do."""

import os
import pwd
import re
import subprocess
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.base.errors import ProvisionError
from scale_sweep.cli import doctor
from scale_sweep.loadgen.binary import loopback_path
from scale_sweep.machine.host import server_user as users
from scale_sweep.model.resources import ServerSpec, SiteRequest
from scale_sweep.plan.preparing.choice import choose
from scale_sweep.plan.preparing.findings import without_root
from scale_sweep.server.runtimes import process
from scale_sweep.server.runtimes.local import lay_out, open_log, remove_directories, tail
from scale_sweep.server.targets import all_facts, load_target
from scale_sweep.server.targets.java import outside, program
from tests.needs import needs
from tests.unit.factories import make_sweep, make_trial
from tests.unit.test_plan import make_host

NOBODY = pwd.getpwnam("nobody")


@pytest.fixture
def open_path(tmp_path):
    """A folder that every user may enter, and one in it that is the server's user's."""
    for path in (tmp_path, *tmp_path.parents[:2]):
        path.chmod(path.stat().st_mode | 0o755)  # one of them may be /tmp, which keeps its mode
    server = tmp_path / "server"
    server.mkdir(mode=0o700)
    os.chown(server, NOBODY.pw_uid, NOBODY.pw_gid)
    return server


@pytest.fixture
def data_dir(open_path):
    """The place of the servers' data, which their user may enter."""
    path = open_path.parent / "data"
    path.mkdir(mode=0o755)
    return path


@needs("root")
def test_a_user_of_servers_alone_is_preferred_and_no_name_of_root_is_taken(monkeypatch):
    for names, taken in ((("no-such-user", "nobody"), "nobody"), (("daemon", "nobody"), "daemon")):
        monkeypatch.setattr(users, "NAMES", names)
        assert users.server_user().pw_name == taken
    monkeypatch.setattr(users, "NAMES", ("root",))
    with pytest.raises(ProvisionError) as refused:
        users.server_user()
    assert "useradd --system" in refused.value.remedy
    assert users.server_user(needs_root=True) is None
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert users.server_user() is None
    assert not [word for word in users.as_user(None) if "uid" in word]


@needs("root")
def test_a_program_has_the_user_no_other_group_and_no_way_to_more_rights():
    said = subprocess.check_output([*users.as_user(NOBODY), "cat", "/proc/self/status"], text=True)
    status = dict(re.findall(r"^(\w+):[ \t]*(.*)$", said, re.MULTILINE))
    assert set(status["Uid"].split()) == {str(NOBODY.pw_uid)}
    assert (status["Groups"].strip(), status["NoNewPrivs"]) == ("", "1")
    assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}


@needs("root")
def test_users_and_capabilities_are_those_of_the_kernel():
    with subprocess.Popen([*users.as_user(NOBODY), "sleep", "60"]) as one:
        try:
            os.waitid(os.P_PID, one.pid, os.WEXITED | os.WNOHANG)
            while Path(f"/proc/{one.pid}/comm").read_text().strip() != "sleep":
                pass
            assert users.privileges([one.pid], "") == {"user": "nobody", "capabilities": "none"}
            mixed = users.privileges([one.pid, os.getpid()], "it mounts")
            assert (mixed["user"], mixed["needs_root"]) == ("root nobody", "it mounts")
            assert int(mixed["capabilities"], 16)
        finally:
            one.kill()
    assert users.privileges([one.pid], "") == {}


@needs("root")
def test_rights_are_given_up_for_a_block_and_come_back(tmp_path):
    own = tmp_path / "roots"
    own.touch(mode=0o600)
    with pytest.raises(PermissionError), users.rights_of(NOBODY):
        own.read_text()
    assert own.read_text() == ""


@needs("root")
def test_a_configuration_is_the_users_and_follows_no_link_of_a_server(open_path):
    roots, conf = open_path.parent / "of-root", open_path / "conf" / "x"
    roots.mkdir()
    (roots / "file").write_text("root's")
    spec = ServerSpec(argv=("true",), folders=(f"{open_path}/data",), files={str(conf): "new"})
    lay_out(spec, (str(open_path),), NOBODY)
    assert {path.owner() for path in (open_path / "data", conf.parent, conf)} == {"nobody"}
    assert conf.stat().st_mode & 0o777 == 0o600
    conf.unlink()
    conf.symlink_to(roots / "file")
    lay_out(spec, (str(open_path),), NOBODY)
    assert ((roots / "file").read_text(), conf.read_text()) == ("root's", "new")
    assert (roots / "file").owner() == "root"
    (open_path / "elsewhere").symlink_to(roots)
    with pytest.raises(ProvisionError, match="nobody"):
        lay_out(replace(spec, files={f"{open_path}/elsewhere/file": "new"}), (str(open_path),), NOBODY)
    assert (roots / "file").read_text() == "root's"


@needs("root")
def test_a_log_is_the_users_and_nobody_elses_file_is_read_as_one(open_path):
    log, secret = open_path / "console.log", open_path.parent / "secret"
    with open_log(log, NOBODY) as file:
        file.write(b"first\nlast\n")
    assert log.owner() == "nobody"
    assert tail([log], 1, NOBODY.pw_uid) == "last"
    secret.write_text("root's\n")
    log.unlink()
    log.symlink_to(secret)
    assert tail([log], 1, NOBODY.pw_uid) == ""
    with pytest.raises(OSError):
        open_log(log, NOBODY)
    log.unlink()
    os.mkfifo(log)
    assert tail([log], 1, NOBODY.pw_uid) == ""


@needs("root")
def test_a_program_that_the_user_may_not_run_is_named(open_path):
    own = open_path.parent / "server-program"
    own.touch(mode=0o700)
    with pytest.raises(ProvisionError, match=f"nobody, who .* {own}"):
        users.refuse_unexecutable(str(own), NOBODY)
    own.chmod(0o755)
    users.refuse_unexecutable(str(own), NOBODY)
    users.refuse_unexecutable("no-such-program", NOBODY)


def findings(folder, is_root=True, needs_root=""):
    chosen = choose(replace(make_sweep(), target="postgres", runtime="process"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chosen.target, "facts", replace(chosen.facts, needs_root=needs_root))
        return list(without_root(chosen, replace(make_host(), is_root=is_root), folder))


def users_ability():
    (ability,) = [a for a in doctor.examine() if a.subject == "user"]
    return ability


def test_a_target_that_needs_root_gives_its_reason_and_none_of_ours_does(tmp_path):
    assert [facts.name for facts in all_facts() if facts.needs_root] == []
    (finding,) = findings(tmp_path, needs_root="it mounts")
    assert not finding.blocking and finding.sentence.endswith(" as root: it mounts")
    assert not findings(tmp_path, is_root=False, needs_root="it mounts")


def test_a_machine_without_setpriv_is_refused_before_the_start_and_named_by_the_doctor(monkeypatch, tmp_path):
    with monkeypatch.context() as minimal:
        minimal.setenv("PATH", str(tmp_path))  # as in a minimal image of a container
        found = [*findings(tmp_path), *findings(tmp_path, is_root=False)]
        ability = users_ability()
    assert users.why_stuck() != users.NO_SETPRIV, "the answer of one PATH was kept for another"
    assert len(found) == 2
    for finding in found:
        assert finding.blocking and "program setpriv" in finding.sentence
        assert finding.remedy == ability.remedy == "apt-get install util-linux"
    assert not ability.there and ability.state == found[0].sentence


def test_the_doctor_names_the_user_and_root_that_cannot_become_another_one_is_refused(monkeypatch, tmp_path):
    ability = users_ability()
    assert ability.there
    assert ability.state.endswith(f" as {users.server_user().pw_name}" if os.geteuid() == 0 else " as this user")
    for place in ("cli.doctor", "plan.preparing.findings"):
        monkeypatch.setattr(f"scale_sweep.{place}.why_stuck", lambda: "setresuid failed")
    ability, (finding,) = users_ability(), findings(tmp_path)
    assert not ability.there and "setresuid failed" in ability.state
    assert finding.blocking and "setresuid failed" in finding.sentence


@pytest.fixture
def closed_java(tmp_path, monkeypatch):
    """A Java runtime that root alone may reach."""
    home = tmp_path / "closed" / "jdk"
    (home / "bin").mkdir(parents=True)
    home.parent.chmod(0o700)
    (home / "bin" / "java").write_text("#!/bin/sh\necho 'openjdk version \"17.0.1\"'\n")
    (home / "bin" / "java").chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(home))
    return home


@contextmanager
def site_for(data_dir: Path, programs):
    wanted = SiteRequest(run_id="r", trial_id="t", data_dir=str(data_dir), home="", programs=tuple(programs))
    site = process.site(wanted)
    try:
        yield site
    finally:
        remove_directories(site)


def said_by_user(*words):
    return subprocess.check_output([*users.as_user(users.server_user()), *words], text=True)


@needs("root")
def test_a_java_or_a_file_that_the_user_cannot_reach_is_copied_and_runs(data_dir, closed_java):
    assert outside("", 17, 17) == (str(closed_java),)
    library = closed_java.parent / "lib.so"
    library.write_text("code")
    with site_for(data_dir, [*outside("", 17, 17), str(library)]) as site:
        java, copy = program(site, "", 17, 17), site.reachable(str(library))
        assert not java.startswith(str(closed_java)) and copy != str(library)
        assert "17.0.1" in said_by_user(java) and said_by_user("cat", copy) == "code"
        for name in ("cassandra", "opentsdb", "iotdb", "kairosdb", "questdb"):
            assert str(closed_java) in load_target(name).programs(make_trial(), "/nowhere"), name
    assert loopback_path() in load_target("iotdb").programs(make_trial(), "/nowhere")


@needs("root")
def test_what_the_user_reaches_is_not_copied(data_dir):
    with site_for(data_dir, ["/usr/bin"]) as site:
        assert (site.reachable("/usr/bin"), site.reachable("/never/asked")) == ("/usr/bin", "/never/asked")
