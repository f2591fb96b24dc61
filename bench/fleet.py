"""The cost of a fleet: 100 simulated hosts at 1 Hz on one machine, and one page of 100 runs.

    PYTHONPATH=$PWD:runner python bench/fleet.py [HOSTS] [SECONDS]

A simulated host is a process that speaks the lines of an agent and sends the events of a trial that was made here. It
stands for `ssh` and a real agent. The controller's side is the real one: links, places, threads, and the store of each
run. Its CPU time is that of this process, without its children. Refuses a result if an event is missing or not in
order.
Goals: 0.05 % of a core and 3 MB for each host, 20 s for the page.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path

import psutil

from scale_sweep.base.interrupts import Stop
from scale_sweep.hosts.inventory import HostEntry, Inventory
from scale_sweep.hosts.link import AgentLink
from scale_sweep.hosts.place import HostsPlace
from scale_sweep.machine.host.host_facts import read_host
from scale_sweep.model.events import IntervalSeen, SampleTaken, TrialFinished, TrialStarted
from scale_sweep.model.planned import Plan
from scale_sweep.results.store.events import plain_event
from scale_sweep.results.store.run_lock import RunLock
from scale_sweep.results.store.stored import new_folder
from scale_sweep.results.store.writer import RunWriter
from tests.unit import stored_runs
from tests.unit.raw_run import manifest_of, trial_events
from tests.unit.stored_runs import FLAGS
from tests.unit.trial_orders import trial_order

DIGEST = "0" * 16
AGENT = """
import json, os, sys, threading, time
folder = os.environ["SIMULATED"]
lock = threading.Lock()
facts = json.load(open(folder + "/facts.json"))
events = open(folder + "/events.jsonl").read().splitlines()
def put(text):
    with lock:
        sys.stdout.write(text + "\\n"); sys.stdout.flush()
def trial(number):
    begun = time.monotonic()
    for text in events:
        at, _, event = text.partition(" ")
        time.sleep(max(0.0, begun + float(at) - time.monotonic()))
        put('{"id": %d, "event": %s}' % (number, event))
    put('{"id": %d, "answer": null}' % number)
def beat():
    while True:
        time.sleep(5); put('{"beat": true}')
put(json.dumps({"ready": True, "digest": "0" * 16, "python": "3.11", "pid": os.getpid()}))
threading.Thread(target=beat, daemon=True).start()
for text in sys.stdin:
    line = json.loads(text)
    asked = line.get("ask")
    if asked == "trial":
        threading.Thread(target=trial, args=(line["id"],), daemon=True).start()
    elif asked:
        answer = {"facts": facts, "clock": time.monotonic_ns(), "clean": []}.get(asked)
        put(json.dumps({"id": line["id"], "answer": answer}))
