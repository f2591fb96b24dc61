"""Machines that are not here: their files as a user writes them, plans for them, and every mistake by its key."""

import json
from pathlib import Path

import pytest
from whole_commands import run

MACHINES = Path(__file__).resolve().parents[2] / "sweeps/machines"
NAMES = sorted(path.stem for path in MACHINES.glob("*.toml"))
PLAN = ("plan", "cpu", "--target", "postgres", "--cores", "1..all:x2", "--replicates", "1")


@pytest.mark.parametrize("name", NAMES)
def test_a_sweep_is_planned_for_a_machine_that_is_not_here(name, tmp_path):
    done = run(*PLAN, "--machine", str(MACHINES / f"{name}.toml"), cwd=tmp_path, PATH="/nowhere")
    assert done.code == 0, done.stderr
    assert done.stdout.startswith(f"planned for the machine {name} (")
    assert "postgres as a process (assumed)" in done.stdout
    assert done.stderr.count("the machine is described by --machine: the plan assumes PostgreSQL") == 1


def test_the_plan_of_another_machine_says_so_in_json(tmp_path):
    done = run(*PLAN, "--json", "--machine", str(MACHINES / "chiplets.toml"), cwd=tmp_path)
    document = json.loads(done.stdout)
    assert "8 L3 domains, 1 NUMA node, 512GiB" in document["machine"]
    assert document["assumed"] == ["postgres"]
    here = json.loads(run(*PLAN[:4], "--cores", "1", "--json", cwd=tmp_path).stdout)
    assert here["machine"] is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("threads = 2", ["cores: missing"]),
        ("cores = 0", ["cores: a whole number from 1 to 4096"]),
        ('cores = "12"', ["cores: a whole number"]),
        ("cores = true", ["cores: a whole number"]),
        ("cores = 12\ncore = 3", ["the key 'core' is not one of", "did you mean cores?"]),
        ("cores = 12\nnodes = 5", ["nodes: 5 do not divide 12 cores"]),
        ("cores = 12\nnodes = 2\ncores_per_l3 = 4", ["cores_per_l3: 4 do not divide 6 cores"]),
        ("cores = 12\nnodes = 2\nsockets = 3", ["sockets: 3 do not divide 2 nodes"]),
        ("cores = 12\nslow_cores = 12", ["slow_cores: fewer than all cores (12)"]),
        ("cores = 12\nnodes = 2\nslow_cores = 2", ["slow_cores: only on a machine of one node"]),
        ('cores = 12\nsiblings = "besides"', ["siblings: 'besides' is not one of last, beside; did you mean beside?"]),
        ('cores = 12\nmemory = "lots"', ["memory: 'lots' is not an amount of memory"]),
        ("cores = 12\nmemory = 64", ["memory: a text is expected"]),
        ('cores = 12\nmodel = "a\\u001bb"', ["model:"]),
        ("cores = 12\nthreads = 99\nnodes = 0", ["threads: a whole number from 1 to 8", "nodes: a whole number"]),
        ("cores = ", ["not valid TOML"]),
        ("a=" + "[" * 5000, ["not valid TOML"]),
        ("[cores]", ["cores: a whole number"]),
    ],
)
def test_a_wrong_file_is_refused_with_the_key_and_nothing_else(text, words, tmp_path):
    (tmp_path / "m.toml").write_text(text)
    done = run(*PLAN, "--machine", "m.toml", cwd=tmp_path)
    assert (done.code, done.stdout) == (2, "")
    assert "--machine m.toml" in done.stderr
    assert all(word in done.stderr for word in words), done.stderr
    assert done.stderr.count("scale:") == 1


@pytest.mark.parametrize("name", ["absent.toml", "."])
def test_what_is_no_file_is_refused(name, tmp_path):
    done = run(*PLAN, "--machine", name, cwd=tmp_path)
    assert done.code == 2
    assert f"--machine {name}" in done.stderr


def test_a_sweep_refuses_another_machine(tmp_path):
    asked = ("sweep", *PLAN[1:], "--machine", str(MACHINES / "desktop.toml"))
    done = run(*asked, cwd=tmp_path)
    assert done.code == 2
    assert "--machine: a sweep measures this machine" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_more_cores_than_the_other_machine_has_are_refused(tmp_path):
    asked = ("plan", "cpu", "--target", "postgres", "--cores", "1..200", "--machine", str(MACHINES / "desktop.toml"))
    done = run(*asked, cwd=tmp_path)
    assert done.code == 2
    assert "200 cores asked for, this machine has 24" in done.stderr


def test_all_is_refused_for_a_server_that_runs_elsewhere(tmp_path):
    asked = ("plan", "cpu", "--cores", "1..all", "--target", "tdengine", "--endpoint", "127.0.0.1:1")
    done = run(*asked, cwd=tmp_path)
    assert done.code == 2
    assert "--cores: '1..all': `all` means the CPUs of this machine" in done.stderr


def test_the_most_clients_of_a_level_have_a_table_each(tmp_path):
    clients = ("plan", "clients", "--target", "postgres", "--clients", "1..512:x4", "--replicates", "1")
    machine = ("--machine", str(MACHINES / "hybrid.toml"))
    done = run(*clients, *machine, cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert "plan: 600 tables in place of 100: each connection needs a separate table" in done.stderr
    refused = run(*clients, *machine, "--tables", "100", cwd=tmp_path)
    assert refused.code == 2
    assert "--clients: 256 workers cannot share 100 tables" in refused.stderr


def test_the_number_of_nodes_is_that_of_a_level(tmp_path):
    for name, words in (("two-sockets", "on 2 NUMA nodes:"), ("eight-nodes", "on several NUMA nodes (7 at 64):")):
        done = run(*PLAN, "--machine", str(MACHINES / f"{name}.toml"), cwd=tmp_path)
        assert f"the server's CPUs are {words} part of its memory is remote there" in done.stderr
