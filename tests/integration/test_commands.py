"""Commands as they are typed: bad input gives one clear message and its exit code, and nothing is started."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.loadgen.binary import mistake_of
from scale_sweep.model.planned import Plan
from scale_sweep.plan.make import make_plan
from scale_sweep.plan.preparing.choice import ServerChoice, subject_key
from scale_sweep.plan.preparing.refusals import refuse_wrong_specs
from scale_sweep.plan.target_defaults import complete
from scale_sweep.server.runtimes.local import free_port
from scale_sweep.server.targets import all_facts, load_facts, load_target
from tests.integration import cli
from tests.integration.cli import SCALE, run
from tests.needs import needs
from tests.unit.factories import make_sweep
from tests.unit.test_plan import make_host

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "loadgen"))
from stub_taos.stub_library import library, remove_libraries

POSTGRES = ("--target", "postgres", "--runtime", "process")


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        ("sweep cpu --cores 1..1000 --target postgres", ["--cores", "1,000", "this machine has"]),
        ("sweep cpu --cores 1 --target oracle", ["--target", "oracle", "postgres"]),
        ("sweep missing.toml", ["missing.toml", "No such file"]),
        ("sweep s.toml", ["did you mean workload.tables"]),
        ("show nothing", ["no runs in results", "scale sweep"]),
    ],
)
def test_exit_code_2_and_the_flag_named(tmp_path, words, texts):
    (tmp_path / "s.toml").write_text('[axis]\ncores = "1"\n[workload]\ntabels = 3\n')
    done = run(*words.split(), cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert all(text in done.stderr for text in texts), done.stderr
    assert not (tmp_path / "results").exists()


ONE_TRIAL = ("--target", "null", "--cores", "1", "--replicates", "1", "--duration", "1s", "--warmup", "1s")


def in_shell(before, *words, cwd):
    """The command after another line of the same shell."""
    line = ["/bin/bash", "-c", f"{before}; exec {shlex.join([SCALE, *words])}"]
    done = subprocess.run(line, cwd=cwd, text=True, capture_output=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def test_a_low_limit_of_open_files_is_named_before_anything_starts(tmp_path):
    done = in_shell("ulimit -n 64", "sweep", "cpu", *ONE_TRIAL, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "machine: a program may have 64 files open (ulimit -n), and this sweep needs 257" in done.stderr
    assert "ulimit -n 4096" in done.stderr
    assert not (tmp_path / "results").exists()


def test_a_plan_that_could_not_start_says_so_first_and_ends_with_3(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = ("--port", str(taken.getsockname()[1]))
        done = run("plan", "cpu", *ONE_TRIAL, *port, cwd=tmp_path)
        document = run("plan", "cpu", *ONE_TRIAL, *port, "--json", cwd=tmp_path)
    assert done.returncode == document.returncode == 3, done.stderr
    assert done.stderr.startswith(f"Cannot start: --port: port {port[1]} on 127.0.0.1 cannot be used"), done.stderr
    assert "Settings" in done.stdout, "the plan is shown nevertheless"
    assert [f["subject"] for f in json.loads(document.stdout)["findings"] if f["blocking"]] == ["--port"]
    assert run("plan", "cpu", *ONE_TRIAL, cwd=tmp_path).returncode == 0


def test_a_sweep_without_a_valid_trial_ends_with_10(tmp_path, data_dir):
    """One connection for two cores: the number is not the cores', on any machine."""
    flags = ("--target", "postgres", "--runtime", "process", "--connections", "1", "--cores", "2")
    short = "--replicates 1 --duration 1s --warmup 0s --window-max 0 --connections-check off --rate 900M".split()
    done = run("sweep", "cpu", *flags, *short, "--data-dir", str(data_dir), cwd=tmp_path)
    assert done.returncode == 10, done.stderr
    assert "OFFERED_NOT_MET" in done.stderr
    assert run("resume", "last", cwd=tmp_path).returncode == 10


