"""Sweeps of servers that a command starts, under load tools of others, as their users type them."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import psutil
import pytest

from scale_sweep.machine.state.places import VARIABLE
from tests.integration.cli import assert_measured, assert_nothing_left, run, start, waited_for
from tests.integration.made_images import redis_image, require_docker
from tests.needs import needs

QUICK = "--replicates 1 --connections-check off --json".split()
REDIS = "redis-server --port {port} --dir {data} --save ''"
BENCH = "redis-benchmark -p {port} -t set -c {clients} -P 16"
RATE = ("--rate-from", "throughput summary: ([0-9.]+) requests")
PGBENCH = ("--prepare", "pgbench -i -s 1", "--load", "pgbench -c {clients} -j 1 -T {seconds}")


def trial_files(folder: Path, document) -> dict[str, str]:
    """By the name of a file, of the first trial."""
    trial = next((folder / document["path"] / "trials").iterdir())
    return {path.name: path.read_text() for path in trial.iterdir()}


@needs("redis-server", "redis-benchmark")
def test_redis_under_its_benchmark_with_clients(tmp_path, data_dir):
    steps = ("--prepare", "redis-cli -p {port} set a 1", "--count", "redis-cli -p {port} dbsize")
    server = ("--server", REDIS, "--ready", "log:Ready to accept", *steps, "--data-dir", str(data_dir))
    load = ("--load", f"{BENCH} -n 100000", *RATE)
    done = run("sweep", "clients", "--clients", "1,2", "--cores", "1", *server, *load, *QUICK, cwd=tmp_path)
    assert_measured(done)
    document = json.loads(done.stdout)
    assert {t["trial"]["level"] for t in document["trials"]} == {1.0, 2.0}
    assert all(t["measurement"]["requests_per_s"] > 1000 for t in document["trials"])
    assert "--count: 1 more after the load than before it" in done.stderr
    verified = run("verify", "last", cwd=tmp_path)
    assert verified.returncode == 0 and "it agrees" in verified.stdout, verified.stdout
    assert_nothing_left(data_dir)


@needs("pgbench")
def test_postgres_under_pgbench_has_a_warm_up_and_a_window(tmp_path, data_dir):
    words = ("--cores", "1", "--target", "postgres", "--duration", "2s", "--warmup", "2s", "--data-dir", str(data_dir))
    done = run("sweep", "cpu", *words, *PGBENCH, *QUICK, cwd=tmp_path)
    assert_measured(done)
    document = json.loads(done.stdout)
    m = document["trials"][0]["measurement"]
    assert m["requests_per_s"] > 10 and m["window_s"] == pytest.approx(2.0, abs=0.2)
    files = trial_files(tmp_path, document)
    assert "progress: 1.0 s" in files["loadgen.jsonl"]
    assert document["trials"][0]["loaded_by"]["command"] == "pgbench -P 1 -c {clients} -j 1 -T {seconds}"
    verified = run("verify", "last", cwd=tmp_path)
    assert verified.returncode == 0, verified.stdout
    assert_nothing_left(data_dir)


@needs("redis-server")
def test_a_load_that_fails_aborts_the_trial_and_all_is_gone(tmp_path, data_dir):
    load = ("--load", "sh -c 'echo no luck; exit 3'", "--data-dir", str(data_dir))
    done = run("sweep", "cpu", "--cores", "1", "--server", REDIS, *load, *QUICK, cwd=tmp_path)
    assert done.returncode == 10
    verdict = json.loads(done.stdout)["trials"][0]["verdict"]
    assert verdict["kind"] == "ABORTED" and "sh ended with code 3: no luck" in verdict["reasons"][0]
    assert_nothing_left(data_dir)


@needs("redis-server", "redis-benchmark")
def test_an_interrupted_run_leaves_nothing_and_another_users_starts_nothing(tmp_path, data_dir):
    load = ("--load", f"{BENCH} -n 2000000000", "--connections", "3", *RATE, "--data-dir", str(data_dir))
    process = start("sweep", "cpu", "--cores", "1", "--server", REDIS, *load, *QUICK, cwd=tmp_path)

    def loading() -> list[psutil.Process]:
        return [one for one in psutil.Process(process.pid).children(recursive=True) if one.name() == "redis-benchmark"]

    (tool,) = waited_for(loading, process=process)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130, process.communicate()
    assert not tool.is_running()
    assert_nothing_left(data_dir)
    refused = run("resume", "last", "-y", cwd=tmp_path, **{VARIABLE: str(tmp_path / "another")})
    assert refused.returncode == 2
    assert "was not begun here" in refused.stderr and "--server" in refused.stderr and "--load" in refused.stderr


@pytest.mark.docker
@needs("redis-benchmark")
def test_an_image_starts_by_its_own_command_and_is_reached_at_its_address(tmp_path, data_dir):
    require_docker()
    load = (
        "--load",
        "redis-benchmark -h {address} -p {port} -t set -n 60000 -P 16",
        *RATE,
        "--data-dir",
        str(data_dir),
    )
    done = run("sweep", "cpu", "--cores", "1", "--image", redis_image(), *load, *QUICK, cwd=tmp_path)
    assert_measured(done)
    (trial,) = json.loads(done.stdout)["trials"]
    assert trial["measurement"]["requests_per_s"] > 1000 and trial["server"]["container"]
    assert_nothing_left(data_dir)
