"""`scale judge` before load commands as their users type them, beside servers that run already."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.integration.cli import SCALE, run, start, waited_for
from tests.integration.made_images import python_image, require_docker
from tests.loadgen.postgres_server import running_postgres
from tests.needs import need, needs

CPUS = sorted(os.sched_getaffinity(0))
ON_FIRST = ("taskset", "-c", str(CPUS[0]))
ON_LAST = ("taskset", "-c", str(CPUS[-1]))
PRINTS_RATE = "for n in range(8): pass\nprint('did 1200 things in 2 s: 600.5 ops/s')"


@pytest.fixture
def idle_server():
    process = subprocess.Popen([*ON_FIRST, sys.executable, "-c", "import time; time.sleep(300)"])
    yield process
    process.kill()
    process.wait()


def judged(server, cwd, *command, options=()):
    done = run("judge", "--json", "--pid", str(server.pid), *options, "--", *command, cwd=cwd)
    return done, json.loads(done.stdout)


def test_pgbench_is_read_by_its_row_and_the_run_is_one_like_any_other(tmp_path):
    pgbench = need("pgbench")
    with running_postgres(listen="127.0.0.1") as server:
        at = ("-h", "127.0.0.1", "-p", str(server.port), "-U", "postgres")
        made = subprocess.run([pgbench, *at, "-i", "-q", "-s", "1", "postgres"], capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        for process in (first := psutil.Process(server.process.pid), *first.children()):
            process.cpu_affinity([CPUS[0]])  # a connection's process inherits it
        load = (*ON_LAST, pgbench, *at, "-S", "-c", "2", "-j", "1", "-T", "6", "postgres")
        done = run("judge", "--port", str(server.port), "--", *load, cwd=tmp_path)
    assert done.returncode in (0, 10), done.stderr
    (tps,) = re.findall(r"^tps = (\d+)\.", done.stdout, re.MULTILINE)
    assert re.search(r"^rate +[\d.]+ (k )?transactions/s by pgbench, over 6 s", done.stdout, re.MULTILINE), done.stdout
    assert " of 1 core, on CPUs" in done.stdout
    assert done.stderr.count("progress: ") >= 3, "-P 1 was added; a busy machine skips some"
    (run_folder,) = (tmp_path / "results").iterdir()
    stored = json.loads((run_folder / "trials/judge/trial.json").read_text())["measurement"]
    assert stored["requests_per_s"] == pytest.approx(int(tps), rel=0.001)
    assert stored["rate_cv_percent"] is not None
    for words in ("verify", "show", "report"):
        again = run(words, "last", cwd=tmp_path)
        assert again.returncode == 0, (words, again.stdout, again.stderr)
    log = run_folder / "trials/judge/loadgen.jsonl"
    log.write_text(log.read_text().replace(f"tps = {tps}", f"tps = {int(tps) + 1000}"))
    assert run("verify", "last", cwd=tmp_path).returncode != 0, "verify reads the tool's output again"


SLOWED = """#!{python}
import sys, time
count, begun = 0, time.monotonic()
for second in range(1, 24):
    done = 0
    while time.monotonic() < begun + second:
        for _ in range(1000): pass
        done += 1
    count += done
    print(f"progress: {{second}}.0 s, {{done}}.0 tps, lat 1.0 ms stddev 0.1, 0 failed", file=sys.stderr, flush=True)
