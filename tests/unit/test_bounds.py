"""No wait is without a deadline: the source has none, and bench/evidence/deadlines.csv has the bounds of the source."""

import ast
import fcntl
import os
import re
import shlex
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from scale_sweep.base.errors import LoadError, ProvisionError, StoreError, TargetError
from scale_sweep.base.interrupts import Stop, Stopped
from scale_sweep.base.spawning import run_within
from scale_sweep.base.units import parse_seconds
from scale_sweep.loadgen.binary import kept_by
from scale_sweep.loadgen.process import LoadProcesses
from scale_sweep.loadgen.protocol import Phase
from scale_sweep.loadgen.spec import trial_spec
from scale_sweep.machine.disks import device, prepare, sets
from scale_sweep.measure.trial import disks as trial_disks
from scale_sweep.measure.trial import waiting
from scale_sweep.measure.trial.disks import sync_disks
from scale_sweep.measure.trial.loading import limit_s
from scale_sweep.measure.trial.provision import Reached
from scale_sweep.measure.trial.waiting import ask
from scale_sweep.model.samples import DiskSource
from scale_sweep.results.sqlexport import tables_of, write
from scale_sweep.server.targets import Address, Session
from scale_sweep.server.targets.null import NullSession
from scale_sweep.sweep.settings import SETTINGS
from scale_sweep.watch.dashboards import processes
from tests.offenders import assert_none
from tests.unit.factories import executable, make_disk, make_sweep, make_trial
from tests.unit.synthetic_run import mixed_run
from tests.unit.test_ceiling import program_with
from tests.unit.trial_orders import trial_order

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "runner" / "scale_sweep").rglob("*.py"))
DEADLINES = ROOT / "bench" / "evidence" / "deadlines.csv"
# Calls that may wait for ever, and what bounds them beside a timeout: more than so many arguments, or a word.
WAITS = {
    r"(Thread|Process)PoolExecutor": "never",  # join at the end
    r"(.*\.)?subprocess\.(run|call|check_call|check_output)": "never",
    r"(.*\.)?(socket\.create_connection|request\.urlopen|client\.HTTPConnection)": "never",
    r"(.*\.)?(psycopg\.connect|docker\.from_env|ansible_runner\.run)": "never",
    r"(.*\.)?sqlalchemy\.create_engine": "connect_args=",
    r".*\.(flock|lockf)": "LOCK_NB|LOCK_UN",
    r"os\.(waitpid|wait4|waitid)": "WNOHANG",
    r".*\.(wait|result|shutdown|get|join)": 0,  # `shutdown` of a server or an executor; `get` of a mapping has a name
    r".*\.(communicate|acquire|wait_for)": 1,
    r".*\.select": 3,
}
# What waits by design, each with what bounds it.
BOUNDED_OTHERWISE = {
    ("spawning.py", "get"),  # the starter's own thread, which waits for work and holds nobody up
    ("check.py", "ThreadPoolExecutor"),  # of hosts: each task reads the lines of an agent, for STREAM_S
    ("setup.py", "ThreadPoolExecutor"),  # of hosts: each task is run_line, which ends after READY_S
    ("trials.py", "get"),  # of an agent: without a controller, LEASE_S ends the request
    ("remote.py", "get"),  # the link to a host ends every request LEASE_S after its last line
}
WITHOUT_QUESTION = {"expected", "load_spec", "genuine_load", "left_s", "give_up", "rows_handed"}
QUESTIONS = {n for n in vars(Session) if not n.startswith("_") and callable(getattr(Session, n))} - WITHOUT_QUESTION


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    return ((ast.unparse(node.func), node) for node in ast.walk(tree) if isinstance(node, ast.Call))


def is_bounded(name: str, call: ast.Call) -> bool:
    bound = next((bound for pattern, bound in WAITS.items() if re.fullmatch(pattern, name, re.DOTALL)), -1)
    if any(keyword.arg in ("timeout", "connect_timeout") for keyword in call.keywords):
        return True
    return len(call.args) > bound if isinstance(bound, int) else bool(re.search(bound, ast.unparse(call)))


def endless(tree: ast.AST) -> list[tuple[str, int]]:
    """Every call that may wait for ever, with its line."""
    return [(name.rpartition(".")[2], call.lineno) for name, call in calls(tree) if not is_bounded(name, call)]


def unbounded_questions(tree: ast.AST) -> list[tuple[str, int]]:
    """Calls of a session's methods that ask the server, past `ask`."""
    found = [(re.fullmatch(r"(?:.*\.)?_*session\.(\w+)", name, re.DOTALL), call.lineno) for name, call in calls(tree)]
    return [(match[1], line) for match, line in found if match and match[1] in QUESTIONS]


