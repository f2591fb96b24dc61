"""No spec is refused after the start: the plan asks the load generator, which needs no server for its answer."""

import json
from dataclasses import replace

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.loadgen import checked
from scale_sweep.model import Plan
from scale_sweep.plan import complete, make_plan
from scale_sweep.plan.preparing.choice import ServerChoice, subject_key
from scale_sweep.plan.preparing.specs import refuse_wrong_specs
from scale_sweep.server.targets import all_facts, load_facts, load_target
from tests.integration.cli import run
from tests.unit.factories import make_sweep
from tests.unit.test_plan import make_host

CPU = ("cpu", "--cores", "1", "--target", "null", "--quick")
CLIENTS = ("clients", "--target", "null", "--quick")
MANY = ",".join(f"c{i}:int" for i in range(5000))
WIDE = ",".join(f"c{i}:binary(60000)" for i in range(50))
READS = {"mix": "write=2,range=1", "preload.rows": "100k"}
LONG = ",".join(f"c{i}:binary(9000)" for i in range(99))
METHODS = [(facts.name, method) for facts in all_facts() for method in facts.methods]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("plan", *CPU, "--tables", "3", "--connections", "4"), "--connections: 4 workers cannot share 3 tables"),
        (("sweep", *CPU, "--columns", MANY), "--columns: "),
        (("sweep", *CLIENTS, "--clients", "5000", "--tables", "9K"), "--clients: "),
        (
            ("sweep", *CPU, "--columns", WIDE, "--rows-per-request", "1M"),
            "--rows-per-request: the load needs 2794.2 GiB",
        ),
        (("plan", *CPU, "--tables", "100M", "--columns", LONG, "--connections", "64"), "--rows-per-request: the load"),
    ],
)
def test_a_plan_and_a_sweep_refuse_what_the_load_would(tmp_path, words, says):
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 2, "one message and its remedy"
    assert not (tmp_path / "results").exists()


def planned(target: str, method: str, **flags: str) -> tuple[Plan, dict[str, ServerChoice]]:
    facts = load_facts(target)
    sweep = replace(make_sweep(load__method=method, **flags), target=target, runtime="process")
    plan = make_plan(complete(sweep, facts), make_host(), facts)
    choice = ServerChoice(target=load_target(target), runtime="process", image="", home="", version="", sentence="")
    return plan, {subject_key(trial.subject): choice for trial in plan.trials}


def with_connections(plan: Plan, connections: int) -> Plan:
    trials = tuple(replace(trial, load=replace(trial.load, connections=connections)) for trial in plan.trials)
    return replace(plan, trials=trials)


@pytest.mark.parametrize(("target", "method"), METHODS)
@pytest.mark.parametrize("reads", [{}, READS], ids=["writes", "reads"])
def test_the_placeholders_of_every_target_and_method_are_right(target, method, reads):
    columns = "v:double" if method in ("sml-telnet", "sml-json") else "v:double,w:int"
    flags = {"workload.columns": columns, "workload.step_ms": "10000", **reads}
    try:
        plan, choices = planned(target, method, **flags)
        refuse_wrong_specs(plan, choices)
    except UsageError as refused:
        assert reads, refused.message
        assert refused.message.startswith("operation range: "), refused.message
        return
    with pytest.raises(UsageError, match="--connections: 4097 is outside 1..4096"):
        refuse_wrong_specs(with_connections(plan, 4097), choices)


def test_a_plan_of_many_trials_asks_once_for_each_different_load(monkeypatch):
    asked = []
    mistake_of = checked.mistake_of
    monkeypatch.setattr(
        "scale_sweep.plan.preparing.specs.mistake_of", lambda *given: asked.append(given) or mistake_of(*given)
    )
    plan, choices = planned("null", "discard", cores="1,2", **{"method.replicates": "200"})
    refuse_wrong_specs(plan, choices)
    assert len(plan.trials) > 400
    assert len(asked) == 1


def test_a_program_that_cannot_check_is_named_before_the_start(tmp_path):
    old = tmp_path / "scale-loadgen"
    old.write_text('#!/bin/sh\n[ "$1" = drivers ] && { echo "[]"; exit 0; }\necho usage >&2\nexit 2\n')
    old.chmod(0o755)
    done = run("plan", *CPU, cwd=tmp_path, SCALE_LOADGEN=str(old))
    assert done.returncode == 3
    assert f"the load generator {old} does not check a spec: usage" in done.stderr
    assert "SCALE_LOADGEN" in done.stderr


IOT = """DB_SWITCH=InfluxDB
HOST=127.0.0.1
PORT=9
DEVICE_NUMBER=4000
CLIENT_NUMBER=4000
SENSOR_NUMBER=4000
BATCH_SIZE_PER_WRITE=1000000
LOOP=10
"""
TAOS = {
    "filetype": "insert",
    "host": "127.0.0.1",
    "port": 9,
    "thread_count": 1024,
    "num_of_records_per_req": 30000,
    "databases": [
        {
            "dbinfo": {"name": "x"},
            "super_tables": [
                {
                    "name": "m",
                    "childtable_count": 5000,
                    "childtable_prefix": "d",
                    "insert_rows": 100000,
                    "columns": [{"type": "binary", "len": 16000, "count": 4}],
                    "tags": [{"type": "int"}],
                }
            ],
        }
    ],
}


@pytest.mark.parametrize(
    ("flag", "text", "says"),
    [
        ("--iot", IOT, "BATCH_SIZE_PER_WRITE: the load needs "),
        ("-f", json.dumps(TAOS), "table m: the load generator refuses rows_per_request: the load needs "),
    ],
)
def test_files_of_other_tools_are_refused_before_their_server_is_reached(tmp_path, flag, text, says):
    file = tmp_path / "given.json"
    file.write_text(text)
    done = run("load", flag, str(file), cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert "127.0.0.1" not in done.stderr
    assert list(tmp_path.iterdir()) == [file], "no file of results either"
