"""`scale resume` of runs that another user made: nothing that they name is started or reached, unless it is given again.

Each test types the command as root beside files of a second user.
"""

import json
import os
import shlex
import socket
import struct
import subprocess
import threading
from pathlib import Path

import pytest

from scale_sweep.machine.host import read_host
from scale_sweep.machine.host.server_user import server_user
from tests.integration.cli import run
from tests.unit.stored_runs import unpacked

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 and not os.environ.get("SCALE_REQUIRE_ROOT"), reason="only root can be two users"
)
OTHER = 12345
PASSWORD = "for my own server"
ANSWER_S = 60


@pytest.fixture
def shared():
    """A directory in which everybody can create names, as in /tmp."""
    path = Path(f"/var/tmp/scale-test-strange-{os.getpid()}")
    path.mkdir()
    path.chmod(0o1777)
    yield path
    subprocess.run(["rm", "-rf", str(path)], check=True)


@pytest.fixture
def home(shared):
    """An installation of the other user, whose programs write down who runs them."""
    programs = shared / "home" / "bin"
    programs.mkdir(parents=True)
    (shared / "ran").touch()
    (shared / "ran").chmod(0o666)
    for name in ("postgres", "initdb"):
        (programs / name).write_text(f"#!/bin/sh\nid -u >> {shared}/ran\necho 'postgres (PostgreSQL) 16.1'\n")
        (programs / name).chmod(0o755)
    subprocess.run(["chown", "-R", f"{OTHER}:{OTHER}", str(shared / "home")], check=True)
    return shared / "home"


def ran_by(shared: Path) -> set[str]:
    return set((shared / "ran").read_text().split())


def strange(shared: Path, change, unpacked_in: Path | None = None) -> Path:
    """An interrupted run on PostgreSQL that the other user changed, as root unpacked it: root owns it now. Without
    `unpacked_in`, that of the other user. change: gets its manifest and its plan."""
    path = unpacked("killed", shared / "results")
    files = {name: json.loads((path / name).read_text()) for name in ("manifest.json", "plan.json")}
    files["manifest.json"]["host"] = {"hostname": read_host().hostname}
    change(files["manifest.json"], files["plan.json"])
    for name, document in files.items():
        (path / name).write_text(json.dumps(document))
    for result in path.glob("trials/*/trial.json"):
        document = json.loads(result.read_text())
        document["trial"]["subject"] = files["plan.json"]["trials"][0]["subject"]
        result.write_text(json.dumps(document))
    subprocess.run(["chown", "-R", f"{OTHER}:{OTHER}", str(shared / "results")], check=True)
    if unpacked_in is None:
        return path
    subprocess.run(["cp", "-r", str(path), str(unpacked_in / "mine")], check=True)
    return unpacked_in / "mine"


def subjects(plan):
    return [plan["sweep"], *(trial["subject"] for trial in plan["trials"])]


def set_in_all(name: str, value: str, **others: str):
    def change(manifest, plan):
        for subject in subjects(plan):
            subject.update({name: value, **others})

    return change


def said(done) -> str:
    return " ".join(done.stderr.split())


@pytest.mark.parametrize("is_unpacked", [False, True])
def test_a_home_that_another_user_named_is_not_run(is_unpacked, shared, home, tmp_path):
    path = strange(shared, set_in_all("home", str(home)), tmp_path if is_unpacked else None)
    done = run("resume", str(path), "--no-metrics", cwd=tmp_path)
    assert done.returncode == (2 if is_unpacked else 3), said(done)
    assert f"--home {home}" in said(done) or not is_unpacked
    assert ran_by(shared) == set()


def test_a_home_given_again_is_run_as_the_servers_user_never_as_root(shared, home, tmp_path):
    path = strange(shared, set_in_all("home", str(home)), tmp_path)
    done = run("resume", str(path), "--home", str(home), "--no-metrics", cwd=tmp_path)
    assert ran_by(shared) == {str(server_user().pw_uid)}, said(done)


def test_a_home_that_the_user_names_is_asked_as_the_servers_user(shared, home, tmp_path):
    done = run("plan", "cpu", "--target", "postgres", "--cores", "1", "--home", str(home), cwd=tmp_path)
    assert "16.1" in done.stdout + done.stderr
    assert ran_by(shared) == {str(server_user().pw_uid)}


@pytest.mark.parametrize(
    ("flag", "value", "change"),
    [
        ("--image", "evil:1", set_in_all("image", "evil:1", runtime="docker")),
        ("--endpoint", "198.51.100.1:5432", set_in_all("endpoint", "198.51.100.1:5432", runtime="endpoint")),
        ("--data-dir", "/etc/data", lambda m, plan: plan["sweep"].update(data_dir="/etc/data")),
        ("--dir", "/etc", lambda m, plan: plan["sweep"].update(disks={"kind": "dir", "dirs": ["/etc"]})),
        (
            "--device",
            "/dev/sda",
            lambda m, plan: plan["sweep"].update(disks={"kind": "device", "devices": ["/dev/sda"], "format": True}),
        ),
        (
            "--hosts",
            "/tmp/hosts.sh",
            lambda m, plan: m.update(hosts={"inventory": "/tmp/hosts.sh", "server": "a", "load": ["b"]}),
        ),
        (
            "--knob",
            "archive_command=id",
            lambda m, plan: [t["knobs"].update(archive_command="id") for t in plan["trials"]],
        ),
        (
            "--text",
            "COPY a TO PROGRAM 'id'",
            lambda m, plan: [
                t["work"]["operations"].append(
                    {"name": "sql", "unit": "requests", "parameters": {"text": "COPY a TO PROGRAM 'id'"}}
                )
                for t in plan["trials"]
            ],
        ),
    ],
)
def test_each_field_that_is_started_or_reached_is_named(flag, value, change, shared, tmp_path):
    path = strange(shared, change, tmp_path)
    done = run("resume", str(path), "--yes", "--no-metrics", cwd=tmp_path)
    assert done.returncode == 2 and f"{flag} {shlex.quote(value)}" in said(done), said(done)
    assert done.stderr.count("scale: ") == 1


