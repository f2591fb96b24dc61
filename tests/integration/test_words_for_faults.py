"""Faults of the machine and of other programs, provoked for real: the message names the fault and the remedy."""

import json
import shlex
import socket
import subprocess

from tests.integration.cli import SCALE, run

ONE_TRIAL = ("--target", "null", "--cores", "1", "--replicates", "1", "--duration", "1s", "--warmup", "1s")


def in_shell(before, *words, cwd):
    """The command after another line of the same shell."""
    done = subprocess.run(
        ["/bin/bash", "-c", f"{before}; exec {shlex.join([SCALE, *words])}"],
        cwd=cwd,
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )
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
    short = (
        "--replicates",
        "1",
        "--duration",
        "1s",
        "--warmup",
        "0s",
        "--window-max",
        "0",
        "--connections-check",
        "off",
        "--rate",
        "900M",
    )
    done = run("sweep", "cpu", *flags, *short, "--data-dir", str(data_dir), cwd=tmp_path)
    assert done.returncode == 10, done.stderr
    assert "OFFERED_NOT_MET" in done.stderr
    assert run("resume", "last", cwd=tmp_path).returncode == 10