def unbounded(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [(name, line) for name, line in endless(tree) if (path.name, name) not in BOUNDED_OTHERWISE]
    found += unbounded_questions(tree) if "measure" in path.parts else []
    return [f"{path.relative_to(ROOT)}: line {line}: {name}" for name, line in found]


def test_nothing_waits_for_ever_and_each_question_is_asked_by_waiting_py():
    assert_none(sentence for path in FILES for sentence in unbounded(path))


ENDLESS = """
process.wait()
thread.join()
self._queue.get()
lock.acquire()
process.communicate()
future.result()
subprocess.run(['true'])
subprocess.check_output(['true'])
socket.create_connection(('h', 1))
psycopg.connect(host='h')
os.waitpid(1, 0)
ThreadPoolExecutor(max_workers=2)
select.select(a, b, c)
fcntl.flock(fd, fcntl.LOCK_EX)
self._server.shutdown()
ansible_runner.run(playbook='p')
sqlalchemy.create_engine(url)
urllib.request.urlopen('http://h')
"""
BOUNDED = """
process.wait(timeout=3)
thread.join(3)
', '.join(names)
given.get('a')
event.wait(0.1)
subprocess.run(['true'], timeout=3)
os.wait4(1, os.WNOHANG)
fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
connection.shutdown(socket.SHUT_WR)
"""


def test_each_call_without_a_time_is_seen():
    lines = ENDLESS.strip().splitlines()
    assert [line for _, line in endless(ast.parse("\n".join(lines)))] == list(range(1, len(lines) + 1))
    assert endless(ast.parse(BOUNDED)) == []
    questions = "session.flush()\nself._session.count()\nreached.session.drop_schema()"
    assert [line for _, line in unbounded_questions(ast.parse(questions))] == [1, 2, 3]


class Still:
    """A server whose CPU clock runs with the time while `works`, a value or a function of none, is true."""

    def __init__(self, monkeypatch, *, works):
        is_at_work = works if callable(works) else lambda: works
        cpu_s = property(lambda self: time.monotonic() if is_at_work() else 7.0)
        monkeypatch.setattr(waiting, "subject_reader", lambda accounting: type("Sample", (), {"cpu_s_total": cpu_s}))

    def accounting(self):
        return None


def reached(tmp_path, monkeypatch, *, works):
    order, address = trial_order(tmp_path), Address(host="", port=0, secret="")
    session = NullSession(order.trial, address)
    return Reached(server=Still(monkeypatch, works=works), address=address, session=session, who="Example")


def asked_for_ever(at, limit_s, words=""):
    def flush():
        at.session.asking = words
        threading.Event().wait(60)

    return ask(at, flush, limit_s)


@pytest.mark.parametrize(
    ("works", "limit_s", "least_s", "why"),
    [(False, 600.0, 1.0, r"FLUSH within \d+ s, in which it used no CPU"), (True, 2.0, 1.9, "FLUSH within 2 s$")],
)
def test_a_server_that_does_nothing_is_given_up_and_one_that_works_at_the_limit(
    tmp_path, monkeypatch, works, limit_s, least_s, why
):
    monkeypatch.setattr(waiting, "SILENT_S", 1.0)
    monkeypatch.setattr(waiting, "WORK_LOOK_S", 0.1)
    at, begun = reached(tmp_path, monkeypatch, works=works), time.monotonic()
    with pytest.raises(TargetError, match=f"Example did not answer {why}"):
        asked_for_ever(at, limit_s, "FLUSH")
    assert time.monotonic() - begun > least_s


def test_a_request_to_end_is_heard_and_a_session_knows_when_it_will_be_given_up(tmp_path, monkeypatch):
    at, stop = reached(tmp_path, monkeypatch, works=True), Stop()
    assert at.session.left_s(120.0) == 120.0
    assert 0 < ask(at, lambda: at.session.left_s(120.0), 60.0) <= 60.0
    threading.Timer(0.5, stop.request).start()
    with stop.here(), pytest.raises(Stopped):
        asked_for_ever(at, 50.0)


def test_a_disk_that_does_not_sync_is_named(monkeypatch):
    monkeypatch.setattr(trial_disks, "_sync", lambda disk: time.sleep(10 if disk.name == "d2" else 0))
    disks = [make_disk(name, f"/{name}") for name in ("d1", "d2")]
    with pytest.raises(LoadError, match=r"disk d2 \(/d2\) did not finish syncing within 1 s"):
        sync_disks(disks, 1.0)


def test_the_table_of_bounds_says_what_the_source_and_the_settings_say():
    table = DEADLINES.read_text(encoding="utf-8")
    known = set()
    for node in (node for path in FILES for node in ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            known.add((node.targets[0].id, node.value.value))
    told = re.findall(r"\b([A-Z_]+) = ([\d.,]*\d)", table)
    assert len(told) >= 20
    assert_none(name for name, value in told if (name, float(value.replace(",", ""))) not in known)
    flags = re.findall(r"(--[a-z-]+) = ([\w.]+ ?s)\b", table)
    assert {"--request-timeout", "--drain"} <= {flag for flag, _ in flags}
    defaults = {setting.flag: setting.default for setting in SETTINGS}
    assert_none(flag for flag, value in flags if parse_seconds(value) != parse_seconds(defaults[flag]))


def test_a_load_is_told_its_times_and_is_waited_for_longer(tmp_path):
    order = make_trial(make_sweep(load__request_timeout="7s", load__drain="9s", load__duration="3s", load__warmup="1s"))
    spec = trial_spec(order, {"driver": "tdengine", "method": "rest"})
    assert (spec["request_timeout_s"], spec["drain_s"]) == ("7", "9")
    assert limit_s(order) > 3 + 1 + 9
    longer = replace(order, load=replace(order.load, drain_s=500.0))
    assert limit_s(longer) - limit_s(order) == 491.0
    program = program_with(tmp_path, {"tdengine": {"rest": ["deadline"], "stmt": []}})
    assert kept_by(program, spec) == spec
    cannot_end_a_request = spec | {"method": "stmt"}
    assert cannot_end_a_request.items() - kept_by(program, cannot_end_a_request).items() == {("request_timeout_s", "7")}


@pytest.fixture
def hanging(tmp_path, monkeypatch):
    """Programs that never end, in place of the system's."""
    for name in ("wipefs", "modprobe", "promtool"):
        executable(tmp_path / name, "exec sleep 60")
    for module in (device, prepare):
        monkeypatch.setattr(module, "search_path", lambda: f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def test_tools_that_hang_are_given_up(hanging, monkeypatch, wording):
    with pytest.raises(subprocess.TimeoutExpired, match="sleep"):
        run_within(0.3, ["sleep", "60"])
    done = run_within(60.0, ["sh", "-c", "echo a; echo b >&2; exit 3"])
    assert (done.stdout, done.stderr, done.returncode) == ("a\n", "b\n", 3)
    limits = ((device, "SIGNATURES_S"), (prepare, "MODPROBE_S"), (processes, "BESIDE_S"))
    for module, limit in limits:
        monkeypatch.setattr(module, limit, 0.3)
    monkeypatch.setattr(prepare, "_MDSTAT", hanging / "mdstat")
    me = SimpleNamespace(pw_name="me", pw_uid=os.geteuid(), pw_gid=os.getegid())
    code, words = processes.run_beside(SimpleNamespace(path=hanging, owner=me), [str(hanging / "promtool")])
    assert code == 124
    (finding,) = prepare.check_stripe(DiskSource(kind="loop"))
    wording(*device.signatures("/dev/loop0", hanging), finding.sentence, words)


def test_a_set_that_another_process_removes_for_ever_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(sets, "REGISTER", tmp_path)
    monkeypatch.setattr(sets, "REMOVAL_S", 0.3)
    (tmp_path / "one").mkdir()
    other = os.open(tmp_path / "one", os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    with pytest.raises(ProvisionError, match="disks one: another process"), sets.held("one"):
        pass
    os.close(other)
    with sets.held("one") as is_there:
        assert is_there


def test_a_database_that_never_answers_an_export_is_refused(monkeypatch):
    limits = sys.modules[write.__module__]._LIMITS
    monkeypatch.setitem(limits, "postgresql+psycopg", {"connect_timeout": 2})  # the least that libpq takes
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(StoreError, match="timeout"):
        write("run", tables_of(mixed_run()), f"postgresql://me@127.0.0.1:{silent.getsockname()[1]}/db")


def test_a_load_that_does_not_hear_a_signal_is_told_twice_and_then_killed(tmp_path, monkeypatch):
    """The second signal ends a drain at once, with the summary, which a killed load does not say."""
    # Two signals that a busy machine delivers together are one.
    monkeypatch.setattr("scale_sweep.loadgen.process.STOP_S", 4.0)
    monkeypatch.setattr("scale_sweep.loadgen.process.HURRY_S", 60.0)
    # Python's own path may have a blank, which no first line of a script can.
    program = executable(tmp_path / "scale-loadgen", f"exec {shlex.quote(sys.executable)} -c {shlex.quote(STUBBORN)}")
    load = LoadProcesses(program, [{"protocol": "1"}], (0,), "")
    load.start()
    for line in load.lines(300.0):
        if isinstance(line, Phase):
            load.stop()
    assert load.raw[-1].startswith('{"event":"phase","phase":"drain"')


STUBBORN = """
import signal, sys, time
heard = []
def hear(*_):
    heard.append(1)
    if len(heard) > 1:
        print('{"event":"phase","phase":"drain","monotonic_ns":2}', flush=True)
        sys.exit(0)
signal.signal(signal.SIGTERM, hear)
print('{"event":"phase","phase":"measure","monotonic_ns":1}', flush=True)
time.sleep(60) or time.sleep(60)
"""
