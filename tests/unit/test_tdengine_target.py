"""What TDengine is told and what it would refuse, from the texts alone; the real server is in tests/contract."""

import json
import socket
from dataclasses import replace

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.loadgen.split import split_spec
from scale_sweep.model import Piece, Rule, Site, StoredRun
from scale_sweep.plan import complete, make_plan
from scale_sweep.report.documents import comparison_table, labels_of, only
from scale_sweep.server.targets import Address, Surroundings, load_target
from scale_sweep.server.targets.tdengine import admission, config, genuine
from scale_sweep.server.targets.tdengine.tdengine_session import TdengineSession
from tests.unit.factories import make_result, make_sweep, make_trial
from tests.unit.test_plan import make_host

TDENGINE = load_target("tdengine")
AROUND = Surroundings(memory_bytes=16 * 2**30, free_bytes=10**11)
SITE = Site(data_dir="/d", port=7030, bind_address="127.0.0.1", home="/h")


def trial(cores=4.0, sweep=None, **knobs):
    return make_trial(sweep, cores=cores, knobs={"vgroups": "4", "connections": "4", "commit_threads": "2", **knobs})


def test_taosd_is_told_the_cores_it_cannot_see_and_all_that_derives_from_them():
    text = config.taos_cfg(trial(cores=6.0, buffer="64", numOfVnodeQueryThreads="8"), SITE)
    for line in (
        "numOfCores 6",
        "numOfCommitThreads 2",
        "numOfRpcThreads 3",
        "supportVnodes 12",
        "serverPort 7030",
        "numOfVnodeQueryThreads 8",
        "telemetryReporting 0",
        "crashReporting 0",
    ):
        assert f"{line}\n" in text
    assert "buffer" not in text
    assert config.database_options(trial(buffer="64")) == {"vgroups": "4", "buffer": "64"}


def test_beyond_loopback_its_name_is_its_address_for_server_and_client():
    spec = config.server_spec(trial(), replace(SITE, address="10.0.0.11", bind_address="10.0.0.11"), adapter=False)
    assert "fqdn 10.0.0.11\nfirstEp 10.0.0.11:7030\n" in spec.files["/d/cfg/taos.cfg"]
    assert "firstEp 10.0.0.11:7030\n" in spec.files["/d/client/taos.cfg"]
    assert "fqdn localhost\nfirstEp localhost:7030\n" in config.taos_cfg(trial(), SITE)


def test_the_adapter_is_started_only_for_the_methods_that_need_it():
    plain = config.server_spec(trial(), SITE, adapter=False)
    both = config.server_spec(trial(), SITE, adapter=True)
    assert plain.argv[0] == "/h/bin/taosd"
    assert "/h/bin/taosadapter" in both.argv
    assert both.env["LD_LIBRARY_PATH"] == "/h/lib"
    assert both.ports == (7030, 7041)


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"vgroups": "64", "buffer": "4096"}, "would admit"),
        ({"vgroups": "8", "supportVnodes": "4"}, "supportVnodes"),
        ({"commit_threads": "300"}, "falls back to 4"),
        ({"stt_trigger": "8"}, "community"),
        ({"wal_level": "3"}, "between 1 and 2"),
        ({"vgroups": "5000"}, "between 1 and 1024"),
    ],
)
def test_what_would_be_refused_is_found(changed, word):
    found = admission.findings(trial(**changed), AROUND)
    assert any(f.blocking and word in f.sentence for f in found)
    assert admission.findings(trial(), AROUND) == ()


def test_a_memory_limit_that_taosd_cannot_see_is_found():
    sweep = replace(make_sweep(), memory_bytes=2**30)
    assert any("killed" in f.sentence for f in admission.findings(trial(sweep=sweep), AROUND))


def test_more_threads_than_one_process_serves_are_split_evenly_and_start_together():
    parts = split_spec({"threads": "25", "driver": "tdengine"}, 10, 1000)
    assert [p["threads"] for p in parts] == ["8", "8", "9"]
    assert [p["first_worker"] for p in parts] == ["0", "8", "16"]
    assert {p["workers_total"] for p in parts} == {"25"}
    assert len({p["start_at_ns"] for p in parts}) == 1
    assert split_spec({"threads": "25"}, 0, 0) == [{"threads": "25"}]


