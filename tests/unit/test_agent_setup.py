"""What the agent of the server's host holds for a run: memory for data and for the server, until the end of it."""

import contextlib
import io
import json
import threading
import time
from dataclasses import asdict
from types import SimpleNamespace

import psutil
import pytest

from scale_sweep.agent.lines import SharedWriter, Talk
from scale_sweep.agent.serve import request_of
from scale_sweep.agent.trials import RUNNING
from scale_sweep.base.interrupts import Stopped
from scale_sweep.machine.host.host_facts import read_host
from scale_sweep.machine.state.places import folder
from scale_sweep.machine.state.records import read_records
from scale_sweep.measure.machine_setup import MachineSetup
from scale_sweep.model.resources import NewPages
from scale_sweep.plan.data_sets import held_sentence, trial_bytes
from scale_sweep.plan.preparing.choice import ServerChoice
from scale_sweep.plan.preparing.data_place import data_place
from scale_sweep.plan.preparing.on_hosts import prepare_on
from scale_sweep.server.targets import load_target
from scale_sweep.sweep.resolve import resolve_sweep
from tests.needs import needs
from tests.unit.test_plan import planned
from tests.unit.test_ram import MIB

WITHIN_S = 60.0
PAGES = NewPages(
    first_us=1.0, again_us=1.0, last_us=5.0, touched_bytes=2**30, cheap_bytes=2**29, available_bytes=64 * 10**9
)


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):

    monkeypatch.setenv("SCALE_STATE_DIR", str(tmp_path / "state"))


class Output(io.StringIO):
    """Lines of an agent, for tests that wait for one."""

    def event(self, name):
        deadline = time.monotonic() + WITHIN_S
        while time.monotonic() < deadline:
            events = [json.loads(line).get("event", {}) for line in self.getvalue().splitlines()]
            if found := [event[name] for event in events if name in event]:
                return found[-1]
            time.sleep(0.02)
        raise AssertionError(self.getvalue())


@contextlib.contextmanager
def asked(setup):
    """The talk and the output of a request for a setup, in a thread as the agent's. At last the controller has ended."""
    output = Output()
    talk, words = Talk(1, SharedWriter(output)), json.loads(json.dumps({"setup": asdict(setup)}, default=str))

    def work():
        with talk.stop.here(), contextlib.suppress(Stopped):
            request_of("set_up")(talk, words)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield talk, output
    finally:
        RUNNING.discard(7)
        talk.close("the controller ended")
        thread.join(WITHIN_S)


def holders():
    return [one for one in psutil.Process().children() if "memory_pages.py hold" in " ".join(one.cmdline())]


@needs("mount")
def test_memory_is_there_until_the_controller_ends_and_no_trial_runs_on_it():
    folder("ram")
    place = data_place("ram:256MiB")
    plan = planned(cores="1", target__data_dir=place.wanted)
    setup = MachineSetup(plan=plan, run_id="run", data_dir=str(place.path), ram=place.ram, held_bytes=64 * MIB)
    with asked(setup) as (talk, output):
        (disk,) = output.event("disks")["disks"]
        assert (disk["kind"], disk["size_bytes"], disk["path"]) == ("ram", 256 * MIB, str(place.path))
        assert place.path.is_mount() and len(holders()) == 1
        talk.hear({"take": True})
        assert output.event("taken")
        RUNNING.add(7)
        talk.close("the controller ended")
        time.sleep(0.3)
        assert place.path.is_mount(), "a trial still runs there"
    assert not place.path.exists() and not holders() and read_records().records == ()


def test_a_named_directory_is_made_for_the_run(tmp_path):
    path = tmp_path / "new"
    plan = planned(cores="1", target__data_dir=str(path))
    with asked(MachineSetup(plan=plan, run_id="run", data_dir=str(path))) as (_, output):
        output.event("disks")
        assert path.is_dir()
    assert not path.exists()


def chosen(request):
    words = dict.fromkeys(("image", "sentence", "missing"), "")
    return ServerChoice(target=load_target("postgres"), runtime="process", home="/usr", version="15", **words)


def test_memory_is_sized_and_held_as_the_servers_host_says(tmp_path):
    flags = {"axis.cores": "1..2", "load.quick": "1", "target.name": "postgres", "target.data_dir": "ram"}
    server = SimpleNamespace(  # as this machine, except for its memory
        described={"address": "10.0.0.1"},
        host=read_host(),
        choose=chosen,
        data=lambda requested, least=0, most=0: data_place("ram:3GiB"),
        new_pages=lambda wanted_bytes: PAGES,
        speed=lambda: 2.1,
        findings=lambda plan, choices, data: (),
    )
    found = prepare_on(resolve_sweep("cpu", flags, server.host), tmp_path, server, insecure=False)
    assert found.plan.sweep.data_dir == "ram:3GiB"
    assert found.ram is not None and found.ram.size_bytes == 3 * 2**30 and found.data_dir == found.ram.path
    assert any("3GiB" in note for note in found.plan.notes)
    assert found.held_bytes == trial_bytes(found.plan) > 0
    assert held_sentence(found.plan, found.held_bytes) in found.plan.notes
