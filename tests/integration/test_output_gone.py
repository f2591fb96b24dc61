"""What goes away or is not there: output, a terminal, the data directory."""

import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest

from tests.integration.cli import SCALE, run, start, waited_for

SWEEP = ("sweep", "cpu", "--target", "null", "--cores", "0.5", "--replicates", "1", "--drift-check", "off")
TIMES = ("--warmup", "0s", "--window-max", "0", "--rate", "20k", "--no-metrics", "-y")
CLOSED, FULL = ">&- 2>&- <&-", ">/dev/full 2>/dev/full"


def redirected(how, *words, cwd, **options):
    """The command with redirections of a shell."""
    return subprocess.Popen(["sh", "-c", f'exec "$0" "$@" {how}', SCALE, *words], cwd=cwd, **options)


def sweep_words(data_dir, results, duration="1s"):
    return (*SWEEP, *TIMES, "--duration", duration, "--data-dir", str(data_dir), "--results", results)


def is_whole(folder, results):
    """Whether the run has its trial, its report, and a status that says so."""
    (manifest,) = folder.glob(f"{results}/*/manifest.json")
    files = {path.name for path in manifest.parent.rglob("*")}
    return json.loads(manifest.read_text())["status"] == "complete" and {"trial.json", "report.html"} <= files


def test_a_sweep_whose_output_cannot_be_written_goes_on_and_stores_its_results(tmp_path, data_dir):
    closed = redirected(CLOSED, *sweep_words(data_dir, "closed"), cwd=tmp_path)
    full = redirected(FULL, *sweep_words(data_dir, "full"), cwd=tmp_path)
    with redirected("2>&1", *sweep_words(data_dir, "unread"), cwd=tmp_path, stdout=subprocess.PIPE) as unread:
        unread.stdout.readline()
    named = redirected(">/dev/full", *sweep_words(data_dir, "named"), "--json", cwd=tmp_path, stderr=subprocess.PIPE)
    words = named.communicate(timeout=120)[1].decode()
    for process, results in ((closed, "closed"), (full, "full"), (unread, "unread"), (named, "named")):
        assert process.wait(timeout=120) == 0, results
        assert is_whole(tmp_path, results)
    assert run("verify", "last", "--results", "closed", cwd=tmp_path).returncode == 0
    assert "standard output cannot be written: No space left on device; the results are in named/" in words
    assert "Traceback" not in words
    assert_the_others_end(tmp_path)


def assert_the_others_end(folder):
    """Commands that show what is stored."""
    hows = ((">/dev/full", 6, 2), (">&-", 6, 2), ("2>/dev/full >/dev/null", 0, 0))
    commands = (("list", "--results", "full"), ("show", "last", "--results", "full", "--json"), ("--help",))
    ending = [
        (how, command, redirected(how[0], *command, cwd=folder, stderr=subprocess.PIPE, text=True))
        for how in hows
        for command in commands
    ]
    for (how, code, lines), command, process in ending:
        words = process.communicate(timeout=120)[1]
        assert (process.returncode, len(words.splitlines())) == (code, lines), (how, command, words)
        assert not lines or words.startswith("scale: standard output cannot be written: ")
    for command in commands[:2]:
        process = redirected("", *command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=120) == 0


def assert_watching_ends_with_its_reader(folder):
    watching = redirected("2>&1", "watch", "last", "--results", "r", cwd=folder, stdout=subprocess.PIPE)
    watching.stdout.close()
    assert watching.wait(timeout=120) == 0


@pytest.mark.parametrize("has_terminal", [True, False], ids=["its-own-terminal", "another-ones-terminal"])
def test_a_closed_terminal_ends_the_sweep_that_it_controls_and_no_other(tmp_path, data_dir, has_terminal):
    ours, inner = pty.openpty()
    # Whoever runs the tests by nohup ignores SIGHUP, and so would the sweep.
    session = ("env", "--default-signal=HUP", "setsid", *(["--ctty"] if has_terminal else []), SCALE)
    words = sweep_words(data_dir, "r", "200s" if has_terminal else "2s")
    process = subprocess.Popen([*session, *words], cwd=tmp_path, stdin=inner, stdout=inner, stderr=inner)
    os.close(inner)
    waited_for(lambda: list(tmp_path.glob("r/*/trials/*/spec")), process=process)
    if has_terminal:
        assert_watching_ends_with_its_reader(tmp_path)
    os.close(ours)
    if has_terminal:
        assert process.wait(timeout=120) == 130
        assert json.loads(run("list", "--results", "r", "--json", cwd=tmp_path).stdout)[0]["status"] == "interrupted"
    else:
        assert process.wait(timeout=120) == 0
        assert is_whole(tmp_path, "r")
    assert list(data_dir.iterdir()) == []


def test_ctrl_c_ends_the_command_without_a_traceback_from_its_first_moment_on(tmp_path):
    """What the interpreter itself does before the entry point runs cannot be covered: the entry point's first import
    says that it runs."""
    begin = (
        "import sys\n"
        "sys.addaudithook(lambda event, of: event == 'import' and of[0] == 'scale_sweep.base.output' and print(flush=True))\n"
        "from scale_sweep.cli import main\nmain()"
    )
    words = [sys.executable, "-c", begin, *"plan cpu --target null --cores 0.5".split()]
    for delay in (0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3):
        process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        words_said = process.communicate(timeout=120)[1]
        assert "Traceback" not in words_said and "KeyboardInterrupt" not in words_said, (delay, words_said)
        assert process.returncode == 130, (delay, words_said)


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