@pytest.mark.parametrize(
    ("threads", "hosts", "each"), [(4, 3, [1, 1, 2]), (2, 3, [1, 1]), (1, 2, [1]), (25, 2, [8, 8, 9])]
)
def test_every_load_host_gets_a_process_if_there_are_connections_for_it(threads, hosts, each):
    parts = split_spec({"threads": str(threads)}, 10, 0, least=hosts)
    assert sorted(int(part["threads"]) for part in parts) == each
    assert split_spec({"threads": "10"}, 10, 0) == [{"threads": "10"}]


def test_the_genuine_tools_words_are_read():
    said = genuine.parse(
        "[11/21 05:59:03.370503] SUCC: Spent 0.964312 (real 0.889443) seconds to insert rows: 5000000 with 4 thread(s)"
        " into test 5185043.84 (real 5621495.70) records/second\n[..] SUCC: insert delay, min: 1.1940ms, avg: 7.1155ms,"
        " p90: 11.4180ms, p95: 13.6550ms, p99: 20.9940ms, max: 28.3040ms\n"
    )
    assert (said.rows, said.seconds, said.threads) == (5_000_000, 0.964312, 4)
    assert said.delay_ms["p99"] == 20.994
    with pytest.raises(ValueError, match="Spent"):
        genuine.parse("nothing of the kind")


def test_the_genuine_tool_gets_the_same_work_and_its_password_in_a_file(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "taosBenchmark").touch()
    sweep = complete(replace(make_sweep(load__rows="1M"), target="tdengine", runtime="process"), TDENGINE.facts)
    address = Address(host="127.0.0.1", port=7030, secret="word", home=str(tmp_path), data_dir="/d")
    command = genuine.command(trial(sweep=sweep), address, "db", "stb")
    job = json.loads(next(iter(command.files.values())))
    table = job["databases"][0]["super_tables"][0]
    assert (table["childtable_count"], table["insert_rows"], table["insert_mode"]) == (100, 10_000, "stmt")
    assert (job["thread_count"], job["password"]) == (4, "word")
    assert "word" not in " ".join(command.argv)
    program = command.program
    assert (program.name, program.version, program.command) == (
        "taosBenchmark",
        "",
        "taosBenchmark -f taosBenchmark.json",
    )
    assert "100 tables, 10,000 rows per request, insert mode stmt" in program.rows and "walk" not in program.rows


def test_a_servers_own_settings_are_expected_only_of_a_server_of_ours(monkeypatch):
    monkeypatch.setenv("SCALE_LOADGEN", "/bin/true")
    ours = Address(host="h", port=1, secret="s", data_dir="/d")
    theirs = replace(ours, is_ours=False, data_dir="")
    assert "numOfCores" in TdengineSession(trial(), ours, "").expected()
    assert set(TdengineSession(trial(), theirs, "").expected()) == {"vgroups"}


def test_a_setting_that_follows_the_cores_is_a_confound_unless_a_knob_holds_it():
    def moving(cores, **more):
        sweep = replace(make_sweep(cores=cores), target="tdengine", runtime="process")
        sweep = replace(sweep, knobs={**sweep.knobs, **more.pop("knobs", {})}, **more)
        return [c.knob for c in make_plan(complete(sweep, TDENGINE.facts), make_host(), TDENGINE.facts).confounds]

    assert moving("1..4") == [], "two threads at all of these"
    assert moving("1,6") == ["numOfRpcThreads"]
    assert moving("1,6", knobs={"numOfRpcThreads": Rule(pieces=(Piece(first=None, last=None, value="4"),))}) == []
    assert moving("1,6", endpoint="localhost:6030") == [], "a server that scale does not set"


