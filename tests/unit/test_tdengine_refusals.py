"""What a sweep asks of TDengine and cannot have, found from its words: one blocking finding for each, with a remedy."""

import socket
import time
from dataclasses import replace

import pytest

from scale_sweep.base.errors import TargetError
from scale_sweep.measure.trial import waiting
from scale_sweep.measure.trial.provision import Reached
from scale_sweep.measure.trial.waiting import ask
from scale_sweep.plan import complete
from scale_sweep.server.targets import Address, Surroundings, load_target
from scale_sweep.server.targets.tdengine import admission, client, config, tdengine_queries
from scale_sweep.server.targets.tdengine.client import names_that_do_not_resolve, too_few_vnodes
from scale_sweep.server.targets.tdengine.config import ITEMS, OURS
from tests.processes import lives
from tests.unit.factories import make_sweep, make_trial
from tests.unit.test_bounds import Still

TDENGINE = load_target("tdengine")
BY_TAOS = {"load__generator": "taosbenchmark"}


def trial(**knobs):
    return {"vgroups": "4", "connections": "4", "commit_threads": "2", **knobs}


def sweep(runtime="process", **flags):
    return complete(replace(make_sweep(**flags), target="tdengine", runtime=runtime), TDENGINE.facts)


def asked(of_sweep, knobs, memory=16 * 2**30, free=10**11):
    explicit = frozenset(key for key, origin in of_sweep.origin.items() if origin in ("flag", "file"))
    around = Surroundings(memory_bytes=memory, free_bytes=free, explicit=explicit)
    return make_trial(of_sweep, cores=4.0, knobs=knobs), around


def blocking(of_sweep, of_trial):
    found = TDENGINE.check(*asked(of_sweep, of_trial))
    assert all(f.remedy for f in found if f.blocking)
    return {f.subject: f"{f.sentence} → {f.remedy}" for f in found if f.blocking}


@pytest.mark.parametrize(
    ("knob", "value", "words"),
    [
        ("walLevel", "2", "wal_level"),
        ("days", "10", "duration"),
        ("cacheLast", "1", "cachemodel"),
        ("numOfComitThreads", "2", "numOfCommitThreads"),
        ("bufer", "32", "buffer"),
        ("fqdn", "elsewhere", "the trial decides"),
        ("serverport", "99", "the trial decides"),
        ("buffer", "abc", "between 3 and 16384"),
        ("precision", "xs", "ms, us, ns"),
        ("cachemodel", "all", "last_row"),
        ("supportVnodes", "many", "whole number from 0 to 4096"),
        ("numOfRpcThreads", "x", "whole number from 1 to 1024"),
        ("numOfVnodeQueryThreads", "2", "from 4 to 1024"),
        ("rpcQueueMemoryAllowed", "1GB", "at least 104857600"),
        ("minimalDataDirGB", "little", "a number from"),
        ("numOfCores", "0", "a number from"),
    ],
)
def test_a_knob_that_would_be_ignored_or_refused_is_named(knob, value, words):
    (finding,) = blocking(sweep(), trial(**{knob: value})).items()
    assert finding[0].lower() == f"--knob {knob}".lower()
    assert words in finding[1]
    assert isinstance(TDENGINE.reserves(make_trial(knobs=trial(**{knob: value})), 16 * 2**30), dict)


def test_items_are_spelled_as_the_server_lists_them_because_taosd_ignores_case():
    items = config.config_items(make_trial(knobs=trial(numofcommitthreads="3", NUMOFCORES="2")))
    assert (items["numOfCommitThreads"], items["numOfCores"]) == ("3", "2")
    assert len(items) == 4
    assert blocking(sweep(), trial(numofcommitthreads="3")) == {}
    assert len({name.lower() for name in (*ITEMS, *OURS)}) == len(ITEMS) + len(OURS)
    (later,) = TDENGINE.check(*asked(sweep(), trial(somethingElseEntirely="1")))
    assert not later.blocking and "3.3.0.0" in later.sentence


def test_a_server_that_runs_already_has_its_own_configuration_memory_and_disk():
    elsewhere = {"runtime": "auto", "target__endpoint": "db:6030"}
    asynchronous = blocking(sweep(**elsewhere, knobs__commit_threads="3"), trial(asyncLog="0", buffer="32"))
    assert set(asynchronous) == {"--commit-threads", "--knob asyncLog"}
    assert blocking(sweep(**elsewhere), trial(buffer="32")) == {}
    assert TDENGINE.settings(make_trial(knobs=trial(buffer="32")), is_ours=False) == {"vgroups": "4", "buffer": "32"}
    assert admission.findings(*asked(sweep(**elsewhere), trial(vgroups="100"), 2**30, 10**6)) == ()
    assert any(f.blocking for f in admission.findings(*asked(sweep(), trial(vgroups="100"), 2**30, 10**6)))


