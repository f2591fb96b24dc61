"""Commands of one user beside files that another user made, changes or swaps: real users, and `scale` as it is typed."""

import contextlib
import json
import os
import select
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scale_sweep.base.errors import PreflightError
from scale_sweep.machine.host.host_facts import read_host
from scale_sweep.machine.host.processes import started_ticks
from scale_sweep.machine.host.server_user import server_user
from scale_sweep.machine.state import places, records
from scale_sweep.results.store import stored
from tests.integration.cli import run
from tests.needs import needs
from tests.unit import stored_runs
from tests.unit.stored_runs import unpacked

pytestmark = needs("root")
USER, OTHER = 12344, 12345
NULL = "cpu --target null --cores 1 --replicates 1 --duration 1s --warmup 0s --window-max 0 --rate 20k".split()


@pytest.fixture
def victim():
    """A process of root."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], cwd="/") as process:
        yield process
        process.kill()


def as_user(uid: int, script: str) -> None:
    """Runs a shell script as a user."""
    subprocess.run(["/bin/sh", "-ec", script], check=True, user=uid, group=uid, extra_groups=[], cwd="/")


def in_process_of(uid: int, task) -> str:
    """The words of the error that a task raises in a process of the user, or what it returns."""
    reader, writer = os.pipe()
    if not (child := os.fork()):
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            os.environ.pop(places.VARIABLE)
            words = str(task())
        except BaseException as error:
            words = f"{type(error).__name__}: {error}"
        os.write(writer, words.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as said:
        words = said.read()
    os.waitpid(child, 0)
    return words


def planted(path: Path, victim, folder: Path) -> str:
    """A record, in the form of the versions that believed it, with a process and a directory of root."""
    record = {"name": "x", "data_dir": str(folder), "runner_pid": 2**22 + 1, "runner_started": 1}
    record |= {"server_pid": victim.pid, "server_started": started_ticks(victim.pid)}
    return f"printf %s {shlex.quote(json.dumps(record | {'cgroup_paths': [], 'disk_dirs': []}))} > {path}"


def test_clean_as_root_ends_and_deletes_nothing_that_another_user_named(shared, victim, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    planted_copy = shared / "x.json"
    as_user(OTHER, planted(planted_copy, victim, kept))
    record = places.folder("records") / "x.json"
    try:
        records.save(records.record_of("x", [str(kept)]))
        record.write_bytes(planted_copy.read_bytes())
        os.chown(record, OTHER, OTHER)
        for words in (("clean",), ("clean", "--data-dir", str(shared))):
            done = run(*words, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            assert f"ignored {record}: belongs to user {OTHER}" in " ".join(done.stderr.split())
            assert victim.poll() is None and (kept / "file").exists()
    finally:
        record.unlink(missing_ok=True)


@pytest.mark.parametrize("way", ["mkdir -p {}/programs/abc/java/bin", "ln -s /root {}"])
def test_a_sweep_does_not_use_what_another_user_put_in_place_of_its_state(way, shared, tmp_path):
    place = shared / "open" / "state"
    place.parent.mkdir(mode=0o755)
    place.parent.chmod(0o777)
    as_user(OTHER, way.format(place))
    place.parent.chmod(0o755)
    for command in ("plan", "sweep"):
        done = run(
            command, *NULL, *(() if command == "plan" else ("--results", "r")), cwd=tmp_path, SCALE_STATE_DIR=str(place)
        )
        said = " ".join(done.stderr.split())
        assert f"{place} " in said and f"user {OTHER}" in said
        if command == "sweep":
            assert done.returncode == 3 and not (tmp_path / "r").exists(), said
    if not place.is_symlink():
        assert [p.name for p in place.iterdir()] == ["programs"], "nothing was made there"
    done = run("clean", cwd=tmp_path, SCALE_STATE_DIR=str(place))
    assert done.returncode == 3 and f"user {OTHER}" in done.stderr


def test_a_data_directory_of_another_user_is_refused(shared, tmp_path):
    as_user(OTHER, f"mkdir {shared}/theirs")
    done = run("sweep", *NULL, "--results", "r", "--data-dir", f"{shared}/theirs/deeper", cwd=tmp_path)
    assert done.returncode == 3 and f"{shared}/theirs belongs to user {OTHER}" in " ".join(done.stderr.split())
    assert not (tmp_path / "r").exists() and list((shared / "theirs").iterdir()) == []


@pytest.mark.parametrize("way", ["mkdir {}", "mkdir -m 0777 {}", "ln -s /tmp {}"])
def test_a_user_whose_folder_another_one_made_first_is_told_who(way):
    place = Path(f"/var/tmp/scale-{USER}")
    as_user(OTHER, way.format(place))
    try:
        said = in_process_of(USER, lambda: places.folder("data"))
        assert said.startswith(PreflightError.__name__) and f"{place} " in said and f"user {OTHER}" in said
    finally:
        subprocess.run(["rm", "-rf", str(place)], check=True)


def test_a_users_folders_are_of_that_user_alone():
    place = Path(f"/var/tmp/scale-{USER}")
    try:
        assert in_process_of(USER, lambda: places.folder("data")) == str(place / "data")
        for path in (place, place / "data"):
            assert (path.stat().st_uid, path.stat().st_mode & 0o777) == (USER, 0o700)
    finally:
        subprocess.run(["rm", "-rf", str(place)], check=True)


PASSWORD = "for my own server"
ANSWER_S = 60


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
    other = run("resume", str(path), "--home", "/usr", "--no-metrics", cwd=tmp_path)
    assert other.returncode == 2 and f"--home /usr: the run names {home}" in said(other)
    assert ran_by(shared) == set()
    for words in (("resume", str(path), "--no-metrics"), ("plan", "cpu", "--target", "postgres", "--cores", "1")):
        (shared / "ran").write_text("")
        done = run(*words, "--home", str(home), cwd=tmp_path)
        assert ran_by(shared) == {str(server_user().pw_uid)}, said(done)
    assert "16.1" in done.stdout + done.stderr


DEVICE = {"kind": "device", "devices": ["/dev/sda"], "format": True}
HOSTS = {"inventory": "/tmp/hosts.sh", "server": "a", "load": ["b"]}
COPY = {"text": "COPY a TO PROGRAM 'id'"}
SQL = {"name": "sql", "unit": "requests", "parameters": COPY}


@pytest.mark.parametrize(
    ("flag", "value", "change"),
    [
        ("--image", "evil:1", set_in_all("image", "evil:1", runtime="docker")),
        ("--endpoint", "198.51.100.1:5432", set_in_all("endpoint", "198.51.100.1:5432", runtime="endpoint")),
        ("--data-dir", "/etc/data", lambda m, plan: plan["sweep"].update(data_dir="/etc/data")),
        ("--dir", "/etc", lambda m, plan: plan["sweep"].update(disks={"kind": "dir", "dirs": ["/etc"]})),
        ("--device", "/dev/sda", lambda m, plan: plan["sweep"].update(disks=DEVICE)),
        ("--hosts", "/tmp/hosts.sh", lambda m, plan: m.update(hosts=HOSTS)),
        (
            "--knob",
            "archive_command=id",
            lambda m, plan: [t["knobs"].update(archive_command="id") for t in plan["trials"]],
        ),
        ("--text", COPY["text"], lambda m, plan: [t["work"]["operations"].append(SQL) for t in plan["trials"]]),
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
        login_of = {"SCALE_TARGET_PASSWORD": PASSWORD, "SCALE_TARGET_USER": "me"}
        done = run("resume", str(path), *words, "--no-metrics", cwd=tmp_path, **login_of)
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


SWAPS_MIN, ATTEMPTS_MAX, PAUSE_S = 1000, 20, 0.0005
DESTROYED = ("manifest.json", "plan.json", "points.csv", "SHA256SUMS", "trials/cores-1-r1/journal.jsonl")


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below, with its inode."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): (path.stat().st_ino, path.read_bytes()) for path in files}


@pytest.fixture
def theirs(shared):
    """A folder of the other user."""
    as_user(OTHER, f"mkdir -p {shared}/theirs/results")
    return shared / "theirs"


@pytest.fixture
def victims(shared):
    """A folder of root with files that are named as those of a run."""
    folder = shared / "victim"
    for name in DESTROYED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")
    folder.chmod(0o700)
    return folder


def swap(folder: Path, victims: Path, stop: int, begun: int) -> int:
    """Makes a link to the victim's folder of the newest run, and the run again, until there is something to read from
    stop. Returns how often."""
    os.write(begun, b"x")
    swaps, hidden = 0, folder / ".hidden"
    while not select.select([stop], [], [], PAUSE_S)[0]:
        for name in sorted(os.listdir(folder))[-1:]:
            with contextlib.suppress(OSError):  # of a run that is not there yet
                os.rename(folder / name, hidden)
                os.symlink(victims, folder / name)
                select.select([], [], [], PAUSE_S)
                os.unlink(folder / name)
                os.rename(hidden, folder / name)
                swaps += 1
    return swaps


@contextlib.contextmanager
def swapping(folder: Path, victims: Path, swaps: list[int]):
    """The other user swaps the newest run until the block ends. swaps: gets how often."""
    (stop, stopped), (begins, begun) = os.pipe(), os.pipe()
    with ThreadPoolExecutor() as pool:
        swapped = pool.submit(in_process_of, OTHER, lambda: swap(folder, victims, stop, begun))
        os.read(begins, 1)  # its process does not inherit what the block opens
        try:
            yield
        finally:
            os.write(stopped, b"x")
    for end in (stop, stopped, begins, begun):
        os.close(end)
    swaps.append(int(swapped.result()))


def of_root(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command of root whom the other user made by sudo: that user's folders are trusted."""
    return run(*words, cwd=cwd, SUDO_UID=str(OTHER))


