"""A --data-dir that is not there: said before the start, made for the run, and gone with it, its parents too."""

import os
import signal

import pytest

from tests.integration.cli import run, start, waited_for

NULL = "sweep cpu --target null --cores 1 --replicates 1 --warmup 0s --window-max 0 --rate 20k --no-metrics".split()
SECONDS = 120.0


def words(tmp_path, *more):
    return (*NULL, "--results", str(tmp_path / "r"), "--data-dir", str(tmp_path / "a" / "b" / "c"), *more)


def test_it_is_said_and_what_was_made_is_removed(tmp_path):
    (tmp_path / "a").mkdir()
    done = run(*words(tmp_path, "--duration", "1s"), cwd=tmp_path)
    assert done.returncode in (0, 10), done.stderr
    assert f"{tmp_path}/a/b/c is not there" in " ".join(done.stderr.split())
    assert list((tmp_path / "r").glob("*/trials/*/trial.json"))
    assert list((tmp_path / "a").iterdir()) == [], "what was there stays, what was made is gone"


def test_a_plan_says_it_and_makes_nothing(tmp_path):
    asked = ("plan", "cpu", "--target", "null", "--cores", "1", "--data-dir", str(tmp_path / "a" / "b"))
    done = run(*asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"{tmp_path}/a/b is not there" in " ".join(done.stderr.split())
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_is_removed_when_the_run_is_interrupted(tmp_path, number):
    process = start(*words(tmp_path, "--duration", "60s"), cwd=tmp_path)
    waited_for(lambda: list(tmp_path.glob("a/b/c/*cores-1*")), process=process)
    os.kill(process.pid, number)
    _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, err
    assert not (tmp_path / "a").exists()


def test_what_somebody_put_there_meanwhile_stays(tmp_path):
    process = start(*words(tmp_path, "--duration", "3s"), cwd=tmp_path)
    waited_for((tmp_path / "a" / "b" / "c").is_dir, process=process)
    (tmp_path / "a" / "b" / "notes").touch()
    process.communicate(timeout=SECONDS)
    assert [p.name for p in (tmp_path / "a" / "b").iterdir()] == ["notes"]
