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
    assert "(assumed)" in done.stdout
    assert done.stderr.count("--machine: the plan assumes PostgreSQL") == 1
    nodes = {"two-sockets": "on 2 NUMA nodes:", "eight-nodes": "(7 at 64):"}.get(name)
    assert nodes is None or nodes in done.stderr


def test_the_plan_of_another_machine_says_so_in_json_and_gives_each_client_a_table(tmp_path):
    done = run(*PLAN, "--json", "--machine", str(MACHINES / "chiplets.toml"), cwd=tmp_path)
    document = json.loads(done.stdout)
    assert {"8 L3 domains", "1 NUMA node", "512GiB"} <= set(document["machine"].split(", "))
    assert document["assumed"] == ["postgres"]
    here = json.loads(run(*PLAN[:4], "--cores", "1", "--json", cwd=tmp_path).stdout)
    assert here["machine"] is None
    done = run(*CLIENTS.split(), cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert "plan: 600 tables" in done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("threads = 2", "cores:"),
        ("cores = 0", "cores: 4096"),
        ('cores = "12"', "cores:"),
        ("cores = true", "cores:"),
        ("cores = 12\ncore = 3", "'core' cores?"),
        ("cores = 12\nnodes = 5", "nodes: 5 12"),
        ("cores = 12\nnodes = 2\ncores_per_l3 = 4", "cores_per_l3: 4 6"),
        ("cores = 12\nnodes = 2\nsockets = 3", "sockets: 3 2"),
        ("cores = 12\nslow_cores = 12", "slow_cores: (12)"),
        ("cores = 12\nnodes = 2\nslow_cores = 2", "slow_cores: node"),
        ('cores = 12\nsiblings = "besides"', "siblings: 'besides' beside?"),
        ('cores = 12\nmemory = "lots"', "memory: 'lots'"),
        ("cores = 12\nmemory = 64", "memory: text"),
        ('cores = 12\nmodel = "a\\u001bb"', "model:"),
        ("cores = 12\nthreads = 99\nnodes = 0", "threads: 8 nodes:"),
        ("cores = ", "TOML"),
        ("a=" + "[" * 5000, "TOML"),
        ("[cores]", "cores:"),
    ],
)
def test_a_wrong_file_is_refused_with_the_key_and_nothing_else(text, words, tmp_path):
    (tmp_path / "m.toml").write_text(text)
    done = run(*PLAN, "--machine", "m.toml", cwd=tmp_path)
    assert (done.code, done.stdout) == (2, "")
    assert "--machine m.toml" in done.stderr
    assert all(word in done.stderr for word in words.split()), done.stderr
    assert done.stderr.count("scale:") == 1


DESKTOP, HYBRID = (f"--machine {MACHINES}/{name}.toml" for name in ("desktop", "hybrid"))
CLIENTS = f"plan clients --target postgres --clients 1..512:x4 --replicates 1 {HYBRID}"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("plan cpu --cores 1 --target postgres --machine absent.toml", "--machine absent.toml"),
        ("plan cpu --cores 1 --target postgres --machine .", "--machine ."),
        (f"sweep cpu --cores 1 --target postgres {DESKTOP}", "--machine:"),
        (f"plan cpu --cores 1..200 --target postgres {DESKTOP}", "200 24"),
        ("plan cpu --cores 1..all --target tdengine --endpoint 127.0.0.1:1", "--cores: '1..all': `all`"),
        (f"{CLIENTS} --tables 100", "--clients: 256 100"),
    ],
    ids=["absent", "folder", "sweep", "more-cores", "elsewhere", "tables"],
)
def test_what_no_machine_has_is_refused(line, words, tmp_path):
    done = run(*line.split(), cwd=tmp_path)
    assert (done.code, list(tmp_path.iterdir())) == (2, [])
    assert all(word in done.stderr for word in words.split()), done.stderr
