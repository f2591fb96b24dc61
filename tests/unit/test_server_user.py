"""The user that servers run as when root runs `scale`: which one, with which rights, and what its files can make root do."""

import os
import pwd
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.base.errors import ProvisionError
from scale_sweep.cli import doctor
from scale_sweep.machine.host import server_user as module
from scale_sweep.machine.host.server_user import (
    NO_SETPRIV,
    as_user,
    privileges,
    refuse_unexecutable,
    rights_of,
    server_user,
    why_stuck,
)
from scale_sweep.model import ServerSpec
from scale_sweep.plan.preparing import choose
from scale_sweep.plan.preparing.server_findings import without_root
from scale_sweep.server.runtimes.local import lay_out, open_log, tail
from scale_sweep.server.targets import all_facts
from tests.needs import needs
from tests.unit.factories import make_sweep
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


@needs("root")
def test_a_user_of_servers_alone_is_preferred_and_no_name_of_root_is_taken(monkeypatch):
    monkeypatch.setattr(module, "NAMES", ("no-such-user", "nobody"))
    assert server_user() == NOBODY
    monkeypatch.setattr(module, "NAMES", ("daemon", "nobody"))
    assert server_user().pw_name == "daemon"
    monkeypatch.setattr(module, "NAMES", ("root",))
    with pytest.raises(ProvisionError, match="servers do not run as root") as refused:
        server_user()
    assert "useradd --system" in refused.value.remedy
    assert server_user(needs_root=True) is None


def test_a_user_without_root_keeps_his_own(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert server_user() is None
    assert not [word for word in as_user(None) if "uid" in word]


@needs("root")
def test_a_program_has_the_user_no_other_group_and_no_way_to_more_rights():
    said = subprocess.run(
        [*as_user(NOBODY), "cat", "/proc/self/status"], capture_output=True, text=True, check=True
    ).stdout
    status = dict(re.findall(r"^(\w+):[ \t]*(.*)$", said, re.MULTILINE))
    assert set(status["Uid"].split()) == {str(NOBODY.pw_uid)}
    assert (status["Groups"].strip(), status["NoNewPrivs"]) == ("", "1")
    assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}


@needs("root")
def test_users_and_capabilities_are_those_of_the_kernel():
    with subprocess.Popen([*as_user(NOBODY), "sleep", "60"]) as one:
        try:
            os.waitid(os.P_PID, one.pid, os.WEXITED | os.WNOHANG)
            while Path(f"/proc/{one.pid}/comm").read_text().strip() != "sleep":
                pass
            assert privileges([one.pid], "") == {"user": "nobody", "capabilities": "none"}
            mixed = privileges([one.pid, os.getpid()], "it mounts")
            assert (mixed["user"], mixed["needs_root"]) == ("root nobody", "it mounts")
            assert int(mixed["capabilities"], 16)
        finally:
            one.kill()
    assert privileges([one.pid], "") == {}


@needs("root")
def test_rights_are_given_up_for_a_block_and_come_back(tmp_path):
    (tmp_path / "roots").write_text("")
    (tmp_path / "roots").chmod(0o600)
    with pytest.raises(PermissionError), rights_of(NOBODY):
        (tmp_path / "roots").read_text()
    assert (tmp_path / "roots").read_text() == ""


@needs("root")
def test_a_configuration_is_the_users_and_follows_no_link_of_a_server(open_path):
    roots = open_path.parent / "of-root"
    roots.mkdir()
    (roots / "file").write_text("root's")
    spec = ServerSpec(argv=("true",), folders=(f"{open_path}/data",), files={f"{open_path}/conf/x": "new"})
    lay_out(spec, (str(open_path),), NOBODY)
    for path in (open_path / "data", open_path / "conf", open_path / "conf" / "x"):
        assert path.owner() == "nobody"
    assert (open_path / "conf" / "x").stat().st_mode & 0o777 == 0o600
    (open_path / "conf" / "x").unlink()
    (open_path / "conf" / "x").symlink_to(roots / "file")
    lay_out(spec, (str(open_path),), NOBODY)
    assert ((roots / "file").read_text(), (open_path / "conf" / "x").read_text()) == ("root's", "new")
    assert (roots / "file").owner() == "root"
    (open_path / "elsewhere").symlink_to(roots)
    with pytest.raises(ProvisionError, match="cannot be made by nobody"):
        lay_out(replace(spec, files={f"{open_path}/elsewhere/file": "new"}), (str(open_path),), NOBODY)
    assert (roots / "file").read_text() == "root's"