def test_a_sweep_goes_on_in_its_folder_while_its_name_goes_to_a_link(theirs, victims, tmp_path):
    before, results, swaps = contents(victims), theirs / "results", []
    for runs in range(1, ATTEMPTS_MAX + 1):
        with swapping(results, victims, swaps):
            done = of_root("sweep", *NULL, "--results", str(results), cwd=tmp_path)
        assert contents(victims) == before
        assert sorted(victims.iterdir()) == sorted({victims / name.split("/")[0] for name in before})
        assert done.returncode == 0, done.stderr
        made = sorted(results.iterdir())
        assert len(made) == runs and made[-1].is_dir() and not made[-1].is_symlink()
        assert (made[-1] / "report.html").is_file()
        assert of_root("verify", str(made[-1]), cwd=tmp_path).returncode == 0
        if sum(swaps) >= SWAPS_MIN:  # a busy machine has fewer in one sweep
            break
    assert sum(swaps) >= SWAPS_MIN


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_new_folder_whose_name_goes_to_a_link_is_waited_for(comes_back, tmp_path, victims, monkeypatch):
    monkeypatch.setattr(stored, "_RETURNS_S", 5.0 if comes_back else 0.1)
    hidden, name, mkdir = tmp_path / ".hidden", tmp_path / "run", os.mkdir

    def swapped(path, **more):
        mkdir(path, **more)
        name.rename(hidden)
        name.symlink_to(victims)

    def swap_back(_):
        if comes_back:
            name.unlink()
            hidden.rename(name)

    monkeypatch.setattr(os, "mkdir", swapped)
    monkeypatch.setattr(stored.time, "sleep", swap_back)
    if comes_back:
        assert os.path.samestat(os.fstat(stored.new_folder(name).fd), name.stat())
        return
    with pytest.raises(PreflightError):
        stored.new_folder(name)


