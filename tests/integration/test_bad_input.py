"""Bad input and faults found before the start: one clear message, its exit code, no traceback, nothing started."""

import json
import os
import socket

import pytest

from tests.integration.cli import run
from tests.needs import needs

POSTGRES = ("--target", "postgres", "--runtime", "process")


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        (["sweep", "cpu", "--cores", "0..3"], ["--cores", "above 0"]),
        (["sweep", "cpu", "--cores", "3..1"], ["--cores", "backwards"]),
        (["sweep", "cpu", "--cores", "1.."], ["--cores", "open end"]),
        (["sweep", "cpu", "--cores", "1..1000", *POSTGRES], ["--cores", "1,000", "this machine has"]),
        (["sweep", "cpu"], ["--cores", "missing"]),
        (["sweep", "cpu", "--cores", "1", "--server-cpus", "900", *POSTGRES], ["--server-cpus", "900"]),
        (["sweep", "cpu", "--cores", "1", "--target", "oracle"], ["--target", "oracle", "postgres"]),
        (["sweep", "cpu", "--cores", "1", "--target", "postgres", "--vgroups", "4"], ["--vgroups", "partitions"]),
        (["sweep", "cpu", "--cores", "1", "--partitions", "2=4", *POSTGRES], ["--partitions", "has no value for 1"]),
        (["sweep", "cpu", "--cores", "1", "--method", "sql", *POSTGRES], ["--method", "copy"]),
        (["sweep", "cpu", "--cores", "1", "--rows", "10", "--duration", "5s"], ["--rows", "--duration"]),
        (["sweep", "cpu", "--cores", "1", "--runtime", "docker", "--home", "/opt"], ["--runtime docker", "--home"]),
        (["sweep", "cpu", "--cores", "1", "--runtime", "endpoint"], ["--runtime endpoint", "--endpoint"]),
        (["sweep", "nonsense"], ["nonsense"]),
        (["sweep", "missing.toml"], ["missing.toml", "No such file"]),
        (["show", "nothing"], ["no runs in results", "scale sweep"]),
    ],
)
def test_exit_code_2_and_the_flag_named(tmp_path, words, texts):
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    for text in texts:
        assert text in done.stderr
    assert not (tmp_path / "results").exists()


def test_an_unknown_key_of_a_sweep_file_with_the_near_one(tmp_path):
    (tmp_path / "s.toml").write_text('[axis]\ncores = "1"\n[workload]\ntabels = 3\n')
    done = run("sweep", "s.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "workload.tabels" in done.stderr
    assert "did you mean workload.tables" in done.stderr


def test_an_unreadable_file(tmp_path):
    (tmp_path / "s.toml").mkdir()
    done = run("sweep", "s.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "s.toml" in done.stderr


def test_a_results_directory_that_cannot_be_written_is_said_before_anything_starts(tmp_path):
    (tmp_path / "file").write_text("")
    done = run("sweep", "cpu", "--cores", "1", *POSTGRES, "--results", str(tmp_path / "file" / "x"), cwd=tmp_path)
    assert done.returncode == 3
    assert "--results" in done.stderr
    assert "trial" not in done.stderr.split("--results")[1]


@needs("root")
def test_a_data_directory_that_the_servers_user_may_not_enter(tmp_path):
    done = run("sweep", "cpu", "--cores", "1", *POSTGRES, "--data-dir", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 3
    assert "--data-dir" in done.stderr
    assert "nobody" in done.stderr


def test_a_server_that_is_not_there_fails_with_what_to_install(tmp_path):
    done = run("sweep", "cpu", "--cores", "1", *POSTGRES, "--home", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 3
    assert "scale servers install postgres" in done.stderr


@pytest.mark.parametrize(
    ("knob", "says"),
    [
        ("nonsense=1", 'unrecognized configuration parameter "nonsense"'),
        ("shared_buffers=abc", 'invalid value for parameter "shared_buffers": "abc"'),
    ],
)
def test_a_knob_that_the_server_does_not_take_in_its_own_words(tmp_path, knob, says):
    done = run("sweep", "cpu", "--cores", "1", *POSTGRES, "--knob", knob, cwd=tmp_path)
    assert done.returncode == 3
    assert "--knob" in done.stderr
    assert says in done.stderr
    assert not (tmp_path / "results").exists()


def test_a_port_that_is_taken(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run("sweep", "cpu", "--cores", "1", *POSTGRES, "--port", str(port), cwd=tmp_path)
    assert done.returncode == 3
    assert f"port {port}" in done.stderr
    assert "--port" in done.stderr


def test_plan_shows_trials_settings_and_their_origin_and_starts_nothing(tmp_path):
    done = run("plan", "cpu", "--cores", "1", *POSTGRES, "--replicates", "2", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [t["trial_id"] for t in document["plan"]["trials"]] == ["cores-1-r1", "cores-1-r2"]
    assert document["plan"]["sweep"]["origin"]["method.replicates"] == "flag"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("command", ["sweep", "plan", "resume", "list", "show", "report", "doctor", "clean"])
def test_help_has_an_example(tmp_path, command):
    done = run(command, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert f"scale {command}" in done.stdout