print(f"transaction type: loop\\nnumber of transactions actually processed: {{count}}")
print(f"tps = {{count / 23}} (without initial connection time)")
"""


def test_a_proof_disturbs_the_cpus_of_server_and_load_and_is_verified(idle_server, tmp_path):
    """The load is a loop that prints its progress as pgbench does: for as long as one block of disturbances."""
    (loop := tmp_path / "pgbench").write_text(SLOWED.format(python=sys.executable))
    loop.chmod(0o755)
    done, told = judged(idle_server, tmp_path, *ON_LAST, str(loop), options=("--prove",))
    assert (done.returncode in (0, 10), told["verdict"]) == (True, None), done.stderr
    apart = CPUS[0] != CPUS[-1]
    disturbed = {"cpu", "load"} if apart else {"cpu"}
    folder = tmp_path / told["path"] / "trials/judge"
    rows = [json.loads(line) for line in (folder / "disturbances.jsonl").read_text().splitlines()]
    assert {row["resource"] for row in rows} == disturbed | {""}
    taken = {name: [row["taken_s"] for row in rows if row["resource"] == name] for name in disturbed}
    assert all(seconds > 0 for name in disturbed for seconds in taken[name])
    assert {one["resource"] for one in told["proof"]["proof"]["elasticities"]} <= disturbed
    assert told["is_the_servers"] is not True or "load" not in told["proof"]["proof"]["causes"]
    assert told["left_behind"] == []
    assert run("verify", "last", cwd=tmp_path).returncode == 0
    assert "Proof of the bottleneck" in (tmp_path / told["path"] / "report.html").read_text()
    assert not [p for p in psutil.process_iter(["cmdline"]) if "busy_work" in " ".join(p.info["cmdline"] or ())]


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        (("true",), (), "--prove: scale cannot read the command's rate while it runs"),
        (("pgbench", "-T", "20"), (), "--prove: a load of 20 s is too short"),
        (("pgbench", "-T", "70"), ("--disk", "/proc"), "--prove --disk /proc: "),
    ],
)
def test_a_proof_that_is_not_possible_is_refused_before_the_load(idle_server, tmp_path, command, options, said):
    if command[0] == "pgbench":
        need("pgbench")
    done = run("judge", "--pid", str(idle_server.pid), "--prove", *options, "--", *command, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert not list(tmp_path.glob("results/*"))


def test_results_that_cannot_be_written_are_found_before_the_load(idle_server, tmp_path):
    (taken := tmp_path / "taken").write_text("")
    (made, command) = tmp_path / "made", ("touch", str(tmp_path / "made"))
    done = run("judge", "--pid", str(idle_server.pid), "--results", str(taken), "--", *command, cwd=tmp_path)
    assert done.returncode != 0 and str(taken) in done.stderr
    assert not made.exists()


def test_a_command_that_scale_does_not_know_gives_its_rate_by_a_pattern_or_none(idle_server, tmp_path):
    command = (sys.executable, "-c", PRINTS_RATE)
    _, told = judged(idle_server, tmp_path, *command, options=("--rate-from", "([0-9.]+) ops/s"))
    assert told["rate_per_s"] == pytest.approx(600.5)
    done, told = judged(idle_server, tmp_path, *command)
    assert told["rate_per_s"] is None
    assert "did 1200 things" in done.stderr, "with --json its output is on standard error"
    done, told = judged(idle_server, tmp_path, *command, options=("--rate-from", "([0-9.]+) rows/s"))
    assert (done.returncode, told["verdict"]) == (10, "ABORTED")
    assert "printed no result: did 1200 things" in told["reasons"][0]


def test_it_runs_as_typed_with_its_input_and_its_code(idle_server, tmp_path):
    program = "import os, sys; print(sys.stdin.read(), os.environ['OWN'], file=sys.stderr); sys.exit(3)"
    words = ("judge", "--pid", str(idle_server.pid), "--", sys.executable, "-c", program)
    piped = f"echo typed | {shlex.join(['scale', *words])}"
    scale = str(Path(sys.executable).parent)
    environment = {**os.environ, "OWN": "own", "PATH": f"{scale}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", piped], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 10, done.stderr
    assert "typed\n own" in done.stderr
    assert "ended with code 3" in done.stdout


def test_no_password_is_stored_or_shown(idle_server, tmp_path):
    secret = "s3cret-of-nobody"
    words = ("true", f"--db-password={secret}", "--password", secret, f"redis://me:{secret}@localhost/0")
    done = run("judge", "--pid", str(idle_server.pid), "--", *words, cwd=tmp_path)
    assert done.returncode in (0, 10)
    texts = [path.read_text() for path in (tmp_path / "results").rglob("*") if path.is_file()]
    assert not any(secret in text for text in (*texts, done.stdout, done.stderr))


def test_ctrl_c_reaches_the_command_once_and_the_part_that_ran_is_kept(idle_server, tmp_path):
    program = (
        "import signal, sys, time\n"
        "seen = []\n"
        "signal.signal(signal.SIGINT, lambda *_: seen.append(1))\n"
        "print('begun', flush=True)\n"
        "while not seen: time.sleep(0.05)\n"
        "time.sleep(0.5)\n"
        "print('interrupts:', len(seen))"
    )
    words = (SCALE, "judge", "--pid", str(idle_server.pid), "--", sys.executable, "-c", program)
    terminal = subprocess.Popen(  # the foreground of a terminal of its own
        ["script", "-qefc", shlex.join(words), "/dev/null"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    seen = b""
    while b"begun" not in seen.splitlines():
        seen += os.read(terminal.stdout.fileno(), 4096)
    terminal.stdin.write(b"\x03")
    terminal.stdin.flush()
    rest = terminal.communicate(timeout=60)[0].decode()
    assert terminal.returncode == 130, rest
    assert "interrupts: 1" in rest
    assert "was interrupted" in rest
    assert list((tmp_path / "results").glob("*/report.html"))


def test_a_signal_to_scale_alone_reaches_the_command_too(idle_server, tmp_path):
    command = (sys.executable, "-c", "print('begun', flush=True)\nimport time; time.sleep(300)")
    process = start("judge", "--pid", str(idle_server.pid), "--", *command, cwd=tmp_path)
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "was interrupted" in out


def test_what_the_command_leaves_in_the_background_is_counted_and_named(idle_server, tmp_path):
    busy = "import time\nend = time.process_time() + 2\nwhile time.process_time() < end: pass"
    left = f"{shlex.join([sys.executable, '-c', busy])} & sleep 300 & echo left $!"
    done, told = judged(idle_server, tmp_path, "bash", "-c", left, options=("--linger", "4s"))
    number = int(re.search(r"left (\d+)", done.stderr)[1])
    try:
        assert f"sleep (pid {number})" in told["left_behind"], "on a busy machine the other one runs too"
        assert told["measurement"]["generator_cpu_cores"] > 0.05, "what it left behind loaded too"
    finally:
        os.kill(number, signal.SIGKILL)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("-- true", "which server? It is not named"),
        ("--port 1 -- true", "--port 1: nobody listens there"),
        ("--pid 4194303 -- true", "--pid 4194303: there is no such process"),
        ("--unit no/such -- true", "--unit no/such: is not the name of a unit"),
        ("--unit nosuch -- true", "--unit nosuch: no such unit runs"),
        ("--pid {pid} -- no-such-program", "no-such-program: there is no such program"),
        ("--pid {pid} --rate-from ops/s -- true", "has no group for the rate"),
        ("--pid {pid} --rate-from ( -- true", "--rate-from"),
        ("--pid {pid} --sample-hz 0 -- true", "--sample-hz: 0 is not between 0.1 and 10"),
        ("--pid {pid} --linger x -- true", "--linger: 'x' is not a duration"),
        ("--pid {pid} --disk /no/such -- true", "--disk /no/such: is not a directory"),
        ("--pid {pid} --hosts h -- true", "--hosts: judge watches this machine"),
    ],
)
def test_bad_input_is_one_sentence_before_anything_starts(words, said, tmp_path):
    done = run("judge", *words.format(pid=os.getpid()).split(), cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert not (tmp_path / "results").exists()


@needs("root")
def test_a_port_of_another_users_process_is_that_users_or_refused(tmp_path):
    """As nobody, who does not see whose socket it is."""
    program = (
        "import os, socket, sys, time\nos.setuid(int(sys.argv[1]))\ns = socket.create_server(('127.0.0.1', 0))\n"
        "print(s.getsockname()[1], flush=True)\ntime.sleep(300)"
    )
    ask = (
        "import os, sys\nfrom scale_sweep.server.runtimes.running import find_server\n"
        "from scale_sweep.base.errors import UsageError\n__import__('codecs').lookup('ascii')\nos.setgid(65534)\nos.setuid(65534)\n"
        "try:\n    print(find_server((), (int(sys.argv[1]),)).accounting.root_pids)\n"
        "except UsageError as error:\n    print(error.message, error.remedy)"
    )
    for user, expected in ((4711, r"\({pid},\)"), (0, "belongs to another user.*--pid")):
        words = [sys.executable, "-c", program, str(user)]
        server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        try:
            port = server.stdout.readline().strip()
            done = subprocess.run([sys.executable, "-c", ask, port], capture_output=True, text=True, cwd=tmp_path)
        finally:
            server.kill()
            server.wait()
        assert re.search(expected.format(pid=server.pid), done.stdout), (done.stdout, done.stderr)


@pytest.mark.docker
def test_a_published_port_is_its_containers(tmp_path):
    require_docker()
    image = python_image()
    program = "import socket, time; s = socket.create_server(('0.0.0.0', 80)); time.sleep(300)"
    words = ("docker", "run", "-d", "--rm", "-p", "127.0.0.1::80", image, "python3", "-c", program)
    name = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    try:
        told = subprocess.run(["docker", "port", name, "80"], capture_output=True, text=True, check=True).stdout
        port = told.strip().rpartition(":")[2]
        waited_for(lambda: subprocess.run(["docker", "top", name], capture_output=True).returncode == 0)
        for flags in (("--port", port), ("--container", name)):
            done = run("judge", "--json", *flags, "--", "true", cwd=tmp_path)
            assert "container" in json.loads(done.stdout)["server"]
            assert json.loads(done.stdout)["measurement"]["server_cpu_cores"] is not None
    finally:
        subprocess.run(["docker", "rm", "-f", name], capture_output=True)
