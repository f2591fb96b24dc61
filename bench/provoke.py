"""Provokes limits on real servers and shows which one the verdict named. It judges nothing: look at the table.

    python bench/provoke.py [--home DIR of a TDengine installation] [--slow-dir DIR on a disk capped at some 10 MiB/s]
                            [--record DIR] [--only LIMIT]

Each case is one trial of some seconds. On a machine where others run, OTHER_PROCESSES is the honest answer. --record
keeps the raw lines of each case whose limit was named, without names and paths of this machine: tests/unit/recorded is
such a directory. After a new recording there, run `python -m tests.unit.test_golden`.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runner"))

from bench.slow_network import INTERFACE, slow_network
from scale_sweep.server.targets import load_target

PIPES = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}

QUICK = (
    "--runtime",
    "process",
    "--replicates",
    "1",
    "--duration",
    "6s",
    "--warmup",
    "2s",
    "--json",
    "--connections-check",
    "off",
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is done, and the limit that it should have."""

    what: str
    limit: str
    words: tuple[str, ...]
    hog_cpu: int | None = None
    stopped: bool = False
    network_mbit: float = 0.0  # of the link between load generator and server; 0: no such link


ON_REQUESTS = """CREATE TABLE hot (n bigint); INSERT INTO hot VALUES (0);
CREATE FUNCTION bump() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ {body} $$;
CREATE FUNCTION watch() RETURNS event_trigger LANGUAGE plpgsql AS $$ DECLARE made record; BEGIN
FOR made IN SELECT * FROM pg_event_trigger_ddl_commands() WHERE object_identity = 'public.measurement' LOOP
EXECUTE 'CREATE TRIGGER bump AFTER INSERT ON measurement FOR EACH STATEMENT EXECUTE FUNCTION bump()';
END LOOP; END $$;
CREATE EVENT TRIGGER watch ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION watch();
"""


def hot_row_home(folder: str) -> str:
    """A PostgreSQL whose databases have a row that every statement of the load updates: each waits for the others."""
    return home_with(folder, "hot-row", "BEGIN UPDATE hot SET n = n + 1; RETURN NULL; END")


def home_with(folder: str, name: str, body: str) -> str:
    """A PostgreSQL whose databases run this body after each statement of the load."""
    real = load_target("postgres").find("").home
    home = Path(folder, name)
    (home / "bin").mkdir(parents=True)
    for part in ("lib", "share"):
        (home / part).symlink_to(Path(real, part))
    for program in Path(real, "bin").iterdir():
        if program.name != "initdb":
            (home / "bin" / program.name).symlink_to(program)
    (home / "hot.sql").write_text(" ".join(ON_REQUESTS.replace("{body}", body).split()) + "\n")
    made = f'{real}/bin/initdb "$@" && {real}/bin/postgres --single -D "$2" postgres < {home}/hot.sql >/dev/null'
    (home / "bin/initdb").write_text(f"#!/bin/sh\n{made}\n")
    (home / "bin/initdb").chmod(0o755)
    return str(home)


def stop_for_a_while(run: subprocess.Popen, folder: str, before: set[Path]) -> None:
    """Three seconds of the window, from its third on, in which no thread of the server runs."""
    deadline = time.monotonic() + 120
    while run.poll() is None and time.monotonic() < deadline:
        new = set(Path(folder).glob("results/*/trials/*/journal.jsonl")) - before
        if any('"phase": "measure"' in path.read_text() for path in new):
            break
        time.sleep(0.1)
    time.sleep(2.0)
    servers = [p for p in psutil.Process(run.pid).children(recursive=True) if p.name().startswith("postgres")]
    for sent in (signal.SIGSTOP, signal.SIGCONT):
        for process in servers:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(sent)
        time.sleep(3.0)


def cases(home: str, data_dir: str, folder: str) -> list[Case]:
    """Those that this machine can show."""
    postgres, found = ("--target", "postgres"), []
    tdengine = ("--target", "tdengine", "--home", home)
    found.append(Case(what="PostgreSQL, one core", limit="SERVER_CPU", words=(*postgres, "--cores", "1")))
    found.append(Case(what="PostgreSQL, half a core by quota", limit="QUOTA", words=(*postgres, "--cores", "0.5")))
    found.append(
        Case(
            what="PostgreSQL, two cores, one connection",
            limit="CONNECTIONS",
            words=(*postgres, "--cores", "2", "--connections", "1"),
        )
    )
    found.append(
        Case(
            what="PostgreSQL beside a busy loop on its core",
            limit="OTHER_PROCESSES",
            words=(*postgres, "--cores", "1"),
            hog_cpu=0,
        )
    )
    found.append(
        Case(
            what="PostgreSQL, two cores shared with the load generator",
            limit="SHARED_CPU",
            words=(*postgres, "--cores", "2", "--server-cpus", "0-1", "--generator-cpus", "0-1"),
        )
    )
    found.append(Case(what="null target", limit="GENERATOR_CEILING", words=("--target", "null", "--cores", "1")))
    found.append(
        Case(
            what="PostgreSQL, a tenth of what it does offered",
            limit="OFFERED_RATE",
            words=(*postgres, "--cores", "1", "--rate", "20k"),
        )
    )
    found.append(
        Case(
            what="PostgreSQL, two cores, a row that every writer updates",
            limit="LOCKS",
            words=(
                *postgres,
                "--home",
                hot_row_home(folder),
                "--cores",
                "2",
                "--knob",
                "synchronous_commit=on",
                "--rows-per-request",
                "10",
                "--server-cpus",
                "0-1",
                "--generator-cpus",
                "0-1",
            ),
        )
    )
    found.append(
        Case(
            what="PostgreSQL, stopped for three seconds",
            limit="STALL",
            stopped=True,
            words=(*postgres, "--cores", "1", "--window-max", "0"),
        )
    )
    if os.geteuid() == 0:
        found.append(
            Case(
                what="PostgreSQL behind a network of 10 Mbit/s",
                limit="NETWORK",
                network_mbit=10.0,
                words=(*postgres, "--cores", "1"),
            )
        )
    if data_dir:
        found.append(
            Case(
                what="PostgreSQL on a disk capped at 10 MiB/s",
                limit="DISK",
                words=(*postgres, "--cores", "1", "--data-dir", data_dir),
            )
        )
    if home:
        found.append(
            Case(
                what="TDengine, two cores, one vgroup, four threads",
                limit="HOT_THREAD",
                words=(*tdengine, "--cores", "2", "--vgroups", "1", "--connections", "4"),
            )
        )
        found.append(
            Case(
                what="TDengine, one core, SQL text",
                limit="GENERATOR_CPU",
                words=(*tdengine, "--cores", "1", "--method", "sql"),
            )
        )
    return found