"""


def main() -> None:
    hosts = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    with tempfile.TemporaryDirectory() as folder:
        report(controlled(Path(folder), hosts, seconds), hosts, seconds)
        page_s, page_bytes = paged(Path(folder), hosts)
    print(f"page of {hosts} runs: {page_s:.1f} s, {page_bytes / 1e6:.1f} MB")


def report(measured: dict[str, float], hosts: int, seconds: int) -> None:
    print(f"{hosts} hosts, {seconds} s at 1 Hz: {measured['events']:,.0f} events, all whole and in order")
    for part, name in {"steady": "while it measures", "whole": "with clocks, start and end of the trial"}.items():
        print(f"controller: {100 * measured[part] / hosts:.3f} % of a core for each host, {name}")
    print(f"controller: {measured['bytes'] / hosts / 1e6:.2f} MB for each host, {measured['files']:.0f} open files")


def controlled(folder: Path, hosts: int, seconds: int) -> dict[str, float]:
    """Runs one trial on each simulated host, each in a thread and stored as a run. Returns what it cost."""
    plan = plan_of_one_level()
    order = replace(trial_order(folder), trial=plan.trials[0])
    events = simulated(folder, plan, seconds)
    process = psutil.Process()
    before = process.memory_info().rss
    with ExitStack() as stack:
        places = [place for number in range(hosts) if (place := reached(folder, number, stack))]
        facts = manifest_of(plan)
        writers = [
            RunWriter(RunLock(new_folder(folder / f"results/2026010{1 + n % 9}T030405Z-fleet-{n:06x}")), plan, facts)
            for n in range(hosts)
        ]
        seen: list[list[object]] = [[] for _ in range(hosts)]

        def run(number: int) -> None:
            writers[number](TrialStarted(trial=plan.trials[0], position=1, total=1, unix_s=time.time(), monotonic_ns=0))
            for event in places[number].run(order, Stop()):
                writers[number](event)
                seen[number].append(event)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(hosts)]
        cpu, wall = time.process_time(), time.monotonic()
        for thread in threads:
            thread.start()
        time.sleep(seconds / 4)
        steady_cpu, steady_wall = time.process_time(), time.monotonic()
        time.sleep(seconds / 2)
        steady = (time.process_time() - steady_cpu) / (time.monotonic() - steady_wall)
        files, held = process.num_fds(), process.memory_info().rss - before
        for thread in threads:
            thread.join(seconds + 120)
        whole = (time.process_time() - cpu) / (time.monotonic() - wall)
        cost = {"steady": steady, "whole": whole, "bytes": held, "files": files}
    for each in seen:
        ticks = [event for event in each if isinstance(event, (IntervalSeen, SampleTaken))]
        times = [e.sample.monotonic_ns for e in ticks if isinstance(e, SampleTaken)]
        if len(each) != events or times != sorted(times) or not isinstance(each[-1], TrialFinished):
            sys.exit(f"{len(each)} of {events} events, or not in order")
    return {**cost, "events": float(events * hosts)}


def plan_of_one_level() -> Plan:
    from scale_sweep.plan.make import make_plan
    from scale_sweep.plan.target_defaults import complete
    from scale_sweep.server.targets import load_target
    from scale_sweep.sweep.resolve import resolve_sweep

    module = load_target("postgres")
    sweep = resolve_sweep("cpu", {**FLAGS["aborted"], "target.name": "postgres", "target.runtime": "process"})
    return make_plan(complete(sweep, module.facts), read_host(), module.facts)


def simulated(folder: Path, plan: Plan, seconds: int) -> int:
    """Writes the files of the simulated hosts. Returns the number of events of a trial."""
    made = [e for e in trial_events(plan, plan.trials[0], [90_000] * seconds, 2) if not isinstance(e, TrialStarted)]
    ticks = {"interval": 0, "sample": 0}
    lines = []
    for event in made:
        plain = plain_event(event)
        kind = str(plain["event"])
        at = float(ticks.get(kind, 0))
        if kind in ticks:
            ticks[kind] += 1
        elif kind in ("artifact", "finished"):
            at = seconds + 2.5  # after the last sample
        lines.append((float(at), json.dumps(plain)))
    lines.sort(key=lambda line: line[0])
    (folder / "events.jsonl").write_text("".join(f"{at} {text}\n" for at, text in lines))
    facts = {"host": asdict(read_host()), "machine": "", "servers": {}, "root": True, "lacks": "", "program": ""}
    (folder / "facts.json").write_text(json.dumps(facts))
    for name, text in {"digest": DIGEST, "site/scale_sweep/__init__.py": "", "site/scale_sweep/agent/__init__.py": "",
                       "site/scale_sweep/agent/__main__.py": AGENT}.items():  # fmt: skip
        path = folder / f"home/{DIGEST}/{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    os.environ["SIMULATED"] = str(folder)
    return len(lines)


def reached(folder: Path, number: int, stack: ExitStack) -> HostsPlace:
    entry = HostEntry(
        name=f"host{number}",
        address="127.0.0.1",
        home=str(folder / "home"),
        variables={"ansible_connection": "local", "ansible_python_interpreter": sys.executable},
    )
    link = stack.enter_context(AgentLink(entry, DIGEST))
    return HostsPlace(Inventory(path=folder, servers=(entry,), load=()), {entry.name: link}, stack)


def paged(folder: Path, runs: int) -> tuple[float, int]:
    """The time of `scale compare` of so many stored runs, and the size of its page."""
    results = folder / "stored"
    first = stored_runs.unpacked("varied", results)
    names = [first.name]
    for number in range(1, runs):
        names.append(f"20260102T030405Z-varied-postgres-{number:06x}")
        subprocess.run(["cp", "-r", first, results / names[-1]], check=True, timeout=60)
    words = ["compare", *names, "--results", str(results), "--html", str(folder / "fleet.html")]
    begun = time.monotonic()
    subprocess.run(
        [sys.executable, "-P", "-m", "scale_sweep", *words], check=True, timeout=600, stdout=subprocess.DEVNULL
    )
    return time.monotonic() - begun, (folder / "fleet.html").stat().st_size


if __name__ == "__main__":
    main()
