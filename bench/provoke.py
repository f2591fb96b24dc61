"""Provokes limits on real servers and shows which one the verdict named. It judges nothing: look at the table.

    python bench/provoke.py [--home DIR of a TDengine installation] [--slow-dir DIR on a disk capped at some 10 MiB/s]
                            [--record DIR] [--only LIMIT]

Each case is one trial of some seconds. On a machine where others run, OTHER_PROCESSES is the honest answer. --record keeps
the raw lines of each case whose limit was named, without names and paths of this machine: tests/unit/recorded is such a
directory.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

QUICK = ("--runtime", "process", "--replicates", "1", "--duration", "6s", "--warmup", "2s", "--json")


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is done, and the limit that it should have."""

    what: str
    limit: str
    words: tuple[str, ...]
    hog_cpu: int | None = None


def cases(home: str, data_dir: str) -> list[Case]:
    """Those that this machine can show."""
    postgres, found = ("--target", "postgres"), []
    tdengine = ("--target", "tdengine", "--home", home)
    found.append(Case(what="PostgreSQL, one core", limit="SERVER_CPU", words=(*postgres, "--cores", "1")))
    found.append(Case(what="PostgreSQL, half a core by quota", limit="QUOTA", words=(*postgres, "--cores", "0.5")))
    found.append(Case(what="PostgreSQL, two cores, one connection", limit="CONNECTIONS",
                      words=(*postgres, "--cores", "2", "--write-threads", "1")))  # fmt: skip
    found.append(Case(what="PostgreSQL beside a busy loop on its core", limit="OTHER_PROCESSES",
                      words=(*postgres, "--cores", "1"), hog_cpu=0))  # fmt: skip
    found.append(Case(what="PostgreSQL, two cores shared with the generator", limit="SHARED_CPU",
                      words=(*postgres, "--cores", "2", "--server-cpus", "0-1", "--client-cpus", "0-1")))  # fmt: skip
    found.append(Case(what="null target", limit="GENERATOR_CEILING", words=("--target", "null", "--cores", "1")))
    found.append(Case(what="PostgreSQL, a tenth of what it does offered", limit="OFFERED_RATE",
                      words=(*postgres, "--cores", "1", "--rate", "20k")))  # fmt: skip
    if data_dir:
        found.append(Case(what="PostgreSQL on a disk capped at 10 MiB/s", limit="DISK",
                          words=(*postgres, "--cores", "1", "--data-dir", data_dir)))  # fmt: skip
    if home:
        found.append(Case(what="TDengine, two cores, one vgroup, four threads", limit="HOT_THREAD",
                          words=(*tdengine, "--cores", "2", "--vgroups", "1", "--write-threads", "4")))  # fmt: skip
        found.append(Case(what="TDengine, one core, SQL text", limit="GENERATOR_CPU",
                          words=(*tdengine, "--cores", "1", "--method", "sql")))  # fmt: skip
    return found


def seen(case: Case, folder: str) -> dict[str, object]:
    """The trial's verdict and figures."""
    scale = str(Path(sys.executable).parent / "scale")
    hog = None
    if case.hog_cpu is not None:
        hog = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        os.sched_setaffinity(hog.pid, {case.hog_cpu})
    try:
        done = subprocess.run([scale, "sweep", "cpu", *QUICK, *case.words], cwd=folder, capture_output=True, text=True,
                              timeout=180, check=False)  # fmt: skip
    finally:
        if hog:
            hog.kill()
            hog.wait()
    if not done.stdout:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)["trials"][0]


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
    told = {"what": case.what, "limit": case.limit, "plan": plan, "facts": facts, "trial": result,
            "loadgen": lines, "samples": [json.loads(line) for line in samples.splitlines()]}  # fmt: skip
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
        for case in cases(arguments.home, arguments.slow_dir):
            if arguments.only not in ("", case.limit):
                continue
            trial = seen(case, folder)
            m, verdict = trial["measurement"], trial["verdict"]
            limit = verdict["limit"] or {"kind": "-", "sentence": ""}
            cores = " | ".join(f"{m[name]:.2f}" if m[name] is not None else "-" for name in
                               ("server_cpu_cores", "client_cpu_cores", "other_cpu_cores"))  # fmt: skip
            row = (case.what, case.limit, limit["kind"], verdict["kind"], cores, limit["sentence"])
            print(f"| {' | '.join(map(str, row))} |",
                  flush=True)  # fmt: skip
            if arguments.record and limit["kind"] == case.limit:
                record(case, folder, arguments.record)


if __name__ == "__main__":
    main()