def login(listener: socket.socket, heard: list[bytes]) -> None:
    """Speaks PostgreSQL's protocol until a client has sent its password, or ends."""
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        with client:
            client.settimeout(ANSWER_S)
            while (message := client.recv(4096)) and message[4:8] == struct.pack("!I", 80877103):
                client.sendall(b"N")  # no TLS
            if message:
                client.sendall(b"R" + struct.pack("!II", 8, 3))  # a password in clear text
                heard.append(client.recv(4096))


@pytest.mark.parametrize("is_given", [False, True])
def test_an_endpoint_that_another_user_named_gets_no_password(is_given, shared, tmp_path):
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        threading.Thread(target=login, args=(listener, heard), daemon=True).start()
        path = strange(shared, set_in_all("endpoint", address, runtime="endpoint"), tmp_path)
        words = ("--endpoint", address) if is_given else ()
        done = run(
            "resume",
            str(path),
            *words,
            "--no-metrics",
            cwd=tmp_path,
            SCALE_TARGET_PASSWORD=PASSWORD,
            SCALE_TARGET_USER="me",
        )
        listener.shutdown(socket.SHUT_RDWR)
    assert done.returncode == (3 if is_given else 2) and "--endpoint" in said(done)
    assert ("SCALE_TARGET_PASSWORD" in said(done)) == is_given, said(done)
    assert not any(PASSWORD.encode() in words for words in heard)
    assert is_given or not heard


def test_a_run_of_another_machine_is_refused(shared, tmp_path):
    path = strange(shared, lambda manifest, plan: manifest.update(host={"hostname": "elsewhere"}), tmp_path)
    done = run("resume", str(path), "--no-metrics", cwd=tmp_path)
    assert done.returncode == 3 and "hostname was elsewhere" in said(done)


def test_no_other_command_runs_what_a_run_names(shared, home, tmp_path):
    path = strange(shared, set_in_all("home", str(home)), tmp_path)
    for words in (
        ("list", "--results", "."),
        ("show", str(path)),
        ("verify", str(path)),
        ("compare", str(path), str(path)),
        ("size", "--run", str(path), "--need", "100k"),
        ("export", str(path), "--sql", "sqlite:///runs.db"),
        ("site", str(path), "--out", "site"),
        ("watch", str(path)),
        ("dashboards", "load", str(path)),
        ("report", str(path)),
    ):
        done = run(*words, cwd=tmp_path)
        assert done.returncode != 2 or "no Prometheus" in done.stderr, said(done)
    assert ran_by(shared) == set()


def test_a_value_that_the_run_does_not_name_is_refused(shared, home, tmp_path):
    path = strange(shared, set_in_all("home", str(home)), tmp_path)
    done = run("resume", str(path), "--home", "/usr", "--no-metrics", cwd=tmp_path)
    assert done.returncode == 2 and f"--home /usr: the run names {home}" in said(done)
    assert ran_by(shared) == set()


def test_results_of_another_server_than_the_plans_are_named_in_one_sentence(shared, home, tmp_path):
    path = strange(shared, lambda manifest, plan: None, tmp_path)
    plan = json.loads((path / "plan.json").read_text())
    for trial in plan["trials"]:
        trial["subject"]["version"] = "9"
    (path / "plan.json").write_text(json.dumps(plan))
    done = run("resume", str(path), "--no-metrics", cwd=tmp_path)
    assert done.returncode == 6 and "was measured on another server than plan.json names" in said(done)


def test_a_run_of_ones_own_goes_on_until_its_plan_is_changed(tmp_path):
    """Interrupted by the loss of a trial: it goes on with its directory, also as a copy under another name."""
    data = tmp_path / "data"
    words = "cpu --target null --cores 1..2 --replicates 1 --duration 1s --warmup 0s --window-max 0 --rate 20k".split()
    run("sweep", *words, "--data-dir", str(data), "--results", "r", "--no-metrics", cwd=tmp_path)
    (path,) = (tmp_path / "r").iterdir()
    path = path.rename(tmp_path / "renamed")
    last = max((path / "trials").iterdir(), key=lambda trial: trial.stat().st_mtime)
    subprocess.run(["rm", "-r", str(last)], check=True)
    again = run("resume", str(path), "--no-metrics", cwd=tmp_path)
    assert last.exists() and "1 of 2 trials to go" in said(again), said(again)
    subprocess.run(["rm", "-r", str(last)], check=True)
    plan = json.loads((path / "plan.json").read_text())
    plan["sweep"]["data_dir"] = "/etc/data"
    (path / "plan.json").write_text(json.dumps(plan))
    changed = run("resume", str(path), "--no-metrics", cwd=tmp_path)
    assert changed.returncode == 2 and "--data-dir /etc/data" in said(changed), said(changed)
