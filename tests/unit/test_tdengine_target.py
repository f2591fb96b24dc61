"""What TDengine is told and what it would refuse, from the texts alone; the real server is in tests/contract."""

import json
import re
import socket
from dataclasses import replace

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.loadgen.split import split_spec
from scale_sweep.model.declared_parts import Piece, Rule
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.resources import Site
from scale_sweep.plan.make import make_plan
from scale_sweep.plan.target_defaults import complete
from scale_sweep.report.documents import only
from scale_sweep.report.several import comparison_table
from scale_sweep.report.several_curves import labels_of
from scale_sweep.server.targets import Address, Surroundings, load_target
from scale_sweep.server.targets.tdengine import admission, config
from scale_sweep.server.targets.tdengine.tdengine_session import TdengineSession
from tests.unit.factories import make_result, make_sweep, make_trial
from tests.unit.test_plan import make_host

TDENGINE = load_target("tdengine")
AROUND = Surroundings(memory_bytes=16 * 2**30, free_bytes=10**11)
SITE = Site(data_dir="/d", port=7030, bind_address="127.0.0.1", home="/h")


def trial(cores=4.0, sweep=None, **knobs):
    return make_trial(sweep, cores=cores, knobs={"vgroups": "4", "connections": "4", "commit_threads": "2", **knobs})


def test_taosd_is_told_the_cores_it_cannot_see_and_all_that_derives_from_them(home):
    text = config.taos_cfg(trial(cores=6.0, buffer="64", numOfVnodeQueryThreads="8"), SITE)
    settings = dict(line.split(maxsplit=1) for line in text.splitlines())
    cores = {"numOfCores": "6", "numOfCommitThreads": "2", "numOfRpcThreads": "3", "supportVnodes": "12"}
    silent = {"telemetryReporting": "0", "crashReporting": "0"}
    assert settings | cores | silent | {"serverPort": "7030", "numOfVnodeQueryThreads": "8"} == settings
    assert "buffer" not in text
    assert config.database_options(trial(buffer="64")) == {"vgroups": "4", "buffer": "64"}
    ours = Address(host="h", port=1, secret="s", data_dir="/d")
    assert "numOfCores" in TdengineSession(trial(), ours, "").expected()
    theirs = replace(ours, is_ours=False, data_dir="")
    assert set(TdengineSession(trial(), theirs, "").expected()) == {"vgroups"}


def test_what_is_started_and_under_which_name_its_client_finds_it():
    plain = config.server_spec(trial(), replace(SITE, address="10.0.0.11", bind_address="10.0.0.11"), adapter=False)
    assert re.findall("(?:fqdn|firstEp) (.*)", plain.files["/d/cfg/taos.cfg"]) == ["10.0.0.11", "10.0.0.11:7030"]
    assert re.findall("firstEp (.*)", plain.files["/d/client/taos.cfg"]) == ["10.0.0.11:7030"]
    assert re.findall("(?:fqdn|firstEp) (.*)", config.taos_cfg(trial(), SITE)) == ["localhost", "localhost:7030"]
    both = config.server_spec(trial(), SITE, adapter=True)
    assert plain.argv[0] == "/h/bin/taosd"
    assert "/h/bin/taosadapter" in both.argv
    assert both.env["LD_LIBRARY_PATH"] == "/h/lib"
    assert both.ports == (7030, 7041)


def sweep_of(**flags):
    return complete(replace(make_sweep(**flags), target="tdengine", runtime="process"), TDENGINE.facts)


@pytest.fixture
def home(monkeypatch, tmp_path):
    """A place with a load generator and the genuine tool, neither of which is run."""
    monkeypatch.setenv("SCALE_LOADGEN", "/bin/true")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "taosBenchmark").touch()
    return str(tmp_path)


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"vgroups": "64", "buffer": "4096"}, "would admit"),
        ({"vgroups": "8", "supportVnodes": "4"}, "supportVnodes"),
        ({"commit_threads": "300"}, "falls back to 4"),
        ({"stt_trigger": "8"}, "community"),
        ({"wal_level": "3"}, "between 1 and 2"),
        ({"vgroups": "5000"}, "between 1 and 1024"),
        ({"sweep": replace(make_sweep(), memory_bytes=2**30)}, "killed"),
    ],
)
def test_what_would_be_refused_is_found(changed, word):
    found = admission.findings(trial(**changed), AROUND)
    assert any((f.blocking or word == "killed") and word in f.sentence for f in found)
    assert admission.findings(trial(), AROUND) == ()


@pytest.mark.parametrize(
    ("threads", "hosts", "each"),
    [(4, 3, [1, 1, 2]), (2, 3, [1, 1]), (1, 2, [1]), (25, 2, [8, 8, 9]), (25, 1, [8, 8, 9])],
)
def test_threads_are_split_evenly_among_processes_and_hosts_and_start_together(threads, hosts, each):
    parts = split_spec({"threads": str(threads), "driver": "tdengine"}, 10, 1000, least=hosts)
    assert sorted(int(part["threads"]) for part in parts) == each
    if len(parts) == 3:
        assert [int(p["first_worker"]) for p in parts] == [sum(each[:at]) for at in range(3)]
        assert {p["workers_total"] for p in parts} == {str(threads)}
        assert len({p["start_at_ns"] for p in parts}) == 1
    for few, most in (("25", 0), ("10", 10)):
        assert split_spec({"threads": few}, most, 0) == [{"threads": few}]