@pytest.mark.parametrize(
    ("flags", "subject", "words"),
    [
        ({"workload__tables": "3"}, "--tables", "4 vgroups"),
        ({"load__method": "sml-telnet"}, "--method", "writes one column, there are 3"),
        ({"load__method": "sml-json"}, "--method", "writes one column, there are 3"),
        ({**BY_TAOS, "load__rows": "1M", "load__method": "ws"}, "--load-generator", "method ws"),
        ({**BY_TAOS, "load__rows": "1234"}, "--rows", "each of 100 tables"),
        ({**BY_TAOS, "load__rows": "1M", "load__placement": "owned"}, "--placement", "itself"),
        ({"load__method": "sml-telnet", "workload__columns": "value:double"}, "", ""),
        ({"load__loader": "taosbenchmark", "load__rows": "1M", "load__method": "sql"}, "", ""),
    ],
)
def test_work_that_a_method_or_loader_cannot_do_is_refused_before_the_first_trial(flags, subject, words):
    found = blocking(sweep(**flags), trial())
    assert list(found) == ([subject] if subject else [])
    assert words in found.get(subject, "")


@pytest.mark.parametrize(
    ("method", "precision", "can"),
    [("sml-telnet", "us", False), ("sml-json", "ns", False), ("sml-json", "us", True), ("stmt", "ns", True)],
)
def test_a_precision_that_a_method_cannot_write_is_refused(method, precision, can):
    found = blocking(sweep(load__method=method, workload__columns="v:double"), trial(precision=precision))
    assert list(found) == ([] if can else ["--knob precision"])


def trial_of(sweep=None, **knobs):
    return make_trial(sweep, cores=6.0, knobs=trial(**knobs))


def test_the_plan_says_what_derives_from_the_cores_and_gaps_are_asked_for_in_the_units_of_the_database():
    settings = TDENGINE.settings(trial_of(buffer="64", keep="10d"), is_ours=True)
    expected = {"numOfCores": "6", "numOfRpcThreads": "3", "supportVnodes": "12", "buffer": "64", "vgroups": "4"}
    assert settings | expected == settings
    assert TDENGINE.reserves(trial_of(), 16 * 2**30)["vnodes"].split()[::3] == ["4", "12"]
    sweep = make_sweep(workload__step_ms="10", workload__start_ms="1000")
    assert "a <> 1000 OR b - a + 10 <> n * 10" in tdengine_queries.not_consecutive(trial_of(sweep), "d", "t", "ts")
    assert "a <> 1000000 OR b - a + 10000" in tdengine_queries.not_consecutive(
        trial_of(sweep, precision="'us'"), "d", "t", "ts"
    )


def test_what_a_client_or_a_server_lacks_is_found_with_what_to_do(wording):
    def resolve(host):
        if host == "td1":
            raise OSError("unknown")
        return "127.0.0.1"

    (name,) = names_that_do_not_resolve(["localhost", "td1", "td1"], resolve)
    around = Surroundings(memory_bytes=16 * 2**30, free_bytes=10 * 2**30)
    (space,) = TDENGINE.check(trial_of(minimalDataDirGB="50"), around)
    assert TDENGINE.check(trial_of(minimalDataDirGB="5"), around) == ()
    assert too_few_vnodes([(8, 2), (4, 4)], 6) == ()
    (some,), (none,) = too_few_vnodes([(8, 2), (4, 4)], 7), too_few_vnodes([(4, 6)], 1)
    assert all(finding.blocking for finding in (name, space, some, none))
    wording(*(f"{finding.sentence} → {finding.remedy}" for finding in (name, space, some, none)))


def test_a_server_that_runs_already_without_an_adapter_is_not_loaded_by_rest(monkeypatch):
    monkeypatch.setattr(client, "endpoint_findings", lambda *asked: ())
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        address = Address(host="127.0.0.1", port=taken.getsockname()[1] - config.ADAPTER_OFFSET, secret="")
        (found,) = TDENGINE.check_endpoint(address, [trial_of(make_sweep(load__method="rest"))])
        assert found.blocking and "taosAdapter" in found.sentence
        assert TDENGINE.check_endpoint(address, [trial_of(make_sweep(load__method="stmt"))]) == ()


def test_a_question_that_is_given_up_leaves_no_process(tmp_path, monkeypatch):
    """The server is silent long before the question's own deadline, which the load generator goes by."""
    program = tmp_path / "scale-loadgen"
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("SCALE_LOADGEN", str(program))
    monkeypatch.setattr(waiting, "SILENT_S", 1.0)
    monkeypatch.setattr(waiting, "WORK_LOOK_S", 0.1)
    address = Address(host="127.0.0.1", port=1, secret="")
    session = TDENGINE.session(trial_of(), address)
    told = tmp_path / "pid"
    still = Still(monkeypatch, works=lambda: not (told.exists() and told.read_text()))
    at = Reached(server=still, address=address, session=session, who="TDengine")
    with pytest.raises(TargetError, match=r"TDengine did not answer SELECT SERVER_VERSION\(\)"):
        ask(at, session.version, 50.0)
    pid, deadline = int(told.read_text()), time.monotonic() + 50
    while lives(pid):
        assert time.monotonic() < deadline, "it still runs"
        time.sleep(0.05)
