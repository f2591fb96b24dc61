"""The view of a sweep in a small terminal and in none, streams that lack characters, and output that goes away."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.integration.cli import SCALE, Terminal, as_installed, run, start, waited_for

# Nothing is stored, so nothing here measures a server.
SMALL = "sweep cpu --target null --warmup 0s --window-max 0 --results r --no-metrics".split()
LEVELS = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1"


def test_a_small_terminal_without_colours_until_ctrl_c(tmp_path):
    terminal = Terminal(
        *SMALL,
        "--cores",
        LEVELS,
        *"--duration 4s --replicates 3".split(),
        cwd=tmp_path,
        rows=16,
        columns=80,
        environment={"NO_COLOR": "1"},
    )
    terminal.until(lambda: "disk d1" in terminal.seen)
    os.killpg(terminal.process.pid, signal.SIGINT)
    assert terminal.end() == 130, terminal.seen
    assert not re.search(r"\x1b\[[0-9;]*(3[0-7]|9[0-7]|38)[0-9;]*m", terminal.raw), "no colours"
    assert terminal.raw.rfind("\x1b[?25h") > terminal.raw.rfind("\x1b[?25l") >= 0
    assert re.search(r"0 of \d+ trials, about [^\r\n]+ left", terminal.seen), "on one line"
    assert re.search(r"and \d points more", terminal.seen), "the plan gave way to the running trial"
    assert max(len(line.rstrip()) for line in terminal.seen.splitlines() if "/" not in line) <= 80
    assert "scale resume" in terminal.seen


def test_no_terminal_gets_plain_lines_and_no_metrics_means_no_port(tmp_path):
    done = run(
        *SMALL, *"--cores 1 --duration 1s --replicates 1 --drift-check off".split(), cwd=tmp_path, TERM="xterm-256color"
    )
    assert "\x1b[" not in done.stdout + done.stderr
    assert re.search(r"^trial 1 of 1: cores-1-r1 +\d.* rows/s quick  server .* of 1 core ", done.stderr, re.MULTILINE)
    assert "metrics at" not in done.stderr
    assert "metrics_url" not in next(tmp_path.glob("r/*/manifest.json")).read_text()


NULL = "cpu --target null --cores 1 --replicates 1 --warmup 0s --window-max 0 --rate 20k --results r".split()
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
FIT = "n,x\n" + "".join(f"{n},{1000 * n / (1 + 0.1 * (n - 1)):.0f}\n" for n in range(1, 9))


@pytest.fixture
def latin(tmp_path):
    """The environment of a locale with ISO-8859-1, as `localedef` makes it."""
    if shutil.which("localedef") is None or not os.path.isdir("/usr/share/i18n/locales"):
        pytest.skip("no localedef, or no sources of locales: apt-get install locales")
    made = tmp_path / "locales"
    made.mkdir()
    name = "de_DE.ISO-8859-1"
    subprocess.run(["localedef", "--no-archive", "-i", "de_DE", "-f", "ISO-8859-1", str(made / name)], check=False)
    return {"LOCPATH": str(made), "LC_ALL": name}


@pytest.fixture(params=["C", "ISO-8859-1"])
def narrow(request):
    """The environment of a locale with fewer characters than are printed."""
    return ASCII if request.param == "C" else request.getfixturevalue("latin")


def said(cwd, environment, *words):
    """Exit code, standard output and standard error, in bytes."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTHONUTF8"))}
    environment = as_installed({**inherited, "COLUMNS": "160", **environment})
    done = subprocess.run([SCALE, *words], cwd=cwd, env=environment, capture_output=True, timeout=120, check=False)
    assert b"Traceback" not in done.stderr and b"UnicodeEncodeError" not in done.stderr, done.stderr.decode("latin-1")
    return done.returncode, done.stdout, done.stderr


def test_every_kind_of_output(narrow, tmp_path):
    (tmp_path / "data.csv").write_text(FIT)
    (tmp_path / "wide.toml").write_text('name = "größer 大"\n[axis]\ncores = "1"\n[load]\nduration = "1s"\n', "utf-8")
    code, out, _ = said(tmp_path, narrow, "fit", "data.csv", "--n", "n", "--x", "x")
    assert code == 0 and b"alpha" in out, out
    code, out, err = said(tmp_path, narrow, "sweep", "wide.toml", *NULL[1:], "--no-metrics")
    assert code in (0, 10), err
    assert b"core x " in err or "core × ".encode("latin-1") in err
    code, out, _ = said(tmp_path, narrow, "show", "last", "--results", "r", "--json")
    assert code == 0 and json.loads(out)["status"] == "complete"
    report = next(tmp_path.glob("r/*/report.md")).read_text(encoding="utf-8")
    assert "größer 大" in report
    for words in (("show", "last", "--results", "r"), ("sweep", "--help")):
        assert said(tmp_path, narrow, *words)[0] == 0, words


def test_an_error_on_a_stream_of_fewer_characters(tmp_path):
    (tmp_path / "大").mkdir()
    code, _, err = said(tmp_path, {"PYTHONIOENCODING": "latin-1"}, "show", "last", "--results", "大")
    assert code == 2 and b"no runs in ?" in err and b"\n  -> " in err, err


def test_a_name_in_a_file_that_the_locale_lacks_is_one_message(tmp_path):
    (tmp_path / "wide.toml").write_text(
        '[axis]\ncores = "1"\n[target]\nname = "null"\ndata_dir = "/var/tmp/大"\n', "utf-8"
    )
    code, _, err = said(tmp_path, ASCII, "plan", "wide.toml")
    assert code == 2 and rb"'\u5927' is no name of a file in this locale (ascii)" in err, err


def test_the_view_of_a_sweep(latin, tmp_path):
    words = ("sweep", *NULL, "--duration", "1s", "--no-metrics")
    terminal = Terminal(*words, cwd=tmp_path, rows=24, columns=100, environment=latin)
    assert terminal.end() in (0, 10), terminal.seen
    assert re.search(r"report: r/", terminal.seen), terminal.seen
    assert "UnicodeEncodeError" not in terminal.seen


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
        watch = redirected("2>&1", "watch", "last", "--results", "r", cwd=tmp_path, stdout=subprocess.PIPE)
        watch.stdout.close()
        assert watch.wait(timeout=120) == 0  # it ends with its reader
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


def test_ctrl_c_during_an_import_is_heeded_after_it(tmp_path):
    """Compiled modules may drop the exception, and Python 3.11 wraps what __set_name__ raises."""
    (tmp_path / "compiled.py").write_text(
        "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\nexcept BaseException:\n    print('dropped')\n"
    )
    program = (
        "import time\n"
        "from scale_sweep.base.interrupts import listen\n"
        "import scale_sweep.cli.commands as commands\n"
        "def run():\n"
        "    listen()\n"
        "    import compiled\n"
        "    time.sleep(60)\n"
        "commands.run = run\n"
        "from scale_sweep.cli import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=50)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


MISSING = "sweep cpu --target null --cores 1 --replicates 1 --warmup 0s --window-max 0 --rate 20k --no-metrics".split()
SECONDS = 120.0


def words(tmp_path, *more):
    return (*MISSING, "--results", str(tmp_path / "r"), "--data-dir", str(tmp_path / "a" / "b" / "c"), *more)


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