@pytest.mark.parametrize(("precision", "units"), [("ms", 1), ("us", 1_000), ("'ns'", 1_000_000)])
def test_the_genuine_tool_gets_the_same_work_and_its_password_in_a_file(precision, units, home):
    sweep = sweep_of(load__rows="1M")
    address = Address(host="127.0.0.1", port=7030, secret="word", home=home, data_dir="/d")
    session = TdengineSession(trial(sweep=sweep, precision=precision), address, "")
    assert session.load_spec()["precision"] == precision.strip("'")
    command = session.genuine_load()
    job = json.loads(next(iter(command.files.values())))
    table = job["databases"][0]["super_tables"][0]
    assert job["databases"][0]["dbinfo"]["precision"] == precision.strip("'")
    assert (table["childtable_count"], table["insert_rows"], table["insert_mode"]) == (100, 10_000, "stmt")
    assert (table["timestamp_step"], table["start_timestamp"]) == (units, 1_500_000_000_000 * units)
    assert (job["thread_count"], job["password"]) == (4, "word")
    assert "word" not in " ".join(command.argv) and command.reader.unit == "rows" and command.writes_rows
    assert command.program.command.split()[0] == command.program.name == "taosBenchmark"
    assert (
        all(word in command.program.rows for word in ("100", "10,000", "stmt")) and "walk" not in command.program.rows
    )


def test_a_setting_that_follows_the_cores_is_a_confound_unless_a_knob_holds_it():
    def moving(cores, knobs=None, **more):
        sweep = replace(make_sweep(cores=cores), target="tdengine", runtime="process")
        sweep = replace(sweep, knobs={**sweep.knobs, **(knobs or {})}, **more)
        return [c.knob for c in make_plan(complete(sweep, TDENGINE.facts), make_host(), TDENGINE.facts).confounds]

    assert moving("1..4") == [], "two threads at all of these"
    assert moving("1,6") == ["numOfRpcThreads"]
    assert moving("1,6", {"numOfRpcThreads": Rule(pieces=(Piece(first=None, last=None, value="4"),))}) == []
    assert moving("1,6", endpoint="localhost:6030") == [], "a server that scale does not set"


def test_a_second_factor_makes_a_trial_of_every_combination_and_each_is_compared():
    plan = make_plan(sweep_of(cores="1", vary=["method=stmt,sql", "connections=1,4"]), make_host(), TDENGINE.facts)
    assert len(plan.trials) == 4 * 3
    assert {t.knobs["connections"] for t in plan.trials} == {"1", "4"}
    assert "cores-1-sql-4-r2" in {t.trial_id for t in plan.trials}
    results = tuple(
        replace(make_result(rate=2e6 if t.variant["method"] == "stmt" else 1e6), trial=t) for t in plan.trials
    )
    run = StoredRun(path="", manifest={}, plan=plan, results=results, timeseries={})
    assert labels_of(run) == ["stmt-1", "stmt-4", "sql-1", "sql-4"]
    assert comparison_table(run).rows[2][4] == "0.50×"
    assert len(only(run, "sql-4").results) == 3


def test_a_misspelled_setting_to_vary_is_not_taken_for_a_knob():
    with pytest.raises(UsageError, match="did you mean rows_per_request"):
        sweep_of(cores="1", vary=["rows_per_requests=1,2"])


def test_a_server_is_ready_when_its_adapter_listens_and_a_copy_of_files_has_the_password_already(home, monkeypatch):
    """taosd answers; the adapter beside it only when something listens eleven ports above."""
    statements = []
    monkeypatch.setattr(
        TdengineSession, "_rows", lambda self, statement, limit_s=0: statements.append(statement) or [["ready"]]
    )
    new = Address(host="127.0.0.1", port=1, secret="s3")
    for address in (new, replace(new, holds_data=True)):
        assert TdengineSession(trial(), address, "").not_ready() == ""
    assert [statement.split()[0] for statement in statements] == ["ALTER", "SELECT", "SELECT"]
    with socket.socket() as adapter:
        adapter.bind(("127.0.0.1", 0))
        address = Address(host="127.0.0.1", port=adapter.getsockname()[1] - config.ADAPTER_OFFSET, secret="s")

        def not_ready(method):
            return TdengineSession(trial(sweep=sweep_of(load__method=method)), address, "").not_ready()

        assert not_ready("stmt") == ""
        assert "taosAdapter" in not_ready("rest") and "taosAdapter" in not_ready("ws")
        adapter.listen()
        assert not_ready("rest") == not_ready("ws") == ""