CPU = ("cpu", "--cores", "1", "--target", "null", "--quick")
WIDE = ",".join(f"c{i}:binary(60000)" for i in range(50))
READS = {"mix": "write=2,range=1", "preload.rows": "100k"}
LONG = ",".join(f"c{i}:binary(9000)" for i in range(99))
METHODS = [(facts.name, method) for facts in all_facts() if not facts.by_command for method in facts.methods]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("sweep", *CPU, "--rows-per-request", "4G"), "--rows-per-request: 4000000000 is outside 1..1000000"),
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
    monkeypatch.setattr(
        "scale_sweep.plan.preparing.refusals.mistake_of", lambda *given: asked.append(given) or mistake_of(*given)
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
    assert done.returncode == 3 and "SCALE_LOADGEN" in done.stderr
    assert f"the load generator {old} does not check a spec: usage" in done.stderr


IOT = "DB_SWITCH=InfluxDB HOST=127.0.0.1 PORT=9 DEVICE_NUMBER=4000 CLIENT_NUMBER=4000 SENSOR_NUMBER=4000"
IOT = f"{IOT} BATCH_SIZE_PER_WRITE=1000000 LOOP=10".replace(" ", "\n")
TABLE = {"name": "m", "childtable_count": 5000, "childtable_prefix": "d", "insert_rows": 100000}
TABLE |= {"columns": [{"type": "binary", "len": 16000, "count": 4}], "tags": [{"type": "int"}]}
TAOS = {"filetype": "insert", "host": "127.0.0.1", "port": 9, "thread_count": 1024, "num_of_records_per_req": 30000}
TAOS |= {"databases": [{"dbinfo": {"name": "x"}, "super_tables": [TABLE]}]}


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


def test_standard_input_and_a_picture(tmp_path):
    text = "n,x\n" + "".join(f"{n},{n / (1 + 0.1 * (n - 1)):.4f}\n" for n in range(1, 9))
    words = [SCALE, *"fit - --n n --x x --png curve.png".split()]
    done = subprocess.run(words, cwd=tmp_path, input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "Contended (Amdahl fits best)" in done.stdout
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


DEADLINE_S = 120.0


def metrics(port: int) -> str:
    """The page, as soon as it has a sample."""

    def page() -> str:
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
            text = answer.read().decode()
            return text if "scale_host_cpu_seconds_total" in text else ""
        return ""

    return cli.waited_for(page, DEADLINE_S)


def test_it_shows_and_keeps_what_it_sees_until_ctrl_c(tmp_path):
    port = free_port()
    words = ("observe", "--sample-hz", "5", "--metrics-port", str(port), "--pid", "1", "--json")
    process = cli.start(*words, cwd=tmp_path)
    page = metrics(port)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=DEADLINE_S)
    told = json.loads(out)
    folder = tmp_path / told["path"]
    assert process.returncode == 0, err
    assert 'trial="observe"' in page
    assert told["interrupted"]
    assert told["samples"] == len((folder / "trials/observe/samples.jsonl").read_text().splitlines()) > 1
    assert json.loads((folder / "manifest.json").read_text())["pids"] == [1]


def test_a_time_and_a_folder(tmp_path):
    done = cli.run("observe", "--duration", "1s", "--no-metrics", "--to", "seen", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (manifest,) = Path(tmp_path / "seen").glob("*/manifest.json")
    assert json.loads(manifest.read_text())["status"] == "done"


@pytest.fixture(scope="module", autouse=True)
def _clean():
    yield
    remove_libraries()


def with_library(folder, version, stub=None):
    (folder / "bin").mkdir(parents=True)
    (folder / "lib").mkdir()
    taosd = folder / "bin" / "taosd"
    taosd.write_text(f"#!/bin/sh\necho version: {version}\n")
    taosd.chmod(0o755)
    if stub:
        shutil.copy(stub, folder / "lib" / "libtaos.so")
    return ("cpu", "--cores", "1", "--target", "tdengine", "--runtime", "process", "--home", str(folder))


def test_one_that_fits_is_no_finding(tmp_path):
    done = run("plan", *with_library(tmp_path / "home", "3.3.0.0", library()), cwd=tmp_path)
    assert done.returncode == 0
    assert "libtaos" not in done.stderr


@pytest.mark.parametrize(
    ("version", "without", "text"),
    [("3.3.0.0", "taos_stmt_execute", "lacks taos_stmt_execute"), ("3.2.3.0", "", "the server 3.2.3.0")],
)
def test_an_incomplete_or_other_one_is_named_and_nothing_starts(tmp_path, version, without, text):
    done = run("sweep", *with_library(tmp_path / "home", version, library(without)), cwd=tmp_path)
    assert done.returncode == 3
    assert text in done.stderr and "--home DIR" in done.stderr
    assert not (tmp_path / "results").exists()


def test_a_missing_one_is_named(tmp_path):
    done = run("sweep", *with_library(tmp_path / "home", "3.3.0.0"), cwd=tmp_path)
    assert done.returncode == 3
    assert "libtaos.so" in done.stderr


@needs("root")
@pytest.mark.parametrize(
    ("words", "texts", "code"),
    [
        ("--knob nonsense=1", ["--knob nonsense", "unrecognized configuration parameter"], 2),
        ("--knob shared_bufers=1GB", ["did you mean shared_buffers?"], 2),
        ("--knob shared_buffers=abc", ["--knob shared_buffers", 'parameter "shared_buffers": "abc"'], 2),
        ("--home {}", ["scale servers install postgres"], 3),
        ("--data-dir {}", ["--data-dir", "nobody"], 3),  # the servers' user may not enter it
        ("--results {}/file/x", ["--results"], 3),
        ("--port {port}", ["--port", "port {port}"], 3),
    ],
)
def test_what_cannot_work_here_is_said_before_anything_starts(tmp_path, words, texts, code):
    (tmp_path / "file").touch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(*"sweep cpu --cores 1".split(), *POSTGRES, *words.format(tmp_path, port=port).split(), cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert all(text.format(port=port) in done.stderr for text in texts), done.stderr
    assert "\ntrial " not in done.stderr and not (tmp_path / "results").exists()