def test_a_second_factor_makes_a_trial_of_every_combination_and_each_is_compared():
    sweep = replace(
        make_sweep(cores="1", vary=["method=stmt,sql", "connections=1,4"]), target="tdengine", runtime="process"
    )
    plan = make_plan(complete(sweep, TDENGINE.facts), make_host(), TDENGINE.facts)
    assert len(plan.trials) == 4 * 3
    assert {t.knobs["connections"] for t in plan.trials} == {"1", "4"}
    assert "cores-1-sql-4-r2" in {t.trial_id for t in plan.trials}
    results = tuple(
        replace(make_result(rate=2e6 if t.variant["method"] == "stmt" else 1e6), trial=t) for t in plan.trials
    )
    run = StoredRun(path="", manifest={}, plan=plan, results=results, timeseries={})
    assert labels_of(run) == ["stmt-1", "stmt-4", "sql-1", "sql-4"]
    rows = comparison_table(run).rows
    assert [(r[1], r[3]) for r in rows][2] == ("method sql, connections 1", "0.50×")
    assert len(only(run, "sql-4").results) == 3


def test_a_method_that_does_not_exist_is_refused_by_name():
    sweep = replace(make_sweep(cores="1", vary=["method=stmt,smt"]), target="tdengine", runtime="process")
    with pytest.raises(UsageError, match="smt"):
        complete(sweep, TDENGINE.facts)


@pytest.mark.parametrize(
    ("name", "meant"), [("metod", "method"), ("tabels", "tables"), ("rows_per_requests", "rows_per_request")]
)
def test_a_misspelled_setting_to_vary_is_not_taken_for_a_knob(name, meant):
    sweep = replace(make_sweep(cores="1", vary=[f"{name}=1,2"]), target="tdengine", runtime="process")
    with pytest.raises(UsageError, match=f"did you mean {meant}"):
        complete(sweep, TDENGINE.facts)


@pytest.mark.parametrize(("precision", "units"), [("ms", 1), ("us", 1_000), ("'ns'", 1_000_000)])
def test_the_generator_is_told_the_precision_of_the_database(precision, units, monkeypatch, tmp_path):
    monkeypatch.setenv("SCALE_LOADGEN", "/bin/true")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "taosBenchmark").touch()
    address = Address(host="127.0.0.1", port=7030, secret="s", home=str(tmp_path), data_dir="/d")
    sweep = complete(replace(make_sweep(load__rows="1M"), target="tdengine", runtime="process"), TDENGINE.facts)
    session = TdengineSession(trial(sweep=sweep, precision=precision), address, "")
    assert session.load_spec()["precision"] == precision.strip("'")
    job = json.loads(next(iter(session.genuine_load().files.values())))["databases"][0]
    assert job["dbinfo"]["precision"] == precision.strip("'")
    assert job["super_tables"][0]["timestamp_step"] == units
    assert job["super_tables"][0]["start_timestamp"] == 1_500_000_000_000 * units


def test_a_server_is_not_ready_before_its_adapter_listens(monkeypatch):
    """taosd answers; the adapter beside it only when something listens eleven ports above."""
    monkeypatch.setenv("SCALE_LOADGEN", "/bin/true")
    monkeypatch.setattr(TdengineSession, "_rows", lambda self, statement, limit_s=0: (("ready",),))
    with socket.socket() as adapter:
        adapter.bind(("127.0.0.1", 0))
        address = Address(host="127.0.0.1", port=adapter.getsockname()[1] - config.ADAPTER_OFFSET, secret="s")

        def not_ready(method):
            sweep = complete(
                replace(make_sweep(load__method=method), target="tdengine", runtime="process"), TDENGINE.facts
            )
            return TdengineSession(trial(sweep=sweep), address, "").not_ready()

        assert not_ready("stmt") == ""
        assert "taosAdapter" in not_ready("rest") and "taosAdapter" in not_ready("ws")
        adapter.listen()
        assert not_ready("rest") == not_ready("ws") == ""


def test_a_copy_of_files_has_the_password_already_and_nothing_is_changed_there(monkeypatch):
    """A new server has the database's own password, which its session replaces before anything else."""
    asked = []
    monkeypatch.setattr(
        TdengineSession, "_rows", lambda self, statement, limit_s=0: asked.append(statement) or [["ready"]]
    )
    new = Address(host="127.0.0.1", port=1, secret="s3")
    for address in (new, replace(new, holds_data=True)):
        assert TdengineSession(trial(), address, "").not_ready() == ""
    assert [statement.split()[0] for statement in asked] == ["ALTER", "SELECT", "SELECT"]