@pytest.mark.parametrize("command", ["report", "resume"])
def test_a_run_is_written_where_it_was_opened_or_not_at_all(command, theirs, victims, tmp_path):
    """The victim's folder is another such run, so that only the descriptor distinguishes them."""
    results, swaps, ended = theirs / "results", [], set()
    of_root("sweep", *NULL, "--results", str(results), cwd=tmp_path)
    (stored,) = results.iterdir()
    if command == "resume":
        (result,) = stored.glob("trials/*-r1/trial.json")
        result.unlink()
    shutil.copytree(stored, victims, dirs_exist_ok=True)
    subprocess.run(["chown", "-R", f"{OTHER}:{OTHER}", str(stored)], check=True)
    before = contents(victims)
    for _ in range(ATTEMPTS_MAX):
        with swapping(results, victims, swaps):
            ended.add(of_root(command, str(stored), "-y" if command == "resume" else "--json", cwd=tmp_path).returncode)
        assert contents(victims) == before
        if sum(swaps) >= SWAPS_MIN and 0 in ended:
            break
    assert sum(swaps) >= SWAPS_MIN and 0 in ended and ended <= {0, 2, 3, 6}


FOREIGN = {
    "sweep": ("sweep", *NULL, "--results", "{}/results"),
    "ab": ("ab", "cpu", "--against-itself", *NULL[1:5], "--results", "{}/new/results"),
    "observe": ("observe", "--duration", "1s", "--to", "{}/results"),
    "report": ("report", "{run}"),
    "resume": ("resume", "{run}"),
    "site": ("site", "{run}", "--out", "{}/site"),
    "export": ("export", "{run}", "--csv", "{}/results/points.csv"),
    "fit": ("fit", "{run}/points.csv", "--n", "cores", "--x", "rows_per_s", "--png", "{}/curve.png"),
}