def seen(case: Case, folder: str) -> dict[str, object]:
    """The trial's verdict and figures."""
    scale = os.environ.get("SCALE_COMMAND", str(Path(sys.executable).parent / "scale"))
    before = set(Path(folder).glob("results/*/trials/*/journal.jsonl"))
    command = [scale, "sweep", "cpu", *QUICK, *case.words]
    if case.network_mbit:
        with slow_network(case.network_mbit) as link:
            words = [*link.prefix, *command, "--network-speed", f"{INTERFACE}={case.network_mbit:g}Mbit"]
            return result_of(subprocess.Popen(words, cwd=folder, env=link.environment, **PIPES))
    hog = None
    if case.hog_cpu is not None:
        hog = subprocess.Popen([sys.executable, "-P", "-c", "while True: pass"])
        os.sched_setaffinity(hog.pid, {case.hog_cpu})
    try:
        run = subprocess.Popen(command, cwd=folder, **PIPES)
        if case.stopped:
            stop_for_a_while(run, folder, before)
        return result_of(run)
    finally:
        if hog:
            hog.kill()
            hog.wait()


def result_of(run: subprocess.Popen) -> dict[str, object]:
    """Of its only trial, when it has ended."""
    try:
        out, errors = run.communicate(timeout=180)
    except subprocess.TimeoutExpired:
        run.terminate()  # it ends its server
        run.communicate(timeout=60)
        raise
    if not out:
        raise SystemExit(errors)
    return json.loads(out)["trials"][0]


def record(case: Case, folder: str, kept: Path) -> None:
    """The newest run's raw lines as one file, NAME.json.gz: what a test needs to name the limit again."""
    run = max(Path(folder, "results").iterdir())
    trial = next((run / "trials").iterdir())
    files = (run / "plan.json", trial / "facts.json", trial / "trial.json")
    plan, facts, result = (json.loads(p.read_text(encoding="utf-8")) for p in files)
    plan["sweep"] |= {"home": "", "data_dir": ""}
    facts["effective"], result["effective"], result["log_tail"] = {}, {}, ""
    lines = [json.loads(line) for line in (trial / "loadgen.jsonl").read_text(encoding="utf-8").splitlines()]
    lines = [line | {"library": None} if line["event"] == "hello" else line for line in lines]
    samples = (trial / "samples.jsonl").read_text(encoding="utf-8")
    told = {
        "what": case.what,
        "limit": case.limit,
        "plan": plan,
        "facts": facts,
        "trial": result,
        "loadgen": lines,
        "samples": [json.loads(line) for line in samples.splitlines()],
    }
    name = re.sub(r"[^a-z0-9]+", "-", case.what.lower()).strip("-")
    kept.mkdir(parents=True, exist_ok=True)
    (kept / f"{name}.json.gz").write_bytes(gzip.compress(json.dumps(told).encode(), mtime=0))


def main() -> None:
    """Every case, a row each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", default=os.environ.get("SCALE_TDENGINE_HOME", ""))
    parser.add_argument("--slow-dir", default="", help="a directory on a disk capped at some 10 MiB/s")
    parser.add_argument("--record", type=Path, help="keep the raw lines of the cases there")
    parser.add_argument("--only", default="", help="the cases of this limit alone")
    arguments = parser.parse_args()
    print("| provoked | should be | named | verdict | server | generator | others | sentence |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # the server does not run as root
        for case in cases(arguments.home, arguments.slow_dir, folder):
            if arguments.only not in ("", case.limit):
                continue
            trial = seen(case, folder)
            m, verdict = trial["measurement"], trial["verdict"]
            limit = verdict["bottleneck"] or {"kind": "-", "sentence": ""}
            cores = " | ".join(
                f"{m[name]:.2f}" if m[name] is not None else "-"
                for name in ("server_cpu_cores", "generator_cpu_cores", "other_cpu_cores")
            )
            row = (case.what, case.limit, limit["kind"], verdict["kind"], cores, limit["sentence"])
            print(f"| {' | '.join(map(str, row))} |", flush=True)
            if arguments.record and limit["kind"] == case.limit:
                record(case, folder, arguments.record)


if __name__ == "__main__":
    main()
