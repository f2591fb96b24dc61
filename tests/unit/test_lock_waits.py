"""Threads that wait for a lock, told from idle ones by the futex that they sleep in; and how often threads switch."""

import subprocess
import sys
import time
from dataclasses import replace

import pytest

from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.window import measure_window
from scale_sweep.judge.verdict.bottleneck import bottleneck_of
from scale_sweep.machine.sampling.processes import ThreadReader
from scale_sweep.machine.sampling.waits import lock_waits
from scale_sweep.model import BottleneckKind
from tests.unit.test_attribution import CORES, GIVEN, IDLE
from tests.unit.test_more_eyes import sample

END = """
time.sleep(0.3)  # the threads reach their waits on a busy machine too
print(flush=True)
time.sleep(60)
"""
CONVOY = f"""
import ctypes, threading, time
libc = ctypes.CDLL(None)
mutex = ctypes.create_string_buffer(64)
libc.pthread_mutex_init(mutex, None)
def work():
    while True:
        libc.pthread_mutex_lock(mutex)
        libc.usleep(2000)
        libc.pthread_mutex_unlock(mutex)
[threading.Thread(target=work, daemon=True).start() for _ in range(6)]
{END}"""
IDLE_POOL = f"""
import threading, time
[threading.Thread(target=threading.Event().wait, daemon=True).start() for _ in range(6)]
{END}"""


def readable() -> bool:
    try:
        with open("/proc/self/syscall") as file:
            return bool(file.read())
    except OSError:
        return False


@pytest.fixture(params=[CONVOY, IDLE_POOL], ids=["convoy", "idle"])
def pool(request):
    with subprocess.Popen([sys.executable, "-c", request.param], stdout=subprocess.PIPE) as process:
        assert process.stdout and process.stdout.readline()
        yield request.param, process.pid
        process.kill()


@pytest.mark.skipif(not readable(), reason="the kernel does not tell this user the system calls of threads")
def test_a_real_convoy_waits_for_its_mutex_and_an_idle_pool_for_nothing(pool):
    program, pid = pool
    waited, looks, deadline = 0, 0, time.monotonic() + 50
    while looks < 10 or (program == CONVOY and waited <= 30 and time.monotonic() < deadline):
        waited += sum(n for name, n in lock_waits((pid,)).items() if name.startswith("mutex: python"))
        looks += 1
        time.sleep(0.02)
    assert waited > 30 if program == CONVOY else waited == 0, waited


def test_threads_switch_more_often_in_a_convoy_than_in_an_idle_pool(pool):
    program, pid = pool
    reader = ThreadReader()
    assert set(reader.read((pid,)).switches_total.values()) == {0}
    before, is_seen, deadline = 0.0, False, time.monotonic() + 50
    while not is_seen and time.monotonic() < deadline:
        time.sleep(0.3)
        slept = reader.read((pid,)).switches_total["voluntary"]
        is_seen = slept > 20 if program == CONVOY else slept - before <= 2
        before = slept
    assert is_seen, slept


WAITS = "0x7f00 {} 0x0 0x0 {} 0x7ffd 0x7fff"
LOCKS = {
    "running": None,
    f"202 {WAITS.format('0x80 0x2', '0x0')}": True,
    f"202 {WAITS.format('0x189 0x2', '0xffffffff')}": True,
    f"202 {WAITS.format('0x189 0x3', '0xffffffff')}": True,
    f"202 {WAITS.format('0x8d 0x0', '0x0')}": True,
    f"202 {WAITS.format('0x189 0x0', '0xffffffff')}": False,
    f"202 {WAITS.format('0x80 0x0', '0x0')}": False,
    f"98 {WAITS.format('0x80 0x2', '0x0')}": False,
    "74 0x9 0x0 0x0 0x0 0x0 0x0 0x7ffd 0x7fff": False,
    "-1 0x7ffd 0x7fff": False,
    "": False,
}


def test_a_sleep_for_a_lock_is_one_where_the_database_tells_nothing(tmp_path, wording):
    folder = tmp_path / "7/task/8"
    folder.mkdir(parents=True)
    (folder / "comm").write_text("vnode-write_3\n")
    (tmp_path / "7/task/9").mkdir()  # a thread that has just ended
    for call, is_lock in LOCKS.items():
        (folder / "syscall").write_text(call + "\n")
        runs, waits = {"": 1} if is_lock is None else {}, {"mutex: vnode-write": 1} if is_lock else {}
        assert lock_waits((7, 5), tmp_path, "x86_64") == runs | waits, call
        assert lock_waits((7,), tmp_path, "sparc") == runs, call
    waiting = {"in_flight": 0.95, "waits": {"mutex: vnode-write": 0.6, "": 0.4}, "switches_per_s": {"voluntary": 52e3}}
    for axis in (CORES, load_axis("clients")):
        found = bottleneck_of(replace(IDLE, **waiting), GIVEN, axis)
        assert found.kind is BottleneckKind.LOCKS
    wording(found.sentence)
    few = replace(IDLE, in_flight=0.95, waits={"mutex: vnode-write": 0.3, "": 0.7})
    assert bottleneck_of(few, GIVEN, CORES).kind is BottleneckKind.CONNECTIONS
    before = replace(sample(0, {0: 0.0}, 0.0), thread_switches_total={"voluntary": 100.0, "nonvoluntary": 5.0})
    after = replace(sample(10, {0: 0.0}, 0.0), thread_switches_total={"voluntary": 1100.0, "nonvoluntary": 15.0})
    use = measure_window((before, after), 0, 10**10)
    assert use.switches_per_s == {"voluntary": pytest.approx(100.0), "nonvoluntary": pytest.approx(1.0)}
