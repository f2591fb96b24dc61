"""Threads of a foreign load from files as the kernel writes them: what they wanted, and what they wait for."""

import os
import struct
import time

import pytest

from scale_sweep.machine.sampling.load_threads import ELSE, LoadThreads
from scale_sweep.machine.sampling.processes import ProcessTree
from scale_sweep.machine.sampling.waits import RUNS

POINTER = 4096
FUTEX = {"x86_64": 202, "aarch64": 98, "riscv64": 98}[os.uname().machine]
RECEIVES = f"{FUTEX + 1} 0x3 0x7f00 0x1000 0x0 0x0 0x0 0x7ffc 0x7f0"


def futex(operation, value, timeout=0):
    return f"{FUTEX} 0x7f00 {operation:#x} {value:#x} {timeout:#x} 0x0 0xffffffff 0x7ffc 0x7f0"


@pytest.fixture
def tool(tmp_path):
    """Writes a thread of process 7: its state, seconds that it ran and was queued, its call."""

    def write(task, state="S", ran=0.0, queued=0.0, call="running", name="work"):
        folder = tmp_path / "7" / "task" / str(task)
        folder.mkdir(parents=True, exist_ok=True)
        stat = f"{task} ({name}) {state} 1 7 7 0 -1 0 0 0 0 0 10 10 0 0 20 0 1 0 5 0 0\n"
        files = {"stat": stat, "schedstat": f"{ran * 1e9:.0f} {queued * 1e9:.0f} 9\n", "comm": f"{name}\n"}
        for file, text in (files | {"syscall": f"{call}\n", "children": ""}).items():
            (folder / file).write_text(text)

    for file, text in (("stat", "7 (tool) S 1" + " 0" * 20), ("statm", "9 9 9 0 0 0 0")):
        (tmp_path / "7").mkdir(exist_ok=True)
        (tmp_path / "7" / file).write_text(text)
    tree = ProcessTree((7,), tmp_path)
    threads = LoadThreads(tree, tmp_path)

    def read(pause_s=0.0):
        time.sleep(pause_s)
        tree.read()
        return threads.read()

    return write, read, threads, tmp_path / "7" / "mem"


def test_the_thread_that_wanted_a_cpu_most(tool):
    write, read, *_ = tool
    for task in (1, 2, 3):
        write(task, ran=5.0, queued=2.0)
    write(4, state="R", ran=1.0, name="waits-4")
    assert read().threads is None
    write(1, ran=5.02, queued=2.0)
    write(2, ran=5.04, queued=2.05, state="T")
    write(5, ran=0.01, name="new-5")  # all of its time is since the reading before
    use = read(pause_s=0.1)
    assert (use.threads, use.stopped) == (4, 1)
    assert set(use.wanted_cores) == {"work", "waits", "new"}
    assert use.wanted_cores["waits"] == use.queued_cores["waits"] == 1.0  # the kernel counts its wait when it ends
    assert use.wanted_cores["work"] == pytest.approx(use.peak_cores["work"] + use.queued_cores["work"])
    assert 0.2 < use.queued_cores["work"] < 0.55 and use.peak_cores["work"] < 0.45
    write(2, ran=90.0, queued=99.0)
    assert read().wanted_cores["work"] == 1.0


def test_what_threads_at_work_wait_for(tool):
    write, read, threads, memory = tool
    with memory.open("wb") as file:
        for at, left_s in ((1, 0.004), (2, 5.0)):
            file.seek(at * POINTER)
            file.write(struct.pack("qq", *divmod(time.monotonic_ns() + round(left_s * 1e9), 10**9)))
    calls = {
        1: "running",
        2: futex(0x80, 2),  # a mutex of glibc
        3: futex(0x89, 0, POINTER),  # asks again within milliseconds, as for Python's lock
        4: futex(0x89, 0, 2 * POINTER),  # a queue with a long timeout
        5: futex(0x189, 0),
        6: RECEIVES,
    }
    for task, call in calls.items():
        write(task, call=call)
    write(7, call=futex(0x80, 2), name="idle")
    read()
    for task, call in calls.items():
        write(task, ran=0.02, call=call)
    read(pause_s=0.05)
    assert threads.waits() == {RUNS: 1, "mutex: work": 2, ELSE: 3}


def test_a_kernel_that_counts_no_waits_for_a_cpu(tool):
    write, read, *_ = tool
    write(1, ran=0.0)
    read()
    write(1, ran=0.0)
    assert read(pause_s=0.02).wanted_cores == {}