@needs("root")
def test_a_log_is_the_users_and_nobody_elses_file_is_read_as_one(open_path):
    log = open_path / "console.log"
    with open_log(log, NOBODY) as file:
        file.write(b"first\nlast\n")
    assert log.owner() == "nobody"
    assert tail([log], 1, NOBODY.pw_uid) == "last"
    secret = open_path.parent / "secret"
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
    program = open_path.parent / "server-program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    with pytest.raises(ProvisionError, match=f"runs as nobody, who may not execute {program}"):
        refuse_unexecutable(str(program), NOBODY)
    program.chmod(0o755)
    refuse_unexecutable(str(program), NOBODY)
    refuse_unexecutable("no-such-program", NOBODY)


def needing_root(monkeypatch, reason):
    chosen = choose(replace(make_sweep(), target="postgres", runtime="process"))
    monkeypatch.setattr(chosen.target, "facts", replace(chosen.facts, needs_root=reason))
    return chosen


def test_a_target_that_needs_root_gives_its_reason_and_none_of_ours_does(monkeypatch, tmp_path):
    assert [facts.name for facts in all_facts() if facts.needs_root] == []
    chosen = needing_root(monkeypatch, "it mounts its own file system")
    (finding,) = without_root(chosen, replace(make_host(), is_root=True), tmp_path)
    assert (finding.blocking, finding.sentence) == (False, "postgres runs as root: it mounts its own file system")
    assert not list(without_root(chosen, replace(make_host(), is_root=False), tmp_path))


def test_root_that_cannot_become_another_user_is_refused_before_the_start(monkeypatch, tmp_path):
    chosen = choose(replace(make_sweep(), target="postgres", runtime="process"))
    monkeypatch.setattr("scale_sweep.plan.preparing.server_findings.why_stuck", lambda: "setpriv: setresuid failed")
    (finding,) = without_root(chosen, replace(make_host(), is_root=True), tmp_path)
    assert finding.blocking and "setresuid failed" in finding.sentence


def test_a_machine_without_setpriv_is_refused_before_the_start_and_named_by_the_doctor(monkeypatch, tmp_path):
    chosen = choose(replace(make_sweep(), target="postgres", runtime="process"))
    with monkeypatch.context() as minimal:
        minimal.setenv("PATH", str(tmp_path))  # as in a minimal image of a container
        findings = [list(without_root(chosen, replace(make_host(), is_root=root), tmp_path)) for root in (True, False)]
        (ability,) = [a for a in doctor.examine() if a.subject == "user"]
    assert why_stuck() != NO_SETPRIV, "the answer of one PATH was kept for another"
    for (finding,) in findings:
        assert finding.blocking and "no program setpriv" in finding.sentence
        assert finding.remedy == ability.remedy == "apt-get install util-linux"
    assert not ability.there and ability.state == findings[0][0].sentence


def test_the_doctor_names_the_user(monkeypatch):
    (ability,) = [a for a in doctor.examine() if a.subject == "user"]
    assert ability.there
    assert ability.state == (
        f"servers run as {server_user().pw_name}" if os.geteuid() == 0 else "servers run as this user"
    )
    monkeypatch.setattr(doctor, "why_stuck", lambda: "setpriv: setresuid failed")
    (ability,) = [a for a in doctor.examine() if a.subject == "user"]
    assert not ability.there and "setresuid failed" in ability.state
