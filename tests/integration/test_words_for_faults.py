"""Faults of the machine and of other programs, provoked for real: the message names the fault and the remedy."""

import shlex
import subprocess

from tests.integration.cli import SCALE

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