@pytest.mark.parametrize(("command", "sudo"), [*((command, "") for command in FOREIGN), ("report", str(USER))])
def test_root_writes_nothing_where_another_user_can_exchange_folders(command, sudo, theirs, tmp_path):
    stored = stored_runs.unpacked("cpu", theirs / "results")
    subprocess.run(["chown", "-R", f"{OTHER}:{OTHER}", str(stored)], check=True)
    before = contents(theirs)
    done = run(*(word.format(theirs, run=stored) for word in FOREIGN[command]), cwd=tmp_path, SUDO_UID=sudo)
    said = " ".join(done.stderr.split())
    assert done.returncode == 3 and f"{theirs} belongs to user {OTHER}" in said, said
    assert contents(theirs) == before and sorted(os.listdir(theirs)) == ["results"]


def test_in_a_folder_like_tmp_only_own_folders_are_used(shared, tmp_path):
    as_user(OTHER, f"mkdir {shared}/theirs && ln -s {tmp_path} {shared}/link")
    for name in ("theirs", "link"):
        done = run("sweep", *NULL, "--results", f"{shared}/{name}", cwd=tmp_path)
        assert done.returncode == 3 and f"user {OTHER}" in done.stderr
        assert not any(path.is_dir() for path in tmp_path.iterdir())
    done = of_root("sweep", *NULL, "--results", f"{shared}/link", cwd=tmp_path)
    assert done.returncode == 3 and f"is a link of user {OTHER}" in " ".join(done.stderr.split())
    assert run("sweep", *NULL, "--results", f"{shared}/own", cwd=tmp_path).returncode == 0
    assert len(list((shared / "own").glob("*/report.html"))) == 1


def test_an_output_file_is_not_written_through_what_another_user_made_of_it(shared, victims, tmp_path):
    """In a folder like /tmp, a link in the place of the file is replaced."""
    stored = stored_runs.unpacked("cpu", tmp_path)
    as_user(OTHER, f"ln -s {victims}/manifest.json {shared}/points.csv")
    before = contents(victims)
    run("export", str(stored), "--csv", f"{shared}/points.csv", cwd=tmp_path)
    assert contents(victims) == before
    shutil.rmtree(stored)
