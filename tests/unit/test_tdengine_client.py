"""Names that a client must resolve, and figures of admission in the plan; the real server is in tests/contract."""

import socket
import time

import pytest

from scale_sweep.base.errors import TargetError
from scale_sweep.measure.trial import waiting
from scale_sweep.measure.trial.provision import Reached
from scale_sweep.measure.trial.waiting import ask
from scale_sweep.server.targets import Address, Surroundings, load_target
from scale_sweep.server.targets.tdengine import client, config, count
from scale_sweep.server.targets.tdengine.client import names_that_do_not_resolve, too_few_vnodes
from tests.processes import lives
from tests.unit.factories import make_sweep, make_trial
from tests.unit.test_bounds import Still

TDENGINE = load_target("tdengine")


def trial(sweep=None, **knobs):
    return make_trial(sweep, cores=6.0, knobs={"vgroups": "4", "connections": "4", "commit_threads": "2", **knobs})


def test_the_plan_says_what_derives_from_the_cores_and_what_the_server_admits():
    settings = TDENGINE.settings(trial(buffer="64", keep="10d"), is_ours=True)
    expected = {"numOfCores": "6", "numOfRpcThreads": "3", "supportVnodes": "12", "buffer": "64", "vgroups": "4"}
    assert settings | expected == settings
    assert TDENGINE.reserves(trial(), 16 * 2**30)["vnodes"] == "4 of supportVnodes 12"


def test_what_a_client_or_a_server_lacks_is_found_with_what_to_do(wording):
    def resolve(host):
        if host == "td1":
            raise OSError("unknown")
        return "127.0.0.1"

    (name,) = names_that_do_not_resolve(["localhost", "td1", "td1"], resolve)
    around = Surroundings(memory_bytes=16 * 2**30, free_bytes=10 * 2**30)
    (space,) = TDENGINE.check(trial(minimalDataDirGB="50"), around)
    assert TDENGINE.check(trial(minimalDataDirGB="5"), around) == ()
    assert too_few_vnodes([(8, 2), (4, 4)], 6) == ()
    (some,), (none,) = too_few_vnodes([(8, 2), (4, 4)], 7), too_few_vnodes([(4, 6)], 1)
    assert all(finding.blocking for finding in (name, space, some, none))
    wording(*(f"{finding.sentence} → {finding.remedy}" for finding in (name, space, some, none)))


def test_the_question_for_gaps_is_in_the_units_of_the_database():
    sweep = make_sweep(workload__step_ms="10", workload__start_ms="1000")
    assert "a <> 1000 OR b - a + 10 <> n * 10" in count.not_consecutive(trial(sweep), "d", "t", "ts")
    assert "a <> 1000000 OR b - a + 10000" in count.not_consecutive(trial(sweep, precision="'us'"), "d", "t", "ts")


def test_a_server_that_runs_already_without_an_adapter_is_not_loaded_by_rest(monkeypatch):
    monkeypatch.setattr(client, "endpoint_findings", lambda *asked: ())
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        address = Address(host="127.0.0.1", port=taken.getsockname()[1] - config.ADAPTER_OFFSET, secret="")
        (found,) = TDENGINE.check_endpoint(address, [trial(make_sweep(load__method="rest"))])
        assert found.blocking and "taosAdapter" in found.sentence
        assert TDENGINE.check_endpoint(address, [trial(make_sweep(load__method="stmt"))]) == ()


def test_a_question_that_is_given_up_leaves_no_process(tmp_path, monkeypatch):
    """The server is silent long before the question's own deadline, which the load generator goes by."""
    program = tmp_path / "scale-loadgen"
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("SCALE_LOADGEN", str(program))
    monkeypatch.setattr(waiting, "SILENT_S", 1.0)
    monkeypatch.setattr(waiting, "WORK_LOOK_S", 0.1)
    address = Address(host="127.0.0.1", port=1, secret="")
    session = TDENGINE.session(trial(), address)
    told = tmp_path / "pid"
    still = Still(monkeypatch, works=lambda: not (told.exists() and told.read_text()))
    at = Reached(server=still, address=address, session=session, who="TDengine")
    with pytest.raises(TargetError, match=r"TDengine did not answer SELECT SERVER_VERSION\(\)"):
        ask(at, session.version, 50.0)
    pid, deadline = int(told.read_text()), time.monotonic() + 50
    while lives(pid):
        assert time.monotonic() < deadline, "it still runs"
        time.sleep(0.05)
